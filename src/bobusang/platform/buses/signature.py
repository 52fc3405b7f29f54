"""Signatures of what we send over HTTP, for both ends: `t=<seconds>,v1=<HMAC-SHA256 of "t.body">`."""

from __future__ import annotations

import hashlib
import hmac
from datetime import timedelta
from typing import TYPE_CHECKING

from bobusang.kit.errors import BobusangError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

HEADER = "Bobusang-Signature"
TOLERANCE = timedelta(minutes=5)


class Forged(BobusangError):
    """The request is not from whom it says, or is an old one sent again."""

    code = "forged"


def sign(secret: str, body: bytes, now: datetime) -> str:
    """The header value for a body sent now."""
    at = int(now.timestamp())
    return f"t={at},v1={_digest(secret, at, body)}"


def verify(
    secret: str | Sequence[str], header: str, body: bytes, now: datetime, *, tolerance: timedelta = TOLERANCE
) -> None:
    """Raise `Forged` unless the body was signed with the secret (or, while it is changed, one of several) just now."""
    at, given = _parsed(header)
    if abs(now.timestamp() - at) > tolerance.total_seconds():
        raise Forged("the signature is too old or from the future", hint="check the clocks; a replay looks the same")
    known = [secret] if isinstance(secret, str) else list(secret)
    # Every pair is compared, so that the time taken tells nothing.
    matches = [hmac.compare_digest(_digest(each, at, body), digest) for each in known if each for digest in given]
    if not any(matches):
        raise Forged("the signature does not match", hint="compare the raw body, byte by byte, with the right secret")


def _digest(secret: str, at: int, body: bytes) -> str:
    return hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()


def _parsed(header: str) -> tuple[int, list[str]]:
    """The time and the v1 digests; other versions are left for later readers."""
    at = None
    given = []
    for part in header.split(",")[:10]:
        name, _, value = part.strip().partition("=")
        if name == "t" and value.isascii() and value.isdigit() and len(value) <= 12:
            at = int(value)
        elif name == "v1" and value.isascii():
            given.append(value)
    if at is None or not given:
        raise Forged("the signature is missing or unreadable", hint=f"expected {HEADER}: t=…,v1=…")
    return at, given
