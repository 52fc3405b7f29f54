"""What all pages share while the sandbox runs: the world, what was rendered, the sessions, the faults, the journal."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from bobusang.kit.errors import Invalid
from bobusang.sandbox.buyma.market import Market
from bobusang.sandbox.domeggook.meter import Meter
from bobusang.sandbox.fault import Faults, Hit
from bobusang.sandbox.filler import PageSize
from bobusang.sandbox.journal import Journal
from bobusang.sandbox.mustit.sessions import Sessions
from bobusang.sandbox.ownerclan.login import Tokens
from bobusang.sandbox.ownerclan.orders import Orders
from bobusang.sandbox.reply import Reply, Shelf
from bobusang.sandbox.scene import Scene
from bobusang.sandbox.wconcept.keys import PublicKey

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping

    from aiohttp import web

    from bobusang.sandbox.world import World

MOST_PAGES = 1_000_000


@dataclass(slots=True)
class Desk:
    """The sandbox behind its doors."""

    world: World
    page_size: PageSize = PageSize.DEFAULT
    compress: bool = True
    sessions: Sessions = field(default_factory=Sessions)
    wconcept: PublicKey = field(default_factory=PublicKey)
    tokens: Tokens = field(default_factory=Tokens)
    """Ownerclan's."""
    orders: Orders = field(default_factory=Orders)
    """Ownerclan's."""
    meter: Meter = field(default_factory=Meter)
    """Domeggook's."""
    shelf: Shelf = field(default_factory=Shelf)
    faults: Faults = field(default_factory=Faults)
    journal: Journal = field(default_factory=Journal)
    market: Market = field(init=False)

    def __post_init__(self) -> None:
        self.market = Market(self.world, self.faults)

    def reset(self) -> None:
        """As it was at the start: hour 0, no faults, no calls, no sessions, no listings."""
        self.world.reset()
        self.faults.clear()
        self.journal.clear()
        self.sessions.revoke()
        self.wconcept.rotate()
        self.tokens.expire()
        self.orders.placed.clear()
        self.meter.clear()
        self.market.clear()


@dataclass(frozen=True, slots=True)
class Asked:
    """One call, as a page sees it."""

    desk: Desk
    request: web.Request
    hit: Hit | None = None
    body: bytes = b""
    """What was sent along, by POST."""

    @property
    def scene(self) -> Scene:
        """What to render for."""
        return Scene(self.desk.world, self.request.host, self.desk.page_size, self.hit)

    def kept(self, key: Hashable, render: Callable[[Scene], Reply]) -> Reply:
        """The page of this key, rendered once for each state of the world; a spoilt one is rendered anew."""
        scene = self.scene
        if self.hit is not None:
            return render(scene)
        return self.desk.shelf.get((scene.world.version, scene.host, key), lambda: render(scene))

    @property
    def query(self) -> Mapping[str, str]:
        """What stands behind the question mark; old links write Hangul in EUC-KR."""
        raw = self.request.rel_url.raw_query_string
        return {name: _decoded(value) for name, value in parse_qsl(raw, True, encoding="latin-1")}


def _decoded(text: str) -> str:
    raw = text.encode("latin-1", errors="replace")
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("euc-kr", errors="replace")


def number(query: Mapping[str, str], name: str, default: int, most: int = MOST_PAGES) -> int:
    """A whole number of the query, at least 0; what is above the most is the most."""
    text = query.get(name, "") or str(default)
    if not text.isascii() or not text.isdigit() or len(text) > 12:
        raise Invalid(f"{name} is no number", field=name)
    return min(int(text), most)


@dataclass(frozen=True, slots=True)
class Route:
    """Where a page is, and what it is called in faults and counts."""

    path: str
    mall: str
    endpoint: str
    page: Callable[[Asked], Reply]
