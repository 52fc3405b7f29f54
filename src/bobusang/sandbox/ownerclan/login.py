"""Ownerclan's tokens: a JWT for thirty days, as bare text, for who knows the password; and they can be ended."""

from __future__ import annotations

import base64
import hmac
import secrets
import time
from typing import TYPE_CHECKING

from bobusang.kit import json

if TYPE_CHECKING:
    from collections.abc import Callable

USERNAME = PASSWORD = "sandbox"  # noqa: S105 - of the sandbox, for everybody
LIFE_SECONDS = 30 * 24 * 3600.0


class Tokens:
    """Tokens carry their own end and signature."""

    def __init__(self, seconds: float = LIFE_SECONDS, now: Callable[[], float] = time.time) -> None:
        self.seconds = seconds
        self.logins = 0
        self._now = now
        self._key = secrets.token_bytes(32)

    def issue(self, username: str, password: str) -> str | None:
        """A token; None for who does not know the password."""
        self.logins += 1
        if (username, password) != (USERNAME, PASSWORD):
            return None
        now = int(self._now())
        claims = {"id": username, "iat": now, "exp": now + int(self.seconds), "service": "ownerclan"}
        payload = f"{_encoded({'alg': 'HS256', 'typ': 'JWT'})}.{_encoded(claims)}"
        return f"{payload}.{self._signed(payload)}"

    def problem(self, token: str) -> str:
        """What is wrong with a token; empty: nothing."""
        payload, _, signature = token.rpartition(".")
        if not payload or not hmac.compare_digest(signature.encode(errors="replace"), self._signed(payload).encode()):
            return "invalid signature"
        text = payload.partition(".")[2]
        claims = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
        return "jwt expired" if claims["exp"] <= self._now() else ""

    def expire(self) -> None:
        """No token issued so far is worth anything any more."""
        self._key = secrets.token_bytes(32)

    def _signed(self, payload: str) -> str:
        return _text(hmac.digest(self._key, payload.encode(errors="replace"), "sha256"))


def _text(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def _encoded(value: object) -> str:
    return _text(json.dumps(value).encode())
