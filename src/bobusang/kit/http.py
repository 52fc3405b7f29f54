"""The transport contract: one call, one bounded answer, every phase timed, every address checked."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, ClassVar, Protocol

from bobusang.kit.errors import External, Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping


class Oversized(External):
    """The answer is larger than allowed, or does not end, or unpacks to more than allowed: nobody retries that."""

    code = "oversized"
    verdict: ClassVar[Verdict] = Verdict.PARK


@dataclass(frozen=True, slots=True)
class Call:
    """One request."""

    url: str
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict)
    cookies: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    most: int = 8 << 20
    """The largest body, after unpacking."""
    timeout: timedelta = timedelta(seconds=30)
    """For all of it: connecting, redirects, reading to the end."""
    redirects: int = 5
    """How many are followed; 0: a redirect is itself the answer."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One response, read to its end."""

    url: str
    """Where the last redirect led."""
    status: int
    headers: Mapping[str, str]
    """Names in lower case; of a repeated header the values joined by a comma. Without `set-cookie`: see `cookies`."""
    body: bytes
    cookies: Mapping[str, str] = field(default_factory=dict)
    """What `Set-Cookie` set, by name; by redirects too, if they came from the origin that gave this answer."""
    cookie_ages: Mapping[str, float] = field(default_factory=dict)
    """Seconds that a cookie lives, where it says so (`Max-Age`, or `Expires`); 0 for one that was withdrawn."""
    elapsed: float = 0.0
    sent: int = 1
    """How many requests it took, redirects included."""


class Transport(Protocol):
    """Sends calls. Raises Unavailable (no answer, broken off, too slow), Blocked (an address that is not called),
    Oversized, Invalid (no HTTP address)."""

    async def send(self, call: Call) -> Answer: ...

    async def close(self) -> None: ...
