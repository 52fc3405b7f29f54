"""What an answer means: the source's own response table first, then the one that is built in (pure)."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import msgspec

from bobusang.kit import errors, json
from bobusang.kit.http import Answer, Oversized
from bobusang.platform.retry_after import waited
from bobusang.stages.collect.policy import IdentityKind, Reaction
from bobusang.stages.collect.source import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from bobusang.stages.collect.policy import BackOff, Policy, Response, Says

HEAD = 64 << 10
"""How much of a body is looked at; a table that reads megabytes of every page would cost more than the reader."""
NO_TIME = timedelta()
SMALL = 16 << 10
"""A challenge is a small page; a shop's own page may well hold the word captcha in some script of its log-in form."""

_SIGN = re.compile(rb"\S")
_TITLE = re.compile(rb"<title[^>]*>([^<]{0,300})", re.IGNORECASE)
_WALL_TITLES = (b"just a moment", b"human verification", b"attention required", b"are you a robot", b"captcha")
_WALL_TEXTS = (*_WALL_TITLES, b"cf-chl", b"challenge-platform", b"verify you are human")


@dataclass(frozen=True, slots=True)
class Verdict:
    """What an answer means for us, and why."""

    reaction: Reaction
    reason: str
    back_off: BackOff | None = None
    retry_after: timedelta | None = None
    """How long the server asked us to wait."""
    rest: timedelta | None = None
    """For OPEN_BREAKER: how long."""


def classify(
    policy: Policy, url: str, got: Answer | BaseException, *, now: datetime, kind: Kind = Kind.LIST
) -> Verdict:
    """The verdict on what came of a call to `url`: an answer, or the error that the transport raised.

    `kind` says what was asked for: only an item can be gone; a list or a part that is
    not found is a mistake.
    """
    if isinstance(got, BaseException):
        return _of_error(got, now)
    said = _Said(got.body)
    for line in policy.responses:
        if _matches(line, url, got, said):
            reason = line.reason or f"HTTP {got.status}: {line.do.value.replace('_', ' ')}"
            return Verdict(line.do, reason, line.back_off, _retry_after(got, now), line.rest)
    if wall := _bot_wall(got):
        return Verdict(Reaction.HALT, f"a bot wall: {wall}")
    return _of_status(policy, got, kind, now)


def _of_status(policy: Policy, answer: Answer, kind: Kind, now: datetime) -> Verdict:
    status = answer.status
    match status:
        case 304:
            return Verdict(Reaction.READ, "not modified")
        case _ if 200 <= status < 300:
            return Verdict(Reaction.READ, "")
        case 429:
            return Verdict(Reaction.COOLDOWN_IDENTITY, "HTTP 429: too many calls", None, _retry_after(answer, now))
        case 401 | 407:
            return _unknown_to_them(policy, status)
        case 403 | 451:
            return Verdict(Reaction.HALT, f"HTTP {status}: they do not want us here")
        case 404 | 410 if kind is Kind.ITEM:
            return Verdict(Reaction.GONE, f"HTTP {status}: the item is no more")
        case 408 | 425:
            return Verdict(Reaction.RETRY, f"HTTP {status}", None, _retry_after(answer, now))
        case _ if status >= 500:
            return Verdict(Reaction.RETRY, f"HTTP {status}: their fault", None, _retry_after(answer, now))
    return Verdict(Reaction.FAIL, f"HTTP {status}: this request will not be answered")


def _unknown_to_them(policy: Policy, status: int) -> Verdict:
    """Only a session can be had anew; a key that is refused, or a door that wants one, is for a person."""
    match policy.identity.kind:
        case IdentityKind.SESSION | IdentityKind.LOGIN:
            return Verdict(Reaction.RENEW_IDENTITY, f"HTTP {status}: the session is over")
        case IdentityKind.API_KEY:
            return Verdict(Reaction.HALT, f"HTTP {status}: our key is refused")
        case IdentityKind.NONE:
            return Verdict(Reaction.HALT, f"HTTP {status}: they want to know who we are")


def _of_error(error: BaseException, now: datetime) -> Verdict:
    reason = _plain(str(error)) or type(error).__name__
    match error:
        case errors.Throttled():
            return Verdict(Reaction.COOLDOWN_IDENTITY, reason, None, max(error.until - now, NO_TIME))
        case Oversized() | errors.Blocked():
            # Not HALT: one poisoned link of one item would stop the whole source, and again after each resume.
            return Verdict(Reaction.FAIL, reason)
        case errors.Drifted():
            return Verdict(Reaction.HALT, reason)
        case errors.External() | OSError():  # TimeoutError and ConnectionError among them
            return Verdict(Reaction.RETRY, reason)
    return Verdict(Reaction.FAIL, reason)


def _plain(text: str) -> str:
    """Fit to be stored and shown: the words may be theirs."""
    return "".join(sign if sign.isprintable() else " " for sign in text[:400]).strip()


def _retry_after(answer: Answer, now: datetime) -> timedelta | None:
    return waited(answer.headers.get("retry-after"), now)


def _matches(line: Response, url: str, answer: Answer, said: _Said) -> bool:
    return (
        _has_status(line.status, answer.status)
        and (not line.path or line.path in urlsplit(url).path)
        and (not line.body_has or any(_has_text(answer.body, text) for text in line.body_has))
        and all(said.holds(one) for one in line.json)
    )


def _has_status(wanted: Sequence[int], status: int) -> bool:
    return not wanted or status in wanted or status // 100 in wanted


def _has_text(body: bytes, text: str) -> bool:
    """As it stands in a UTF-8 page or in one of the old Korean encoding."""
    return any(body.find(spelled, 0, HEAD) >= 0 for spelled in _spelled(text))


@lru_cache(maxsize=256)
def _spelled(text: str) -> tuple[bytes, ...]:
    """As bytes, in each encoding that has all of it: what is left of a text without some of its letters says another
    thing, and nothing at all stands on every page."""
    found = [text.encode()]
    with suppress(UnicodeEncodeError):
        found.append(text.encode("cp949"))
    return tuple(dict.fromkeys(found))


class _Said:
    """What a JSON answer says: at one place without the rest of it, which the reader parses anyway; where a place is
    not to be had so, the whole of it, parsed at most once for all lines of a table."""

    def __init__(self, body: bytes) -> None:
        self._body = body
        self._parsed = False
        self._whole: Any = None

    def holds(self, wanted: Says) -> bool:
        """Whether it stands there; an answer that is no JSON says nothing."""
        last = wanted.path.rpartition(".")[2]
        if not last.isdigit() and f'"{last}"'.encode() not in self._body:  # most answers need no parsing
            return False
        found = self._found(wanted.path)
        if found is None or (wanted.equal and not _among(found, wanted.equal)) or _among(found, wanted.unequal):
            return False
        return not wanted.has or (isinstance(found, str) and any(text in found for text in wanted.has))

    def _found(self, path: str) -> Any:
        narrow = None if self._parsed else _narrow(path)
        if narrow is not None:
            try:
                found = narrow.decode(self._body)
                while isinstance(found, msgspec.Struct):
                    found = found.inner  # type: ignore[attr-defined]
                return found
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                pass  # no JSON, or not of this shape: the whole of it says what there is
        return _at(self._data, path)

    @property
    def _data(self) -> Any:
        if not self._parsed:
            self._parsed = True
            if _begins(self._body) in (b"{", b"["):
                with suppress(errors.Invalid):
                    self._whole = json.loads(self._body)
        return self._whole


@lru_cache(maxsize=256)
def _narrow(path: str) -> msgspec.json.Decoder[Any] | None:
    """Reads nothing of an answer but what stands at a path through objects: a tenth of parsing it all."""
    names = path.split(".")
    if any(name.isdigit() for name in names):
        return None
    shape: Any = Any
    for name in reversed(names):
        inner = shape if shape is Any else shape | None
        shape = msgspec.defstruct("Said", [("inner", inner, None)], rename={"inner": name})
    return msgspec.json.Decoder(shape)


def _at(found: Any, path: str) -> Any:
    for name in path.split("."):
        if isinstance(found, list) and name.isdigit() and int(name) < len(found):
            found = found[int(name)]
        elif isinstance(found, dict):
            found = found.get(name)
        else:
            return None
    return found


def _among(found: Any, values: tuple[Any, ...]) -> bool:
    """Whether a value is one of those; 1 is not true, and "1" is not 1."""
    return any(type(found) is type(each) and found == each for each in values)


def _bot_wall(answer: Answer) -> str:
    """What shows that a machine stands between us and the source; empty: nothing does."""
    if answer.headers.get("cf-mitigated", "").lower() == "challenge":
        return "the answer is a challenge"
    if _begins(answer.body) != b"<":
        return ""
    title = _TITLE.search(answer.body, 0, HEAD)
    found = _first(_WALL_TITLES, title.group(1)) if title else ""
    if not found and len(answer.body) <= SMALL:
        found = _first(_WALL_TEXTS, answer.body)
    return f"the page says '{found}'" if found else ""


def _begins(body: bytes) -> bytes:
    """The first byte that is no blank: a page is not copied for it."""
    found = _SIGN.search(body)
    return found.group() if found else b""


def _first(texts: Iterable[bytes], body: bytes) -> str:
    lower = body.lower()
    return next((text.decode() for text in texts if text in lower), "")


@dataclass(frozen=True, slots=True)
class Tally:
    """What came of several calls, as identity and breaker need to know it."""

    calls: int = 0
    answered: int = 0
    """Read, gone, or refused for good: the source works."""
    throttled: int = 0
    refused: int = 0
    """The session was not taken."""
    broken: int = 0
    """No answer, or a fault of theirs …"""
    trouble: str = ""
    """… and which."""
    failed: int = 0
    """Answered, but never with what was asked for (also counted in `answered`)."""
    halted: str = ""
    """Why the source must stop."""
    opened: str = ""
    """Why the endpoint must rest."""
    retry_after: timedelta | None = None
    """The longest rest that they asked for."""
    back_off: BackOff | None = None
    rest: timedelta | None = None


def tally(verdicts: Iterable[Verdict]) -> Tally:
    """Add up what came of several calls."""
    all_ = tuple(verdicts)
    of = {reaction: tuple(one for one in all_ if one.reaction is reaction) for reaction in Reaction}
    asked = [one.retry_after for one in all_ if one.retry_after is not None]
    rests = [one.rest for one in of[Reaction.OPEN_BREAKER] if one.rest is not None]
    failed = len(of[Reaction.FAIL])
    return Tally(
        calls=len(all_),
        answered=len(of[Reaction.READ]) + len(of[Reaction.GONE]) + failed,
        throttled=len(of[Reaction.COOLDOWN_IDENTITY]),
        refused=len(of[Reaction.RENEW_IDENTITY]),
        broken=len(of[Reaction.RETRY]),
        trouble=of[Reaction.RETRY][0].reason if of[Reaction.RETRY] else "",
        failed=failed,
        halted=of[Reaction.HALT][0].reason if of[Reaction.HALT] else "",
        opened=of[Reaction.OPEN_BREAKER][0].reason if of[Reaction.OPEN_BREAKER] else "",
        retry_after=max(asked, default=None),
        back_off=next((one.back_off for one in all_ if one.back_off is not None), None),
        rest=max(rests, default=None),
    )
