"""Raw pages: the archived answers behind every value, told of and handed out, never rendered."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime

from pydantic import BaseModel
from starlette.responses import Response

from bobusang.entry.api.desk import Viewer
from bobusang.entry.api.fields import PathId
from bobusang.entry.api.resource import Resource
from bobusang.stages.collect import archive

router = Resource("records", "/raw")

# What a mall sent may be script: whatever shows this address must neither guess its type nor run it.
GUARDED = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Cache-Control": "private, no-store",
}


class RawPageShown(BaseModel):
    """How an archived answer came; its bytes are at `/raw/{id}/body`."""

    id: int
    source: str
    endpoint: str
    url: str
    sha256: str
    status: int
    headers: dict[str, str]
    media: str
    size: int
    fetched_at: datetime
    job_id: int | None
    task_id: int | None


@router.get("/{raw_id}", summary="Show a raw page")
async def show_raw(desk: Viewer, raw_id: PathId) -> RawPageShown:
    """Address, status, headers (without cookies and tokens) and the digest of its bytes."""
    async with desk.read() as tx:
        return RawPageShown(**asdict(await archive.page(tx, raw_id)))


@router.get("/{raw_id}/body", summary="Download a raw page", response_class=Response)
async def download_raw(desk: Viewer, raw_id: PathId) -> Response:
    """Its bytes as they came, as a text to be saved."""
    async with desk.read() as tx:
        page = await archive.page(tx, raw_id)
    body = await desk.app.collector.service.archive.get(page.sha256)
    name = f'attachment; filename="raw-{raw_id}.txt"'
    return Response(body, headers={"Content-Type": "text/plain", "Content-Disposition": name, **GUARDED})
