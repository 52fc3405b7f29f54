"""The dated rows in the database: loaded whole for a batch, imported by their keys, exported."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import msgspec
from sqlalchemy import delete, select

from bobusang.kit.sql import Bulk, Statement
from bobusang.stages.price import sheets
from bobusang.stages.price.rates import Duty, Fee, Freight, Rates, Tax

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bobusang.kit.db import Row, Tx
    from bobusang.stages.price.sheets import Sheet

R = TypeVar("R", Fee, Freight, Duty, Tax)

LISTED = {
    sheet.name: Statement(f"select {', '.join(sheet.columns)} from {sheet.table.name} order by {', '.join(sheet.key)}")
    for sheet in sheets.SHEETS
}


async def load(tx: Tx) -> Rates:
    """All rows; they are few, and a batch looks into most of them."""
    return Rates(
        await listed(tx, sheets.FEES),
        await listed(tx, sheets.FREIGHTS),
        await listed(tx, sheets.DUTIES),
        await listed(tx, sheets.TAXES),
    )


async def listed(tx: Tx, sheet: Sheet[R]) -> list[R]:
    """The rows of a sheet in the order of their keys."""
    return [_row(sheet, row) for row in await tx.fetch(LISTED[sheet.name])]


async def put(tx: Tx, sheet: Sheet[R], rows: Sequence[R]) -> int:
    """Add rows; one with the key of a row that is there takes its place. How many differ from before."""
    there = await tx.fetch(select(sheet.table))
    known = {sheet.key_of(row): (one["id"], row) for one in there for row in [_row(sheet, one)]}
    last = {sheet.key_of(row): row for row in rows}
    news = [row for key, row in last.items() if key not in known or known[key][1] != row]
    old = sorted(known[key][0] for row in news if (key := sheet.key_of(row)) in known)
    for start in range(0, len(old), 500):
        await tx.execute(delete(sheet.table).where(sheet.table.c.id.in_(old[start : start + 500])))
    await tx.insert(Bulk(sheet.table, sheet.columns), [_values(row) for row in news])
    return len(news)


async def install(tx: Tx) -> int:
    """Add the rows that come with the program, except where the operator has rows for the same."""
    return (
        await _add(tx, sheets.FEES)
        + await _add(tx, sheets.FREIGHTS)
        + await _add(tx, sheets.DUTIES)
        + await _add(tx, sheets.TAXES)
    )


async def _add(tx: Tx, sheet: Sheet[R]) -> int:
    there = {sheet.key_of(row) for row in await listed(tx, sheet)}
    return await put(tx, sheet, [row for row in sheets.shipped(sheet) if sheet.key_of(row) not in there])


def _row(sheet: Sheet[R], row: Row) -> R:
    return msgspec.convert({name: row[name] for name in sheet.columns}, sheet.row, strict=False)


def _values(row: R) -> tuple[object, ...]:
    plain = msgspec.to_builtins(row)
    return tuple(plain[name] for name in row.__struct_fields__)
