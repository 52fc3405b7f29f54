"""Many products at once: a result a line while the rest is still sent, bad lines that spoil no other, exports."""

from __future__ import annotations

import asyncio
import csv
import io
import json
from typing import TYPE_CHECKING, Any

from bobusang.entry.api import guard, product_bulk
from bobusang.entry.tables import Role
from tests.integration.api.goods import crawled, told, topics
from tests.integration.api.serving import served

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    import pytest

    from tests.integration.api.door import Door

NDJSON = {"content-type": "application/x-ndjson"}


def lines(*said: Any) -> bytes:
    return b"".join((one if isinstance(one, bytes) else json.dumps(one).encode()) + b"\n" for one in said)


async def sent(door: Door, content: Any, **headers: str) -> list[dict[str, Any]]:
    answer = await door.operator.post("/products/bulk", content=content, headers=NDJSON | headers)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/x-ndjson"), answer.text
    return [json.loads(line) for line in answer.text.splitlines()]


async def test_a_line_that_is_wrong_spoils_no_other(door: Door) -> None:
    gone = await told(door, product_id="gone", url=None)
    await door.operator.delete(f"/products/{gone['id']}")
    results = await sent(
        door,
        lines(
            {"mall": "okmall", "product_id": "1", "name": "패딩", "price": 1000},
            b'{"mall": "okmall", "product_id"',
            {"mall": "okmall", "product_id": "2", "price": -1},
            b"",
            {"mall": "okmall", "product_id": "gone", "price": 1},
            {"mall": "okmall", "product_id": "1", "price": 2000},
            {"mall": "okmall", "product_id": "1", "price": 2000},
            b"[]",
            {"mall": "mustit", "url": "https://mall.example/x", "name": "코트"},
            {"name": "x"},
        ),
    )
    ids = {one["line"]: one.pop("id") for one in results if "id" in one}

    assert [
        {**one, "error": one["error"]["code"], "field": one["error"].get("field")} if "error" in one else one
        for one in results
    ] == [
        {"line": 1, "result": "new"},
        {"line": 2, "error": "malformed", "field": None},
        {"line": 3, "error": "invalid", "field": "price"},
        {"line": 5, "error": "conflict", "field": "product_id"},
        {"line": 6, "result": "changed"},
        {"line": 7, "result": "same"},
        {"line": 8, "error": "invalid", "field": None},
        {"line": 9, "result": "new"},
        {"line": 10, "error": "invalid", "field": "product_id"},
    ]
    assert ids[1] == ids[6] == ids[7]
    shown = await door.get("/products")
    assert [(one["id"], one["price"]) for one in shown["items"]] == sorted([(ids[1], 2000), (ids[9], None)])
    changed = [key for topic, key in await topics(door) if topic == "product.changed"][1:]
    assert sorted(changed)[-2:] == ["okmall:1", "okmall:1"]


async def test_it_is_the_same_however_often_it_is_sent(door: Door) -> None:
    body = lines(*({"mall": "okmall", "product_id": str(n), "name": f"패딩 {n}", "price": n} for n in range(1200)))

    first, again = await sent(door, body), await sent(door, body)

    assert [one["line"] for one in first] == list(range(1, 1201))
    assert {one["result"] for one in first} == {"new"}
    assert [one | {"result": "same"} for one in first] == again


async def test_results_come_while_the_rest_is_still_sent(small: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(product_bulk, "AT_ONCE", 2)
    heard: list[dict[str, Any]] = []
    answered = asyncio.Event()

    async def body() -> AsyncIterator[bytes]:
        yield lines({"product_id": "1"}, {"product_id": "2"})
        await answered.wait()
        yield lines({"product_id": "3"})

    async with served(small.api, small.keys[Role.OPERATOR]) as client:
        reader, writer = await asyncio.open_connection(client.base_url.host, client.base_url.port)
        head = f"POST /products/bulk HTTP/1.1\r\nhost: x\r\nauthorization: {client.headers['authorization']}\r\n"
        writer.write(f"{head}content-type: application/x-ndjson\r\ntransfer-encoding: chunked\r\n\r\n".encode())
        async for part in body():
            writer.write(f"{len(part):x}\r\n".encode() + part + b"\r\n")
            await writer.drain()
            while len(heard) < 2:
                line = (await reader.readline()).strip()
                if line.startswith(b"{"):
                    heard.append(json.loads(line))
            answered.set()
        writer.write(b"0\r\n\r\n")
        while len(heard) < 3:
            line = (await reader.readline()).strip()
            if line.startswith(b"{"):
                heard.append(json.loads(line))
        writer.close()

    assert [(one["line"], one["result"]) for one in heard] == [(1, "new"), (2, "new"), (3, "new")]


async def test_who_reads_nothing_before_all_is_sent_is_not_left_waiting(small: Door) -> None:
    """httpx sends its whole body first: the results of all of it wait for it here."""
    body = lines(*({"product_id": "x" * 200} for _ in range(3000)))
    async with served(small.api, small.keys[Role.OPERATOR]) as client:
        answer = await client.post("/products/bulk", content=body, headers=NDJSON)

    assert len(answer.text.splitlines()) == 3000
    assert {json.loads(line)["error"]["field"] for line in answer.text.splitlines()} == {"product_id"}


async def test_a_body_and_a_line_and_their_number_are_bounded(small: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(product_bulk, "LONGEST", 100)
    monkeypatch.setattr(product_bulk, "MOST", 3)
    monkeypatch.setitem(guard.LARGER, "/products/bulk", 1000)
    long = lines({"product_id": "1", "name": "x" * 100}, {"product_id": "2"})
    assert [(one["line"], one.get("error", {}).get("code")) for one in await sent(small, long)] == [
        (1, "too_large"),
        (2, None),
    ]
    many = lines(*({"product_id": str(n)} for n in range(5)))
    told_of = await sent(small, many)
    assert [one.get("error", {}).get("code") for one in told_of] == [None, None, None, "too_large"]

    async def endless() -> AsyncIterator[bytes]:
        for _ in range(100):
            yield b" " * 50

    (last,) = await sent(small, endless())
    assert last["error"]["code"] == "too_large"
    large = await small.operator.post("/products/bulk", content=b"x" * 1001, headers=NDJSON)
    assert (large.status_code, large.json()["detail"]) == (413, "the body has more than 1,000 bytes")
    kind = await small.operator.post("/products/bulk", json={})
    assert (kind.status_code, kind.json()["hint"]) == (415, "send application/x-ndjson")


async def test_products_are_exported_as_a_file(door: Door) -> None:
    await crawled(door, "A1", name='패딩, "긴"', price=1000, brand="NIKE")
    await crawled(door, "A2", name="=cmd|' /C calc'!A0", price=2000)
    for n, sign in enumerate("+-@\t\r"):
        await crawled(door, f"B{n}", name=f"{sign}1")

    answer = await door.viewer.get("/products/export", params={"fields": "product_id,name,price,in_stock,locked"})
    rows = list(csv.reader(io.StringIO(answer.content.decode("utf-8-sig"), newline="")))
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert answer.headers["content-disposition"] == 'attachment; filename="products.csv"'
    assert rows == [
        ["product_id", "name", "price", "in_stock", "locked"],
        ["A1", '패딩, "긴"', "1000", "", ""],
        ["A2", "'=cmd|' /C calc'!A0", "2000", "", ""],
        *([f"B{n}", f"'{sign}1", "", "", ""] for n, sign in enumerate("+-@\t\r")),
    ]
    told_of = await door.viewer.get("/products/export", params={"format": "ndjson", "brand": "NIKE"})
    (line,) = told_of.text.splitlines()
    assert json.loads(line) == (await door.get("/products", brand="NIKE"))["items"][0]


async def test_an_export_is_made_a_part_at_a_time(small: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    from bobusang.views import product_lists

    body = lines(*({"product_id": f"{n:02}"} for n in range(7)))
    await sent(small, body)
    monkeypatch.setattr(product_lists, "EXPORTED", 3)

    found = await small.viewer.get("/products/export", params={"format": "ndjson", "fields": "product_id"})

    assert [json.loads(line)["product_id"] for line in found.text.splitlines()] == [f"{n:02}" for n in range(7)]
