"""Webhooks that suppliers send: how they are signed, which event each is and when it happened. Data, and pure."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bobusang.stages.collect.source import Page

LONGEST_EVENT = 200
"""Characters of an event's own key; a longer one is known by its digest."""
LONGEST_SIGNATURE = 500
SKEW = timedelta(minutes=5)
"""How far ahead of ours a supplier's clock may be; what happened later than that did not happen then."""
BODY, TIMESTAMP = "{body}", "{timestamp}"
MILLISECONDS = 100_000_000_000
"""A number of seconds beyond this (the year 5138) is one of milliseconds."""

_START, _END, _LINE = b"POST\r\n", b"\r\n\r\n", "\r\n"
_NUMBER = re.compile(r"\d{1,13}(\.\d{1,9})?")


class Encoding(StrEnum):
    """How a signature is written."""

    HEX = "hex"
    BASE64 = "base64"


class Verdict(StrEnum):
    """What a signature is worth."""

    GENUINE = "genuine"
    FORGED = "forged"
    STALE = "stale"
    """Rightly signed, too long ago: somebody may have kept it."""


@dataclass(frozen=True, slots=True)
class Signing:
    """How a supplier signs: HMAC-SHA256 over the body, or over its time and the body."""

    header: str
    """In lower case."""
    prefix: str = ""
    encoding: Encoding = Encoding.HEX
    timestamp: str = ""
    """The header that tells when it was signed; empty: none does."""
    tolerance: timedelta = timedelta(minutes=5)
    signs: str = BODY
    """What is signed, with `{body}` and `{timestamp}` in it."""
    secret: str = ""
    """Where the secret is (`env:NAME`, `file:PATH`), unless the operator has given one."""

    def signature(self, secret: str, body: bytes, timestamp: str = "") -> str:
        """As the header has it."""
        told = [part.replace(TIMESTAMP, timestamp).encode(errors="replace") for part in self.signs.split(BODY)]
        digest = hmac.new(secret.encode(), body.join(told), hashlib.sha256).digest()
        text = digest.hex() if self.encoding is Encoding.HEX else base64.b64encode(digest).decode()
        return self.prefix + text

    def verify(self, secret: str, headers: Mapping[str, str], body: bytes, now: datetime) -> Verdict:
        """Whether whoever has the secret signed these bytes, lately; headers by names in lower case.

        Several signatures may stand in the header, separated by commas or spaces, as where a secret is being changed.
        """
        given, timestamp = headers.get(self.header, ""), headers.get(self.timestamp, "") if self.timestamp else ""
        if not secret or not given or len(given) > LONGEST_SIGNATURE or (self.timestamp and not timestamp):
            return Verdict.FORGED
        wanted = self._digest(self.signature(secret, body, timestamp))
        # All are compared, so that the time it takes tells nothing.
        found = [hmac.compare_digest(wanted, self._digest(one)) for one in re.split(r"[,\s]+", given)]
        if not any(found):
            return Verdict.FORGED
        if self.timestamp:
            signed = instant(timestamp)
            if signed is None or abs(now - signed) > self.tolerance:
                return Verdict.STALE
        return Verdict.GENUINE

    def _digest(self, text: str) -> bytes:
        """The bytes that a signature stands for; what is none is no digest at all."""
        if not text.startswith(self.prefix):
            return b""
        bare = text.removeprefix(self.prefix)
        try:
            if self.encoding is Encoding.HEX:
                return bytes.fromhex(bare) if bare.isascii() else b""
            return base64.b64decode(bare.encode(), validate=True)
        except (ValueError, binascii.Error):
            return b""


@dataclass(frozen=True, slots=True)
class Event:
    """What a webhook says of itself."""

    key: str
    """The same event has the same, however often it comes."""
    stream: str = ""
    """What reads it; empty: it says nothing that we want to know."""
    at: datetime | None = None
    """When it happened, where the supplier says so."""
    name: str = ""


class Inbound(Protocol):
    """How a source's webhooks are taken in."""

    @property
    def signing(self) -> Signing: ...

    @property
    def headers(self) -> tuple[str, ...]:
        """Headers that say something of the event, in lower case: they are kept with the body."""
        ...

    def event(self, page: Page) -> Event:
        """Which event this is. Raises Drifted where it does not say what it must."""
        ...


def key_of(told: str, body: bytes) -> str:
    """The key of an event: its own, or the digest of what was sent."""
    text = told.strip()
    if not text:
        return f"sha256:{hashlib.sha256(body).hexdigest()}"
    if len(text) <= LONGEST_EVENT and text.isprintable():
        return text
    return f"long:{hashlib.sha256(text.encode(errors='replace')).hexdigest()}"


def instant(told: object) -> datetime | None:
    """Seconds or milliseconds since 1970, or ISO text; without a zone nobody knows when it was."""
    try:
        if isinstance(told, int | float) and not isinstance(told, bool):
            return datetime.fromtimestamp(told / 1000 if told > MILLISECONDS else told, UTC)
        if not isinstance(told, str):
            return None
        if _NUMBER.fullmatch(told.strip()):
            return instant(float(told))
        found = datetime.fromisoformat(told.strip())
    except (ValueError, OverflowError, OSError):
        return None
    return found.astimezone(UTC) if found.tzinfo else None


def happened(told: datetime | None, received: datetime) -> datetime:
    """When an event counts as having happened: as it says, never later than it came."""
    return received if told is None or told > received + SKEW else told


def packed(names: tuple[str, ...], headers: Mapping[str, str], body: bytes) -> bytes:
    """A webhook as it is kept: its body, behind the headers that say something of it where there are such."""
    told = [f"{name}: {' '.join(headers[name].split())[:LONGEST_SIGNATURE]}" for name in names if name in headers]
    return _START + _LINE.join(told).encode(errors="replace") + _END + body if names else body


def unpacked(kept: bytes) -> tuple[dict[str, str], bytes]:
    """The headers and the body of a webhook that was kept; no JSON begins as one with headers does."""
    if not kept.startswith(_START):
        return {}, kept
    head, _, body = kept.removeprefix(_START).partition(_END)
    pairs = (line.partition(": ") for line in head.decode(errors="replace").split(_LINE) if line)
    return {name: value for name, _, value in pairs}, body
