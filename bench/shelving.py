"""The ceiling of storing: the very rows that a collecting left, put into the same tables by multi-row inserts alone."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import func, select

from bobusang.catalog.tables import data_lineage, field_changes, products, source_data, source_records, source_seen
from bobusang.kit.sql import Bulk
from bobusang.platform.tables import outbox

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from sqlalchemy import Table

    from bobusang.kit.db import Database

TABLES = (source_records, source_data, source_seen, field_changes, data_lineage, products, outbox)
Part = tuple[Bulk, list[tuple[Any, ...]]]


@dataclass(frozen=True, slots=True)
class Shelved:
    """How long the inserts took, and how many rows they were."""

    seconds: float
    rows: int
    cpu: float
    """Of this process: of a database that runs by itself, only what it takes to ask it."""


async def shelve(source: Database, into: Database, batches: int) -> Shelved:
    """Copy all rows in so many transactions; only the inserts are timed, not the reading that feeds them."""
    seconds, cpu, rows = 0.0, 0.0, 0
    async for parts in _slices(source, batches):
        begun, spent = time.perf_counter(), time.process_time()
        async with into.begin() as tx:
            for bulk, part in parts:
                await tx.insert(bulk, part)
        seconds += time.perf_counter() - begun
        cpu += time.process_time() - spent
        rows += sum(len(part) for _, part in parts)
    return Shelved(seconds, rows, cpu)


async def _slices(source: Database, batches: int) -> AsyncIterator[Sequence[Part]]:
    counts = {}
    async with source.read() as tx:
        for table in TABLES:
            counts[table] = await tx.value(select(func.count().label("value")).select_from(table))
    for number in range(batches):
        yield [await _slice(source, table, count, number, batches) for table, count in counts.items() if count]


async def _slice(source: Database, table: Table, count: int, number: int, batches: int) -> Part:
    """The rows of one batch, in the order of the key, as the first writer left them."""
    first, last = count * number // batches, count * (number + 1) // batches
    columns = tuple(column.name for column in table.columns)
    wanted = select(table).order_by(*table.primary_key.columns).offset(first).limit(last - first)
    async with source.read() as tx:
        rows = await tx.fetch(wanted)
    return Bulk(table, columns), [tuple(row[name] for name in columns) for row in rows]
