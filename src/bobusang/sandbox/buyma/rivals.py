"""Who else offers a model at BUYMA, and for how much: seeded, and moving with the world's clock."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from bobusang.sandbox.chance import Chance, drawn, seeded
from bobusang.sandbox.making import model_of
from bobusang.sandbox.world import FIRST_NO

if TYPE_CHECKING:
    from bobusang.sandbox.buyma.account import Account
    from bobusang.sandbox.product import Product
    from bobusang.sandbox.words import Brand
    from bobusang.sandbox.world import World

MALL = "okmall"
WITHOUT = 0.35
"""Share of models that nobody else offers."""
USED, OUTLIERS, STRANGERS, OWN = 0.12, 0.05, 0.1, 0.06
"""Shares of used goods, absurd prices, other models that the search finds too, and old offers of our own."""
MOST = 9
STEP_HOURS = 24
WON_PER_YEN = 9.2
"""About; so that rivals' prices lie where a seller's costs do."""
NAMES = ("mocha_paris", "TOKYO-select", "hana.k", "EuroBuyer_8", "Luna*Milano", "kaede", "studio_seoul", "sakura_box")
SHIPPING = (0, 0, 0, 800, 1500)


class Rival(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One offer of somebody's."""

    price: int
    shipping: int = 0
    used: bool = False
    seller_id: int = 2_000_001
    seller_name: str = "mocha_paris"
    name: str = ""
    """Its title; blank: one that names the model."""
    id: int = 0


@dataclass(slots=True)
class _Known:
    version: int
    places: dict[str, int]


class Rivals:
    """The offers of every model."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._known: dict[str, _Known] = {}
        self.told: dict[str, tuple[Rival, ...]] = {}
        """What an operator of the sandbox says of a model, against its seed."""

    def of(self, model: str, own: Account) -> tuple[Rival, ...]:
        """Who offers a model now; nobody does when no mall sells it. Some are old offers of our own."""
        if (told := self.told.get(plain(model))) is not None:
            return told
        product = self.product(model)
        return () if product is None else self._seeded(product, own)

    def product(self, model: str) -> Product | None:
        """The goods of this model number, as the malls sell them."""
        wanted = plain(model)
        for brand in self._world.mall(MALL).brands:
            if _shape(brand).fullmatch(wanted) and (no := self._place(brand, wanted)) is not None:
                return self._world.mall(MALL).product(no)
        return None

    def _place(self, brand: Brand, wanted: str) -> int | None:
        known = self._known.get(brand.en)
        if known is None or (wanted not in known.places and known.version != self._world.version):
            known = self._known[brand.en] = _Known(self._world.version, self._places(brand))
        return known.places.get(wanted)

    def _places(self, brand: Brand) -> dict[str, int]:
        mall, hours = self._world.mall(MALL), self._world.hours
        found: dict[str, int] = {}
        for no in (*mall.numbers(hours, brand), *mall.gone(hours, brand)):
            place = (no - FIRST_NO[MALL]) // len(mall.brands)
            found.setdefault(plain(model_of(self._world.seed, brand, place)), no)
        return found

    def _seeded(self, product: Product, own: Account) -> tuple[Rival, ...]:
        seed = seeded(self._world.seed, "rivals", plain(product.model))
        chance = Chance(seed)
        if chance.hit(WITHOUT):
            return ()
        return tuple(self._rival(seed, n, product, own) for n in range(chance.between(1, MOST)))

    def _rival(self, seed: int, place: int, product: Product, ours: Account) -> Rival:
        chance = Chance(drawn(seed, place))
        base = product.list_price / WON_PER_YEN * chance.between(80, 140) / 100
        used, outlier, stranger = chance.hit(USED), chance.hit(OUTLIERS), chance.hit(STRANGERS)
        own, seller, shipping = chance.hit(OWN), chance.below(len(NAMES)), chance.pick(SHIPPING)
        if used:
            base *= 0.4
        if outlier:
            base *= chance.pick((0.02, 30))
        day = int(self._world.hours * self._world.pace // STEP_HOURS)
        moved = 1 + (drawn(seed, place, day) % 9 - 4) / 100 if day else 1
        return Rival(
            price=max(100, int(base * moved) // 100 * 100),
            shipping=shipping,
            used=used,
            seller_id=ours.seller_id if own else 2_000_001 + seller,
            seller_name=ours.seller_name if own else NAMES[seller],
            name=f"{product.brand.en} {product.kind.en} 別モデル" if stranger else "",
            id=80_000_000 + drawn(seed, place, 1) % 9_000_000,
        )


def plain(model: str) -> str:
    """A model number without what people write differently."""
    return re.sub(r"[\s\-_./]+", "", model).upper()


def _shape(brand: Brand) -> re.Pattern[str]:
    return re.compile(plain(brand.model).replace("9", r"\d").replace("A", "[A-Z]"))
