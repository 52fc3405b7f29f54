"""Every fault as a client meets it."""

from __future__ import annotations

import asyncio
import json
import zlib
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import aiohttp
import pytest
from selectolax.lexbor import LexborHTMLParser

if TYPE_CHECKING:
    from bobusang.testing.sandbox import Door

PATH = f"/okmall/products/list?brand={quote('나이키(NIKE)')}&page=1"


async def met(http: aiohttp.ClientSession, door: Door, kind: str, path: str = PATH, **more: Any) -> Any:
    """The status, headers and body under a fault; or the name of the error."""
    await door.fault("*", "*", kind, **more)
    try:
        async with asyncio.timeout(20), http.get(door.url + path, allow_redirects=False) as answer:
            return answer.status, dict(answer.headers), await answer.read()
    except aiohttp.ClientError as error:
        return type(error).__name__
    finally:
        await door.clear()


async def whole(http: aiohttp.ClientSession, door: Door, path: str = PATH) -> bytes:
    async with http.get(door.url + path) as answer:
        return await answer.read()


@pytest.mark.parametrize(
    ("kind", "more", "retry"),
    [
        ("http_429", {}, None),
        ("http_429", {"seconds": 30}, "30"),
        ("http_403", {}, None),
        ("http_503", {"seconds": 2}, "2"),
    ],
)
async def test_a_status_with_and_without_retry_after(
    http: aiohttp.ClientSession, door: Door, kind: str, more: dict[str, Any], retry: str | None
) -> None:
    status, headers, _ = await met(http, door, kind, **more)

    assert (status, headers.get("Retry-After")) == (int(kind[-3:]), retry)


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        ("reset", ("ServerDisconnectedError", "ClientOSError")),
        ("half_closed", ("ClientPayloadError",)),
        ("half_chunked", ("ClientPayloadError",)),
    ],
)
async def test_a_broken_transport_is_an_error(
    http: aiohttp.ClientSession, door: Door, kind: str, error: tuple[str, ...]
) -> None:
    assert await met(http, door, kind) in error
    log = await door.log(mall="okmall")
    assert {(visit["status"], visit["fault"]) for visit in log} == {
        (0, kind)
    }  # aiohttp itself asks twice after a reset


@pytest.mark.parametrize("kind", ["half_unsized", "half_html"])
async def test_half_a_page_may_arrive_without_any_error(http: aiohttp.ClientSession, door: Door, kind: str) -> None:
    page = await whole(http, door)
    status, _, body = await met(http, door, kind)

    assert (status, body) == (200, page[: len(page) // 2])


@pytest.mark.parametrize("kind", ["stall", "stall_body"])
async def test_a_stall_ends_with_the_client_or_with_its_time(
    http: aiohttp.ClientSession, door: Door, kind: str
) -> None:
    await door.fault("okmall", "*", kind)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.3), http.get(door.url + PATH) as answer:
            await answer.read()
    await door.clear()

    assert await met(http, door, kind, seconds=0.05) in ("ServerDisconnectedError", "ClientPayloadError")


async def test_pages_that_are_no_pages(http: aiohttp.ClientSession, door: Door) -> None:
    page = (await whole(http, door)).decode()
    empty = await met(http, door, "empty")
    wall = await met(http, door, "bot_wall")
    refused = await met(http, door, "bot_wall", status=503)
    foreign = await met(http, door, "wrong_encoding")
    broken = await met(http, door, "invalid_utf8")

    assert (empty[0], empty[2]) == (200, b"")
    assert (wall[0], b"Just a moment..." in wall[2], refused[0]) == (200, True, 503)
    assert foreign[1]["Content-Type"] == "text/html; charset=utf-8"
    assert foreign[2].decode("euc-kr") == page
    with pytest.raises(UnicodeDecodeError):
        broken[2].decode()


async def test_lists_that_mislead(http: aiohttp.ClientSession, door: Door) -> None:
    def keys(body: bytes) -> list[str | None]:
        boxes = LexborHTMLParser(body).css("div.item_box[data-productno]")
        return [box.attributes["data-productno"] for box in boxes]

    page = await whole(http, door)
    _, _, nothing = await met(http, door, "empty_list")
    _, _, again = await met(http, door, "repeat_last", PATH.replace("page=1", "page=7"))
    _, _, wobbling = await met(http, door, "wobble")

    assert (keys(nothing), keys(again), keys(wobbling)) == ([], keys(page), keys(page))
    assert wobbling != page


async def test_redirects_without_end_and_to_inside(http: aiohttp.ClientSession, door: Door) -> None:
    await door.fault("okmall", "list", "redirect_loop")
    with pytest.raises(aiohttp.TooManyRedirects):
        await http.get(door.url + PATH)
    await door.clear()
    status, headers, _ = await met(http, door, "redirect_private")

    assert (status, headers["Location"]) == (302, "http://169.254.169.254/latest/meta-data/")


async def test_bodies_that_are_too_much(http: aiohttp.ClientSession, door: Door) -> None:
    status, headers, body = await met(http, door, "huge", bytes=3_000_001)
    assert (status, headers["Content-Length"], len(body)) == (200, "3000001", 3_000_001)

    await door.fault("*", "*", "endless")
    async with http.get(door.url + PATH) as answer:
        await answer.content.readexactly(5_000_000)
        assert "Content-Length" not in answer.headers
    await door.clear()

    await door.fault("*", "*", "zip_bomb", bytes=20_000_000)
    async with aiohttp.ClientSession(auto_decompress=False) as raw, raw.get(door.url + PATH) as answer:
        bomb = await answer.read()
    assert len(bomb) < 100_000
    assert len(zlib.decompress(bomb, wbits=31)) == 20_000_000


async def test_hostile_content(http: aiohttp.ClientSession, door: Door) -> None:
    feed = "/feed/items.json"
    key = next(one["key"] for one in (await door.truth("okmall", brand="NIKE"))["items"] if one["options"])
    detail = f"/okmall/products/view?no={key}"
    _, _, deep = await met(http, door, "deep_json", feed)
    _, _, doubled = await met(http, door, "duplicate_keys", feed)
    _, _, many = await met(http, door, "many_options", detail)
    _, _, scripted = await met(http, door, "script_names")
    offers = json.loads(LexborHTMLParser(many).css('script[type="application/ld+json"]')[0].text())["offers"]

    assert deep == b"[" * 100_000 + b"]" * 100_000
    assert doubled.count(b'"items":') == 2
    assert len(offers["offers"]) == 10_000
    assert b"&lt;script&gt;alert(" in scripted


async def test_a_share_of_calls_fails_and_the_journal_tells_which(http: aiohttp.ClientSession, door: Door) -> None:
    await door.fault("okmall", "list", "http_500", share=0.3, seed=4)
    statuses = []
    for _ in range(40):
        async with http.get(door.url + PATH) as answer:
            statuses.append(answer.status)
    log = await door.log(mall="okmall", endpoint="list")
    counts = (await door.counts())["requests"]

    assert [visit["status"] for visit in log] == statuses
    assert set(statuses) == {200, 500}
    assert {(one["status"], one["count"]) for one in counts} == {
        (200, statuses.count(200)),
        (500, statuses.count(500)),
    }
    assert [(one["seen"], one["hits"]) for one in await door.faults()] == [(40, statuses.count(500))]
