"""What prices are made of: dated rows of fees, freight, duty and tax, shown, exported and imported."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from fastapi import Path, Request
from pydantic import BaseModel
from starlette.responses import Response

from bobusang.entry.api.desk import Admin, Viewer
from bobusang.entry.api.files import BODY, handed, sent_text
from bobusang.entry.api.pages import Page
from bobusang.entry.api.resource import Resource
from bobusang.kit.db import Tx
from bobusang.kit.errors import Missing
from bobusang.kit.nearest import did_you_mean
from bobusang.stages.price import ratebook, sheets
from bobusang.stages.price.sheets import SHEETS

router = Resource("rates", "/rates")

SheetName = Annotated[str, Path(min_length=1, max_length=50, examples=["fees"])]


class SheetLine(BaseModel):
    """A kind of dated rows."""

    sheet: str
    rows: int
    columns: list[str]


class RatesTaken(BaseModel):
    """How many rows a file had, and how many of them differ from what was there."""

    sheet: str
    rows: int
    changed: int


@router.get("", summary="List the sheets of rates")
async def list_sheets(desk: Viewer) -> Page[SheetLine]:
    """Fees, freight, duty and tax, with how many rows each has."""
    found: list[Any] = list(SHEETS)
    async with desk.read() as tx:
        lines = [
            SheetLine(sheet=one.name, rows=len(await ratebook.listed(tx, one)), columns=list(one.columns))
            for one in found
        ]
    return Page(items=lines, next=None)


@router.get("/{sheet}", summary="Show a sheet of rates")
async def show_sheet(desk: Viewer, sheet: SheetName) -> Page[dict[str, Any]]:
    """Its rows in the order of their keys; decimals are text."""
    found = _sheet(sheet)
    async with desk.read() as tx:
        rows = await ratebook.listed(tx, found)
    return Page(items=[msgspec.to_builtins(row) for row in rows], next=None)


@router.get("/{sheet}/file", summary="Export a sheet of rates", response_class=Response)
async def export_sheet(desk: Viewer, sheet: SheetName) -> Response:
    """As a CSV file that the import takes."""
    found = _sheet(sheet)
    async with desk.read() as tx:
        return handed(sheets.write(found, await ratebook.listed(tx, found)), f"{sheet}.csv")


@router.post("/{sheet}", summary="Import rows of rates", openapi_extra=BODY)
async def import_sheet(desk: Admin, sheet: SheetName, request: Request) -> RatesTaken:
    """All rows or none; a row with the key of one that is there takes its place, the others stay."""
    found = _sheet(sheet)
    rows = sheets.read(found, await sent_text(request))

    async def work(tx: Tx) -> RatesTaken:
        changed = await ratebook.put(tx, found, rows)
        if changed:
            await desk.note(tx, "rates.import", "rates", sheet, after={"rows": len(rows), "changed": changed})
        return RatesTaken(sheet=sheet, rows=len(rows), changed=changed)

    return await desk.write(work)


def _sheet(name: str) -> Any:
    """By its name; which of the four kinds of rows it holds does not matter here."""
    for one in SHEETS:
        if one.name == name:
            return one
    hint = did_you_mean(name, [one.name for one in SHEETS])
    raise Missing(f"there is no sheet of rates '{name}'", hint=hint, field="sheet")
