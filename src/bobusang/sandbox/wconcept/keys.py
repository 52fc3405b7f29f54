"""W Concept's public key: on every display page, the same for all, and another one when it is changed."""

from __future__ import annotations

import hmac
import secrets


class PublicKey:
    """The key of the moment; no earlier one opens anything."""

    def __init__(self) -> None:
        self.value = ""
        self.rotate()

    def rotate(self) -> str:
        """Another key from now on."""
        self.value = secrets.token_urlsafe(24)
        return self.value

    def opens(self, given: str) -> bool:
        """Whether this is it."""
        return hmac.compare_digest(given.encode(errors="replace"), self.value.encode())
