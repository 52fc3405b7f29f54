"""Two hours that closed whole shops elsewhere, from the mall's pages to the market's shelves (docs/incidents.md)."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from bobusang.flows.conveyor.goods import sku_of
from bobusang.flows.conveyor.model import Brand, Mode
from bobusang.sandbox.buyma.account import Behaviour
from bobusang.sandbox.world import World
from bobusang.stages.register import accounts, holds
from bobusang.stages.register.guards import Guard
from bobusang.stages.register.model import Caution
from bobusang.testing.crawl import Visiting, visit
from bobusang.testing.shop import NAME, Shop

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from bobusang.kit.db import Tx
    from bobusang.stages.register.holds import Hold

pytestmark = pytest.mark.asyncio(loop_scope="module")

NIKE = Brand("okmall", "나이키(NIKE)")
CALM = {"okmall": Visiting(rate=200.0, burst=16.0, concurrency=8)}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shop(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Shop]:
    """A brand, listed."""
    sandbox = {"behaviour": Behaviour(delay=0, retry_seconds=0)}
    home, world = tmp_path_factory.mktemp("shop"), World(seed=5, size=40, brands=2)
    async with Shop.opened(home, world=world, sandbox=sandbox) as found, found.yard.working():
        visit(found.yard.app, CALM)
        assert await found.run(Mode.FULL, [NIKE]) == "COMPLETED"
        yield found


async def shelves(shop: Shop) -> dict[str, int]:
    """How many listings the market itself has in which state."""
    return Counter(listing["status"] for listing in (await shop.door.market(limit=1000))["listings"])


async def kinds(shop: Shop) -> dict[str, int]:
    rows = await shop.yard.rows("select kind, count(*) as n from market_calls group by kind")
    return {row["kind"]: row["n"] for row in rows}


async def test_all_pages_answer_500_and_nothing_is_closed(shop: Shop) -> None:
    before = await shelves(shop), await kinds(shop), await shop.yard.records("okmall")
    await shop.door.fault("okmall", "*", "http_500")

    ended = await shop.run(Mode.FULL, [NIKE])
    await shop.door.clear()

    assert ended == "FAILED"
    assert before[0] == {"public": before[1]["CREATE"]}
    assert (await shelves(shop), await kinds(shop), await shop.yard.records("okmall")) == before
    [told] = await shop.yard.rows("select error_msg from pipeline_control where stage = 'COLLECT' and status = 'ERROR'")
    assert told["error_msg"] == "HTTP 500: their fault"


async def test_nine_of_ten_sold_out_at_once_waits_for_a_person(shop: Shop) -> None:
    live = {row["sku"] for row in await shop.yard.rows("select sku from listings where state = 'LIVE'")}
    shown = [one["key"] for one in (await shop.door.truth("okmall", brand=NIKE.name))["items"] if one["listed"]]
    gone = shown[: len(shown) * 9 // 10]
    for key in gone:
        await shop.door.override("okmall", key, sold_out=True)

    # The first list lacks them, which may mean anything; the second run asks for their own pages.
    ended = [await shop.run(mode, [NIKE]) for mode in (Mode.PARTIAL, Mode.PARTIAL, Mode.FULL)]
    closed = (await shelves(shop)).get("buyer_suspended", 0)
    held = await waiting(shop)

    assert ended == ["COMPLETED"] * 3
    assert closed <= Caution().few
    assert {one.guard for one in held} == {Guard.CLOSED}
    assert closed + len(held) == len(live & {sku_of("okmall", key) for key in gone})

    for one in held:
        await shop.yard.db.transact(partial(approved, shop, one.id))
    await shop.run(Mode.PARTIAL, [NIKE])
    assert (await shelves(shop))["buyer_suspended"] == closed + len(held)


async def waiting(shop: Shop) -> list[Hold]:
    """What a person is asked."""
    async with shop.yard.db.read() as tx:
        return await holds.pick(tx, (await accounts.named(tx, "buyma", NAME)).id)


async def approved(shop: Shop, id: int, tx: Tx) -> Hold:
    return await shop.yard.app.belt.register.decide_hold(tx, id, approve=True, who="owner")
