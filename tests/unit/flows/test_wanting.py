"""What REGISTER is asked for a product, from what CONVERT made and the mall says now."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from bobusang.catalog.tables.variants import Axis, StockKind
from bobusang.catalog.variants import Goods, Option, Stock, Variant
from bobusang.flows.conveyor import wanting
from bobusang.flows.conveyor.goods import Known, Told
from bobusang.stages.convert.model import Converted
from bobusang.stages.register import model as register
from bobusang.stages.register.drafting import grid

NOW = datetime(2026, 1, 27, tzinfo=UTC)
TOLD = {"price": 9000, "floor": 8000, "ceiling": 12_000, "currency": "JPY", "reason": "no_rival", "held": False}
BEIGE = Option(Axis.COLOR, "", None, "베이지", "Beige", 1, 12)
"""A colour that stands in the name, because the mall's options have none: it has no key."""
FREE = Option(Axis.SIZE, "FREE", None, "FREE", "FREE", 1)


def made(stock: Stock) -> Converted:
    cell = Variant("4340000040", ("4340000040",), "베이지 / FREE", "", "FREE", stock)
    return Converted("NIKE", "…", 203, "", 3309, ("size",), Goods((BEIGE, FREE), (cell,)))


def wanted(*, available: bool) -> register.Wanted:
    fields: dict[str, Any] = {
        "options": [{"code": "4340000040", "size": "FREE", "stock": 11 if available else 0, "available": available}],
        "sold_out": not available,
    }
    known = Known(1, "mustit", "117000002", 2, Told(fields), NOW)
    one = made(Stock(StockKind.UNKNOWN))
    goods = wanting.stocked(known, one).goods
    return wanting.registered(known, one, goods, (), TOLD, cap=3, seen_at=None, decided_at=None)


def test_the_colour_that_only_the_name_tells_is_that_of_every_cell() -> None:
    found = wanted(available=True)

    cell = register.Variant("only", "FREE", register.Stock.TO_ORDER, 3)
    assert (found.variants, grid(found.options, found.variants)) == ((cell,), (cell,))


def test_what_the_mall_has_no_more_is_out() -> None:
    assert wanted(available=False).variants == (register.Variant("only", "FREE", register.Stock.OUT),)
