"""Suppliers' spreadsheets: sent in, looked through before anything is written, imported as a job, thrown away."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import Path, Query, Request
from pydantic import BaseModel, Field
from starlette.responses import Response

from bobusang.connectors.sources.sheets.grid import LARGEST_FILE
from bobusang.connectors.sources.sheets.mapping import FIELDS
from bobusang.entry.api.conditions import shown
from bobusang.entry.api.desk import Desk, Operator, Viewer
from bobusang.entry.api.fields import Flag, Form, Name, Numeric, PathId
from bobusang.entry.api.pages import Page, Paged, page, unpack
from bobusang.entry.api.problems import TooLarge
from bobusang.entry.api.raw import GUARDED
from bobusang.entry.api.resource import Resource
from bobusang.flows.sheets import previewing, receiving, starting
from bobusang.flows.sheets.previewing import Wish
from bobusang.kit.db import Tx
from bobusang.stages.collect import files
from bobusang.stages.collect.files import SupplierFile
from bobusang.stages.collect.intake_tables import FileState

router = Resource("suppliers")

MEDIA = "application/octet-stream"
SupplierName = Annotated[str, Path(min_length=1, max_length=50, examples=["acme"])]
BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": f"The file as it is: XLSX, XLS, CSV or TSV of at most {LARGEST_FILE >> 20} MB.",
        "content": {MEDIA: {"schema": {"type": "string", "format": "binary"}}},
    }
}


class FileLine(BaseModel):
    """A file in a list."""

    id: int
    supplier: str
    name: str
    sha256: str
    size: int
    state: FileState
    sheet: str
    rows: int
    accepted: int
    refused: int
    job_id: int | None
    created_by: str
    created_at: datetime
    updated_at: datetime


class FileShown(FileLine):
    """A file with what was settled of its columns, what was found in it, and how its import ended."""

    mapping: dict[str, Any]
    report: dict[str, Any]


class FileQuery(Paged):
    """Which files."""

    supplier: Name | None = None


class SentQuery(Form):
    """What the file is called."""

    name: Annotated[str, Field(min_length=1, max_length=255, examples=["list.xlsx"])] = "file"


class PreviewForm(Form):
    """How a file is to be read; what is left out is as it was settled for the supplier, or found."""

    columns: Annotated[
        dict[Annotated[str, Field(max_length=50)], Annotated[str, Field(max_length=200)]] | None,
        Field(description=f"field → heading; fields: {', '.join(one.name for one in FIELDS)}", max_length=50),
    ] = None
    header_row: Annotated[int | None, Field(ge=0, le=1000, description="0: found by itself"), Numeric] = None
    sheet: Annotated[str | None, Field(max_length=100, description="empty: the first with something in it")] = None
    complete: Annotated[
        Flag | None, Field(description="whether it lists all that the supplier has: what two such files lack is gone")
    ] = None
    encoding: Annotated[str | None, Field(max_length=20, description="of a text; empty: found by itself")] = None


@router.get("/suppliers/{name}/files", summary="List the files of a supplier")
async def list_files_of(desk: Viewer, name: SupplierName, query: Annotated[Paged, Query()]) -> Page[FileLine]:
    """The newest first."""
    return await _listed(desk, name, query)


@router.post(
    "/suppliers/{name}/files",
    summary="Send a file of a supplier",
    status_code=201,
    response_model=FileShown,
    openapi_extra=BODY,
)
async def send_file(
    desk: Operator, name: SupplierName, request: Request, query: Annotated[SentQuery, Query()]
) -> Response:
    """Its bytes are kept, and nothing is read yet. The same bytes again are the same file (200)."""
    data = bytearray()
    async for part in request.stream():
        data += part
        if len(data) > LARGEST_FILE:
            raise TooLarge(f"the file has more than {LARGEST_FILE >> 20} MB", hint="split it")
    file, is_new = await receive(desk, name, query.name, bytes(data))
    return shown(file.model_dump(), 201 if is_new else 200, Location=f"/supplier-files/{file.id}")


@router.get("/supplier-files", summary="List suppliers' files")
async def list_files(desk: Viewer, query: Annotated[FileQuery, Query()]) -> Page[FileLine]:
    """The newest first."""
    return await _listed(desk, query.supplier or "", query)


@router.get("/supplier-files/{file_id}", summary="Show a supplier's file")
async def show_file(desk: Viewer, file_id: PathId) -> FileShown:
    """With its columns, its problems cell by cell, and how its import ended."""
    async with desk.read() as tx:
        return shown_of(await files.get(tx, file_id))


@router.get("/supplier-files/{file_id}/body", summary="Download a supplier's file", response_class=Response)
async def download_file(desk: Viewer, file_id: PathId) -> Response:
    """Its bytes as they came."""
    async with desk.read() as tx:
        file = await files.get(tx, file_id)
    body = await desk.app.collector.blobs.get(file.sha256)
    name = f"attachment; filename*=UTF-8''{quote(file.name)}"
    return Response(body, headers={"Content-Type": MEDIA, "Content-Disposition": name, **GUARDED})


@router.post("/supplier-files/{file_id}/preview", summary="Look a supplier's file through")
async def preview_file(desk: Operator, file_id: PathId, form: PreviewForm | None = None) -> FileShown:
    """All of it is read as it would be imported, and nothing is written but what was found."""
    wish = Wish(**(form or PreviewForm()).model_dump())
    file, _ = await previewing.preview(desk.app.collector, file_id, wish)
    return shown_of(file)


@router.post("/supplier-files/{file_id}/import", summary="Import a supplier's file", status_code=202)
async def import_file(desk: Operator, file_id: PathId) -> FileShown:
    """As it was looked through last, by a job; the columns are kept for the supplier's next file."""

    async def work(tx: Tx) -> FileShown:
        file = await starting.start(tx, desk.engine, desk.app.collector, file_id)
        await desk.note(tx, "supplier_file.import", "supplier_file", file_id, after={"job_id": file.job_id})
        return shown_of(file)

    return await desk.write(work)


@router.post("/supplier-files/{file_id}/discard", summary="Throw a supplier's file away")
async def discard_file(desk: Operator, file_id: PathId) -> FileShown:
    """One that was not imported."""
    file = await receiving.discard(desk.app.collector, file_id, by=desk.actor)
    return shown_of(file)


async def receive(desk: Desk, supplier: str, name: str, data: bytes) -> tuple[FileShown, bool]:
    """Keep a file, whichever door it came by; and whether it is new."""
    file, is_new = await receiving.receive(desk.app.collector, supplier, name, data, by=desk.actor)
    return shown_of(file), is_new


async def _listed(desk: Desk, supplier: str, query: Paged) -> Page[FileLine]:
    before = unpack("supplier_files", query.cursor)
    async with desk.read() as tx:
        found = await files.listed(tx, supplier, before=before, limit=query.limit + 1)
    return page("supplier_files", [FileLine(**_line(one)) for one in found], query.limit, lambda one: one.id)


def shown_of(file: SupplierFile) -> FileShown:
    """A file as callers see it."""
    report = {name: value for name, value in file.report.items() if name != "pages"}
    return FileShown(**_line(file), mapping=dict(file.mapping), report=report)


def _line(file: SupplierFile) -> dict[str, Any]:
    return {name: getattr(file, name) for name in FileLine.model_fields}
