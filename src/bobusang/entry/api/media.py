"""Pictures for the world: markets fetch them here, by their content and without a key."""

from __future__ import annotations

from fastapi import Request
from starlette.responses import Response
from starlette.types import Scope

from bobusang.entry.api import express
from bobusang.entry.api.resource import Resource
from bobusang.kit.errors import Missing
from bobusang.platform.blob import is_address
from bobusang.stages.image import store
from bobusang.stages.image.recipe import EXTENSIONS
from bobusang.wiring import App

PREFIX = "/media"

router = Resource("media", PREFIX)

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
    return await _shown(request.app.state.bobusang, sha256, request.headers.get("if-none-match"))


@router.head("/{sha256}", include_in_schema=False)
async def look_at_media(request: Request, sha256: str) -> Response:
    """The same without its bytes."""
    return await fetch_media(request, sha256)


async def _shown(app: App, name: str, known: str | None) -> Response:
    sha256, media = _address(name), None
    if is_address(sha256):
        async with app.engine.db.read() as tx:
            media = await store.media(tx, sha256)
    if media is None:
        raise Missing("there is no such picture")
    headers = {"Content-Type": media, "ETag": f'"{sha256}"', **HEADERS}
    if known is not None and sha256 in known:
        return Response(status_code=304, headers=headers)
    return Response(await app.collector.blobs.get(sha256), headers=headers)


def _address(name: str) -> str:
    """An address as a market may ask for it: some insist on an ending."""
    address, _, ending = name.partition(".")
    return address if not ending or ending in EXTENSIONS.values() else name


def _plain(scope: Scope) -> express.Work | None:
    before, _, name = scope["path"].rpartition("/")
    if before != PREFIX or not is_address(_address(name)):
        return None
    return lambda desk: _shown(desk.app, name, express.header(scope, b"if-none-match"))


DOOR = express.Door(router, _plain, is_open=True)
