"""Storing what was read: the first time, again unchanged, and with one in twenty changed, on each database."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from bench.database_time import DatabaseTime
from bench.goods import batches
from bench.report import Line, at_least, rate
from bench.servers import FRESH
from bench.shelving import TABLES, shelve
from bobusang import migrations
from bobusang.catalog import records
from bobusang.kit.db import connect
from bobusang.kit.sql import Dialect, Statement

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bobusang.kit.db import Database

PRODUCTS = {"quick": 20_000, "full": 100_000}
ROUNDS = {"quick": 3, "full": 3}
BATCH = 2_000
"""What one save may carry: 64 list pages of 80 are more."""
CHANGED = 20
"""One in so many has another price in the last pass."""
ANALYZE = Statement(
    sqlite="analyze", postgres="analyze", mariadb=f"analyze table {', '.join(table.name for table in TABLES)}"
)


@dataclass(frozen=True, slots=True)
class Round:
    """Products a second of each pass, and how much less database time than the first pass the second one took."""

    first: float
    bare: float
    again: float
    changed: float
    saving: float
    """Database time of the first pass ÷ of the second."""
    rows: float
    """Rows a product the first time."""


def run(size: str) -> Iterator[Line]:
    """Each round on fresh servers: first collecting, the same rows bare, then the same products twice more."""
    for name in FRESH:
        rounds = [_round(name, PRODUCTS[size]) for _ in range(ROUNDS[size])]
        yield from _lines(name, PRODUCTS[size], rounds)


def _lines(name: str, products: int, rounds: list[Round]) -> Iterator[Line]:
    yield rate(f"{name}: first collecting of {products:,} products", [one.first for one in rounds])
    rows = median(one.rows for one in rounds)
    yield rate(f"{name}: the same rows ({rows:.1f} a product) by bare multi-row inserts", [one.bare for one in rounds])
    yield at_least(f"{name}: share of the bare inserts", median(one.first / one.bare for one in rounds), 0.4)
    yield rate(f"{name}: collecting them again, unchanged", [one.again for one in rounds])
    yield at_least(f"{name}: database time, first ÷ again", median(one.saving for one in rounds), 10)
    yield rate(f"{name}: collecting them with 5 % changed", [one.changed for one in rounds])


def _round(name: str, products: int) -> Round:
    with FRESH[name]() as url, FRESH[name]() as other:
        return asyncio.run(_measure(url, other, products))


async def _measure(url: str, other: str, products: int) -> Round:
    for each in (url, other):
        await migrations.upgrade(each)
    db, into = await connect(url), await connect(other)
    try:
        first = await _collect(db, products, run=1)
        bare = await shelve(db, into, -(-products // BATCH))
        await _analyze(db)
        again = await _collect(db, products, run=2)
        changed = await _collect(db, products, run=3, changed=CHANGED)
        return Round(
            first=products / first.wall,
            bare=products / bare.seconds,
            again=products / again.wall,
            changed=products / changed.wall,
            saving=first.seconds / again.seconds,
            rows=bare.rows / products,
        )
    finally:
        await db.close()
        await into.close()


async def _collect(db: Database, products: int, *, run: int, changed: int = 0) -> DatabaseTime:
    """One transaction a batch, as a handler's `save` does; making up the readings is not timed."""
    timed = DatabaseTime(db)
    for batch in batches(products, BATCH, changed=changed):
        async with timed.begin() as tx:
            changes = await records.compare(tx, batch, groups={})
            await records.write(tx, changes, run=run, now=tx.now)
    return timed


async def _analyze(db: Database) -> None:
    """What autovacuum would have done by the next run."""
    async with db.read() as tx:
        if tx.dialect is Dialect.MARIADB:
            await tx.fetch(ANALYZE)
        else:
            await tx.execute(ANALYZE)
