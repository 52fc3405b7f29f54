"""Our cookies: for this host alone, out of reach of scripts, never sent along from elsewhere but by a link."""

from __future__ import annotations

import base64
import binascii
from datetime import timedelta
from typing import TYPE_CHECKING

from bobusang.kit import json
from bobusang.kit.errors import Invalid

if TYPE_CHECKING:
    from starlette.requests import HTTPConnection
    from starlette.responses import Response

SESSION = "session"
SAID = "said"
LANGUAGE = "language"
WANTED = "wanted"
SHORT = timedelta(minutes=30)
KEPT = 3600 * 24 * 365
HOST = "__Host-"


class Cookies:
    """`plain`: without `__Host-` and `Secure`, for a browser that keeps no such cookie over plain HTTP."""

    def __init__(self, *, plain: bool) -> None:
        self._plain = plain

    def get(self, connection: HTTPConnection, name: str) -> str:
        """What the browser sent, or nothing."""
        return connection.cookies.get(self._name(name), "")

    def set(self, response: Response, name: str, value: str, *, lives: timedelta | None = None) -> None:
        """Have the browser keep it."""
        age = KEPT if lives is None else int(lives.total_seconds())
        response.set_cookie(
            self._name(name), value, max_age=age, path="/", secure=not self._plain, httponly=True, samesite="lax"
        )

    def drop(self, response: Response, name: str) -> None:
        """Have the browser forget it."""
        response.delete_cookie(self._name(name), path="/", secure=not self._plain, httponly=True, samesite="lax")

    def _name(self, name: str) -> str:
        return f"bobusang-{name}" if self._plain else f"{HOST}bobusang-{name}"


def packed(*texts: str) -> str:
    """Texts as the value of a cookie."""
    return base64.urlsafe_b64encode(json.dumps(texts).encode()).decode().rstrip("=")


def unpacked(value: str) -> list[str]:
    """The texts again; nothing where somebody tampered with them."""
    try:
        found = json.loads(base64.b64decode(value + "=" * (-len(value) % 4), b"-_", validate=True))
    except (Invalid, binascii.Error, ValueError):
        return []
    return found if isinstance(found, list) and all(isinstance(one, str) for one in found) else []
