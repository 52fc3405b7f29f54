"""Webhooks of a supplier over real HTTP: stored first, read once, and what comes late undoes nothing."""

from __future__ import annotations

import asyncio
from asyncio.subprocess import PIPE
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from bobusang.flows.inbound.register import started
from bobusang.kit import json
from bobusang.sandbox.acme import headers
from bobusang.stages.collect import switch
from tests.integration.flows.supplied import EVENTS, Supplied, supplied

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


@pytest.fixture
async def small(tmp_path: Path) -> AsyncIterator[Supplied]:
    async with supplied(tmp_path) as found:
        yield found


@pytest.fixture
async def anywhere(tmp_path: Path, database_url: str) -> AsyncIterator[Supplied]:
    async with supplied(tmp_path, database_url=database_url) as found:
        yield found


def event(id: str, at: str, *products: dict[str, Any], type: str = "product.updated") -> bytes:
    told = {"event_id": id, "type": type, "occurred_at": at, "data": {"products": list(products)}}
    return json.dumps(told).encode()


def coat(price: int, **more: Any) -> dict[str, Any]:
    return {
        "sku": "A1",
        "name": "울 코트",
        "brand": {"en": "NIKE"},
        "price": price,
        "sold_out": False,
        "images": ["https://acme.example.com/1.jpg"],
        "options": [{"code": "B", "color": "Black", "size": "M", "stock": 3}],
    } | more


async def post(small: Supplied, body: bytes, **signed: Any) -> int:
    async with httpx.AsyncClient() as http:
        return (await http.post(small.acme, content=body, headers=headers(body, **signed))).status_code


async def test_what_acme_tells_is_stored_as_it_says(anywhere: Supplied) -> None:
    async with anywhere.yard.working():
        sent = await anywhere.sends(count=60, size=20)
        await anywhere.read()

    truth = await anywhere.yard.door.truth("acme", brand="나이키(NIKE)")
    shown = {item["key"]: (item["price"], item["sold_out"], item["options"]) for item in truth["items"]}
    records = await anywhere.records()
    told = {
        key: (fields["price"], fields["sold_out"], _options(fields)) for key, fields in records.items() if key in shown
    }
    assert sent["statuses"] == {"200": 3}
    assert len(records) == 60
    assert told == {key: shown[key] for key in told}
    assert len(told) > 10
    assert sorted(await anywhere.yard.rows(EVENTS), key=str) == [
        {"event": key, "state": "DONE", "error": None} for key in sent["events"]
    ]


def _options(fields: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {name: one.get(name, "") for name in ("code", "color", "size", "stock", "available")}
        for one in fields["options"]
    ]


async def test_the_same_event_a_thousand_times_is_one_record(anywhere: Supplied) -> None:
    async with anywhere.yard.working():
        sent = await anywhere.sends(times=1000)
        await anywhere.read()

    assert sent["statuses"] == {"200": 1000}
    assert await anywhere.yard.rows("select event, state from inbound_events") == [
        {"event": sent["events"][0], "state": "DONE"}
    ]
    assert list((await anywhere.versions()).values()) == [1]
    assert await anywhere.yard.rows("select count(*) as n from source_data") == [{"n": 1}]
    assert await anywhere.yard.rows("select count(*) as n from raw_pages") == [{"n": 1}]


async def test_forged_stale_and_unknown_ones_leave_nothing(small: Supplied) -> None:
    forged = await small.sends(forged=True)
    stale = await small.sends(stale=True)
    body = event("e1", "2026-01-01T00:00:00Z", coat(50_000))
    async with httpx.AsyncClient() as http:
        bare = await http.post(small.acme, content=body)
        changed = await http.post(small.acme, content=body + b" ", headers=headers(body))
        nobody = await http.post(f"{small.url}/in/okmall", content=body, headers=headers(body))
        large = await http.post(small.acme, content=b"x" * (1 << 20 | 1), headers=headers(body))

    assert (forged["statuses"], stale["statuses"]) == ({"401": 1}, {"401": 1})
    assert [one.status_code for one in (bare, changed, nobody, large)] == [401, 401, 404, 413]
    assert bare.json()["detail"] == "this is not signed with the secret of this source"
    assert nobody.json()["detail"] == "no source 'okmall' sends us webhooks"
    assert await small.yard.rows(EVENTS) == []


async def test_a_source_that_is_off_takes_nothing(small: Supplied) -> None:
    app = small.yard.app
    await app.engine.db.transact(
        lambda tx: switch.disable(tx, app.collector.pools, "acme", why="a trial is over", by="tests")
    )
    sent = await small.sends()

    assert sent["statuses"] == {"409": 1}
    assert await small.yard.rows(EVENTS) == []


async def test_an_event_that_says_something_else_than_before_is_told_of(small: Supplied) -> None:
    first = await post(small, event("e1", "2026-01-01T00:00:00Z", coat(50_000)))
    again = await post(small, event("e1", "2026-01-01T00:00:00Z", coat(50_000)))
    other = await post(small, event("e1", "2026-01-01T00:00:00Z", coat(40_000)))

    assert (first, again, other) == (200, 200, 409)


async def test_an_older_event_that_comes_late_changes_nothing(anywhere: Supplied) -> None:
    async with anywhere.yard.working():
        for name, at, price in (("new", "2026-01-01T09:00:00Z", 52_000), ("old", "2026-01-01T08:00:00Z", 50_000)):
            assert await post(anywhere, event(name, at, coat(price))) == 200
            await anywhere.read()

    assert {key: fields["price"] for key, fields in (await anywhere.records()).items()} == {"A1": 52_000}
    assert await anywhere.yard.rows(EVENTS) == [
        {"event": "new", "state": "DONE", "error": None},
        {"event": "old", "state": "DONE", "error": "1 of 1 came late: something newer was known of them"},
    ]


async def test_events_that_are_read_together_count_in_the_order_they_happened(small: Supplied) -> None:
    """Stock, an end and a return, all waiting when the first is read."""
    told = [
        event("e3", "2026-01-01T03:00:00Z", coat(51_000)),
        event("e1", "2026-01-01T01:00:00Z", coat(50_000, sold_out=True)),
        event("e2", "2026-01-01T02:00:00Z", {"sku": "A1"}, type="product.deleted"),
        event("e5", "2026-01-01T05:00:00Z", {"sku": "B1"}, type="product.deleted"),
        event("e4", "2026-01-01T04:00:00Z", coat(70_000, sku="B1")),
        event("e6", "2026-01-01T06:00:00Z", coat(70_000, sku="C1")),
        event("e7", "2026-01-01T07:00:00Z", {"sku": "C1"}, type="product.deleted"),
        event("e8", "2026-01-01T08:00:00Z", coat(70_500, sku="C1")),
        event("e9", "2026-01-01T09:00:00Z", {"sku": "x"}, type="shop.opened"),
    ]
    assert [await post(small, body) for body in told] == [200] * len(told)
    async with small.yard.working():
        await small.read()

    found = await small.records()
    assert {key: (one["price"], one["gone"], one.get("listed")) for key, one in found.items()} == {
        "A1": (51_000, False, None),
        "C1": (70_500, False, True),
    }
    notes = {row["event"]: row["error"] for row in await small.yard.rows(EVENTS) if row["error"]}
    late = "1 of 1 came late: something newer was known of them"
    assert notes == {"e1": late, "e2": late, "e4": late, "e9": "no stream reads 'shop.opened'"}


async def test_what_cannot_be_read_is_kept_and_read_again_when_asked(small: Supplied) -> None:
    bad = event("bad", "2026-01-01T00:00:00Z", {"name": "without a key"})
    good = event("good", "2026-01-01T00:00:01Z", coat(50_000))
    assert [await post(small, body) for body in (bad, b"no JSON", good)] == [200, 200, 200]
    async with small.yard.working():
        await small.read()

    rows = await small.yard.rows("select event, state, attempts, error from inbound_events order by id")
    assert [(row["event"][:7], row["state"], row["attempts"]) for row in rows] == [
        ("bad", "FAILED", 1),
        ("sha256:", "FAILED", 1),
        ("good", "DONE", 1),
    ]
    assert "a record has no key that can be read" in rows[0]["error"]
    assert list(await small.records()) == ["A1"]


async def test_what_was_stored_before_a_crash_is_read_after_it(tmp_path: Path) -> None:
    """The process ends between storing and reading; another begins, and two workers begin to read at once."""
    async with supplied(tmp_path) as first:
        door = first.yard.door
        await first.sends(count=30, size=10)
        async with supplied(tmp_path, door=door) as second:
            assert await second.records() == {}
            app = second.yard.app
            made = [await app.engine.db.transact(lambda tx: started(tx, app.engine, "acme")) for _ in range(3)]
            async with first.yard.working(), second.yard.working():
                await second.read()

            assert [one is None for one in made] == [False, True, True]
            assert sorted((await second.versions()).values()) == [1] * 30


async def test_many_senders_at_once(anywhere: Supplied) -> None:
    async with anywhere.yard.working():
        answers = await asyncio.gather(*(anywhere.sends(count=5, times=20) for _ in range(5)))
        await anywhere.read()

    assert [one["statuses"] for one in answers] == [{"200": 100}] * 5
    assert await anywhere.yard.rows("select state, count(*) as n from inbound_events group by state") == [
        {"state": "DONE", "n": 25}
    ]
    assert sorted((await anywhere.versions()).values()) == [1] * 5


async def test_the_example_of_the_docs_works(small: Supplied) -> None:
    """As it stands there, but for where we listen."""
    page = (Path(__file__).parents[3] / "docs" / "sources" / "webhooks.md").read_text("utf-8")
    script = page.partition("```sh\n")[2].partition("```")[0].replace("http://127.0.0.1:8000", small.url)
    ran = await asyncio.create_subprocess_exec("sh", "-c", script, stdout=PIPE, stderr=PIPE)
    said, wrong = await ran.communicate()
    async with small.yard.working():
        await small.read()

    assert (json.loads(said), wrong, ran.returncode) == ({"status": "received"}, b"", 0)
    assert {key: (one["name"], one["price"]) for key, one in (await small.records()).items()} == {
        "A1": ("울 코트", 129_000)
    }
