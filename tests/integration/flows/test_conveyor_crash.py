"""A process of the conveyor is killed again and again during one FULL: here and at the market it ends as if nothing had
been.

Each kill takes worker, upkeep and the door for webhooks at once. `make soak` does the same with 1,000 products.
"""

from __future__ import annotations

import asyncio
import random
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from bobusang.flows.conveyor.model import Mode
from bobusang.sandbox.buyma.account import Behaviour
from bobusang.sandbox.world import World
from bobusang.stages.register.model import Policy
from bobusang.testing.belting import Hands
from bobusang.testing.crawl import Visiting
from bobusang.testing.sandbox import running
from bobusang.testing.shop import ENDLESS, NAME, Shop
from tests import seed
from tests.integration.flows.selling import BRANDS, NO_DOUBLES, doubles, outcomes, shelves, state, unlike

if TYPE_CHECKING:
    from pathlib import Path

    from bobusang.testing.sandbox import Door

SIZE = 30
"""Of each of two malls."""
KILLS = 6
PATIENCE = 240.0
SEED = seed.chosen()
BEHAVIOUR = Behaviour(delay=0.05, retries=40, retry_seconds=0.25)
HURRY = Policy(budget=ENDLESS, patience=timedelta(seconds=3), sends=40)
"""A call whose sender was killed is sent again within seconds, not within half an hour."""
REST = Policy(budget=ENDLESS)
"""Where nobody is killed nothing is sent again, however busy the machine: that would count as having come further."""
CALM = {name: Visiting(rate=100.0, burst=8.0, concurrency=4) for name in ("okmall", "mustit", "buyma")}
"""Slow enough that a kill meets something under way."""
SETTINGS = {"call_seconds": 2.0}


async def progress(door: Door) -> int:
    """How far a run is, as the sandbox sees it: pages, pictures, searches, what reached the market and came back."""
    calls, market = await door.counts(), await door.market(limit=0)
    return int(calls["total"] + 3 * (market["created"] + market["webhooks"].get("200", 0)))


async def undisturbed(home: Path, door: Door, patience: float = PATIENCE) -> tuple[dict[str, Any], int]:
    """A FULL without kills: what it leaves behind, and how far it went."""
    async with Shop.opened(home, door=door, policy=REST) as shop:
        before = await progress(door)
        async with shop.yard.working():
            assert await shop.run(Mode.FULL, BRANDS, patience=patience) == "COMPLETED"
        await door.settle()
        return await everything(shop), await progress(door) - before


async def killed(
    home: Path,
    door: Door,
    url: str,
    kills: list[int],
    *,
    processes: int = 1,
    patience: float = PATIENCE,
    **settings: Any,
) -> dict[str, Any]:
    """The same while a process is killed each time the run has come so far, and followed by another."""
    told = {**SETTINGS, "database_url": url, "sandbox_url": door.url, **settings}
    async with Shop.opened(home, door=door, policy=HURRY, database_url=url) as shop:
        # Pictures lie elsewhere, as in a bucket: what a market cannot fetch it refuses, and asks nobody again.
        with Hands.at(home, CALM, public_url=f"{shop.url}/media", **told) as hands:
            await door.account(webhook_url=f"{hands.url}/webhooks/buyma/{NAME}")
            for _ in range(processes):
                hands.start()
            before = await progress(door)
            batch = asyncio.create_task(shop.run(Mode.FULL, BRANDS, patience=patience))
            for far in kills:
                await reached(door, before + far, batch)
                hands.kill(random.Random(far).choice(hands.names))
                hands.start()
            assert await batch == "COMPLETED"
            assert hands.killed == len(kills)
        await door.settle()
        return await everything(shop)


async def reached(door: Door, far: int, batch: asyncio.Task[str]) -> None:
    while await progress(door) < far:
        assert not batch.done(), "it was over before it was killed so often"
        await asyncio.sleep(0.005)


async def everything(shop: Shop) -> dict[str, Any]:
    """Ours and the market's, and what it had to do twice."""
    made = (await outcomes(shop.door))["created"]
    return {**await state(shop), "shelves": await shelves(shop), "made": made, "doubles": await doubles(shop.door)}


def moments(chance: random.Random, far: int, kills: int) -> list[int]:
    """How far to let it go before each kill: early, late and in between, but not after the end."""
    return sorted(chance.sample(range(1, far * 9 // 10), kills))


@pytest.mark.timeout(300)
@pytest.mark.parametrize("database_url", ["sqlite", "postgres"], indirect=True)
async def test_a_killed_conveyor_registers_everything_once(
    database_url: str, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    print(f"again with BOBUSANG_SEED={SEED}")
    apart = tmp_path_factory.mktemp("undisturbed")
    async with running(World(seed=5, size=SIZE, brands=1, pictures=2), behaviour=BEHAVIOUR) as door:
        expected, far = await undisturbed(apart, door)
        await door.reset()

        found = await killed(tmp_path, door, database_url, moments(random.Random(SEED), far, KILLS))

    assert unlike(found, expected) == {}
    assert (found["doubles"], found["made"]) == (NO_DOUBLES, len(found["shelves"]))
    assert len(found["shelves"]) > 40
