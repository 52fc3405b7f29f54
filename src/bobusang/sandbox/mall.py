"""One mall's shelves: which products stand there at an hour, found by number, brand or seller."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from bobusang.sandbox import ageing
from bobusang.sandbox.chance import drawn, seeded
from bobusang.sandbox.making import make, seller_of
from bobusang.sandbox.product import Option, Product, Standing

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from bobusang.sandbox.words import Brand

KEPT_PRODUCTS = 20_000


@dataclass(frozen=True, slots=True)
class Override:
    """What an operator of the sandbox says of a product, against what the world would make of it."""

    price: int | None = None
    sold_out: bool = False
    gone: bool = False
    stocks: Mapping[str, int] = field(default_factory=dict)
    """Option code → what is left of it."""
    options: int | None = None
    """How many of its options it still has."""
    spelled: Mapping[str, str] = field(default_factory=dict)
    """Colour or size → how the mall writes it now."""


class Mall:
    """The shelves of one mall. A product's number says its brand and its place: `first + place · brands + brand`."""

    def __init__(
        self,
        seed: int,
        name: str,
        first_no: int,
        brands: Sequence[Brand],
        size: int,
        pace: float,
        pictures: int | None = None,
    ) -> None:
        self.name = name
        self.brands = tuple(brands)
        self.overrides: dict[int, Override] = {}
        self._world = seed
        self._seed = seeded(seed, "mall", name)
        self._first_no = first_no
        self._pace = pace
        self._pictures = pictures
        self._counts = shares(size, [brand.weight for brand in brands])
        self._product = lru_cache(maxsize=KEPT_PRODUCTS)(self._make)

    def brand(self, name: str) -> Brand | None:
        """The brand of that name: `나이키(NIKE)`, its Korean or its English name."""
        wanted = name.strip().casefold()
        return next((b for b in self.brands if wanted in (b.name.casefold(), b.ko.casefold(), b.en.casefold())), None)

    def numbers(self, hours: float, brand: Brand) -> Iterator[int]:
        """The numbers of a brand's products that are sold at this hour, oldest first."""
        return (no for no, born, gone in self._lives(hours, brand) if born <= hours < gone)

    def gone(self, hours: float, brand: Brand) -> Iterator[int]:
        """The numbers of those that were sold once and are no more."""
        return (no for no, _, gone in self._lives(hours, brand) if gone <= hours)

    def by_seller(self, hours: float) -> dict[str, list[int]]:
        """The numbers of each seller's products, newest first."""
        found: dict[str, list[int]] = {}
        for no in sorted((no for brand in self.brands for no in self.numbers(hours, brand)), reverse=True):
            found.setdefault(self.seller(no), []).append(no)
        return found

    def seller(self, no: int) -> str:
        """Who sells it."""
        return seller_of(self._seed_of(no))

    def product(self, no: int) -> Product:
        """The product of a number that is or was on a shelf."""
        return self._product(no)

    def standing(self, hours: float, no: int) -> Standing | None:
        """How it stands at this hour; None when it is not sold."""
        override = self.overrides.get(no)
        if override is not None and override.gone:
            return None
        fated = self.fated(hours, no)
        if fated is None or override is None:
            return fated
        return _overridden(override, fated.product, fated.price, fated.stocks)

    def fated(self, hours: float, no: int) -> Standing | None:
        """How it would stand if nobody had said otherwise."""
        brand, place = self._place(no)
        if brand is None:
            return None
        born, gone = self._fate(brand, place, no)
        if not born <= hours < gone:
            return None
        product = self._product(no)
        stocks = ageing.stocks(product, hours, self._pace)
        return Standing(product, ageing.price(product, hours, self._pace), product.options, stocks)

    def knows(self, hours: float, no: int) -> bool:
        """Whether there is or was such a product at this hour."""
        brand, place = self._place(no)
        return brand is not None and self._life(brand, place, no)[0] <= hours

    def life(self, no: int) -> tuple[float, float]:
        """From which hour to which it is sold; what was there at the start is from before it."""
        brand, place = self._place(no)
        assert brand is not None
        return self._life(brand, place, no)

    def _lives(self, hours: float, brand: Brand) -> Iterator[tuple[int, float, float]]:
        first = self._counts[brand.index]
        for place in range(first + ageing.newcomers(first, hours, self._pace)):
            no = self._first_no + place * len(self.brands) + brand.index
            yield (no, *self._life(brand, place, no))

    def _life(self, brand: Brand, place: int, no: int) -> tuple[float, float]:
        born, gone = self._fate(brand, place, no)
        override = self.overrides.get(no)
        return born, (born if override and override.gone else gone)

    def _fate(self, brand: Brand, place: int, no: int) -> tuple[float, float]:
        first, seed = self._counts[brand.index], self._seed_of(no)
        if place >= first and self._pace <= 0:
            return float("inf"), float("inf")
        born = -1.0 if place < first else ageing.born_at(seed, place - first, first, self._pace)
        return born, ageing.gone_at(seed, born, self._pace)

    def _place(self, no: int) -> tuple[Brand | None, int]:
        place, brand = divmod(no - self._first_no, len(self.brands))
        return (self.brands[brand] if place >= 0 else None), place

    def _seed_of(self, no: int) -> int:
        return drawn(self._seed, no)

    def _make(self, no: int) -> Product:
        brand, place = self._place(no)
        assert brand is not None
        found = make(self._world, self.name, brand, place, no, self._seed_of(no))
        return found if self._pictures is None else replace(found, pictures=self._pictures)


def shares(size: int, weights: Sequence[int]) -> list[int]:
    """One each, and the rest of the size by weight."""
    rest = max(0, size - len(weights))
    found = [1 + rest * weight // sum(weights) for weight in weights]
    for place in range(rest + len(weights) - sum(found)):  # fewer than there are weights: what rounding left
        found[place] += 1
    return found


def _spelled(option: Option, words: Mapping[str, str]) -> Option:
    return replace(option, color=words.get(option.color, option.color), size=words.get(option.size, option.size))


def _overridden(override: Override, product: Product, price: int, stocks: tuple[int, ...]) -> Standing:
    options = tuple(_spelled(option, override.spelled) for option in product.options[: override.options])
    left = [override.stocks.get(option.code, stock) for option, stock in zip(options, stocks, strict=False)]
    if override.sold_out:
        left = [0] * len(left)
    return Standing(product, price if override.price is None else override.price, options, tuple(left))
