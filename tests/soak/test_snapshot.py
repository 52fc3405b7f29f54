"""A transaction that somebody forgot keeps PostgreSQL from vacuuming; the queue is drained as fast as before."""

from __future__ import annotations

import asyncio
import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import asyncpg

from bobusang import migrations
from bobusang.testing.workshop import Workshop

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from bobusang.engine.worker import Worker

AT_ONCE = 5_000
"""Tasks a job; there are always one or two jobs waiting."""
WINDOWS = 6
SLOWEST = 1 / 3
"""Without the cursor throughput fell to a sixth."""


@asynccontextmanager
async def pinned(url: str) -> AsyncIterator[None]:
    """An old snapshot, and a transaction id that is never finished."""
    connection = await asyncpg.connect(url)
    try:
        await connection.execute("begin isolation level repeatable read")
        await connection.fetchval("select pg_current_xact_id()::text || (select count(*) from tasks)::text")
        yield
    finally:
        connection.terminate()


async def feed(shop: Workshop, workflow: int) -> None:
    """Keep the queue filled."""
    while True:
        if await shop.value("select count(*) from crawling_jobs where status = 'RUNNING'") < 2:
            await shop.job(workflow, *range(AT_ONCE))
        else:
            await asyncio.sleep(0.05)


async def speeds(worker: Worker, seconds: float) -> list[float]:
    """Tasks a second in each window."""
    found = []
    for _ in range(WINDOWS):
        begun, before = time.monotonic(), worker.handled
        await asyncio.sleep(seconds / WINDOWS)
        found.append((worker.handled - before) / (time.monotonic() - begun))
    return found


async def test_an_old_snapshot_does_not_slow_the_queue_down(fresh_postgres: str, seconds: float) -> None:
    await migrations.upgrade(fresh_postgres)
    async with Workshop.opened(fresh_postgres) as shop, Workshop.opened(fresh_postgres) as feeder:
        shop.handler()
        workflow = await shop.workflow()
        async with pinned(fresh_postgres), shop.running() as (worker,):
            feeding = asyncio.create_task(feed(feeder, workflow))
            try:
                found = await speeds(worker, min(seconds, 60.0))
            finally:
                feeding.cancel()
                await asyncio.gather(feeding, return_exceptions=True)

        print("tasks a second:", [round(speed) for speed in found])
        assert found[-1] > found[0] * SLOWEST
