"""Files that suppliers send: received, looked through, imported; a content that is the last word is not taken again.

RECEIVED ─ preview ─▶ PREVIEWED ─ import ─▶ IMPORTING ─▶ DONE
                                                     └─▶ FAILED ─ import ─▶ IMPORTING
any but IMPORTING and DONE ─ discard ─▶ DISCARDED
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sqlalchemy import insert, select, update

from bobusang.kit import json
from bobusang.kit.clock import utc
from bobusang.kit.errors import Conflict, Missing
from bobusang.kit.sql import Statement
from bobusang.stages.collect.intake_tables import FileState, supplier_files

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from datetime import datetime

    from bobusang.kit.db import Row, Tx

LARGEST = 400_000
"""Characters of a report."""

_SHORT = [column for column in supplier_files.c if column.name not in ("mapping", "report")]
SAME = Statement("""
    select id, state from supplier_files where supplier = :supplier and sha256 = :sha256 and state <> 'DISCARDED'
    order by id desc limit 1""")
LAST = Statement("""
    select id, created_at from supplier_files where supplier = :supplier and state = 'DONE'
    order by updated_at desc, id desc limit 1""")
BUSY = Statement("""
    select id from supplier_files where state = 'IMPORTING' and supplier = :supplier and id <> :id limit 1""")
NEEDED = Statement("""
    select 1 as value from supplier_files where sha256 = :sha256 and state <> 'DISCARDED' and id <> :id limit 1""")
OF_JOB = Statement("select id from supplier_files where job_id = :job_id and state = 'IMPORTING'")


@dataclass(frozen=True, slots=True)
class SupplierFile:
    """One file."""

    id: int
    supplier: str
    name: str
    sha256: str
    size: int
    state: FileState
    created_by: str
    created_at: datetime
    updated_at: datetime
    sheet: str = ""
    rows: int = 0
    accepted: int = 0
    refused: int = 0
    job_id: int | None = None
    mapping: Mapping[str, Any] = field(default_factory=dict)
    report: Mapping[str, Any] = field(default_factory=dict)


async def add(
    tx: Tx, supplier: str, name: str, sha256: str, size: int, *, by: str, written_at: datetime | None = None
) -> tuple[SupplierFile, bool]:
    """Write a file down, once for its content; and whether it is new.

    A supplier may return to an earlier list: what was imported, and another after it, is new. `written_at` is when a
    file was put where it lies, if it lies somewhere: one that is older than what was imported last is no return.
    """
    known = await _same(tx, supplier, sha256, written_at)
    if known is not None:
        return await get(tx, known), False
    id = await tx.create(
        insert(supplier_files).values(
            supplier=supplier,
            name=name,
            sha256=sha256,
            size=size,
            state=FileState.RECEIVED,
            created_by=by[:100],
            created_at=tx.now,
            updated_at=tx.now,
        )
    )
    return await get(tx, id), True


async def get(tx: Tx, id: int, *, lock: bool = False) -> SupplierFile:
    """One file with its mapping and report."""
    asked = select(supplier_files).where(supplier_files.c.id == id)
    row = await tx.first(asked.with_for_update() if lock else asked)
    if row is None:
        raise Missing(f"there is no file {id}", hint="`bobusang sheet list` shows all")
    return _file(row, json.loads(row["mapping"] or "{}"), json.loads(row["report"] or "{}"))


async def _same(tx: Tx, supplier: str, sha256: str, written_at: datetime | None) -> int | None:
    """The file of this content that is open, or was imported and is the last word."""
    row = await tx.first(SAME, supplier=supplier, sha256=sha256)
    if row is None:
        return None
    if row["state"] != FileState.DONE:
        return int(row["id"])
    last = await tx.first(LAST, supplier=supplier)
    if last is None or last["id"] == row["id"] or (written_at is not None and written_at <= utc(last["created_at"])):
        return int(row["id"])
    return None


async def listed(tx: Tx, supplier: str = "", *, before: int | None = None, limit: int = 50) -> list[SupplierFile]:
    """Files, the newest first, without their reports."""
    asked = select(*_SHORT).order_by(supplier_files.c.id.desc()).limit(limit)
    if supplier:
        asked = asked.where(supplier_files.c.supplier == supplier)
    if before is not None:
        asked = asked.where(supplier_files.c.id < before)
    return [_file(row) for row in await tx.fetch(asked)]


async def move(tx: Tx, file: SupplierFile, state: FileState, *, allowed: Collection[FileState], **values: Any) -> None:
    """Change a file's state and what is known of it; Conflict where its state does not allow it."""
    if file.state not in allowed:
        raise Conflict(f"file {file.id} is {file.state}", hint=_HINTS.get(file.state, ""))
    for name in ("mapping", "report"):
        if name in values:
            values[name] = json.payload(values[name], limit=LARGEST, name=name)
    changed = update(supplier_files).where(supplier_files.c.id == file.id)
    await tx.execute(changed.values(state=state, updated_at=tx.now, **values))


async def busy(tx: Tx, supplier: str, id: int) -> int | None:
    """Another file of the supplier that is being imported."""
    row = await tx.first(BUSY, supplier=supplier, id=id)
    return None if row is None else row["id"]


async def of_job(tx: Tx, job_id: int) -> int | None:
    """The file that a job imports."""
    row = await tx.first(OF_JOB, job_id=job_id)
    return None if row is None else row["id"]


async def needed(tx: Tx, sha256: str, id: int) -> bool:
    """Whether another file has the same content."""
    return await tx.first(NEEDED, sha256=sha256, id=id) is not None


_HINTS = {
    FileState.IMPORTING: "wait until it is done",
    FileState.DONE: "it was imported; a file that has changed is a new one",
    FileState.DISCARDED: "send it again",
}


def _file(row: Row, mapping: Mapping[str, Any] | None = None, report: Mapping[str, Any] | None = None) -> SupplierFile:
    return SupplierFile(
        id=row["id"],
        supplier=row["supplier"],
        name=row["name"],
        sha256=row["sha256"],
        size=row["size"],
        state=FileState(row["state"]),
        created_by=row["created_by"],
        created_at=utc(row["created_at"]),
        updated_at=utc(row["updated_at"]),
        sheet=row["sheet"],
        rows=row["rows"],
        accepted=row["accepted"],
        refused=row["refused"],
        job_id=row["job_id"],
        mapping=mapping or {},
        report=report or {},
    )
