"""Stock as a claim: a count, in, out or unknown; and how much of it may be offered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bobusang.catalog.tables.variants import StockKind
from bobusang.catalog.variants import Stock
from bobusang.kit.errors import Invalid

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

IN, OUT, UNKNOWN = Stock(StockKind.IN), Stock(StockKind.OUT), Stock(StockKind.UNKNOWN)
MOST = 3
"""The largest cap: one bad hour must not be able to take ninety orders for a thing that is gone."""
LARGEST = 2**31 - 1


def claim(option: Mapping[str, Any]) -> Stock:
    """What a source's option claims; what contradicts itself, and what is not said, is unknown and never none."""
    if option.get("gone") is True:
        return OUT
    count, available = option.get("stock"), option.get("available")
    if type(count) is not int or not 0 <= count <= LARGEST:
        return {True: IN, False: OUT}.get(available, UNKNOWN) if isinstance(available, bool) else UNKNOWN
    if isinstance(available, bool) and available != (count > 0):
        return UNKNOWN
    return Stock(StockKind.COUNT, count) if count else OUT


def joined(claims: Iterable[Stock]) -> Stock:
    """Of one thing that a mall has twice: the best claim, and none only if every one says none."""
    every = list(claims)
    counted = [one for one in every if one.kind is StockKind.COUNT]
    if counted:
        return max(counted, key=lambda one: one.count or 0)
    for kind in (IN, UNKNOWN):
        if kind in every:
            return kind
    return OUT if every else UNKNOWN


def sellable(stock: Stock, *, cap: int, held_back: int = 0) -> int | None:
    """How many may be offered: never more than the cap, never more than claimed; None: keep what was said last.

    `held_back` is what is not ours to sell: a buffer, open orders, what was sold since the claim.
    """
    if not 1 <= cap <= MOST:
        raise Invalid(f"a stock cap is 1 to {MOST}, not {cap}", hint="offer few: a stock is a claim", field="cap")
    match stock.kind:
        case StockKind.UNKNOWN:
            return None
        case StockKind.OUT:
            return 0
        case StockKind.IN:
            return cap
        case StockKind.COUNT:
            return max(0, min(cap, (stock.count or 0) - held_back))
