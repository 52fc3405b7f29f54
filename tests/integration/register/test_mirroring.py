"""What a market has confirmed stands in the catalog too, by the same commit, in a few statements for any number."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bobusang.catalog import markets
from bobusang.catalog.markets import Offered, Sync
from bobusang.kit.money import yen
from bobusang.stages.register.model import Stock
from bobusang.testing.catalog import collect, reading
from bobusang.testing.clock import NOON
from tests.integration.price.test_service import Counting
from tests.integration.register.desk import Desk
from tests.integration.register.shop import Shop
from tests.unit.register.making import WANTED, stocks

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from bobusang.kit.db import Database
    from bobusang.kit.sql import Revise
    from bobusang.stages.register.model import Wanted
    from bobusang.testing.clock import ManualClock


class CountingAll(Counting):
    """And what is changed."""

    async def _execute(self, text: str, arguments: Sequence[Any]) -> int:
        self.statements += 1
        return await self._tx._execute(text, arguments)

    async def _revise(self, revise: Revise, rows: Sequence[Sequence[Any]]) -> None:
        self.statements += 1
        await self._tx._revise(revise, rows)


async def coats(db: Database, count: int = 1) -> list[Wanted]:
    _, written = await collect(db, *(reading(f"A{n}", price=1) for n in range(count)))
    return [replace(WANTED, product_id=id, sku=f"okmall/{id}") for id in written.ids]


async def on_buyma(db: Database) -> list[Offered]:
    async with db.read() as tx:
        return await markets.by_market(tx, "buyma")


def info(status: str, at: datetime, **more: Any) -> dict[str, Any]:
    known = {"account": "main", "listing_id": "100", "url": "http://shop/item/100/", "price": 22_500, "currency": "JPY"}
    return {"status": status, **known, "last_sync": at.isoformat(), **more}


async def test_the_catalog_follows_the_market(db: Database, clock: ManualClock) -> None:
    desk = await Desk.opened(db)
    (coat,) = await coats(db)
    await desk.go(coat)
    assert await on_buyma(db) == []  # accepted is not confirmed
    await desk.told()
    id = coat.product_id
    assert await on_buyma(db) == [Offered(id, "okmall", "A0", 1, info("active", NOON), NOON)]

    later = clock.advance(hours=1)
    await collect(db, reading("A0", price=2))
    await desk.go(replace(coat, price=yen(23_000)))
    await desk.told()
    assert await on_buyma(db) == [Offered(id, "okmall", "A0", 2, info("active", later, price=23_000), later)]

    await desk.go(replace(coat, variants=stocks(Stock.OUT)))
    await desk.told()
    async with db.read() as tx:
        assert await markets.active_in_market(tx, "buyma") == []
        (total,) = await markets.totals_by_market(tx)
    assert total.by_status == {"suspended": 1}


async def test_a_refusal_tells_nothing_of_when_it_was_synced(db: Database, clock: ManualClock) -> None:
    desk = await Desk.opened(db)
    (coat,) = await coats(db)
    await desk.go(coat)
    (listing,) = await desk.rows("select reference from listings")
    failure = {"request_uid": "u1", "reference_number": listing["reference"], "errors": {"price": ["x"]}}
    await desk.told([Shop.hook("product/fail_to_create", failure)])

    (found,) = await on_buyma(db)
    assert (found.info, found.last_sync) == ({"status": "rejected", "account": "main"}, None)


async def test_of_two_accounts_the_one_for_sale_is_shown_and_other_markets_stay(
    db: Database, clock: ManualClock
) -> None:
    first, second = await Desk.opened(db), await Desk.opened(db, name="second")
    (coat,) = await coats(db)
    id = coat.product_id
    await db.transact(lambda tx: markets.set_market_data(tx, [Sync(id, "coupang", {"status": "active"})]))
    for desk in (first, second):
        await desk.go(coat)
        await desk.told()
    later = clock.advance(hours=1)
    await first.go(replace(coat, variants=stocks(Stock.OUT)))
    await first.told()

    (found,) = await on_buyma(db)
    assert found.info == info("active", NOON, account="second")
    await second.go(replace(coat, variants=stocks(Stock.OUT)))
    await second.told()
    (found,) = await on_buyma(db)
    assert found.info in (info("suspended", later), info("suspended", later, account="second"))
    async with db.read() as tx:
        assert [one.market for one in await markets.totals_by_market(tx)] == ["buyma", "coupang"]


async def test_a_hundred_words_cost_as_many_statements_as_two(db: Database) -> None:
    desk = await Desk.opened(db)
    many = await coats(db, 102)
    unknown = replace(WANTED, product_id=10**9, sku="okmall/gone")  # its record is not there: no webhook waits for it
    counts = []
    for wanted in ([*many[:2], unknown], many[2:]):
        await desk.go(*wanted)
        await desk.receive(desk.shop.work())
        async with db.begin() as tx:
            counting = CountingAll(tx)
            await desk.register.apply(counting, desk.account)
        counts.append(counting.statements)

    assert counts[0] == counts[1]
    async with db.read() as tx:
        assert [total.records for total in await markets.totals_by_market(tx)] == [102]
