"""Readings and a collector by hand: what a page said, compared and written as the collect stage does it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bobusang.catalog import records
from bobusang.catalog.model import Reading, Snapshot, SourceType

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bobusang.catalog.model import Change
    from bobusang.kit.db import Database, Tx

MALL = "okmall"
READER = "okmall@1"


def snapshot(
    key: str = "A1",
    *,
    unknown: Sequence[str] = (),
    complete: bool = True,
    source: str = MALL,
    type: SourceType = SourceType.SUPPLIER_PRODUCT,
    **fields: Any,
) -> Snapshot:
    """What a page said of one thing; the fields by keyword."""
    return Snapshot(source, key, fields, tuple(unknown), type, complete)


def reading(
    key: str = "A1",
    *,
    stream: str = "list",
    scope: str = "",
    raw_id: int | None = None,
    reader: str = READER,
    **said: Any,
) -> Reading:
    """A snapshot with where it comes from."""
    return Reading(snapshot(key, **said), stream, reader, raw_id, scope)


async def collect(
    db: Database, *readings: Reading, run: int = 1, groups: Mapping[str, str] | None = None
) -> tuple[list[Change], records.Written]:
    """Compare and write, in one transaction."""

    async def work(tx: Tx) -> tuple[list[Change], records.Written]:
        changes = await records.compare(tx, readings, groups=groups or {})
        return changes, await records.write(tx, changes, run=run, now=tx.now, groups=groups)

    return await db.transact(work)
