"""How the world grows older: what a product costs, what is left of it and whether it is there, by the hour alone."""

from __future__ import annotations

from math import floor, log
from typing import TYPE_CHECKING

from bobusang.sandbox.chance import MASK, drawn

if TYPE_CHECKING:
    from bobusang.sandbox.product import Product

BIRTH, LIFE, PRICE, DROUGHT, STOCK = 1, 2, 3, 4, 100
"""What a number is drawn for; an option's stock is `STOCK` and its place."""

LIFE_HOURS = 3000.0
"""How long a product is sold, on average: in a week about one of twenty goes, and as many come."""
MOVES = ((60, 100), (75, 95), (87, 90), (95, 85), (100, 104))
"""Of a hundred prices: up to which of them, how many per cent of the product's own. Never a jump of 40 %."""
DROUGHTS = 5
"""Of a hundred spans, in how many all options are sold out at once."""


# The spans are so long that a day changes about one product of ten: a shop that changes faster is not believed.


def _turn(seed: int, salt: int, hours: float, least: int, most: int, pace: float) -> int:
    """The number of the span in which the hour lies; spans of one product begin at its own times."""
    number = drawn(seed, salt)
    span = least + number % (most - least)
    phase = (number >> 32) % span
    return floor((hours * pace + phase) / span)


def price(product: Product, hours: float, pace: float) -> int:
    """What it costs."""
    turn = _turn(product.seed, PRICE, hours, 300, 1200, pace)
    roll = drawn(product.seed, PRICE, turn + 1) % 100
    percent = next(percent for limit, percent in MOVES if roll < limit)
    return product.base_price * percent // 100 // 100 * 100


def stocks(product: Product, hours: float, pace: float) -> tuple[int, ...]:
    """What is left of each option."""
    seed = product.seed
    drought = _turn(seed, DROUGHT, hours, 600, 1800, pace)
    if drawn(seed, DROUGHT, drought + 1) % 100 < DROUGHTS:
        return (0,) * len(product.options)
    return tuple(_stock(seed, STOCK + place, hours, pace) for place in range(len(product.options)))


def _stock(seed: int, salt: int, hours: float, pace: float) -> int:
    number = drawn(seed, salt, _turn(seed, salt, hours, 500, 2000, pace) + 1)
    roll = number % 100
    if roll < 22:
        return 0
    return 1 + (number >> 20) % 2 if roll < 34 else 3 + (number >> 20) % 18


def gone_at(seed: int, born: float, pace: float) -> float:
    """The hour at which it is sold no more."""
    if pace <= 0:
        return float("inf")
    share = (drawn(seed, LIFE) + 1) / (MASK + 2)
    return max(born, 0.0) - log(share) * LIFE_HOURS / pace


def newcomers(first: int, hours: float, pace: float) -> int:
    """How many products a shelf that began with `first` may have got since."""
    return floor(max(hours, 0.0) * pace * first / LIFE_HOURS) + 1 if pace > 0 and hours > 0 else 0


def born_at(seed: int, place: int, first: int, pace: float) -> float:
    """The hour of the newcomer at this place."""
    share = drawn(seed, BIRTH) / MASK
    return (place + share) * LIFE_HOURS / (first * pace)
