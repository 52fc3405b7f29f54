"""The database server dies again and again under 20,000 tasks, for moments and for longer than workers wait."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

import pytest

from bobusang import migrations
from bobusang.testing.fleet import Fleet, Trial, perfect
from tests.servers.mariadb import MariaDB
from tests.servers.postgres import Postgres
from tests.servers.skip import started

if TYPE_CHECKING:
    import random
    from pathlib import Path

    from tests.servers.server import Server

TASKS = 20_000
RESTARTS = 5
"""In a round."""
PATIENCE = 600.0
AWAY = (0.0, 4.0)
"""Seconds; the workers fence themselves after 1.3 and are dead to others after 2."""


@pytest.mark.parametrize("kind", [Postgres, MariaDB])
async def test_a_server_that_dies_again_and_again_loses_nothing_and_does_nothing_twice(
    kind: type[Server], tmp_path: Path, seconds: float, chance: random.Random
) -> None:
    over = time.monotonic() + seconds
    with started(kind()) as server:
        await migrations.upgrade(server.url)
        async with Trial.on(server.url, tasks=TASKS) as trial:
            with Fleet.of(2, server.url, tmp_path) as fleet:
                while True:
                    for effects in sorted(chance.sample(range(1, TASKS * 2 - 2000), RESTARTS)):
                        await trial.reached(effects, patience=PATIENCE)
                        await asyncio.to_thread(server.stop, immediate=True)
                        await asyncio.sleep(chance.uniform(*AWAY))
                        await asyncio.to_thread(server.start)

                    assert await trial.ending(patience=PATIENCE) == perfect(TASKS)
                    assert (fleet.killed, fleet.alive) == (0, 2)
                    print(f"{trial.tasks} tasks, {RESTARTS} restarts, {await trial.rescued()} rescued")
                    if time.monotonic() > over:
                        return
                    trial = await trial.again()  # noqa: PLW2901  (the next round)
