"""MustIt's guest tokens: issued to visitors with a user agent, worth so many calls, over after a while."""

from __future__ import annotations

import base64
import hmac
import secrets
import time
import uuid
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bobusang.kit import json
from bobusang.kit.errors import Invalid

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

KEPT = 10_000
"""Tokens whose calls are counted; the longest unused are forgotten."""


@dataclass(frozen=True, slots=True)
class Visitor:
    """Who a token was issued to, and how many calls it has made with this one."""

    id: str
    calls: int


class Sessions:
    """Tokens carry their own end and signature; only their calls are kept. `calls` 0: as many as they like."""

    def __init__(self, calls: int = 0, seconds: float = 7200.0, now: Callable[[], float] = time.time) -> None:
        self.calls = calls
        self.seconds = seconds
        self._now = now
        self._key = secrets.token_bytes(32)
        self._made: OrderedDict[str, int] = OrderedDict()

    def issue(self) -> Mapping[str, str]:
        """The three cookies of a new visitor."""
        now, nid = self._now(), str(uuid.uuid4())
        claims = {"jti": nid, "iat": int(now), "exp": now + self.seconds, "role": "GUEST"}
        payload = f"{_encoded({'alg': 'HS256', 'typ': 'JWT'})}.{_encoded(claims)}"
        uid = f"{int(now * 1000)}.{secrets.randbelow(1_000_000):06}"
        return {"token": f"{payload}.{self._signed(payload).decode()}", "nid": nid, "mustit_uid": uid}

    def visitor(self, token: str) -> Visitor | None:
        """Who calls, with this call counted; None when the token is none of ours, or is over."""
        payload, _, signature = token.rpartition(".")
        if not payload or not hmac.compare_digest(signature.encode(errors="replace"), self._signed(payload)):
            return None
        claims = _decoded(payload.partition(".")[2])
        if claims["exp"] <= self._now():
            return None
        made = self._made.pop(claims["jti"], 0) + 1
        self._made[claims["jti"]] = made
        if len(self._made) > KEPT:
            self._made.popitem(last=False)
        return Visitor(claims["jti"], made)

    def spent(self, visitor: Visitor) -> bool:
        """Whether the visitor has made more calls than a token is worth."""
        return 0 < self.calls < visitor.calls

    def revoke(self) -> None:
        """No token issued so far is worth anything any more."""
        self._key = secrets.token_bytes(32)
        self._made.clear()

    def _signed(self, payload: str) -> bytes:
        return _text(hmac.digest(self._key, payload.encode(errors="replace"), "sha256")).encode()


def identity(token: str) -> str:
    """The id inside a token, for the journal; empty when it is none."""
    try:
        found = _decoded(token.split(".")[1])
        return str(found.get("jti", ""))
    except (IndexError, ValueError, AttributeError, Invalid):
        return ""


def _text(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def _encoded(value: object) -> str:
    return _text(json.dumps(value).encode())


def _decoded(text: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    return found
