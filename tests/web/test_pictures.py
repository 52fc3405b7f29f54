"""Small pictures: of our own store only, whole sheets by one request, never what a stranger sent as it came."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from PIL import Image

from bobusang.entry.web.pictures import MOST, joined, shrunk
from bobusang.kit.sql import Statement

if TYPE_CHECKING:
    from tests.web.screen import Screen

ORIGINALS = Statement("select sha256 from image_files where recipe = 'original' order by sha256 limit 3")
RAW = Statement("select sha256 as value from raw_pages limit 1")
NOBODY = "0" * 64


async def addresses(screen: Screen) -> list[str]:
    async with screen.app.engine.db.read() as tx:
        return [row["sha256"] for row in await tx.fetch(ORIGINALS)]


async def test_a_sheet_has_one_square_for_each_that_is_asked_for(screen: Screen) -> None:
    of = await addresses(screen)

    answer = await screen.viewer.client.get("/ui/pictures/small", params={"of": ".".join([*of, NOBODY])})

    headers = answer.headers
    assert (answer.status_code, headers["content-type"]) == (200, "image/webp")
    assert headers["cache-control"] == "private, max-age=31536000, immutable"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["content-security-policy"] == "default-src 'none'; sandbox"
    with Image.open(io.BytesIO(answer.content)) as sheet:
        assert sheet.size == (64 * 4, 64)
        assert sheet.convert("RGBA").getpixel((64 * 3 + 32, 32)) == (0, 0, 0, 0)
    known = {"if-none-match": headers["etag"]}
    again = await screen.viewer.client.get("/ui/pictures/small", params={"of": ".".join([*of, NOBODY])}, headers=known)
    assert (again.status_code, again.content) == (304, b"")


async def test_nothing_but_pictures_of_ours_is_handed_out(screen: Screen) -> None:
    of = await addresses(screen)
    async with screen.app.engine.db.read() as tx:
        raw = await tx.value(RAW)

    for side, wanted in (
        ("small", raw),
        ("small", NOBODY),
        ("small", "http://evil/x.png"),
        ("small", ""),
        ("small", f"{of[0]}/../{of[1]}"),
        ("huge", of[0]),
        ("small", ".".join([of[0]] * (MOST + 1))),
    ):
        page = await screen.viewer.get(f"/pictures/{side}", of=wanted)
        assert page.status == 404, (side, wanted)


def test_broken_bytes_make_no_picture() -> None:
    bomb = b"\x89PNG\r\n\x1a\n" + b"\0\0\0\rIHDR" + (60_000).to_bytes(4, "big") * 2 + b"\x08\x02\0\0\0" + b"\0" * 8

    assert [shrunk(data, 64) for data in (b"", b"<svg onload=alert(1)>", b"GIF89a", bomb)] == [None] * 4


def test_a_picture_is_whole_on_a_white_square() -> None:
    body = io.BytesIO()
    Image.new("RGBA", (400, 200), (255, 0, 0, 255)).save(body, "PNG")

    small = shrunk(body.getvalue(), 64)

    assert small is not None
    with Image.open(io.BytesIO(joined([None, small], 64))) as sheet:
        found = sheet.convert("RGBA")
        assert found.size == (128, 64)
        assert found.getpixel((96, 2))[:3] == (255, 255, 255)  # type: ignore[index]
        assert found.getpixel((96, 32))[0] > 240  # type: ignore[index]
