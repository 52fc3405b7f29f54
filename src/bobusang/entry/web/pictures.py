"""Pictures on the screen: small ones, made of what our own store keeps and of nothing else, many on one sheet, so that
a list of fifty products costs one request. No page view ever makes us fetch from a stranger."""

from __future__ import annotations

import asyncio
import io
from collections import OrderedDict
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from PIL import Image, ImageOps
from starlette.responses import Response

from bobusang.entry.web.pages import Pages
from bobusang.entry.web.visit import UI
from bobusang.kit.errors import BobusangError, Missing
from bobusang.platform.blob import is_address
from bobusang.stages.image import store
from bobusang.stages.image.decoding import FORMATS
from bobusang.stages.image.model import Limits
from bobusang.stages.image.recipe import WHITE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bobusang.entry.web.site import Site
    from bobusang.entry.web.visit import Visit

pages = Pages()

SIDES = {"small": 64, "large": 192}
"""Pixels of a picture in a list and on a product's page: twice what is shown, for sharp screens."""
MOST = 60
"""Pictures on one sheet."""
KEPT_BYTES = 8 << 20
"""Small pictures that are kept in memory, by their content."""
QUALITY = 60
HEADERS = {
    "Cache-Control": "private, max-age=31536000, immutable",
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Content-Type": "image/webp",
}


class Desktop:
    """The small pictures of a process: each content is made once, two at a time, by a thread."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, int], bytes] = OrderedDict()
        self._bytes = 0
        self._turn = asyncio.Semaphore(2)

    async def tile(self, site: Site, address: str, side: int) -> bytes | None:
        """One small picture; None where the bytes are lost, or no decoder of ours reads them."""
        key = address, side
        if (known := self._kept.get(key)) is not None:
            self._kept.move_to_end(key)
            return known
        async with self._turn:
            try:
                data = await site.app.collector.blobs.get(address)
            except BobusangError:
                return None
            made = await asyncio.to_thread(shrunk, data, side)
        if made is not None:
            self._keep(key, made)
        return made

    def _keep(self, key: tuple[str, int], made: bytes) -> None:
        if key not in self._kept:
            self._kept[key] = made
            self._bytes += len(made)
        while self._bytes > KEPT_BYTES:
            _, gone = self._kept.popitem(last=False)
            self._bytes -= len(gone)


_desktops: WeakKeyDictionary[Site, Desktop] = WeakKeyDictionary()


@dataclass(frozen=True, slots=True)
class Sheet:
    """Pictures that a page shows, each once; `id` tells the sheets of one page apart."""

    id: str
    side: str
    pictures: tuple[str, ...]

    @property
    def href(self) -> str:
        """Where it is found."""
        return f"{UI}/pictures/{self.side}?of={'.'.join(self.pictures)}"

    def place(self, picture: str | None) -> int | None:
        """The place of a picture on it, if it is there."""
        return self.pictures.index(picture) if picture in self.pictures else None


def sheet_of(pictures: Iterable[str | None], side: str = "small", id: str = "sheet") -> Sheet:
    """A sheet of these pictures."""
    return Sheet(id, side, tuple(dict.fromkeys(one for one in pictures if one))[:MOST])


@pages.get("/pictures/{side}")
async def sheet(visit: Visit) -> Response:
    """Pictures side by side, in the order in which they are asked for; one that is not ours stays blank."""
    side = SIDES.get(visit.path["side"])
    wanted = visit.query.get("of").split(".")
    if side is None or not 0 < len(wanted) <= MOST or not all(map(is_address, wanted)):
        raise Missing("there is no such picture")
    tag = f'"{blake2b(f"{side} {wanted}".encode(), digest_size=12).hexdigest()}"'
    if visit.request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers={**HEADERS, "ETag": tag})
    async with visit.desk.read() as tx:
        ours = await store.ours(tx, wanted)
    if not ours:
        raise Missing("there is no such picture")
    desktop = _desktops.setdefault(visit.site, Desktop())
    known = dict.fromkeys(one for one in wanted if one in ours)
    found = dict(zip(known, await asyncio.gather(*(desktop.tile(visit.site, one, side) for one in known)), strict=True))
    body = await asyncio.to_thread(joined, [found.get(one) for one in wanted], side)
    return Response(body, headers={**HEADERS, "ETag": tag})


def shrunk(data: bytes, side: int) -> bytes | None:
    """A stranger's picture made small, on a white square: bounded before anything is unpacked."""
    limits = Limits()
    try:
        with Image.open(io.BytesIO(data), formats=FORMATS) as picture:
            if picture.width * picture.height > limits.most_pixels:
                return None
            picture.draft("RGB", (side * 2, side * 2))
            small = ImageOps.exif_transpose(picture)
            small.thumbnail((side, side), Image.Resampling.BICUBIC, reducing_gap=2.0)
            layered = small.convert("RGBA")
    except Exception:  # a decoder that is fed broken bytes may raise anything at all
        return None
    square = Image.new("RGB", (side, side), WHITE)
    square.paste(layered, ((side - layered.width) // 2, (side - layered.height) // 2), layered)
    return _webp(square)


def joined(tiles: Sequence[bytes | None], side: int) -> bytes:
    """Small pictures in one row; where there is none it is transparent."""
    row = Image.new("RGBA", (side * len(tiles), side), (0, 0, 0, 0))
    for place, tile in enumerate(tiles):
        if tile is not None:
            with Image.open(io.BytesIO(tile), formats=("WEBP",)) as one:
                row.paste(one, (side * place, 0))
    return _webp(row)


def _webp(picture: Image.Image) -> bytes:
    body = io.BytesIO()
    picture.save(body, "WEBP", quality=QUALITY, method=2)
    return body.getvalue()
