"""Guards before any send, independent of whoever made the price: what trips one is held, and a person is asked.

Three levels: the listing (floor, ceiling, percent a step and a day), the run (share of listings changed or closed), the
account (its switch). All are pure. Repricers sold for a penny for want of the first, and a bug upstream that sets all
stock to 0 closes a whole shop for want of the second.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from bobusang.kit.money import Money

if TYPE_CHECKING:
    from bobusang.stages.register.model import Caution


class Guard(StrEnum):
    """What stopped a send."""

    SWITCH = "switch"
    NO_PRICE = "no_price"
    NO_FLOOR = "no_floor"
    NO_CEILING = "no_ceiling"
    BELOW_FLOOR = "below_floor"
    ABOVE_CEILING = "above_ceiling"
    STEP = "step"
    DAY = "day"
    CLOSED = "closed"
    CHANGED = "changed"
    UNANSWERED = "unanswered"
    UNCLOSED = "unclosed"
    TWO_PRODUCTS = "two_products"
    SAME_GOODS = "same_goods"

    @property
    def can_be_approved(self) -> bool:
        """No person lets a price below its floor out: the floor is what must be changed."""
        return self in (Guard.STEP, Guard.DAY, Guard.CLOSED, Guard.CHANGED, Guard.UNANSWERED, Guard.SAME_GOODS)


@dataclass(frozen=True, slots=True)
class Trip:
    """A guard that tripped, with the numbers that made it."""

    guard: Guard
    reason: str


@dataclass(frozen=True, slots=True)
class Prices:
    """What a price is judged by; the bounds are taken as they come, because a blank one has cost fortunes."""

    price: object
    floor: object
    ceiling: object
    confirmed: int | None = None
    """What the market has now."""
    day_began: int | None = None
    """What it had when the day began."""


def price_trip(caution: Caution, prices: Prices) -> Trip | None:
    """Whether a price may leave, by its bounds and by how far it moves."""
    price, floor, ceiling = (_amount(value) for value in (prices.price, prices.floor, prices.ceiling))
    if price is None:
        return Trip(Guard.NO_PRICE, f"there is no price ({prices.price})")
    if floor is None:
        return Trip(Guard.NO_FLOOR, f"there is no floor ({prices.floor}): nothing is sold without one")
    if ceiling is None:
        return Trip(Guard.NO_CEILING, f"there is no ceiling ({prices.ceiling})")
    if price < floor:
        return Trip(Guard.BELOW_FLOOR, f"{price:,} is below the floor {floor:,}")
    if price > ceiling:
        return Trip(Guard.ABOVE_CEILING, f"{price:,} is above the ceiling {ceiling:,}")
    return _moved(Guard.STEP, caution.step, price, prices.confirmed) or _moved(
        Guard.DAY, caution.day, price, prices.day_began
    )


def _amount(value: object) -> int | None:
    """A positive whole amount; 0, a negative, NaN, a float, a text and nothing are all no amount."""
    found = value.amount_minor if isinstance(value, Money) else value
    return found if type(found) is int and found > 0 else None


def _moved(guard: Guard, percent: int, price: int, before: int | None) -> Trip | None:
    if not before or abs(price - before) * 100 <= percent * before:
        return None
    span = "in one step" if guard is Guard.STEP else "in a day"
    moved = (price - before) * 100 / before
    return Trip(guard, f"{before:,} → {price:,} is {moved:+.0f} % {span}, at most {percent} % are allowed")


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What a run has done so far, the batch at hand included."""

    live: int
    """Listings of the account that are live."""
    closing: int
    changing: int
    closed_before: bool = False
    """This guard has stopped this run already: it stays stopped."""
    changed_before: bool = False


def closing_trip(caution: Caution, run: RunFacts) -> Trip | None:
    """Whether closing is to stop: half a shop does not sell out in an hour, but a source can break in one."""
    most = max(caution.few, run.live * caution.closed // 100)
    if not run.closed_before and run.closing <= most:
        return None
    return Trip(Guard.CLOSED, f"{run.closing} of {run.live} live listings would be closed, at most {most} are in a run")


def changing_trip(caution: Caution, run: RunFacts) -> Trip | None:
    """Whether changing is to stop: a wrong rate or rule moves everything at once."""
    most = max(caution.few, run.live * caution.changed // 100)
    if not run.changed_before and run.changing <= most:
        return None
    return Trip(Guard.CHANGED, f"{run.changing} of {run.live} live listings would change, at most {most} do in a run")
