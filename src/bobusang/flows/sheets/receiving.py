"""A file comes in: its bytes are kept first, then it is written down, unless its content is the last word already."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from bobusang.connectors.sources.sheets.grid import LARGEST_FILE, Refused
from bobusang.flows.sheets.supplying import supplier_of
from bobusang.kit.errors import Invalid
from bobusang.platform import audit
from bobusang.platform.audit import Subject
from bobusang.stages.collect import files
from bobusang.stages.collect.intake_tables import FileState

if TYPE_CHECKING:
    from datetime import datetime

    from bobusang.flows.collect.collector import Collector
    from bobusang.kit.db import Tx
    from bobusang.stages.collect.files import SupplierFile

LONGEST_NAME = 255
MEDIA = "application/octet-stream"

_UNWANTED = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\u2028\u2029]")


def named(name: str) -> str:
    """A file's own name, whatever path the sender's machine has put before it."""
    bare = _UNWANTED.sub("", name.replace("\\", "/").rpartition("/")[2]).strip()
    if not bare:
        raise Invalid("a file has a name", hint="as in list.xlsx", field="name")
    return bare[-LONGEST_NAME:]


async def receive(
    collector: Collector, supplier: str, name: str, data: bytes, *, by: str, written_at: datetime | None = None
) -> tuple[SupplierFile, bool]:
    """Keep a file of a supplier; and whether it is new. One of the same content is the first, as long as nothing was
    imported after that; `written_at` is for a file that lies somewhere."""
    if len(data) > LARGEST_FILE:
        raise Refused(f"the file has {len(data) >> 20:,} MB, at most {LARGEST_FILE >> 20} MB are read")
    if not data:
        raise Refused("the file is empty")
    bare = named(name)
    async with collector.db.read() as tx:
        await supplier_of(tx, collector, supplier)
    sha256 = await collector.blobs.put(data, media=MEDIA)

    async def work(tx: Tx) -> tuple[SupplierFile, bool]:
        await supplier_of(tx, collector, supplier, make=True)
        file, is_new = await files.add(tx, supplier, bare, sha256, len(data), by=by, written_at=written_at)
        if is_new:
            told = {"supplier": supplier, "name": bare, "size": len(data), "sha256": sha256}
            await audit.record(tx, by, "supplier_file.receive", Subject("supplier_file", file.id), None, told)
        return file, is_new

    return await collector.db.transact(work)


async def discard(collector: Collector, file_id: int, *, by: str) -> SupplierFile:
    """Throw a file away that was not imported; its bytes go where nobody else needs them."""

    async def work(tx: Tx) -> tuple[SupplierFile, bool]:
        file = await files.get(tx, file_id, lock=True)
        open_states = (FileState.RECEIVED, FileState.PREVIEWED, FileState.FAILED)
        await files.move(tx, file, FileState.DISCARDED, allowed=open_states)
        await audit.record(
            tx, by, "supplier_file.discard", Subject("supplier_file", file_id), {"name": file.name}, None
        )
        imported = file.job_id is not None
        return await files.get(tx, file_id), imported or await files.needed(tx, file.sha256, file.id)

    file, kept = await collector.db.transact(work)
    if not kept:
        await collector.blobs.delete([file.sha256])
    return file
