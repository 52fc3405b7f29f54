"""A file looked through before anything of it is written: what is proposed, what it holds, what is wrong."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from bobusang.connectors.sources.declared.cells import normal
from bobusang.connectors.sources.sheets import checking, heading, mapping, opening
from bobusang.connectors.sources.sheets.cutting import Cutter
from bobusang.connectors.sources.sheets.grid import Refused
from bobusang.connectors.sources.sheets.mapping import Settled
from bobusang.flows.sheets.supplying import declared, restored, settled_of, supplier_of
from bobusang.stages.collect import files
from bobusang.stages.collect.intake_tables import FileState

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bobusang.connectors.sources.declared.shop import Declared
    from bobusang.connectors.sources.sheets.checking import Report
    from bobusang.flows.collect.collector import Collector
    from bobusang.kit.db import Tx
    from bobusang.stages.collect.files import SupplierFile

OPEN = (FileState.RECEIVED, FileState.PREVIEWED, FileState.FAILED)


@dataclass(frozen=True, slots=True)
class Wish:
    """What a person says of a file; what is not said is as before, or found."""

    columns: Mapping[str, str] | None = None
    """Field → heading."""
    header_row: int | None = None
    sheet: str | None = None
    complete: bool | None = None
    encoding: str | None = None


@dataclass(frozen=True, slots=True)
class Preview:
    """What a file holds, read as was settled."""

    report: Report
    settled: Settled | None
    """None where a shop says how the file is read."""


async def preview(collector: Collector, file_id: int, wish: Wish | None = None) -> tuple[SupplierFile, Preview]:
    """Look a file through, as a person wishes or as is proposed, and write down what was found. A file that cannot be
    read is FAILED, with why."""
    async with collector.db.read() as tx:
        file = await files.get(tx, file_id)
        supplier = await supplier_of(tx, collector, file.supplier)
    data = await collector.blobs.get(file.sha256)
    known = restored(file.mapping) if file.mapping else settled_of(supplier)
    shop = declared(collector, file.supplier)
    try:
        found = await asyncio.to_thread(looked_through, data, file.name, file.supplier, shop, known, wish or Wish())
    except Refused as error:
        told = {"error": error.message, "hint": error.hint}
        await collector.db.transact(lambda tx: _fail(tx, file_id, told))
        raise

    async def work(tx: Tx) -> SupplierFile:
        locked = await files.get(tx, file_id, lock=True)
        told = msgspec.to_builtins(found.report)
        values: dict[str, Any] = {"report": told, "sheet": found.report.sheet[:100], "rows": found.report.rows}
        values |= {"refused": found.report.refused}
        if found.settled is not None:
            values["mapping"] = msgspec.to_builtins(found.settled)
        await files.move(tx, locked, FileState.PREVIEWED, allowed=OPEN, **values)
        return await files.get(tx, file_id)

    return await collector.db.transact(work), found


async def _fail(tx: Tx, file_id: int, report: dict[str, str]) -> None:
    locked = await files.get(tx, file_id, lock=True)
    if locked.state in OPEN:
        await files.move(tx, locked, FileState.FAILED, allowed=OPEN, report=report)


def looked_through(
    data: bytes, name: str, supplier: str, shop: Declared | None, known: Settled | None, wish: Wish
) -> Preview:
    """The work itself, without a database: for a thread."""
    if shop is not None:
        assert shop.files is not None
        grid = opening.opened(data, name, sheet=wish.sheet or shop.files.sheet, encoding=shop.files.encoding)
        return Preview(checking.check(Cutter(shop, grid)), None)
    base = _wished(known, wish)
    grid = opening.opened(data, name, sheet=base.sheet or None, encoding=base.encoding)
    found = heading.found(grid, mapping.WORDS | _names(base), row=base.header_row)
    columns = dict(wish.columns) if wish.columns is not None else mapping.proposed(found.names, base)
    settled = mapping.chosen(base, columns, found.names)
    lacking = [field for field in mapping.REQUIRED if field not in columns]
    if lacking:
        return Preview(checking.outline(grid, found, columns, lacking), settled)
    return Preview(checking.check(Cutter(mapping.shop_of(supplier, settled), grid)), settled)


def _wished(known: Settled | None, wish: Wish) -> Settled:
    changes = {
        name: value
        for name in ("header_row", "sheet", "complete", "encoding")
        if (value := getattr(wish, name)) is not None
    }
    return msgspec.structs.replace(known or Settled(), **changes)


def _names(settled: Settled) -> frozenset[str]:
    return frozenset(normal(name) for names in settled.columns.values() for name in names)
