"""The database server dies in the middle of the work and comes back; the workers go on by themselves.

`make soak` does the same with 20,000 tasks and several restarts.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from bobusang import migrations
from bobusang.testing.fleet import Fleet, Trial, perfect
from tests.servers.mariadb import MariaDB
from tests.servers.postgres import Postgres
from tests.servers.skip import started

if TYPE_CHECKING:
    from pathlib import Path

    from tests.servers.server import Server

TASKS = 1000
PATIENCE = 60.0


@pytest.mark.parametrize("kind", [Postgres, MariaDB])
async def test_a_server_that_dies_and_returns_loses_nothing_and_does_nothing_twice(
    kind: type[Server], tmp_path: Path
) -> None:
    with started(kind()) as server:
        await migrations.upgrade(server.url)
        async with Trial.on(server.url, tasks=TASKS) as trial:
            with Fleet.of(2, server.url, tmp_path) as fleet:
                for effects in (TASKS // 2, TASKS):
                    await trial.reached(effects, patience=PATIENCE)
                    await asyncio.to_thread(server.stop, immediate=True)
                    await asyncio.to_thread(server.start)

                assert await trial.ending(patience=PATIENCE) == perfect(TASKS)
                assert (fleet.killed, fleet.alive) == (0, 2)
