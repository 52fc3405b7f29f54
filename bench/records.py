"""Questions to a large catalog: a record's history, the difference of two versions, what has changed since."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from statistics import quantiles
from typing import TYPE_CHECKING

from bench import past
from bench.report import Line, at_most
from bench.servers import FRESH
from bobusang import migrations
from bobusang.catalog import history
from bobusang.kit.db import Tx, connect
from bobusang.kit.sql import Dialect, Statement

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bobusang.kit.db import Database

RECORDS = {"quick": 200_000, "full": 1_000_000}
COUNT = {"quick": 500, "full": 2_000}
MOST_MS = 50
UNTIL = datetime(2026, 11, 1, tzinfo=UTC)
ANALYZE = Statement(
    sqlite="analyze",
    postgres="vacuum analyze",
    mariadb="analyze table source_records, source_data, field_changes, data_lineage",
)

Question = Callable[[Tx, random.Random, int], Awaitable[object]]


async def versions(tx: Tx, chance: random.Random, records: int) -> object:
    """The versions of a record and what changed with the newest."""
    record = _lively(chance, records)
    found = await history.versions(tx, record)
    return await history.changes(tx, record, found[0].number)


async def difference(tx: Tx, chance: random.Random, records: int) -> object:
    """What differs between a record's first version and its last."""
    return await history.diff(tx, _lively(chance, records), 1, past.VERSIONS)


async def field(tx: Tx, chance: random.Random, records: int) -> object:
    """How a record's price changed, and which page and reader made it what it is."""
    record = _lively(chance, records)
    return await history.field_history(tx, record, "price"), await history.origin(tx, record, "price")


async def changed(tx: Tx, chance: random.Random, records: int) -> object:
    """A page of a hundred records that changed since some instant, from anywhere within those of that instant."""
    chunks = -(-records // past.CHUNK)
    chunk = chance.randrange(chunks)
    after = min(chunk * past.CHUNK + chance.randrange(past.CHUNK), records - 1)
    return await history.changed_since(tx, past.SYSTEM, UNTIL - timedelta(minutes=chunks - 1 - chunk), after=after)


ASKED: dict[str, Question] = {
    "history": versions,
    "diff of two versions": difference,
    "history and origin of a field": field,
    "changed since": changed,
}


def run(size: str) -> Iterator[Line]:
    """Each question at random records, one after another, on each database."""
    for name in FRESH:
        with FRESH[name]() as url:
            yield from asyncio.run(_measure(name, url, RECORDS[size], COUNT[size]))


async def _measure(name: str, url: str, records: int, count: int) -> list[Line]:
    await migrations.upgrade(url)
    db = await connect(url)
    try:
        begun = time.perf_counter()
        await past.fill(db, records, UNTIL)
        await _analyze(db)
        filled = Line(f"{name}: {records:,} source records", f"filled in {time.perf_counter() - begun:.0f} s")
        lines = [filled]
        for what, ask in ASKED.items():
            lines += await _ask(db, f"{name}: {what}", ask, records, count)
        return lines
    finally:
        await db.close()


async def _ask(db: Database, what: str, ask: Question, records: int, count: int) -> list[Line]:
    chance, took = random.Random(1), []
    async with db.read() as tx:
        for _ in range(count):
            begun = time.perf_counter()
            if not await ask(tx, chance, records):
                raise RuntimeError(f"{what}: no answer")
            took.append((time.perf_counter() - begun) * 1000)
    cuts = quantiles(took, n=100)
    p50 = Line(f"{what}, p50", f"{cuts[49]:.2f} ms")
    return [p50, at_most(f"{what}, p95", cuts[94], MOST_MS, "ms")]


def _lively(chance: random.Random, records: int) -> int:
    """A record with more than one version."""
    return chance.randrange(1, records // past.LIVELY + 1) * past.LIVELY


async def _analyze(db: Database) -> None:
    async with db.read() as tx:
        if tx.dialect is Dialect.MARIADB:
            await tx.fetch(ANALYZE)
        else:
            await tx.execute(ANALYZE)
