"""The ceiling: the very statements of a finish and a claim, in a bare loop on the bare driver.

What the engine adds (objects, budgets, beats, counters, error handling) is the difference to this.
"""

from __future__ import annotations

import asyncio
import sqlite3
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import asyncmy
import asyncmy.cursors
import asyncpg
import msgspec

from bobusang.engine.queue import CLOSE, OPEN
from bobusang.engine.queues import mariadb, postgres, sqlite
from bobusang.engine.settling import DELTAS, SUCCEED
from bobusang.engine.worker import PAYLOADS
from bobusang.kit import clock
from bobusang.kit.sql import Dialect, bulk_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bobusang.kit.sql import Statement

DELTA = (1, 1, 0, 500, 0, 0, 0, 0)
_encode = msgspec.json.Encoder().encode


def _now() -> datetime:
    return datetime.now(UTC)


def _opening(lane: int, rows: Sequence[Sequence[int]]) -> dict[str, Any]:
    now = _now()
    entries = _encode([tuple(row) for row in rows]).decode()
    return {"worker_id": 1, "lane": lane, "size": len(rows), "entries": entries, "now": now, "deadline_at": now}


def of_sqlite(url: str, batch: int) -> float:
    """Tasks a second by sqlite3, with the same pragmas."""
    connection = sqlite3.connect(urlsplit(url).path[1:], isolation_level=None, cached_statements=512)
    for pragma in ("synchronous = full", "temp_store = memory", "wal_autocheckpoint = 4000", "cache_size = -65536"):
        connection.execute(f"pragma {pragma}")

    def run(statement: Statement, **params: Any) -> list[Any]:
        text, arguments = statement.bind(Dialect.SQLITE, params)
        return connection.execute(
            text, [clock.text(value) if isinstance(value, datetime) else value for value in arguments]
        ).fetchall()

    (lane,) = connection.execute("select lane from queue_ready limit 1").fetchone()
    (tasks,) = connection.execute("select count(*) from queue_ready").fetchone()
    begun, held = time.perf_counter(), None
    while True:
        connection.execute("begin immediate")
        if held is not None:
            run(CLOSE, token=held[0])
            run(SUCCEED, ids=held[1], started_at=_now(), now=_now(), elapsed=1)
            connection.execute(bulk_text(DELTAS, Dialect.SQLITE), DELTA)
        rows = run(sqlite.PICK, lane=lane, size=batch)
        if rows:
            ids = [row[0] for row in rows]
            held = (run(OPEN, **_opening(lane, rows))[0][0], ids)
            run(PAYLOADS, ids=ids)
        connection.execute("commit")
        if not rows:
            connection.close()
            return float(tasks / (time.perf_counter() - begun))


async def of_postgres(url: str, batch: int, connections: int) -> float:
    """Tasks a second by asyncpg."""
    opened = [await asyncpg.connect(url) for _ in range(connections)]
    lane = await opened[0].fetchval("select lane from queue_ready limit 1")
    tasks = await opened[0].fetchval("select count(*) from queue_ready")
    begun = time.perf_counter()
    await asyncio.gather(*(_postgres_loop(connection, lane, batch) for connection in opened))
    took = time.perf_counter() - begun
    for connection in opened:
        await connection.close()
    return float(tasks / took)


async def _postgres_loop(connection: Any, lane: int, batch: int) -> None:
    async def run(statement: Statement, **params: Any) -> Any:
        text, arguments = statement.bind(Dialect.POSTGRES, params)
        return await connection.fetch(text, *arguments)

    held, due, last = None, -1, -1
    while True:
        await connection.execute("begin")
        if held is not None:
            await run(CLOSE, token=held[0])
            await run(SUCCEED, ids=held[1], started_at=_now(), now=_now(), elapsed=1)
            await connection.execute(bulk_text(DELTAS, Dialect.POSTGRES), *([value] for value in DELTA))
        rows = await run(postgres.PICK, lane=lane, size=batch, due=due, task_id=last)
        if rows:
            ids = [row[0] for row in rows]
            due, last = max((row[3], row[0]) for row in rows)
            held = ((await run(OPEN, **_opening(lane, rows)))[0][0], ids)
            await run(PAYLOADS, ids=ids)
        await connection.execute("commit")
        if not rows:
            return


async def of_mariadb(url: str, batch: int, connections: int) -> float:
    """Tasks a second by asyncmy."""
    parts = urlsplit(url)
    address = {"host": parts.hostname, "port": parts.port, "user": parts.username, "password": parts.password or ""}
    opened = [
        await asyncmy.connect(**address, db=parts.path[1:], charset="utf8mb4", autocommit=True)
        for _ in range(connections)
    ]
    async with opened[0].cursor() as cursor:
        await cursor.execute("select lane, count(*) from queue_ready group by lane")
        lane, tasks = (await cursor.fetchall())[0]
    begun = time.perf_counter()
    await asyncio.gather(*(_mariadb_loop(connection, lane, batch) for connection in opened))
    took = time.perf_counter() - begun
    for connection in opened:
        connection.close()
    return float(tasks / took)


async def _mariadb_loop(connection: Any, lane: int, batch: int) -> None:
    async with connection.cursor() as cursor:

        async def run(statement: Statement, **params: Any) -> Any:
            text, arguments = statement.bind(Dialect.MARIADB, params)
            await cursor.execute(text, tuple(arguments))
            return await cursor.fetchall()

        await cursor.execute("set session transaction isolation level read committed")
        held = None
        head = bulk_text(DELTAS, Dialect.MARIADB) + "(%s,%s,%s,%s,%s,%s,%s,%s)"
        while True:
            await cursor.execute("begin")
            if held is not None:
                await run(CLOSE, token=held[0])
                await run(SUCCEED, ids=held[1], started_at=_now(), now=_now(), elapsed=1)
                await cursor.execute(head, DELTA)
            rows = await run(mariadb.PICK, lane=lane, size=batch)
            if rows:
                ids = [row[0] for row in rows]
                await run(mariadb.REMOVE, ids=ids, size=len(ids))
                held = ((await run(OPEN, **_opening(lane, rows)))[0][0], ids)
                await run(PAYLOADS, ids=ids)
            await cursor.execute("commit")
            if not rows:
                return
