"""Dated rows of fees, freight, duty and tax, and which of them holds for a product on a day."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol, TypeVar

import msgspec

from bobusang.kit import money
from bobusang.kit.errors import Invalid

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from fractions import Fraction


class FeeKind(StrEnum):
    """What a market takes money for."""

    SALE = "sale"
    PAYOUT = "payout"


class Leg(StrEnum):
    """A part of the way."""

    DOMESTIC = "domestic"
    INTERNATIONAL = "international"


class Dated(Protocol):
    """A row that holds from a day on, until a newer one for the same does."""

    @property
    def valid_from(self) -> str: ...


R = TypeVar("R", bound=Dated)


class Fee(msgspec.Struct, frozen=True):
    """What a market takes of each sale: a rate of the price, an amount, or both; '' means any."""

    market: str
    kind: FeeKind
    valid_from: str
    source: str
    tier: str = ""
    category: str = ""
    rate: Decimal = Decimal(0)
    amount: int = 0
    currency: str = "JPY"


class Freight(msgspec.Struct, frozen=True):
    """What one parcel costs up to a weight."""

    leg: Leg
    route: str
    up_to_grams: int
    amount: int
    currency: str
    valid_from: str
    source: str
    category: str = ""


class Duty(msgspec.Struct, frozen=True):
    """The duty of a kind of goods; `least`: an amount that is due at the least; '' means any."""

    country: str
    rate: Decimal
    valid_from: str
    source: str
    category: str = ""
    material: str = ""
    construction: str = ""
    least: int = 0
    is_exemptable: bool = True
    """Whether goods of small value are free; leather and knitwear are not."""
    up_to: int = 0
    """The taxable value up to which it holds, as simplified rates do; 0: any."""


class Tax(msgspec.Struct, frozen=True):
    """How a country taxes what a private person imports."""

    country: str
    taxable_share: Decimal
    """Of the retail price abroad."""
    exempt_up_to: int
    """Taxable value up to which exemptable goods are free of duty and tax."""
    consumption_rate: Decimal
    clearance: int
    currency: str
    valid_from: str
    source: str


@dataclass(frozen=True, slots=True)
class Goods:
    """What customs look at; '' where nobody knows."""

    country: str
    category: str
    material: str
    construction: str

    @property
    def is_known(self) -> bool:
        return bool(self.material and self.construction)

    def may_be(self, row: Duty) -> bool:
        """Whether a row may be the one for these, by what is known of them."""
        fits = not self.material or row.material in ("", self.material)
        return fits and (not self.construction or row.construction in ("", self.construction))


@dataclass(frozen=True, slots=True)
class Rates:
    """All rows that pricing looks into."""

    fees: Sequence[Fee] = ()
    freights: Sequence[Freight] = ()
    duties: Sequence[Duty] = ()
    taxes: Sequence[Tax] = ()

    def fee(self, kind: FeeKind, market: str, tier: str, category: str, day: date) -> Fee | None:
        """The fee for a tier and category: the category decides before the tier, then the newest."""
        meant = [
            row
            for row in self.fees
            if row.kind is kind and row.market == market and row.tier in ("", tier) and within(category, row.category)
        ]
        return max(
            holding(meant, day), key=lambda row: (len(row.category), row.tier != "", row.valid_from), default=None
        )

    def freight(self, leg: Leg, route: str, category: str, grams: int, day: date) -> Freight | None:
        """The lightest row that carries so much, of the most exact category, at its newest price."""
        meant = [row for row in self.freights if row.leg is leg and row.route == route and row.up_to_grams >= grams]
        rows = holding([row for row in meant if within(category, row.category)], day)
        newest: dict[tuple[str, int], Freight] = {}
        for row in sorted(rows, key=lambda row: row.valid_from):
            newest[row.category, row.up_to_grams] = row
        return min(newest.values(), key=lambda row: (-len(row.category), row.up_to_grams), default=None)

    def duty(self, goods: Goods, value: Fraction, day: date) -> list[Duty]:
        """The rows that may hold for a taxable value: the most exact one, or, where something is unknown, all that
        could be meant; none where a row of what could be meant ends below the value and no other takes it up."""
        rows = self._duties(goods, day)
        left = _reaching(rows, value)
        known = [row for row in left if row.material in ("", goods.material)]
        known = [row for row in known if row.construction in ("", goods.construction)]
        exact = max(known, key=_exactness, default=None)
        if exact is None:
            return [] if goods.is_known or len(left) < len({_meant(row) for row in rows}) else left
        return [exact] if goods.is_known else [row for row in left if _exactness(row) >= _exactness(exact)]

    def duty_ends(self, goods: Goods, day: date) -> int:
        """The taxable value at which the last of the rows with an end does; 0: there is none."""
        return max((row.up_to for row in self._duties(goods, day)), default=0)

    def _duties(self, goods: Goods, day: date) -> list[Duty]:
        """All that could be meant, each at its newest."""
        newest: dict[tuple[object, ...], Duty] = {}
        rows = [row for row in self.duties if row.country == goods.country and within(goods.category, row.category)]
        for row in sorted(holding(rows, day), key=lambda row: row.valid_from):
            if goods.may_be(row):
                newest[*_meant(row), row.up_to] = row
        return list(newest.values())

    def tax(self, country: str, day: date) -> Tax | None:
        """How a country taxes on that day."""
        rows = holding([row for row in self.taxes if row.country == country], day)
        return max(rows, key=lambda row: row.valid_from, default=None)


def within(category: str, part: str) -> bool:
    """Whether a category is that one or below it."""
    return part in ("", category) or category.startswith(part + "/")


def holding(rows: Iterable[R], day: date) -> list[R]:
    """The rows that have begun by that day."""
    today = day.isoformat()
    return [row for row in rows if row.valid_from <= today]


def _reaching(rows: Iterable[Duty], value: Fraction) -> list[Duty]:
    """Of the rows of the same goods, the one that ends next above the value; one without an end comes last."""
    found: dict[tuple[str, str, str], Duty] = {}
    for row in sorted(rows, key=lambda row: (row.up_to == 0, row.up_to)):
        if value <= row.up_to or row.up_to == 0:
            found.setdefault(_meant(row), row)
    return list(found.values())


def _meant(row: Duty) -> tuple[str, str, str]:
    return row.category, row.material, row.construction


def _exactness(row: Duty) -> tuple[int, int]:
    return ((row.material != "") + (row.construction != ""), len(row.category))


def checked(row: Fee | Freight | Duty | Tax) -> None:
    """Refuse a row that would make a price wrong without anybody seeing it."""
    for name in row.__struct_fields__:
        value = getattr(row, name)
        if isinstance(value, Decimal) and (not value.is_finite() or not 0 <= value < 1):
            raise Invalid(f"{name} is {value}", hint="a share of 1, such as 0.077 for 7.7 %", field=name)
        if isinstance(value, int) and value < 0:
            raise Invalid(f"{name} is {value}", hint="amounts are not negative", field=name)
        if name == "currency":
            money.currency(value)
    if not row.source:
        raise Invalid("source is empty", hint="say where the figure comes from", field="source")
    _check_day(row.valid_from)


def _check_day(text: str) -> None:
    try:
        proper = date.fromisoformat(text).isoformat() == text
    except ValueError:
        proper = False
    if not proper:
        raise Invalid(f"valid_from is '{text}'", hint="write a day as 2026-01-31", field="valid_from")
