"""What the market says unasked is looked at by the next run, and a closing that it undid is made again without one."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from bobusang.flows.conveyor import cancelling
from bobusang.flows.conveyor.model import Mode
from bobusang.kit import json
from bobusang.sandbox.buyma.account import Behaviour
from bobusang.sandbox.world import World
from bobusang.stages.register.model import Policy
from bobusang.testing.crawl import Visiting, visit
from bobusang.testing.shop import ENDLESS, Shop
from tests.integration.flows.selling import NO_DOUBLES, OKMALL, doubles, shelves

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

TOKEN = {"X-Buyma-Personal-Shopper-Api-Access-Token": "sandbox-token"}
HOUR = 3600.0
LAST = """
    select c.kind, c.payload, l.market_id from listings l join market_calls c on c.listing_id = l.id
    where l.sku = :sku order by c.id desc"""
CALLS = """
    select c.kind, c.state from listings l join market_calls c on c.listing_id = l.id
    where l.sku = :sku and c.kind <> 'CREATE' order by c.id"""
ASKED = "select p.price from products p join listings l on l.product_id = p.id where l.sku = :sku"
MARKED = """
    select count(*) as n from listings l join conveyor_marks m on m.product_id = l.product_id
    where l.sku = :sku and m.stamp <> 'doubted'"""


@pytest.fixture
async def any_shop(tmp_path: Path, database_url: str) -> AsyncIterator[Shop]:
    """On each database, working, its brand listed, with nobody in a hurry."""
    said: dict[str, Any] = {
        "world": World(seed=5, size=16, brands=1, pictures=1),
        "sandbox": {"behaviour": Behaviour(delay=0, stock_delay=0, retry_seconds=0.05)},
        "database_url": database_url,
    }
    async with Shop.opened(tmp_path, policy=Policy(budget=ENDLESS), **said) as found, found.yard.working():
        visit(found.yard.app, {"okmall": Visiting(rate=200.0, burst=16.0, concurrency=8)})
        assert await found.run(Mode.FULL, [OKMALL]) == "COMPLETED"
        yield found


async def some(shop: Shop) -> str:
    """One that is on sale."""
    return next(sku for sku, one in (await shelves(shop)).items() if one["status"] == "public")


def calls(*told: str) -> list[dict[str, str]]:
    return [dict(zip(("kind", "state"), one.split(), strict=True)) for one in told]


async def until(shop: Shop, text: str, sku: str, found: Any) -> None:
    """Wait until this is what is stored of a listing."""
    async with asyncio.timeout(20):
        while (await shop.yard.rows(text, sku=sku)) != found:  # noqa: ASYNC110  (a table tells nobody)
            await asyncio.sleep(0.02)


@pytest.mark.parametrize(("percent", "modes"), [(108, [Mode.PARTIAL]), (97, [Mode.PARTIAL, Mode.FULL])])
async def test_a_price_that_is_changed_at_the_market_is_put_right_by_the_next_run_that_may(
    any_shop: Shop, percent: int, modes: list[Mode]
) -> None:
    """PARTIAL raises none, and what it leaves so is looked at by FULL."""
    sku = await some(any_shop)
    before = (await shelves(any_shop))[sku]
    [last, *_] = await any_shop.yard.rows(LAST, sku=sku)
    body = json.loads(last["payload"])
    body["product"] |= {"price": before["price"] * percent // 100, "id": int(last["market_id"])}

    async with httpx.AsyncClient() as person:
        url = f"{any_shop.door.buyma}/api/v1/products.json"
        assert (await person.post(url, json=body, headers=TOKEN)).status_code == 201
    await until(any_shop, MARKED, sku, [{"n": 0}])
    prices = [(await shelves(any_shop))[sku]["price"]]
    for mode in modes:
        assert await any_shop.run(mode, [OKMALL]) == "COMPLETED"
        prices.append((await shelves(any_shop))[sku]["price"])

    changed = body["product"]["price"]
    assert prices[:-1] == [changed] * len(modes)
    assert abs(prices[-1] - before["price"]) <= 1  # who comes from below is rounded down
    assert await any_shop.yard.rows(CALLS, sku=sku) == calls("EDIT CONFIRMED")
    assert await any_shop.yard.rows(MARKED, sku=sku) == [{"n": 1}]


async def test_what_a_late_edit_puts_back_on_sale_is_closed_again_before_any_run(any_shop: Shop) -> None:
    """The market takes an hour for an edit, and is quick with the closing that overtook it."""
    sku = await some(any_shop)
    key, door, engine = sku.removeprefix("okmall-"), any_shop.door, any_shop.yard.app.engine
    await door.behave(delay=HOUR)
    [asked] = await any_shop.yard.rows(ASKED, sku=sku)
    await door.override("okmall", key, price=asked["price"] * 9 // 10)
    batch = await any_shop.start(Mode.PARTIAL, [OKMALL])
    await until(any_shop, CALLS, sku, calls("EDIT ACCEPTED"))
    await any_shop.yard.db.transact(lambda tx: cancelling.cancel(tx, engine, batch, "a person wants the brand free"))
    await door.override("okmall", key, sold_out=True)
    for _ in range(2):  # the first list lacks it, which may mean anything; the second run asks for its page
        assert await any_shop.run(Mode.PARTIAL, [OKMALL]) == "COMPLETED"
    closed = (await shelves(any_shop))[sku]["status"]
    assert await any_shop.yard.rows(CALLS, sku=sku) == calls("EDIT SUPERSEDED", "CLOSE CONFIRMED")

    await door.settle(hurry=True)
    await until(any_shop, CALLS, sku, calls("EDIT SUPERSEDED", "CLOSE CONFIRMED", "CLOSE CONFIRMED"))

    assert (closed, (await shelves(any_shop))[sku]["status"]) == ("buyer_suspended", "buyer_suspended")
    assert await doubles(door) == NO_DOUBLES
