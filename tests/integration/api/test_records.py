"""Source records through the API, on all three databases: lists, history, differences, why a value is what it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bobusang.catalog import markets
from bobusang.catalog.markets import Sync
from bobusang.catalog.model import SourceType
from bobusang.kit.http import Answer
from bobusang.stages.collect.model import Fetched
from bobusang.stages.collect.source import Ask
from bobusang.testing.catalog import collect, reading
from bobusang.views import records as view
from bobusang.views.records import RecordFilter

if TYPE_CHECKING:
    from tests.integration.api.door import Door

HOSTILE = b"<script>alert('\xed\x99\x94')</script>"


async def kept(door: Door, key: str, **said: Any) -> int:
    """Collect one reading; its record."""
    _, written = await collect(door.app.engine.db, reading(key, **said))
    return written.ids[0]


async def keys(door: Door, **query: Any) -> list[str]:
    """The keys of a list, two at a time, in its order."""
    found: list[str] = []
    cursor = None
    while True:
        page = await door.get("/records", limit=2, **query, **({"cursor": cursor} if cursor else {}))
        found += [one["key"] for one in page["items"]]
        cursor = page["next"]
        if cursor is None:
            return found


async def looked_for(door: Door, wanted: RecordFilter) -> list[str]:
    """The same where one call looks through three records only."""
    found: list[str] = []
    after = None
    while True:
        async with door.app.engine.db.read() as tx:
            part = await view.listed(tx, wanted, after, 2, window=3)
        found += [line.key for line in part.lines]
        after = part.resume
        if after is None:
            return found


async def archived(door: Door, body: bytes) -> int:
    """An archived page; its id."""
    archive = door.app.collector.service.archive
    headers = {"content-type": "text/html", "set-cookie": "token=secret"}
    (sha,) = await archive.keep([Answer("https://mall.example/a", 200, headers, body)])
    fetched = Fetched(
        "okmall",
        "brand:x",
        Ask("/a", stream="detail"),
        (),
        "okmall@1",
        sha,
        "https://mall.example/a",
        door.app.engine.db.clock.now(),
        headers=headers,
        media="text/html",
        size=len(body),
        job_id=7,
    )
    return (await door.app.engine.db.transact(lambda tx: archive.index(tx, [fetched])))[0]


async def test_a_record_is_shown_with_all_that_is_known_of_it(door: Door) -> None:
    raw_id = await archived(door, HOSTILE)
    said = {"name": "울 코트", "brand": "나이키", "price": 129_000, "currency": "KRW", "sold_out": False}
    id = await kept(door, "A1", **said, scope="list:brand:x", raw_id=raw_id)

    found = await door.get(f"/records/{id}")
    names = ("source", "type", "key", "version", "normalized", "market", "ai", "processing_status")
    assert {name: found[name] for name in names} == {
        "source": "okmall",
        "type": "supplier_product",
        "key": "A1",
        "version": 1,
        "normalized": said,
        "market": {},
        "ai": {},
        "processing_status": "raw",
    }
    assert {name: found["product"][name] for name in ("id", "name", "price", "in_stock", "locked")} == {
        "id": id,
        "name": "울 코트",
        "price": 129_000,
        "in_stock": True,
        "locked": [],
    }
    (seen,) = found["seen"]
    assert (seen["scope"], seen["last_run"], seen["missed"]) == ("list:brand:x", 1, 0)
    assert found["last_seen_at"] == seen["last_seen_at"]
    (link,) = found["lineage"]
    assert (link["version_id"], link["parent_id"], link["raw_id"]) == (found["version_id"], None, raw_id)
    lineage = await door.get(f"/records/{id}/lineage")
    assert lineage == {"version": 1, "version_id": found["version_id"], "parents": [link], "children": []}
    assert (await door.viewer.get("/records/999999")).status_code == 404


async def test_every_value_tells_which_page_and_reader_made_it(door: Door) -> None:
    first, second = await archived(door, b"one"), await archived(door, b"two")
    options = [{"code": "B/1", "stock": 3}]
    id = await kept(door, "A1", name="코트", price=1000, options=options, raw_id=first)
    await kept(door, "A1", price=1200, stream="detail", reader="okmall@2", raw_id=second)
    await kept(door, "A1", name="코트", price=1200, options=[{"code": "B/1", "stock": 0}], raw_id=second)

    price = await door.get(f"/records/{id}/fields/price")
    evidence = {"raw_id": second, "reader": "okmall@2", "stream": "detail"}
    assert {name: price[name] for name in ("field", "value", "version", *evidence)} == {
        "field": "price",
        "value": 1200,
        "version": 2,
        **evidence,
    }
    assert [{**change, "changed_at": None} for change in price["changes"]] == [
        {"version": 2, "old": 1000, "new": 1200, "changed_at": None, **evidence}
    ]
    name = await door.get(f"/records/{id}/fields/name")
    assert (name["value"], name["version"], name["raw_id"], name["changes"]) == ("코트", 1, first, [])
    stock = await door.get(f"/records/{id}/fields/options.B/1.stock")
    assert (stock["value"], stock["version"], stock["raw_id"]) == (0, 3, second)
    missing = await door.viewer.get(f"/records/{id}/fields/prise")
    assert (missing.status_code, missing.json()["hint"]) == (404, "it has name, options, price")

    newest = await door.get(f"/records/{id}/history", limit=2)
    oldest = await door.get(f"/records/{id}/history", limit=2, cursor=newest["next"])
    told = [
        (one["version"], [(change["field"], change["old"], change["new"]) for change in one["changes"]])
        for one in [*newest["items"], *oldest["items"]]
    ]
    assert told == [(3, [("options.B/1.stock", 3, 0)]), (2, [("price", 1000, 1200)]), (1, [])]

    last = await door.get(f"/records/{id}/diff")
    assert (last["from_version"], last["to_version"]) == (2, 3)
    whole = await door.get(f"/records/{id}/diff", **{"from": 3, "to": 1})
    assert [(one["field"], one["old"], one["new"]) for one in whole["changes"]] == [
        ("options.B/1.stock", 0, 3),
        ("price", 1200, 1000),
    ]
    assert {one["field"]: one["group"] for one in whole["changes"]}["price"] == "price"
    assert (await door.viewer.get(f"/records/{id}/diff", params={"to": 9})).status_code == 404


async def test_records_are_listed_by_source_change_and_text(door: Door) -> None:
    for key, name in (("A1", "울 코트"), ("A2", "Wool 100% coat"), ("A3", "바지"), ("A4", "코트")):
        await kept(door, key, name=name, price=1)
    await kept(door, "B1", name="남의 코트", source="mustit")
    await kept(door, "O1", source="mustit", type=SourceType.ORDER, total=5)
    await kept(door, "A1", name="울 코트", price=2)

    assert await keys(door) == ["O1", "B1", "A4", "A3", "A2", "A1"]
    assert await keys(door, source="okmall") == ["A1", "A4", "A3", "A2"]
    since = (await door.get("/records", source="okmall", key="A3"))["items"][0]["last_changed_at"]
    assert await keys(door, source="okmall", changed_since=since) == ["A3", "A4", "A1"]
    assert await keys(door, source="mustit", key="O1") == ["O1"]
    assert await keys(door, type="order") == ["O1"]
    assert await keys(door, q="코트") == ["B1", "A4", "A1"]
    assert await keys(door, q="100%") == ["A2"]
    assert await keys(door, q="wool") == ["A2"]
    for source, wanted in ((None, ["B1", "A4", "A1"]), ("okmall", ["A1", "A4"])):
        assert await looked_for(door, RecordFilter(source=source, text="코트")) == wanted

    for name in ("key", "changed_since"):
        refused = await door.viewer.get("/records", params={name: since})
        assert (refused.status_code, refused.json()["field"]) == (422, "source")


async def test_a_raw_page_is_told_of_and_downloaded_but_never_rendered(door: Door) -> None:
    raw_id = await archived(door, HOSTILE)
    told = await door.get(f"/raw/{raw_id}")
    names = ("source", "endpoint", "url", "status", "headers", "media", "size", "job_id")
    assert {name: told[name] for name in names} == {
        "source": "okmall",
        "endpoint": "detail",
        "url": "https://mall.example/a",
        "status": 200,
        "headers": {"content-type": "text/html"},
        "media": "text/html",
        "size": len(HOSTILE),
        "job_id": 7,
    }
    body = await door.viewer.get(f"/raw/{raw_id}/body")
    assert body.content == HOSTILE
    assert {name: body.headers[name] for name in ("content-type", "content-disposition", "x-content-type-options")} == {
        "content-type": "text/plain",
        "content-disposition": f'attachment; filename="raw-{raw_id}.txt"',
        "x-content-type-options": "nosniff",
    }
    assert (await door.viewer.get("/raw/999999/body")).status_code == 404
    assert (await door.stranger.get(f"/raw/{raw_id}/body")).status_code == 401


async def test_records_are_found_by_market_and_quality(door: Door) -> None:
    a, b, c = [await kept(door, key, price=1) for key in "ABC"]
    db = door.app.engine.db
    said = [
        Sync(a, "buyma", {"status": "active", "last_sync": db.clock.now().isoformat(), "price": 5}),
        Sync(b, "buyma", {"status": "suspended"}),
        Sync(c, "coupang", {"status": "active"}),
    ]
    await db.transact(lambda tx: markets.set_market_data(tx, said))
    await db.transact(lambda tx: markets.set_ai_data(tx, {a: {"quality_score": 0.9}, b: {"quality_score": 0.5}}))

    assert (await door.get("/records/markets"))["items"] == [
        {"market": "buyma", "records": 2, "by_status": {"active": 1, "suspended": 1}},
        {"market": "coupang", "records": 1, "by_status": {"active": 1}},
    ]
    first = await door.get("/records/markets/buyma", limit=1)
    rest = await door.get("/records/markets/buyma", limit=1, cursor=first["next"])
    assert [one["record_id"] for one in [*first["items"], *rest["items"]]] == [a, b]
    assert first["items"][0]["info"]["price"] == 5
    active = await door.get("/records/markets/buyma", active="true")
    assert [one["record_id"] for one in active["items"]] == [a]
    stale = (await door.get("/records/markets/buyma/stale"))["items"]
    assert [(one["record_id"], one["last_sync"]) for one in stale] == [(b, None)]

    low = await door.get("/records/quality", at_least=0.4, limit=1)
    high = await door.get("/records/quality", at_least=0.4, limit=1, cursor=low["next"])
    assert [(one["record_id"], one["quality"]) for one in [*low["items"], *high["items"]]] == [(b, 0.5), (a, 0.9)]
    assert high["next"] is None
