"""Pictures for the world: markets fetch them here, by their content and without a key."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response

from bobusang.kit.errors import Missing
from bobusang.platform.blob import is_address
from bobusang.stages.image import store
from bobusang.wiring import App

router = APIRouter(prefix="/media", tags=["media"])

# An address says what its bytes are, so they never change; and they came from strangers, so nothing may run in them.
HEADERS = {
    "Cache-Control": "public, max-age=31536000, immutable",
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Cross-Origin-Resource-Policy": "cross-origin",
}


@router.get("/{sha256}", summary="Fetch a picture", response_class=Response)
async def fetch_media(request: Request, sha256: str) -> Response:
    """A picture of ours, original or made for a market. Raw pages and whatever else the store keeps are not found."""
    app: App = request.app.state.bobusang
    media = None
    if is_address(sha256):
        async with app.engine.db.read() as tx:
            media = await store.media(tx, sha256)
    if media is None:
        raise Missing("there is no such picture")
    headers = {"Content-Type": media, "ETag": f'"{sha256}"', **HEADERS}
    if sha256 in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(await app.collector.blobs.get(sha256), headers=headers)


@router.head("/{sha256}", include_in_schema=False)
async def look_at_media(request: Request, sha256: str) -> Response:
    """The same without its bytes."""
    return await fetch_media(request, sha256)
