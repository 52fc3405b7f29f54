"""Crawls of 2,000 products under ten kills, every fault at every place, and faults mixed until the time is up."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from bobusang.sandbox.world import World
from bobusang.testing.crawl import visit
from bobusang.testing.sandbox import running
from bobusang.testing.yard import Yard
from tests.integration.flows.test_crash import CONCURRENCY, killed, moments, undisturbed
from tests.integration.flows.test_faults import (
    CALM,
    KINDS,
    OF_LISTS,
    PLACES,
    QUIET,
    TARGETS,
    TIGHT,
    mend,
    mix,
    overdone,
    suffered,
)
from tests.integration.flows.watching import Watch

if TYPE_CHECKING:
    import random
    from pathlib import Path

    import pytest

SIZE = 2250
"""Of which some more than 2,000 are listed at the first hour."""
KILLS = 10
PATIENCE = 900.0
ROUNDS = 5


async def test_killed_workers_change_nothing_but_the_hour(
    url: str, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, chance: random.Random
) -> None:
    apart = tmp_path_factory.mktemp("undisturbed")
    async with running(World(seed=5, size=SIZE, brands=1)) as door:
        expected, pages = await undisturbed(apart, door, PATIENCE)

        # On a busy machine a worker that lives may be silent for two seconds: taken for dead it would be a kill more.
        found, calls = await killed(tmp_path, door, url, moments(chance, pages, KILLS), PATIENCE, dead_seconds=10.0)

    print(f"{pages} pages, {calls} calls, {KILLS} kills")
    assert found == expected
    assert len(found["records"]) >= 2000
    assert pages <= calls <= pages + KILLS * CONCURRENCY


async def test_every_fault_at_every_place_makes_nothing_false(tmp_path: Path, chance: random.Random) -> None:
    async with Yard.opened(tmp_path, world=World(seed=5, size=60, brands=2)) as yard, yard.working():
        visit(yard.app, CALM)
        for mall, endpoint in PLACES:
            watch = Watch(yard, mall, *TARGETS[mall])
            await mend(watch, 1)
            for kind in KINDS:
                if kind in OF_LISTS and endpoint != "*":
                    continue
                await watch.begin()
                await yard.door.advance(24)
                await watch.move(3, by=chance.choice((0.9, 1.1)))
                signs = await suffered(watch, endpoint, kind)
                print(f"{mall} {endpoint} {kind}: {sorted(signs)}")
                assert signs or kind in QUIET
                await mend(watch, 2)
                assert (await watch.falsehoods(), await watch.unequal()) == ([], [])


async def test_mixed_faults_make_nothing_false_and_no_limit_is_passed(
    tmp_path: Path, seconds: float, chance: random.Random
) -> None:
    over = time.monotonic() + seconds
    while True:
        world = World(seed=chance.randrange(1, 10**6), size=60, brands=2)
        home = tmp_path / str(world.seed)
        async with Yard.opened(home, world=world) as yard, yard.working():
            visit(yard.app, TIGHT)
            await mix(yard, chance, rounds=ROUNDS)
            assert overdone(await yard.door.log()) == {}
        if time.monotonic() > over:
            return
