"""An edit that the market does after the closing that overtook it: what is for sale again is closed again, soon."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from bobusang.flows.market.reopening import close_again
from bobusang.kit.money import yen
from bobusang.kit.sql import Statement
from bobusang.stages.register.guards import Guard
from bobusang.stages.register.model import Caution, Policy, Stock
from tests.integration.register.desk import Desk
from tests.unit.register.making import WANTED, stocks

if TYPE_CHECKING:
    from bobusang.kit.db import Database
    from bobusang.stages.register.model import Wanted
    from bobusang.testing.clock import ManualClock
    from tests.integration.register.shop import Hook

COAT = replace(WANTED, product_id=1, sku="okmall/1")
CHEAPER = replace(COAT, price=yen(21_000))
GONE = replace(COAT, variants=stocks(Stock.OUT))
LESS = replace(COAT, variants=stocks(c1_s1=Stock.OUT))
CALLS = "select kind, state from market_calls where kind <> 'CREATE' order by id"
MARK = Statement("""
    insert into conveyor_marks (product_id, market, version, stamp, model, due_at, marked_at)
    values (1, 'buyma', 1, 'x', 'x', :now, :now)""")


async def overtaken(db: Database, wish: Wanted, policy: Policy | None = None) -> tuple[Desk, list[Hook]]:
    """A coat whose edit a stock call has overtaken, and the words on both: the market does the stock call first."""
    desk = await Desk.opened(db, policy)
    await desk.go(COAT)
    await desk.told()
    await desk.go(CHEAPER)
    await desk.go(wish)
    desk.shop.queue.reverse()
    return desk, desk.shop.work()


async def calls(desk: Desk) -> list[tuple[str, str]]:
    return [(row["kind"], row["state"]) for row in await desk.rows(CALLS)]


async def listing(desk: Desk) -> tuple[str, int, int]:
    """State, price, and how much of it the market sells."""
    (product,) = desk.shop.products.values()
    (row,) = await desk.rows("select state from listings")
    sold = [one for one in product["variants"] if one["stock_type"] != "out_of_stock"]
    return row["state"], product["price"], len(sold)


async def test_what_a_late_edit_puts_back_on_sale_is_closed_again_by_one_call(db: Database) -> None:
    desk, words = await overtaken(db, GONE)
    again = close_again(db, desk.register)

    await desk.told(words[:1])
    assert await again.run() == 0
    await desk.told(words[1:])
    assert await listing(desk) == ("LIVE", 21_000, 6)
    assert (await again.run(), await again.run()) == (1, 0)
    await desk.told()

    assert await listing(desk) == ("SUSPENDED", 21_000, 0)
    assert await again.run() == 0
    assert await calls(desk) == [("EDIT", "SUPERSEDED"), ("CLOSE", "CONFIRMED"), ("CLOSE", "CONFIRMED")]


async def test_a_size_that_a_late_edit_puts_back_on_sale_goes_out_again_and_nothing_else_changes(db: Database) -> None:
    desk, words = await overtaken(db, LESS)
    await desk.told(words)
    desk.shop.products[100]["order_quantity"] = 1  # what buyers took meanwhile
    desk.shop.ticks += 1
    await desk.told([desk.shop.hook("product/update", desk.shop.said(100))])

    assert await close_again(db, desk.register).run() == 1
    await desk.told()

    assert await listing(desk) == ("LIVE", 21_000, 5)
    assert desk.shop.products[100]["order_quantity"] == 1
    assert await calls(desk) == [("EDIT", "SUPERSEDED"), ("STOCK", "CONFIRMED"), ("STOCK", "CONFIRMED")]


async def test_a_late_edit_that_is_done_before_the_closing_needs_nothing(db: Database) -> None:
    """Only its word comes late."""
    desk = await Desk.opened(db)
    await desk.go(COAT)
    await desk.told()
    await desk.go(CHEAPER)
    edited = desk.shop.work()
    await desk.go(GONE)
    await desk.told()
    await desk.told(edited)

    assert await close_again(db, desk.register).run() == 0
    assert await calls(desk) == [("EDIT", "SUPERSEDED"), ("CLOSE", "CONFIRMED")]


async def test_what_is_closed_again_is_counted_like_all_closing(db: Database) -> None:
    desk, words = await overtaken(db, GONE, Policy(caution=Caution(closed=0, few=1)))
    await desk.told(words)

    assert await close_again(db, desk.register).run() == 0

    assert await desk.rows("select guard from listing_holds") == [{"guard": Guard.CLOSED}]


async def test_what_undoes_a_closing_of_long_ago_is_left_to_the_runs(db: Database, clock: ManualClock) -> None:
    """Whoever opens it at the market by hand may have his reasons, and its mall says whether it has it."""
    desk, words = await overtaken(db, GONE)
    await desk.told(words[:1])
    clock.advance(hours=25)
    await desk.told(words[1:])

    assert await close_again(db, desk.register).run() == 0
