"""The source contract: it asks and it reads; it never fetches, sleeps, retries, logs or stores (law 8)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from bobusang.catalog.model import Snapshot
from bobusang.kit import json
from bobusang.kit.errors import Drifted, Invalid
from bobusang.stages.collect.policy import Policy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from datetime import datetime, timedelta

    from bobusang.stages.collect.inbound import Inbound

__all__ = ["Ask", "Brand", "Extent", "Kind", "Page", "Reads", "Snapshot", "Source", "Target"]


class Kind(StrEnum):
    """What an answer is expected to hold."""

    LIST = "list"
    ITEM = "item"
    PART = "part"
    """More of an item, such as its options."""
    INDEX = "index"
    """What the source has: its brands or categories."""


@dataclass(frozen=True, slots=True)
class Target:
    """What is collected: a brand, a seller, a keyword, a category of a source."""

    kind: str
    key: str
    data: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return f"{self.kind}:{self.key}"


@dataclass(frozen=True, slots=True)
class Followed:
    """A stream that tells what has happened in a window of time: `Target("window", name, {"since": …, "until": …})`."""

    stream: str
    most: timedelta | None = None
    """The longest window that it answers; None: any."""
    kind: str = ""
    """It tells this for one target of this kind at a time; empty: for the whole source."""


WINDOW = "window"
"""The kind of target that is a window of time."""
FRESH = "fresh"
"""The condition of a further page of a list: the page before it shows an item that we had not at `given["since"]`."""


@dataclass(frozen=True, slots=True)
class Ask:
    """A request that a source would like to have made. Asking twice for the same `key` in a run asks once."""

    url: str
    kind: Kind = Kind.LIST
    stream: str = ""
    """Which of the source's streams reads the answer; also the endpoint in gates and statistics."""
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str | None = None
    given: Mapping[str, Any] = field(default_factory=dict)
    """What the reader needs besides the page: target, page number, the item's key, values of the list."""
    key: str = ""
    item: str = ""
    """The key of the item it is for; empty for lists."""
    when: str = ""
    """Ask only if this holds of the item as it is known (`new or changed(price) or older_than(24h) or due`)."""

    @property
    def endpoint(self) -> str:
        return self.stream or self.kind.value

    @property
    def name(self) -> str:
        """The key that makes asking twice ask once."""
        return self.key or f"{self.endpoint}:{self.item or self.url}"


@dataclass(frozen=True, slots=True)
class Page:
    """A saved answer: bytes, and how they came."""

    ask: Ask
    body: bytes
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    """Names in lower case."""
    url: str = ""
    fetched_at: datetime | None = None
    text: str = ""
    """The body decoded; empty for a JSON answer, which is read from its bytes."""
    is_utf8: bool = False
    """Whether the body is known to be the text in UTF-8, byte for byte."""

    def json(self) -> Any:
        """The body as JSON; a page that is none has drifted."""
        try:
            return json.loads(self.body)
        except Invalid as error:
            raise Drifted(f"{self.ask.endpoint}: the answer is not JSON", hint=str(error)[:200]) from error


@dataclass(frozen=True, slots=True)
class Extent:
    """How far a list goes, as one of its pages tells it."""

    keys: tuple[str, ...]
    """What this page lists, in order."""
    total: int | None = None
    page: int = 1
    last: bool = False
    """Whether this page shows that there is no further one (it is empty, or the source says so)."""
    skipped: int = 0
    """Records that the source counts in its total and that are not collected (damaged goods)."""


@dataclass(frozen=True, slots=True)
class Brand:
    """A brand as the mall's index names it."""

    key: str
    name_ko: str = ""
    name_en: str = ""
    url: str = ""


Reads = Ask | Snapshot | Extent | Brand

TRIPS = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError)
"""What a source in code raises over a page that is not what it was written for: to us the page has drifted."""


class Source(ABC):
    """A mall or supplier. Its limits, identity and guards are data; it holds no state."""

    name: str
    version: str = "1"
    """Changes when the reader does; kept with every value it read."""
    base: str = ""
    """Where it lives, without a slash at the end; relative addresses of its asks begin here."""
    hosts: Mapping[str, str] = MappingProxyType({})
    """Where else it lives, by name: its API, its pictures."""
    policy: Policy = Policy()
    followed: tuple[Followed, ...] = ()
    """Its streams that are asked for windows of time, where it has such."""
    in_parts: bool = False
    """Whether it tells some of an item, such as its options, on pages of their own."""
    inbound: Inbound | None = None
    """How it tells us by itself, by webhooks; such a source is not asked."""
    anew: Callable[[], Source] | None = None
    """Makes it once more, in the process that reads the largest pages: it is pickled. None: they are read here."""

    @abstractmethod
    def seeds(self, target: Target) -> Iterable[Ask]:
        """The first requests for a target."""

    @abstractmethod
    def read(self, page: Page) -> Iterable[Reads]:
        """What a page says, and what to ask next. A page it cannot read raises Drifted."""

    def items(self, target: Target, keys: Iterable[str]) -> Iterable[Ask]:
        """The items' own pages, to look after what a list no longer shows; none for a source without such pages."""
        return ()
