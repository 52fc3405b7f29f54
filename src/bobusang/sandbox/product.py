"""The nouns of the world: a product as it is made, and how it stands at one moment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bobusang.sandbox.words import Brand, Kind


@dataclass(frozen=True, slots=True)
class Option:
    """What can be bought of a product: the mall's code, colour, size on the tag and as measured."""

    code: str
    color: str
    size: str
    real: str


@dataclass(frozen=True, slots=True)
class Product:
    """What never changes of a product."""

    no: int
    seed: int
    brand: Brand
    kind: Kind
    name: str
    """Without a model number."""
    model: str
    """Empty for some: then nothing in the name may be taken for one."""
    title: str
    """The name as the mall shows it, with its parentheses."""
    more: str
    gender: str
    """M, F or U."""
    season: str
    options: tuple[Option, ...]
    single: bool
    """Sold without a choice: its only option is not shown."""
    base_price: int
    list_price: int
    shipping_fee: int
    colour: tuple[str, str]
    origin: tuple[str, str]
    pictures: int
    has_path: bool
    """Whether its page shows where it stands in the mall."""
    seller: str


@dataclass(frozen=True, slots=True)
class Standing:
    """A product at one moment."""

    product: Product
    price: int
    options: tuple[Option, ...]
    stocks: tuple[int, ...]
    """Of the options, in their order."""

    @property
    def sold_out(self) -> bool:
        return not any(self.stocks)

    @property
    def stock(self) -> int:
        return sum(self.stocks)


@dataclass(frozen=True, slots=True)
class Sheet:
    """What only a product's own page says of it."""

    materials: tuple[tuple[str, str], ...]
    """Part and mixture."""
    measures: tuple[tuple[str, str, tuple[tuple[str, str], ...]], ...]
    """For each size: its tag, the size as measured, and label and value of each measure."""
