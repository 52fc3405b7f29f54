"""Pages tried by hand and archived pages read again: what they show, and that the catalog stays as it is."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from bobusang.flows.collect.replaying import UNKNOWN, WHOLE, Difference, Trouble, Whose, replay
from bobusang.flows.collect.trying import Wish, tried
from bobusang.kit.errors import Blocked, Conflict, Throttled, Unavailable
from bobusang.kit.sql import Statement
from bobusang.stages.collect import switch
from bobusang.stages.collect.source import Snapshot, Source, Target

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from bobusang.flows.collect.collector import Collector
    from bobusang.stages.collect.source import Ask, Page, Reads
    from bobusang.testing.yard import Yard

BRAND = "나이키(NIKE)"
LIST = Wish("list", Target("brand", BRAND))
EVER = datetime(2000, 1, 1, tzinfo=UTC)
RAW = "select id, source, endpoint, job_id, url_hash from raw_pages order by id"


class Otherwise(Source):
    """A source whose reader was changed."""

    def __init__(self, inner: Source, change: Callable[[str, Snapshot], Snapshot | None]) -> None:
        self.inner, self.change = inner, change
        self.name, self.base, self.policy, self.version = inner.name, inner.base, inner.policy, "another"

    def seeds(self, target: Target) -> Iterable[Ask]:
        return self.inner.seeds(target)

    def read(self, page: Page) -> Iterable[Reads]:
        for one in self.inner.read(page):
            changed = self.change(page.ask.endpoint, one) if isinstance(one, Snapshot) else one
            if changed is not None:
                yield changed


def reading(collector: Collector, change: Callable[[str, Snapshot], Snapshot | None]) -> Collector:
    """The same process with another reader of OKmall."""
    return replace(collector, sources={"okmall": Otherwise(collector.source("okmall"), change)})


def said(snapshot: Snapshot, **fields: Any) -> Snapshot:
    return msgspec.structs.replace(snapshot, fields={**snapshot.fields, **fields})


async def first_of(yard: Yard) -> tuple[str, dict[str, Any]]:
    """A record that is for sale, by the smallest key."""
    found = await yard.records("okmall")
    return min((key, fields) for key, fields in found.items() if fields["sold_out"] is False)


async def test_a_page_is_read_and_archived_and_nothing_else(yard: Yard) -> None:
    found = await tried(yard.app.collector, "okmall", LIST)

    listed = {item["key"] for item in (await yard.door.truth("okmall", brand=BRAND))["items"] if item["listed"]}
    assert {one.key for one in found.found if isinstance(one, Snapshot)} == listed
    assert (found.problem, found.page.status, found.page.ask.endpoint) == ("", 200, "list")
    assert await yard.app.collector.service.archive.get(found.sha256) == found.page.body
    assert await yard.rows("select id from source_records") == []
    # Nothing was stored, so no later request may be answered by "as you know".
    expected = {"id": found.raw_id, "source": "okmall", "endpoint": "list", "job_id": None, "url_hash": None}
    assert await yard.rows(RAW) == [expected]


async def test_a_source_that_is_off_is_not_tried(yard: Yard) -> None:
    pools = yard.app.collector.pools
    await yard.db.transact(lambda tx: switch.disable(tx, pools, "okmall", why="it asked us to", by="me"))

    with pytest.raises(Conflict, match="okmall is off"):
        await tried(yard.app.collector, "okmall", LIST)

    assert (await yard.door.counts())["asked"] == 0


async def test_why_no_page_came_is_said(yard: Yard) -> None:
    await yard.door.fault("okmall", "list", "http_503", count=1)
    with pytest.raises(Unavailable, match="no page came: HTTP 503"):
        await tried(yard.app.collector, "okmall", LIST)

    await yard.door.fault("okmall", "list", "http_403", count=1)
    with pytest.raises(Blocked, match="OKmall has closed the door"):
        await tried(yard.app.collector, "okmall", LIST)
    with pytest.raises(Throttled, match=r"not now: .*OKmall has closed the door"):
        await tried(yard.app.collector, "okmall", LIST)


async def test_a_page_that_cannot_be_read_is_shown_with_why(yard: Yard) -> None:
    await yard.door.fault("okmall", "list", "half_html", count=1)

    found = await tried(yard.app.collector, "okmall", LIST)

    assert (found.found, "cut off" in found.problem) == ((), True)


async def test_the_same_reader_would_change_nothing(any_yard: Yard) -> None:
    run = await any_yard.collect("okmall", "brand", BRAND)
    before = await any_yard.rows("select id, version from source_records order by id")

    found = await replay(any_yard.app.collector, "okmall", since=EVER)

    assert (found.differs, found.skipped, found.items) == (False, 0, found.same)
    assert found.pages == len(await any_yard.rows(RAW)) == run["pages_read"] + run["listed"]
    assert await any_yard.rows("select id, version from source_records order by id") == before


async def test_pages_are_read_again_when_their_tasks_are_archived(yard: Yard) -> None:
    await yard.collect("okmall", "brand", BRAND)
    await yard.collect("mustit", "seller", min((await yard.door.world())["sellers"]))
    before = [await replay(yard.app.collector, name, since=EVER) for name in ("okmall", "mustit")]
    await yard.db.transact(lambda tx: tx.execute(Statement("delete from tasks")))

    assert [await replay(yard.app.collector, name, since=EVER) for name in ("okmall", "mustit")] == before
    assert [(one.skipped, one.differs, one.pages > 3) for one in before] == [(0, False, True)] * 2


async def test_what_the_reader_changes_is_the_readers(yard: Yard) -> None:
    await yard.collect("okmall", "brand", BRAND)
    key, fields = await first_of(yard)
    [listed] = [row["id"] for row in await yard.rows(RAW) if row["endpoint"] == "list"][:1]

    def change(stream: str, one: Snapshot) -> Snapshot:
        if one.key != key or stream != "list":
            return one
        unknown = msgspec.structs.replace(one, unknown=("brand",))
        return said(unknown, price=fields["price"] + 100, colour="red")

    found = await replay(reading(yard.app.collector, change), "okmall", since=EVER)

    assert found.differences == [
        Difference(key, "list", "colour", "content", None, "red", Whose.READER, listed),
        Difference(key, "list", "price", "price", fields["price"], fields["price"] + 100, Whose.READER, listed),
        Difference(key, "list", "brand", "content", fields["brand"], UNKNOWN, Whose.READER, listed),
    ]
    assert found.by_field() == [
        {"field": "brand", "group": "content", "reader": 1, "mall": 0},
        {"field": "colour", "group": "content", "reader": 1, "mall": 0},
        {"field": "price", "group": "price", "reader": 1, "mall": 0},
    ]
    assert (found.troubles, found.items - found.same) == ([], 1)


async def test_what_a_guard_holds_is_the_malls(yard: Yard) -> None:
    await yard.collect("okmall", "brand", BRAND)
    key, fields = await first_of(yard)
    await yard.door.override("okmall", key, price=fields["price"] * 3)
    run = await yard.collect("okmall", "brand", BRAND)

    found = await replay(yard.app.collector, "okmall", since=EVER)

    assert run["held"] > 0
    assert {(one.key, one.field, one.stored, one.read, one.whose) for one in found.differences} == {
        (key, "price", fields["price"], fields["price"] * 3, Whose.MALL)
    }


async def test_records_that_come_and_go_with_the_reader_are_told(yard: Yard) -> None:
    await yard.collect("okmall", "brand", BRAND)
    key, _ = await first_of(yard)
    [row, *_] = await yard.rows("select id, url from raw_pages where endpoint = 'list' order by id")
    total = len(await yard.records("okmall"))
    collector = yard.app.collector

    gone = await replay(reading(collector, lambda _, one: one if one.key != key else None), "okmall", since=EVER)
    otherwise = reading(collector, lambda _, one: msgspec.structs.replace(one, key=f"x{one.key}"))
    renamed = await replay(otherwise, "okmall", since=EVER)

    assert Trouble(row["url"], "list", f"{total - 1} records are read, {total} were", row["id"]) in gone.troubles
    assert {(one.field, one.whose) for one in renamed.differences} == {(WHOLE, Whose.READER)}
    assert {one.key for one in renamed.differences} == {f"x{key}" for key in await yard.records("okmall")}


async def test_only_what_was_fetched_since_then_is_read_again(yard: Yard) -> None:
    await yard.collect("okmall", "brand", BRAND)
    later = datetime(2100, 1, 1, tzinfo=UTC)

    found = await replay(yard.app.collector, "okmall", since=later)
    few = await replay(yard.app.collector, "okmall", since=EVER, limit=1)

    assert (found.pages, found.items, found.differs) == (0, 0, False)
    assert few.pages == 2
