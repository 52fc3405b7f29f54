"""Source records, one door: `compare` what was read with the truth, `write` what differs, and look records up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bobusang.catalog.comparing import compare
from bobusang.catalog.model import ProcessingStatus, SourceType
from bobusang.catalog.seen import Pace, touch
from bobusang.catalog.writing import Written, write
from bobusang.kit.sql import Statement

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bobusang.kit.db import Tx

__all__ = ["Pace", "Record", "Written", "compare", "count", "find", "keys", "mark", "touch", "write"]

KEYS = Statement("""
    select id, source_type, source_system, source_id, version from source_records where id in (:ids...)""")
FIND = Statement("""
    select id, source_id from source_records
    where source_type = :type and source_system = :system and source_id in (:keys...)""")
COUNT = Statement("""
    select count(*) as value from source_records where source_type = :type and source_system = :system""")
MARK = Statement("""
    update source_data set processing_status = :status, workflow_id = coalesce(:workflow_id, workflow_id),
      updated_at = :now where id in (:ids...)""")


@dataclass(frozen=True, slots=True)
class Record:
    """Which thing a record is about, and its current version."""

    id: int
    type: SourceType
    system: str
    key: str
    version: int


async def keys(tx: Tx, ids: Sequence[int]) -> dict[int, Record]:
    """What these records are about; one that does not exist is not there."""
    rows = await tx.fetch(KEYS, ids=sorted(set(ids))) if ids else ()
    return {
        row["id"]: Record(
            row["id"], SourceType(row["source_type"]), row["source_system"], row["source_id"], row["version"]
        )
        for row in rows
    }


async def find(
    tx: Tx, system: str, keys: Sequence[str], *, type: SourceType = SourceType.SUPPLIER_PRODUCT
) -> dict[str, int]:
    """The record of each of a system's own ids; one that is not known is not there."""
    rows = await tx.fetch(FIND, type=type.value, system=system, keys=sorted(set(keys))) if keys else ()
    return {row["source_id"]: row["id"] for row in rows}


async def count(tx: Tx, system: str, type: SourceType = SourceType.SUPPLIER_PRODUCT) -> int:
    """How many records a system has."""
    return int(await tx.value(COUNT, type=type.value, system=system))


async def mark(tx: Tx, version_ids: Sequence[int], status: ProcessingStatus, *, workflow_id: str | None = None) -> None:
    """Say how far versions (`source_data.id`) have come on their way to the markets."""
    if version_ids:
        ids = sorted(version_ids)
        await tx.execute(MARK, ids=ids, status=status.value, workflow_id=workflow_id, now=tx.now)
