"""An old transaction held open on PostgreSQL while tasks are drained: its dead rows cannot be vacuumed."""

from __future__ import annotations

import asyncio
import time
from contextlib import asynccontextmanager
from statistics import mean
from typing import TYPE_CHECKING

import asyncpg

from bench.report import Line, at_least, rate
from bench.world import drain, fill, prepare
from tests.servers.postgres import Postgres, fresh

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

SECONDS = {"quick": 60, "full": 600}
TASKS = 50_000


def run(size: str) -> Iterator[Line]:
    """Another database of the same server, which the old transaction does not hold up, is drained before and after."""
    with Postgres(fsync=True) as server, fresh(server.url) as url, fresh(server.url) as other:
        for each in (url, other):
            asyncio.run(prepare(each))
        free = [_round(other) for _ in range(3)]
        held = asyncio.run(_held(url, SECONDS[size]))
        free += [_round(other) for _ in range(3)]
    yield rate("drain without it, before and after", free)
    yield Line(
        f"drain with a transaction held for {SECONDS[size]} s of load",
        f"first {held[0]:,.0f}/s, last three {mean(held[-3:]):,.0f}/s, {len(held)} rounds of {TASKS:,}",
    )
    yield at_least("last three rounds ÷ without it", mean(held[-3:]) / mean(free), 0.6, "")


def _round(url: str) -> float:
    asyncio.run(fill(url, TASKS))
    return drain(url, TASKS)


async def _held(url: str, seconds: float) -> list[float]:
    found: list[float] = []
    async with _old_transaction(url):
        until = time.monotonic() + seconds
        while time.monotonic() < until or len(found) < 3:
            found.append(await asyncio.to_thread(_round, url))
    return found


@asynccontextmanager
async def _old_transaction(url: str) -> AsyncIterator[None]:
    """A snapshot that stays: REPEATABLE READ, one query, then nothing."""
    connection = await asyncpg.connect(url)
    try:
        await connection.execute("begin isolation level repeatable read")
        await connection.fetchval("select count(*) from tasks")
        yield
        await connection.execute("rollback")
    finally:
        await connection.close()
