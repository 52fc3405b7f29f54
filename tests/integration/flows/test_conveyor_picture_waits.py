"""Pictures that cannot be had now: they wait in the pools of their mall at no cost, and go on when it lets them."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from bobusang.flows.conveyor.model import Mode, Stage
from bobusang.sandbox.buyma.account import Behaviour
from bobusang.sandbox.world import World
from bobusang.stages.collect import switch
from bobusang.testing.crawl import Visiting, visit
from bobusang.testing.shop import Shop
from tests.integration.flows.selling import MUSTIT

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from pathlib import Path

BEFORE = [Stage.COLLECT, Stage.CONVERT]
AFTER = [Stage.IMAGE, Stage.PRICE, Stage.REGISTER]
PATIENCE = 60.0
TASKS = """
    select t.id, t.outcome from tasks t join workflow_steps s on s.id = t.step_id where s.step_name = 'image'"""
SNOOZES = "select task_id from task_attempts where outcome = 'SNOOZE'"


@pytest.fixture
async def shop(tmp_path: Path, database_url: str) -> AsyncIterator[Shop]:
    """On each database, working; the products of a brand are known, and none of their pictures."""
    said: dict[str, Any] = {
        "world": World(seed=5, size=40, brands=1, pictures=2),
        "sandbox": {"behaviour": Behaviour(delay=0, retry_seconds=0.05)},
        "database_url": database_url,
    }
    async with Shop.opened(tmp_path, **said) as shop, shop.yard.working():
        assert await shop.run(Mode.FULL, [MUSTIT], stages=BEFORE) == "COMPLETED"
        yield shop


async def turned_away(shop: Shop) -> None:
    """Wait until every product, but for those that have their pictures, was told that they cannot be had now."""

    async def all_are() -> bool:
        tasks = await shop.yard.rows(TASKS)
        told = {row["task_id"] for row in await shop.yard.rows(SNOOZES)}
        return bool(tasks) and all(task["outcome"] or task["id"] in told for task in tasks)

    await until(all_are)


async def until(holds: Callable[[], Awaitable[bool]]) -> None:
    """Ask again and again, for a bounded time."""
    async with asyncio.timeout(PATIENCE):
        while not await holds():  # noqa: ASYNC110  (the database rings for nobody here)
            await asyncio.sleep(0.02)


async def asked(shop: Shop) -> int:
    """How often the mall was asked for a picture."""
    found = (await shop.door.counts())["requests"]
    return sum(one["count"] for one in found if (one["mall"], one["endpoint"]) == ("mustit", "image"))


@pytest.mark.timeout(180)
async def test_pictures_of_a_halted_mall_come_when_a_person_resumes_it(shop: Shop) -> None:
    """The gate told a halt by the year 9999, and the tasks slept until then."""
    await shop.door.fault("mustit", "image", "http_403")
    batch = await shop.start(Mode.FULL, [MUSTIT], stages=AFTER)
    await turned_away(shop)

    await shop.door.clear()
    app = shop.yard.app
    await shop.yard.db.transact(lambda tx: switch.resume(tx, app.collector.pools, "mustit", by="test"))

    assert await shop.ended(batch, patience=PATIENCE) == "COMPLETED"


@pytest.mark.timeout(180)
async def test_pictures_of_a_mall_that_was_off_come_when_it_is_enabled_again(shop: Shop) -> None:
    collector = shop.yard.app.collector
    why = "their letter"
    before = await asked(shop)
    await shop.yard.db.transact(lambda tx: switch.disable(tx, collector.pools, "mustit", why=why, by="test"))
    batch = await shop.start(Mode.FULL, [MUSTIT], stages=AFTER)
    await turned_away(shop)

    await shop.yard.db.transact(lambda tx: collector.enable(tx, "mustit", why=why, by="test"))

    assert await shop.ended(batch, patience=PATIENCE) == "COMPLETED"
    assert await asked(shop) - before == 2 * len(await shop.yard.rows(TASKS))


@pytest.mark.timeout(180)
async def test_products_that_wait_for_the_rate_are_not_looked_at_meanwhile(shop: Shop) -> None:
    """Each was claimed at every free call, to be turned away again: thousands that wait cost a core. In its pool one is
    claimed where there is a call for it."""
    visit(shop.yard.app, {"mustit": Visiting(rate=2.0, burst=1.0, concurrency=2)})
    await shop.start(Mode.FULL, [MUSTIT], stages=[Stage.IMAGE])
    await turned_away(shop)
    calls, snoozes = await asked(shop), len(await shop.yard.rows(SNOOZES))

    async def five_more() -> bool:
        return await asked(shop) >= calls + 5

    await until(five_more)

    assert len(await shop.yard.rows(SNOOZES)) - snoozes <= 2 * 5


@pytest.mark.timeout(180)
async def test_products_whose_pictures_are_known_pass_whatever_the_mall_allows(shop: Shop) -> None:
    assert await shop.run(Mode.FULL, [MUSTIT], stages=[Stage.IMAGE]) == "COMPLETED"
    collector = shop.yard.app.collector
    await shop.yard.db.transact(lambda tx: switch.disable(tx, collector.pools, "mustit", why="a rest", by="test"))

    assert await shop.run(Mode.FULL, [MUSTIT], stages=[Stage.IMAGE], patience=PATIENCE) == "COMPLETED"

    assert {task["outcome"] for task in await shop.yard.rows(TASKS)} == {"DONE"}
