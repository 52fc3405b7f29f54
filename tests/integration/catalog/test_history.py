"""What a record was, since when, and which page and reader said so."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from bobusang.catalog import history, lineage
from bobusang.catalog.history import Changed, Origin, Past
from bobusang.catalog.model import FieldChange, ProcessingStatus, SourceType
from bobusang.kit.errors import Missing
from bobusang.testing.catalog import collect, reading
from bobusang.testing.clock import NOON

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from bobusang.kit.db import Database, Tx
    from bobusang.testing.clock import ManualClock

HOUR = timedelta(hours=1)
BLACK = {"code": "B1", "stock": 3}
WHITE = {"code": "W1", "stock": 1}


async def ask(db: Database, question: Callable[[Tx], Awaitable[Any]]) -> Any:
    async with db.read() as tx:
        return await question(tx)


@pytest.fixture
async def coat(db: Database, clock: ManualClock) -> int:
    """A record with four versions, an hour apart, from two streams and two readers."""
    _, written = await collect(db, reading(raw_id=1, name="x", price=100, options=[BLACK]), run=11)
    clock.advance(hours=1)
    await collect(db, reading(raw_id=2, name="x", price=90, options=[BLACK]))
    clock.advance(hours=1)
    await collect(db, reading(stream="detail", raw_id=3, color="red", options=[BLACK, WHITE]))
    clock.advance(hours=1)
    await collect(db, reading(raw_id=4, reader="okmall@2", name="x", price=95, options=[BLACK | {"stock": 2}, WHITE]))
    return written.ids[0]


async def test_versions_run_from_the_newest(db: Database, coat: int) -> None:
    first = await ask(db, lambda tx: history.versions(tx, coat, limit=2))
    rest = await ask(db, lambda tx: history.versions(tx, coat, before=first[-1].number))

    assert [version.number for version in (*first, *rest)] == [4, 3, 2, 1]
    oldest = rest[-1]
    assert (oldest.record_id, oldest.status, oldest.workflow_id, oldest.created_at) == (
        coat,
        ProcessingStatus.RAW,
        "11",
        NOON,
    )


async def test_a_version_has_its_documents(db: Database, coat: int) -> None:
    found = await ask(db, lambda tx: history.documents(tx, coat, 3))
    now = await ask(db, lambda tx: history.documents(tx, coat))

    assert (found.type, found.system, found.key) == (SourceType.SUPPLIER_PRODUCT, "okmall", "A1")
    assert (found.raw, found.normalized, found.market, found.ai) == (
        {"color": "red", "options": [BLACK, WHITE]},
        {"name": "x", "price": 90, "color": "red", "options": [BLACK, WHITE]},
        {},
        {},
    )
    assert (now.version.number, now.normalized["price"]) == (4, 95)


async def test_any_two_versions_are_compared(db: Database, coat: int) -> None:
    forward = await ask(db, lambda tx: history.diff(tx, coat, 1, 3))
    back = await ask(db, lambda tx: history.diff(tx, coat, 3, 1))

    assert forward == (
        FieldChange("color", "content", None, "red"),
        FieldChange("options.W1", "stock", None, WHITE),
        FieldChange("price", "price", 100, 90),
    )
    assert back == tuple(FieldChange(one.field, one.group, one.new, one.old) for one in forward)


async def test_a_field_has_a_history_with_evidence(db: Database, coat: int) -> None:
    found = await ask(db, lambda tx: history.field_history(tx, coat, "price"))
    older = await ask(db, lambda tx: history.field_history(tx, coat, "price", before=4))

    assert found == [
        Past(coat, 4, FieldChange("price", "price", 90, 95), NOON + 3 * HOUR, 4, "okmall@2", "list"),
        Past(coat, 2, FieldChange("price", "price", 100, 90), NOON + HOUR, 2, "okmall@1", "list"),
    ]
    assert older == found[1:]


async def test_a_version_knows_what_it_changed(db: Database, coat: int) -> None:
    found = await ask(db, lambda tx: history.changes(tx, coat, 4))

    assert [past.change for past in found] == [
        FieldChange("options.B1.stock", "stock", 3, 2),
        FieldChange("price", "price", 90, 95),
    ]
    assert await ask(db, lambda tx: history.changes(tx, coat, 1)) == []


async def test_a_value_says_which_page_and_which_reader_made_it(db: Database, coat: int) -> None:
    origins = {
        ("name", None): Origin("x", 1, NOON, 1, "okmall@1", "list"),
        ("price", None): Origin(95, 4, NOON + 3 * HOUR, 4, "okmall@2", "list"),
        ("price", 3): Origin(90, 2, NOON + HOUR, 2, "okmall@1", "list"),
        ("price", 1): Origin(100, 1, NOON, 1, "okmall@1", "list"),
        ("color", None): Origin("red", 3, NOON + 2 * HOUR, 3, "okmall@1", "detail"),
        ("options.B1.stock", None): Origin(2, 4, NOON + 3 * HOUR, 4, "okmall@2", "list"),
        ("options.B1.stock", 3): Origin(3, 1, NOON, 1, "okmall@1", "list"),
        ("options.W1.stock", None): Origin(1, 3, NOON + 2 * HOUR, 3, "okmall@1", "detail"),
        ("options.W1", None): Origin(WHITE, 3, NOON + 2 * HOUR, 3, "okmall@1", "detail"),
    }
    async with db.read() as tx:
        found = {(field, at): await history.origin(tx, coat, field, version=at) for field, at in origins}

    assert found == origins


async def test_what_is_not_there_is_said(db: Database, coat: int) -> None:
    for question, wrong in (
        (lambda tx: history.versions(tx, 999), "no source record 999"),
        (lambda tx: history.documents(tx, coat, 9), "no version 9.*newest is 4"),
        (lambda tx: history.origin(tx, coat, "gender"), "no 'gender'.*color, name, options, price"),
        (lambda tx: history.origin(tx, coat, "options.W1.stock", version=1), r"no 'options.W1.stock'"),
    ):
        with pytest.raises(Missing, match=wrong):
            await ask(db, question)


async def test_changed_since_goes_on_where_it_stopped(db: Database, clock: ManualClock) -> None:
    await collect(db, reading("A1", price=1), reading("other", source="mustit", price=1))
    since = clock.advance(hours=1)
    _, written = await collect(db, *(reading(f"B{n}", price=1) for n in range(5)))
    later = clock.advance(hours=1)
    _, again = await collect(db, reading("B0", price=2), reading("B1", price=1))

    found: list[Changed] = []
    at, after = since, 0
    async with db.read() as tx:
        while page := await history.changed_since(tx, "okmall", at, after=after, limit=2):
            found += page
            at, after = page[-1].last_changed_at, page[-1].record_id

    product = SourceType.SUPPLIER_PRODUCT
    assert found == [
        *(Changed(written.ids[n], product, "okmall", f"B{n}", 1, since) for n in range(1, 5)),
        Changed(again.ids[0], product, "okmall", "B0", 2, later),
    ]


async def test_lineage_is_followed_both_ways_and_keeps_pages(db: Database, coat: int) -> None:
    ids = [version.id for version in await ask(db, lambda tx: history.versions(tx, coat))][::-1]
    converted = lineage.Link(ids[3], ids[0], "convert", {"glossary": 3}, created_at=NOON + 3 * HOUR)
    await db.transact(lambda tx: lineage.add(tx, [converted]))

    collected = lineage.Link(ids[3], ids[2], "collect", {"stream": "list"}, 4, "okmall@2", NOON + 3 * HOUR)
    assert await ask(db, lambda tx: lineage.parents(tx, ids[3])) == [collected, converted]
    assert [link.child_id for link in await ask(db, lambda tx: lineage.children(tx, ids[0]))] == [ids[1], ids[3]]
    assert await ask(db, lambda tx: lineage.referred(tx, [1, 4, 77])) == {1, 4}
