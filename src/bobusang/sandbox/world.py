"""The world: two malls, a news desk and a feed, all of one seed, growing older when its clock is advanced."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING

from bobusang.kit.errors import Invalid, Missing
from bobusang.sandbox.chronicle import Chronicle
from bobusang.sandbox.mall import Mall
from bobusang.sandbox.picture import HEIGHT, WIDTH
from bobusang.sandbox.words import BRANDS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bobusang.sandbox.mall import Override
    from bobusang.sandbox.product import Standing
    from bobusang.sandbox.words import Brand

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
"""Hour 0 of every world."""
SIZE = 6000
MOST_SIZE = 2_000_000
MOST_HOURS = 100_000.0
KEPT_LISTS = 256
FIRST_NO = {
    "okmall": 500_000,
    "mustit": 117_000_000,
    "ownerclan": 41_000_000,
    "domeggook": 31_000_000,
    "cafe24": 11_000_000,
    "shopify": 91_000_000,
}
FIRST_NO |= {"acme": 71_000_000, "wconcept": 300_000_000, "musinsa": 4_000_000}
WITHOUT_SOLD_OUT = frozenset({"okmall", "wconcept"})
"""Malls whose lists leave out what is sold out."""


class World:
    """All there is to collect. What it shows is a function of seed, size, hour and overrides, and of nothing else.

    `size` is the number of products of each mall at hour 0, divided among `brands` brands by their weight. `pace` is
    how fast it ages: 0 never, 2 twice as fast. From hour `drift_at` on the malls' pages have another layout, which no
    reader knows. `pictures` is how many each product has, instead of a few, and `picture_side` how large all are.
    """

    def __init__(
        self,
        seed: int = 1,
        size: int = SIZE,
        *,
        brands: int = len(BRANDS),
        pace: float = 1.0,
        drift_at: float | None = None,
        pictures: int | None = None,
        picture_side: int | None = None,
    ) -> None:
        if not 1 <= brands <= len(BRANDS):
            raise Invalid(f"the sandbox knows {len(BRANDS)} brands, not {brands}", field="brands")
        if not brands <= size <= MOST_SIZE:
            raise Invalid(f"size must lie between the number of brands, {brands}, and {MOST_SIZE:,}", field="size")
        self.seed = seed
        self.size = size
        self.pace = pace
        self.drift_at = drift_at
        self.hours = 0.0
        self.version = 0
        """Grows with every change, so that what was rendered before is not shown again."""
        self.picture_size = (picture_side, picture_side) if picture_side else (WIDTH, HEIGHT)
        self.malls = {
            name: Mall(seed, name, first, BRANDS[:brands], size, pace, pictures) for name, first in FIRST_NO.items()
        }
        self.chronicle = Chronicle()
        self._begin_drift = drift_at
        self._listed = lru_cache(maxsize=KEPT_LISTS)(self._list)
        self._by_seller = lru_cache(maxsize=1)(self._sellers)

    @property
    def now(self) -> datetime:
        """The world's own time."""
        return BEGIN + timedelta(hours=self.hours)

    @property
    def drifted(self) -> bool:
        """Whether the pages have their new layout."""
        return self.drift_at is not None and self.hours >= self.drift_at

    def advance(self, hours: float) -> float:
        """Let it age; the hour it then is."""
        if not 0 <= hours <= MOST_HOURS - self.hours:
            raise Invalid(f"the clock cannot be advanced by {hours:g} hours", hint="time goes forward, up to ten years")
        self.hours += hours
        self.chronicle.leap(self.hours)
        self.version += 1
        return self.hours

    def drift(self, at: float | None) -> None:
        """Set the hour from which the pages have another layout; None: never."""
        self.drift_at = at
        self.version += 1

    def override(self, mall: str, no: int, override: Override | None) -> None:
        """Say how a product is, against its fate; None: leave it to its fate again."""
        shelves = self.mall(mall)
        if not shelves.knows(self.hours, no):
            raise Missing(f"{mall} has no product {no}", hint="GET /admin/truth lists what it has")
        if override is None:
            shelves.overrides.pop(no, None)
        else:
            shelves.overrides[no] = override
        self.chronicle.tell(mall, no)
        self.version += 1

    def recall(self, hours: float, drift_at: float | None, overrides: Mapping[str, Mapping[int, Override]]) -> None:
        """Be as it once was; a drift that was asked for at the start holds."""
        self.hours = hours
        self.chronicle.begin(hours)
        self.drift_at = drift_at if self._begin_drift is None else self._begin_drift
        for name, mall in self.malls.items():
            mall.overrides = dict(overrides.get(name, {}))
        self.version += 1

    def reset(self) -> None:
        """Back to hour 0, without overrides."""
        self.hours = 0.0
        self.chronicle.begin(0.0)
        self.drift_at = self._begin_drift
        for mall in self.malls.values():
            mall.overrides.clear()
        self.version += 1

    def mall(self, name: str) -> Mall:
        """One of the malls."""
        if name not in self.malls:
            raise Missing(f"there is no mall '{name}'", hint=f"there are {', '.join(self.malls)}")
        return self.malls[name]

    def standing(self, mall: str, no: int) -> Standing | None:
        """How a product stands now; None when it is not sold."""
        return self.malls[mall].standing(self.hours, no)

    def of_brand(self, mall: str, brand: Brand) -> tuple[int, ...]:
        """The numbers of a brand's products that a list shows now; some malls do not list what is sold out."""
        return self._listed(self.version, mall, brand)

    def of_seller(self, seller: str) -> Sequence[int]:
        """The numbers of a MustIt seller's products, newest first; sold out ones too."""
        return self._by_seller(self.version).get(seller, [])

    def _list(self, version: int, mall: str, brand: Brand) -> tuple[int, ...]:
        shelves = self.malls[mall]
        found = shelves.numbers(self.hours, brand)
        if mall in WITHOUT_SOLD_OUT:
            found = (no for no in found if not _sold_out(shelves.standing(self.hours, no)))
        return tuple(sorted(found, reverse=True))

    def _sellers(self, version: int) -> dict[str, list[int]]:
        return self.malls["mustit"].by_seller(self.hours)


def _sold_out(standing: Standing | None) -> bool:
    return standing is None or standing.sold_out
