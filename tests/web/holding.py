"""Something for a person to decide, put into a shop: prices that jump, sends that are stopped, brands, a rate."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from bobusang.catalog import brands, records
from bobusang.kit.sql import Statement
from bobusang.stages.collect import guards, held
from bobusang.stages.collect.held import Hold
from bobusang.stages.collect.model import Run, RunMode
from bobusang.stages.collect.policy import Guards
from bobusang.stages.price import fxbook
from bobusang.stages.price.model import FxQuote
from bobusang.stages.register import holds
from bobusang.stages.register.guards import Guard, Trip
from bobusang.stages.register.holds import Halt
from bobusang.testing.catalog import reading

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bobusang.catalog.brands import Proposal
    from bobusang.kit.db import Database, Row, Tx

SOME = Statement("""
    select id, product_id, name, price from products where mall = 'okmall' and price > 20000
    order by id limit :count""")
PAGE = Statement("select id as value from raw_pages where source = 'okmall' order by id limit 1")
LISTINGS = Statement("select id, account_id, sku from listings order by id limit :count")
PRICE = Statement("select price as value from products where id = :id")


async def prices(db: Database, count: int) -> Sequence[Row]:
    """Held prices of so many products, a tenth of what they were; the products, the first of them held first."""

    async def work(tx: Tx) -> Sequence[Row]:
        found = await tx.fetch(SOME, count=count)
        raw_id = await tx.value(PAGE)
        run = Run(1, "okmall", "brand:NIKE", RunMode.FULL, 40, tx.now)
        for row in found:
            said = reading(row["product_id"], price=row["price"] // 10, raw_id=raw_id, complete=False)
            (change,) = await records.compare(tx, [said], groups={})
            why = guards.price_jump(Guards(), change)
            assert why is not None
            await held.hold(tx, [Hold(run, change, why)], {})
        return found

    return await db.transact(work)


async def price(db: Database, id: int) -> int:
    """What a product costs now."""
    async with db.read() as tx:
        return int(await tx.value(PRICE, id=id))


async def sends(db: Database) -> list[str]:
    """A price step of one listing, and a loss of another; their SKUs."""

    async def work(tx: Tx) -> list[str]:
        first, second = await tx.fetch(LISTINGS, count=2)
        step = Trip(Guard.STEP, "22,500 → 38,000 is +69 % in one step, at most 30 % are allowed")
        loss = Trip(Guard.BELOW_FLOOR, "19,999 is below the floor 20,000")
        await holds.keep(tx, first["account_id"], "r", [Halt(first["id"], step, "a"), Halt(second["id"], loss, "b")])
        return [first["sku"], second["sku"]]

    return await db.transact(work)


async def moved(db: Database) -> None:
    """The step of `sends` goes to another price."""

    async def work(tx: Tx) -> None:
        first, _ = await tx.fetch(LISTINGS, count=2)
        step = Trip(Guard.STEP, "22,500 → 39,000 is +73 % in one step, at most 30 % are allowed")
        await holds.keep(tx, first["account_id"], "r2", [Halt(first["id"], step, "c")])

    await db.transact(work)


async def proposed(db: Database, *found: Proposal) -> dict[str, int]:
    """Brands that okmall proposes, by key."""

    async def work(tx: Tx) -> dict[str, int]:
        await brands.propose(tx, "okmall", found)
        return {one.key: one.id for one in await brands.listed(tx, "okmall", limit=10_000)}

    return await db.transact(work)


async def rate(db: Database) -> None:
    """A rate that is ten times what it was."""

    async def work(tx: Tx) -> None:
        first = FxQuote("USD", "KRW", "1400", "a test", tx.now - timedelta(hours=2))
        await fxbook.record(tx, [first])
        await fxbook.record(tx, [FxQuote("USD", "KRW", "14000", "a test", tx.now - timedelta(hours=1))])

    await db.transact(work)
