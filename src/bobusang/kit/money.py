"""Money: integer minor units of one currency, never a float and never two currencies at once."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from typing import NamedTuple

from bobusang.kit.errors import Invalid
from bobusang.kit.nearest import did_you_mean


class Currency(NamedTuple):
    """How many decimals the minor unit has (ISO 4217), and the sign people write."""

    exponent: int
    sign: str


CURRENCIES = {
    "AUD": Currency(2, "A$"),
    "CAD": Currency(2, "CA$"),
    "CHF": Currency(2, "CHF "),
    "CNY": Currency(2, "CN¥"),
    "EUR": Currency(2, "€"),
    "GBP": Currency(2, "£"),
    "HKD": Currency(2, "HK$"),
    "IDR": Currency(2, "Rp"),
    "JPY": Currency(0, "¥"),
    "KRW": Currency(0, "₩"),
    "KWD": Currency(3, "KWD "),
    "MYR": Currency(2, "RM"),
    "NZD": Currency(2, "NZ$"),
    "PHP": Currency(2, "₱"),
    "SGD": Currency(2, "S$"),
    "THB": Currency(2, "฿"),
    "TWD": Currency(2, "NT$"),
    "USD": Currency(2, "$"),
    "VND": Currency(0, "₫"),
}

# What a BIGINT column holds.
LARGEST = 2**63 - 1

# A rate or a margin is far inside this; Decimal("1e999999999") as a fraction would fill the memory.
LARGEST_EXPONENT = 40


class Rounding(StrEnum):
    """Which whole minor unit stands for what lies between two."""

    HALF_UP = "half_up"  # half goes away from zero, as on a bill
    HALF_EVEN = "half_even"  # half goes to the even one: no drift over many
    UP = "up"  # away from zero
    DOWN = "down"  # towards zero
    CEILING = "ceiling"  # towards more: what must cover a cost
    FLOOR = "floor"  # towards less: what must not exceed a budget


@dataclass(frozen=True, slots=True)
class Money:
    """An amount in minor units (won, yen, cents) and the ISO code of its currency."""

    amount_minor: int
    currency: str

    def __post_init__(self) -> None:
        if type(self.amount_minor) is not int:
            raise Invalid(
                f"an amount is a whole number of minor units, not {self.amount_minor!r}",
                hint="129,000 won is 129000, 12.34 dollars is 1234",
                field="amount_minor",
            )
        if abs(self.amount_minor) > LARGEST:
            raise Invalid("the amount is larger than a database can hold", field="amount_minor")
        currency(self.currency)

    def __add__(self, other: Money) -> Money:
        return Money(self.amount_minor + self._same(other), self.currency)

    def __sub__(self, other: Money) -> Money:
        return Money(self.amount_minor - self._same(other), self.currency)

    def __neg__(self) -> Money:
        return Money(-self.amount_minor, self.currency)

    def __lt__(self, other: Money) -> bool:
        return self.amount_minor < self._same(other)

    def __le__(self, other: Money) -> bool:
        return self.amount_minor <= self._same(other)

    def __gt__(self, other: Money) -> bool:
        return self.amount_minor > self._same(other)

    def __ge__(self, other: Money) -> bool:
        return self.amount_minor >= self._same(other)

    def times(self, factor: int | Decimal | Fraction, rounding: Rounding) -> Money:
        """Multiply exactly, then round once, by the mode that was asked for."""
        return Money(rounded(self.amount_minor * _exact(factor), rounding), self.currency)

    def __str__(self) -> str:
        exponent, sign = currency(self.currency)
        whole, part = divmod(abs(self.amount_minor), 10**exponent)
        minus = "-" if self.amount_minor < 0 else ""
        return f"{minus}{sign}{whole:,}" + (f".{part:0{exponent}}" if exponent else "")

    def _same(self, other: object) -> int:
        if not isinstance(other, Money):
            raise TypeError(f"{self} and {other!r}: only money goes with money")
        if self.currency != other.currency:
            raise Invalid(
                f"{self} and {other} are different currencies",
                hint=f"convert one of them by a dated quote from {other.currency} to {self.currency}",
                field="currency",
            )
        return other.amount_minor


def won(amount: int) -> Money:
    """So many Korean won."""
    return Money(amount, "KRW")


def yen(amount: int) -> Money:
    """So many Japanese yen."""
    return Money(amount, "JPY")


def currency(code: str) -> Currency:
    """What is known of a currency; an unknown one is refused, because guessing its decimals is wrong by 100."""
    try:
        return CURRENCIES[code]
    except (KeyError, TypeError):
        raise Invalid(
            f"unknown currency {code!r}", hint=did_you_mean(str(code), CURRENCIES), field="currency"
        ) from None


def rounded(value: Fraction, rounding: Rounding) -> int:
    """The whole number that stands for a fraction."""
    floor, rest = divmod(value.numerator, value.denominator)
    return floor + _goes_up(floor, 2 * rest - value.denominator, rounding) if rest else floor


def _goes_up(floor: int, beyond: int, rounding: Rounding) -> bool:
    """Whether what lies above a whole number, `beyond` the middle or before it, is rounded up. By whole numbers: a
    price is rounded some twenty times, and fractions take ten times as long to compare."""
    match rounding:
        case Rounding.FLOOR:
            return False
        case Rounding.CEILING:
            return True
        case Rounding.DOWN:
            return floor < 0
        case Rounding.UP:
            return floor >= 0
        case Rounding.HALF_UP:
            return beyond > 0 or (beyond == 0 and floor >= 0)
        case Rounding.HALF_EVEN:
            return beyond > 0 or (beyond == 0 and floor % 2 == 1)


def _exact(factor: int | Decimal | Fraction) -> Fraction:
    """A factor as a fraction; a float is refused, because 0.1 is not a tenth."""
    match factor:
        case bool() | float():
            pass
        case int() | Fraction():
            return Fraction(factor)
        case Decimal() if factor.is_finite() and abs(factor.adjusted()) <= LARGEST_EXPONENT:
            return Fraction(factor)
    raise Invalid(
        f"money is multiplied by a whole number, a Decimal or a Fraction, not by {factor!r}",
        hint="write Decimal('0.1') instead of 0.1",
        field="factor",
    )
