"""How a source wants to be visited, as data: who we are, how fast, when, what its answers mean, what to distrust."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import time, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from bobusang.catalog.model import SourceType

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from bobusang.kit.http import Answer


class IdentityKind(StrEnum):
    """How a source knows us."""

    NONE = "none"
    """By nothing but a user agent."""
    SESSION = "session"
    """By cookies and a token that it issues to a visitor."""
    API_KEY = "api_key"
    """By a key that the operator was given."""
    LOGIN = "login"
    """By a token that it issues to the operator's name and password."""


class Expiry(StrEnum):
    """What says how long a session lives."""

    COOKIE = "cookie"
    JWT = "jwt"
    """The token itself, in its `exp`."""
    FALLBACK = "fallback"


@dataclass(frozen=True, slots=True)
class Quota:
    """How many calls one identity may make in any span of this length."""

    calls: int
    per: timedelta


@dataclass(frozen=True, slots=True)
class Issue:
    """The call that makes a source issue a session; `{username}` and `{password}` in its body are the operator's."""

    path: str = "/"
    method: str = "GET"
    host: str = ""
    """Which of the source's hosts; empty: its base."""
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Any = None
    """A text, or what is sent as JSON."""
    form: Mapping[str, str] = field(default_factory=dict)
    token: Callable[[Answer], str | None] | None = field(default=None, compare=False)
    """Reads the token of the answer; without it, it is the cookie called `token`."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Who we are when we call: the pool of `crawl_agents` of this source."""

    kind: IdentityKind = IdentityKind.NONE
    size: int = 1
    issue: Issue | None = None
    expect_cookies: tuple[str, ...] = ()
    """Cookies that must come back; a session without one of them is none."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Sent with every call; `{token}` and the other cookies' names stand for what was issued."""
    query: Mapping[str, str] = field(default_factory=dict)
    """Added to every address when it is sent, and to nothing that is kept; with the same names."""
    cookies: tuple[str, ...] = ()
    """Cookies sent back with every call."""
    expires: Expiry = Expiry.COOKIE
    lifetime: timedelta = timedelta(hours=2)
    """How long a session lives when the source does not say."""
    renew_before: timedelta = timedelta(minutes=5)
    quota: Quota | None = None
    user_agents: tuple[str, ...] = ()
    """Set by the operator; empty: the one of the settings."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How hard a source may be asked, by all of us together."""

    rate: float = 1.0
    """Requests a second."""
    burst: float = 1.0
    concurrency: int = 2
    jitter: float = 0.1
    endpoints: Mapping[str, float] = field(default_factory=dict)
    """Rates of single endpoints, below the source's own."""


@dataclass(frozen=True, slots=True)
class Window:
    """The hours in which a source may be visited; the end may lie after midnight. Equal ends: always."""

    start: time = time(0)
    end: time = time(0)
    zone: str = "Asia/Seoul"


class Reaction(StrEnum):
    """What an answer means for us."""

    READ = "read"
    COOLDOWN_IDENTITY = "cooldown_identity"
    """Throttled: this identity rests, the task waits and uses no attempt."""
    RENEW_IDENTITY = "renew_identity"
    """The session is over: get another, try again, no attempt."""
    RETRY = "retry"
    """Their fault, perhaps for a moment: an attempt, and the breaker counts it."""
    OPEN_BREAKER = "open_breaker"
    """Leave this endpoint alone for a while, then probe."""
    HALT = "halt"
    """They do not want us: stop the source and call a person."""
    GONE = "gone"
    """The source says that this item is no more."""
    FAIL = "fail"
    """This request will never be answered."""


@dataclass(frozen=True, slots=True)
class BackOff:
    """Growing rests: start, start·x, … up to `most`; forgotten after `forgive` without trouble."""

    start: timedelta = timedelta(seconds=60)
    factor: float = 2.0
    most: timedelta = timedelta(days=1)
    forgive: timedelta = timedelta(minutes=30)


@dataclass(frozen=True, slots=True)
class Says:
    """What stands at a dotted path of a JSON answer; without a test, that anything stands there. Null is nothing."""

    path: str
    equal: tuple[Any, ...] = ()
    """One of these values."""
    unequal: tuple[Any, ...] = ()
    """A value that is none of these."""
    has: tuple[str, ...] = ()
    """A text with any of these in it."""


@dataclass(frozen=True, slots=True)
class Response:
    """One line of the response table: all conditions that are given must hold; the first line that matches counts."""

    do: Reaction
    status: tuple[int, ...] = ()
    """Codes; 5 stands for 500 to 599, and so on. Empty: any."""
    path: str = ""
    """A part of the request's path."""
    body_has: tuple[str, ...] = ()
    """Any of these texts, within the first 64 kB of the body."""
    json: tuple[Says, ...] = ()
    """What a JSON answer says: all of it."""
    back_off: BackOff | None = None
    rest: timedelta | None = None
    """For OPEN_BREAKER: how long."""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Guards:
    """When a write is held and a person asked."""

    coverage: float = 0.98
    """Share of the announced total that must have been listed before absence means anything."""
    absence_runs: int = 2
    price_jump: float = 0.4
    price_confirm: int = 0
    """Release a held price by itself once so many runs have read the same; 0: only a person does."""
    mass_change: float = 0.2
    mass_least: int = 20
    """Fewer changes than this are never a mass."""
    option_fall: float = 0.5
    """Share of a product's options that may vanish at once."""
    null_rate: Mapping[str, float] = field(default_factory=lambda: {"price": 0.01})


@dataclass(frozen=True, slots=True)
class Freshness:
    """How old a group may become: adaptive between the two."""

    least: timedelta
    most: timedelta


@dataclass(frozen=True, slots=True)
class Pictures:
    """How its pictures are asked for."""

    headers: Mapping[str, str] = field(default_factory=dict)
    """Sent instead of our own: some send a placeholder to who does not come from a page of theirs."""
    least: int = 0
    """Fewer bytes are no picture, but what stands in its place for a while."""


@dataclass(frozen=True, slots=True)
class Policy:
    """All of it; the defaults are careful."""

    identity: Identity = Identity()
    limits: Limits = Limits()
    window: Window = Window()
    responses: tuple[Response, ...] = ()
    """Asked before the built-in table."""
    guards: Guards = Guards()
    freshness: Mapping[str, Freshness] = field(default_factory=dict)
    groups: Mapping[str, str] = field(default_factory=dict)
    """Field → group, where it is not the catalog's own choice."""
    type: SourceType = SourceType.SUPPLIER_PRODUCT
    max_body: int = 8 << 20
    encoding: str = ""
    """The encoding of its pages; empty: what they say, or what they look like."""
    currency: str = "KRW"
    timeout: timedelta = timedelta(seconds=30)
    headers: Mapping[str, str] = field(default_factory=dict)
    pictures: Pictures = Pictures()
    contact: str = ""
    trusted: bool = True
    """False when the shop brings code of its own that nobody has agreed to run."""

    def group(self, name: str) -> str:
        """The group of a field that the source itself assigns; empty: the catalog's choice."""
        return self.groups.get(name, "")
