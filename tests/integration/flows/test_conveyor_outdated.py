"""A price that waited is not sent once it is too old, overtaken, or made of another cost; what sold out is told."""

from __future__ import annotations

import asyncio
import re
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from bobusang.engine import redriving
from bobusang.engine.model import ReasonClass
from bobusang.engine.outcome import Park
from bobusang.flows.conveyor import cancelling, reporting, retrying
from bobusang.flows.conveyor.model import Mode
from bobusang.kit import json
from bobusang.kit.sql import Statement
from bobusang.sandbox.buyma.account import Behaviour
from bobusang.sandbox.world import World
from bobusang.stages.price import policies
from bobusang.stages.price import policy as pricing
from bobusang.stages.register import accounts
from bobusang.testing.clock import LeapingClock
from bobusang.testing.shop import NAME, Shop
from bobusang.testing.workshop import Workshop
from tests.integration.flows.selling import MUSTIT, NO_DOUBLES, doubles, shelves

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from bobusang.kit.db import Tx

pytestmark = pytest.mark.timeout(180)
REST = timedelta(minutes=10)
"""How long the market does not want to be called: shorter than a task waits for, longer than a test runs."""
SALE = Decimal("0.95")
CALLS = """
    select l.sku, c.kind, c.draft from market_calls c join listings l on l.id = c.listing_id
    where c.id > :after order by c.id"""
REGISTERING = """
    select count(*) as n from tasks t join workflow_steps s on s.id = t.step_id
    where s.step_name = 'register' and t.status = 'RETRYING'"""
OPEN = """
    select count(*) as n from tasks t join workflow_steps s on s.id = t.step_id
    where s.step_name <> 'close' and t.status in ('PENDING', 'RETRYING') and s.step_name <> 'register'"""


@dataclass
class Stall:
    """A shop with everything listed at the price of its cost, for nobody else sells it."""

    shop: Shop
    clock: LeapingClock
    prices: dict[str, int]
    """At the market, by our name for the product."""
    last: int

    async def mall(self) -> dict[str, dict[str, Any]]:
        """What the mall has, by our name for it."""
        items = (await self.shop.door.truth("mustit", brand="NIKE"))["items"]
        return {f"mustit-{one['key']}": one for one in items}

    async def ask(self, sku: str, price: int, **more: Any) -> None:
        """Let the mall ask another price, on a page that is looked at with the next run."""
        await self.shop.door.override("mustit", sku.removeprefix("mustit-"), price=price, **more)
        due = Statement("""
            update source_seen set interval_seconds = 0
            where record_id in (select product_id from listings where sku = :sku)""")
        await self.shop.yard.db.transact(lambda tx: tx.execute(due, sku=sku))

    async def parked(self, count: int) -> str:
        """A PARTIAL whose prices are decided and whose REGISTER waits until the market wants to be called again."""

        async def rest(tx: Tx) -> None:
            account = await accounts.named(tx, "buyma", NAME)
            await accounts.rest(tx, account.id, tx.now + REST)

        await self.shop.yard.db.transact(rest)
        async with self.shop.yard.working():
            batch = await self.shop.start(Mode.PARTIAL, [MUSTIT])
            async with asyncio.timeout(60):
                while (await self._count(REGISTERING), await self._count(OPEN)) != (count, 0):  # noqa: ASYNC110  (tables tell nobody)
                    await asyncio.sleep(0.02)
        return batch

    async def _count(self, text: str) -> int:
        [row] = await self.shop.yard.rows(text)
        return int(row["n"])

    async def calls(self) -> list[tuple[str, str, int]]:
        """Which calls were made since everything was listed, each with its price."""
        rows = await self.shop.yard.rows(CALLS, after=self.last)
        return [(row["sku"], row["kind"], json.loads(row["draft"])["price"]) for row in rows]

    async def told(self, batch: str) -> dict[str, int]:
        """Why products of a batch were left out, numbers aside, and how many."""
        async with self.shop.yard.db.read() as tx:
            found = (await reporting.causes(tx, batch)).left_out
        return {re.sub(r"\d[\d,]*(?<!,)", "9", one.error): one.count for one in found}


@asynccontextmanager
async def stalled(home: Path, database_url: str) -> AsyncIterator[Stall]:
    world = World(seed=5, size=10, brands=1, pictures=1)
    clock = LeapingClock()
    said: dict[str, Any] = {"world": world, "sandbox": {"behaviour": Behaviour(delay=0, retry_seconds=0.05)}}
    async with Shop.opened(home, database_url=database_url, clock=clock, **said) as shop:
        clock.leap(days=-1)
        mall = world.mall("mustit")
        for model in {mall.product(no).model for brand in mall.brands for no in mall.numbers(0, brand)} - {""}:
            await shop.door.rivals(model, [])
        async with shop.yard.working():
            assert await shop.run(Mode.FULL, [MUSTIT]) == "COMPLETED"
        prices = {sku: one["price"] for sku, one in (await shelves(shop)).items()}
        [row] = await shop.yard.rows("select max(id) as id from market_calls")
        yield Stall(shop, clock, prices, row["id"])


@pytest.fixture
async def stall(tmp_path: Path, database_url: str) -> AsyncIterator[Stall]:
    async with stalled(tmp_path, database_url) as found:
        yield found


def lower(price: int) -> int:
    return int(price * SALE) // 100 * 100


async def test_a_price_that_waited_a_day_is_decided_anew_and_what_sold_out_goes_first(stall: Stall) -> None:
    there = await stall.mall()
    whole = [sku for sku in stall.prices if sum(one["available"] for one in there[sku]["options"]) > 1]
    cheaper, fewer = whole[:2]
    code = next(one["code"] for one in there[fewer]["options"] if one["available"])
    await stall.ask(cheaper, lower(there[cheaper]["price"]))
    await stall.ask(fewer, lower(there[fewer]["price"]), stocks={code: 0})
    batch = await stall.parked(2)
    decided = {
        row["sku"]: row["price"]
        for row in await stall.shop.yard.rows("select sku, price from price_quotes order by id")
        if row["sku"] in (cheaper, fewer)
    }

    stall.clock.leap(hours=20)
    more = pricing.Policy(target_margin=Decimal("0.21"))
    await stall.shop.yard.db.transact(lambda tx: policies.put(tx, "buyma", "", more, who="owner"))
    async with stall.shop.yard.working():
        assert await stall.shop.ended(batch) == "COMPLETED"

    found = await stall.calls()
    prices = {sku: price for sku, kind, price in found if kind == "EDIT"}
    assert all(decided[sku] < prices[sku] < stall.prices[sku] for sku in (cheaper, fewer))
    assert [(kind, price) for sku, kind, price in found if sku == cheaper] == [("EDIT", prices[cheaper])]
    assert [(kind, price) for sku, kind, price in found if sku == fewer] == [
        ("STOCK", stall.prices[fewer]),
        ("EDIT", prices[fewer]),
    ]
    assert len(found) == 3
    assert await stall.told(batch) == {"its price was decided 9 hours ago, and is good for 9: priced anew": 2}
    assert {sku: one["price"] for sku, one in (await shelves(stall.shop)).items()} == stall.prices | prices
    assert await doubles(stall.shop.door) == NO_DOUBLES


async def test_a_dead_letter_does_not_undo_what_a_later_run_decided(stall: Stall) -> None:
    """A sale is over before its price was sent; within the hour somebody drives the dead letter again."""
    there, sku = await stall.mall(), min(stall.prices)
    await stall.ask(sku, lower(there[sku]["price"]))
    batch = await stall.parked(1)
    engine = Workshop(stall.shop.yard.app.engine)
    stall.clock.leap(minutes=11)
    await engine.promote()
    claimed = await engine.claim(handler="conveyor.register")
    assert claimed is not None
    await engine.finish(claimed, Park(ReasonClass.BUG, "it broke"))
    await engine.do(lambda tx: tx.execute(Statement("delete from workers")))  # the gate wants one that calls malls
    await stall.ask(sku, there[sku]["price"])
    async with stall.shop.yard.working():
        assert await stall.shop.ended(batch) == "FAILED"
        assert await stall.shop.run(Mode.FULL, [MUSTIT]) == "COMPLETED"
        assert await stall.calls() == []

        wanted = redriving.Filter(ids=claimed.ids)
        driven = await engine.do(lambda tx: redriving.redrive(tx, engine.books, wanted))
        assert (driven, await stall.shop.yard.ended(claimed.tasks[0].job_id)) == (1, "SUCCESS")
        assert await stall.shop.ended(batch) == "COMPLETED"

    assert await stall.calls() == []
    assert await stall.told(batch) == {"its price was 9, and 9 was decided since: priced anew": 1}
    assert {sku: one["price"] for sku, one in (await shelves(stall.shop)).items()} == stall.prices


async def test_a_price_is_not_sent_once_the_mall_is_dearer_than_it_was_made_of(stall: Stall) -> None:
    """Somebody collects the brand, without pricing it, while REGISTER waits for the market."""
    there, sku = await stall.mall(), min(stall.prices)
    await stall.ask(sku, lower(there[sku]["price"]))
    batch = await stall.parked(1)
    await stall.ask(sku, there[sku]["price"])
    async with stall.shop.yard.working():
        await stall.shop.yard.collect("mustit", "brand", MUSTIT.name)
        assert await stall.calls() == []

    stall.clock.leap(minutes=11)
    async with stall.shop.yard.working():
        assert await stall.shop.ended(batch) == "COMPLETED"

    assert await stall.calls() == []
    assert await stall.told(batch) == {"its price was made of ₩9, and the mall asks ₩9 now: priced anew": 1}
    assert {sku: one["price"] for sku, one in (await shelves(stall.shop)).items()} == stall.prices


async def test_a_cancelled_batch_that_owes_only_register_is_priced_anew_and_sent(stall: Stall) -> None:
    """The prices went with the tasks that were cancelled: a new job has none before it has asked PRICE."""
    there, sku = await stall.mall(), min(stall.prices)
    await stall.ask(sku, lower(there[sku]["price"]))
    batch, engine = await stall.parked(1), stall.shop.yard.app.engine
    await Workshop(engine).fold()
    await stall.shop.yard.db.transact(lambda tx: cancelling.cancel(tx, engine, batch, why="not now"))
    stall.clock.leap(minutes=11)
    async with stall.shop.yard.working():
        assert await stall.shop.ended(batch) == "FAILED"
        retried = await stall.shop.yard.db.transact(lambda tx: retrying.retry(tx, engine, batch))
        assert (retried.brands, await stall.shop.ended(batch)) == ((MUSTIT,), "COMPLETED")

    [(_, _, price)] = found = await stall.calls()
    assert found == [(sku, "EDIT", price)]
    assert {sku: one["price"] for sku, one in (await shelves(stall.shop)).items()} == stall.prices | {sku: price}
    assert price < stall.prices[sku]


async def test_a_call_under_way_is_sent_again_as_it_was_and_todays_price_follows(stall: Stall) -> None:
    """Nobody can ask the market what became of it: its answer is the word on the call that is sent again."""
    there, sku, door = await stall.mall(), min(stall.prices), stall.shop.door
    await stall.ask(sku, lower(there[sku]["price"]))
    hooks = f"{stall.shop.url}/webhooks/buyma/{NAME}"
    await door.account(webhook_url=f"{stall.shop.url}/nowhere")
    engine = Workshop(stall.shop.yard.app.engine)
    async with stall.shop.yard.working():
        batch = await stall.shop.start(Mode.PARTIAL, [MUSTIT])
        await engine.until(lambda: engine.rows("select id from market_calls where state = 'ACCEPTED'"))
    [(_, _, old)] = await stall.calls()

    stall.clock.leap(hours=20)
    await door.settle()
    await door.account(webhook_url=hooks)
    more = pricing.Policy(target_margin=Decimal("0.21"))
    await stall.shop.yard.db.transact(lambda tx: policies.put(tx, "buyma", "", more, who="owner"))
    async with stall.shop.yard.working():
        assert await stall.shop.ended(batch) == "COMPLETED"

    [_, (_, _, new)] = found = await stall.calls()
    assert found == [(sku, "EDIT", old), (sku, "EDIT", new)]
    assert old < new < stall.prices[sku]
    assert (await shelves(stall.shop))[sku]["price"] == new
    sends = await stall.shop.yard.rows(
        "select state, sends from market_calls where id > :id order by id", id=stall.last
    )
    assert sends == [{"state": "CONFIRMED", "sends": 2}, {"state": "CONFIRMED", "sends": 1}]
