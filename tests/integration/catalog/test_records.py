"""What is read becomes records, versions, changes, lineage, products and events; what is not new costs a timestamp."""

from __future__ import annotations

import asyncio
import gc
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from bobusang.catalog import markets, products, records, rules
from bobusang.catalog.drafts import Draft, Version
from bobusang.catalog.model import Change, ChangeKind, FieldChange, ProcessingStatus, Reading, SourceType
from bobusang.kit.db import Contended, connect
from bobusang.kit.errors import Invalid, Missing
from bobusang.kit.sql import Statement
from bobusang.testing.catalog import collect, reading
from bobusang.testing.clock import NOON
from tests.integration.catalog.looking import rows

if TYPE_CHECKING:
    from bobusang.kit.db import Database, Tx
    from bobusang.testing.clock import ManualClock

COAT: dict[str, Any] = {"name": "롱패딩", "brand": "NIKE", "model": "DD-1", "price": 129_000, "currency": "KRW"}
BLACK = {"code": "B1", "color": "black", "available": True}


async def test_a_new_item_is_registered_with_all_that_belongs_to_it(db: Database) -> None:
    options = [BLACK, {"code": "W1", "available": False}]
    coat = COAT | {"options": options, "images": ["https://x/1.jpg"], "seller": "dmont", "category": ["여성", "코트"]}

    changes, written = await collect(db, reading(raw_id=7, scope="list:brand:NIKE", **coat), run=5)

    id = written.ids[0]
    assert (written, [change.kind for change in changes]) == (records.Written((id,), 1, 0, 0), [ChangeKind.NEW])
    assert await rows(
        db, "select source_type, source_id, version, digests, hashes, created_at from source_records"
    ) == [
        (
            "supplier_product",
            "A1",
            1,
            {"list": rules.saying(changes[0].reading.snapshot)},
            rules.hashes(coat, {}),
            NOON,
        )
    ]
    assert await rows(
        db,
        """select record_id, version, raw_data, normalized_data, market_data, hash, processing_status, workflow_id,
        last_seen_at, last_changed_at from source_data_current""",
    ) == [(id, 1, coat, coat, None, rules.digest(coat), "raw", "5", NOON, NOON)]
    assert await rows(
        db, "select parent_id, transformation_type, transformation_metadata, raw_id, reader from data_lineage"
    ) == [(None, "collect", {"stream": "list"}, 7, "okmall@1")]
    assert await rows(db, "select * from field_changes") == []
    assert await rows(
        db,
        """select id, mall, product_id, seller_id, brand, brand_ko, name, model, price, list_price, currency, image,
        in_stock, listed, category, locked, version, updated_at from products""",
    ) == [
        (
            *(id, "okmall", "A1", "dmont", "NIKE", None, "롱패딩", "DD-1", 129_000, None, "KRW", "https://x/1.jpg"),
            *(True, None, "여성 > 코트", None, 1, NOON),
        )
    ]
    assert await rows(db, "select topic, event_key, payload from outbox") == [
        (
            "source.registered",
            "okmall:A1",
            {
                "record_id": id,
                "type": "supplier_product",
                "system": "okmall",
                "id": "A1",
                "version": 1,
                "groups": ["content", "images", "price", "stock"],
                "fields": sorted(coat),
            },
        )
    ]


async def test_a_change_is_a_version_with_its_evidence(db: Database, clock: ManualClock) -> None:
    _, first = await collect(db, reading(**COAT, options=[BLACK]))
    later = clock.advance(hours=1)

    changes, written = await collect(
        db, reading(stream="detail", raw_id=9, reader="okmall@2", price=119_000, options=[], name="?", unknown=["name"])
    )

    id = first.ids[0]
    assert written == records.Written((id,), 0, 1, 0)
    assert changes[0].fields == (
        FieldChange("options.B1.available", "stock", True, False),
        FieldChange("options.B1.gone", "stock", None, True),
        FieldChange("price", "price", 129_000, 119_000),
    )
    gone = COAT | {"price": 119_000, "options": [BLACK | {"available": False, "gone": True}]}
    assert await rows(
        db, "select version, raw_data, normalized_data, hash, created_at from source_data order by version"
    ) == [
        (1, COAT | {"options": [BLACK]}, COAT | {"options": [BLACK]}, rules.digest(COAT | {"options": [BLACK]}), NOON),
        (2, {"price": 119_000, "options": [], "name": "?"}, gone, rules.digest(gone), later),
    ]
    assert await rows(
        db,
        """select record_id, version, field, group_name, old_value, new_value, changed_at, raw_id, reader, stream
        from field_changes order by id""",
    ) == [
        (id, 2, "options.B1.available", "stock", True, False, later, 9, "okmall@2", "detail"),
        (id, 2, "options.B1.gone", "stock", None, True, later, 9, "okmall@2", "detail"),
        (id, 2, "price", "price", 129_000, 119_000, later, 9, "okmall@2", "detail"),
    ]
    versions = [row[0] for row in await rows(db, "select id from source_data order by version")]
    assert await rows(db, "select child_id, parent_id, raw_id from data_lineage order by child_id") == [
        (versions[0], None, None),
        (versions[1], versions[0], 9),
    ]
    assert await rows(db, "select version, version_id, hashes, last_changed_at, created_at from source_records") == [
        (2, versions[1], rules.hashes(gone, {}), later, NOON)
    ]
    assert await rows(db, "select name, price, in_stock, version, created_at, updated_at from products") == [
        ("롱패딩", 119_000, False, 2, NOON, later)
    ]
    event = (await rows(db, "select topic, payload from outbox order by id"))[1]
    assert event == (
        "source.changed",
        {
            "record_id": id,
            "type": "supplier_product",
            "system": "okmall",
            "id": "A1",
            "version": 2,
            "groups": ["price", "stock"],
            "fields": ["options.B1.available", "options.B1.gone", "price"],
        },
    )


async def test_what_was_written_is_let_go_without_looking_for_circles(empty_sqlite: str) -> None:
    db = await connect(empty_sqlite)
    gc.collect()
    gc.disable()
    try:
        await collect(db, reading(**COAT))
        await collect(db, reading(**COAT | {"price": 1}), reading("A2", **COAT))
        left = [type(one).__name__ for one in gc.get_objects() if isinstance(one, Draft | Version)]
    finally:
        gc.enable()
        await db.close()

    assert left == []


async def test_what_is_unchanged_costs_a_timestamp(db: Database, clock: ManualClock) -> None:
    many = [reading(f"A{n}", scope="list:all", **COAT) for n in range(50)]
    await collect(db, *many)
    later = clock.advance(hours=1)

    changes, written = await collect(db, *many, run=2)

    assert (written.new, written.changed, written.same) == (0, 0, 50)
    assert {(change.kind, change.version, change.digest, change.before) for change in changes} == {
        (ChangeKind.SAME, 1, "", None)
    }
    assert await rows(db, "select count(*) as n from source_data") == [(50,)]
    assert await rows(db, "select count(*) as n from outbox") == [(50,)]
    assert set(await rows(db, "select last_seen_at, last_run, interval_seconds from source_seen")) == {
        (later, 2, 129_600)
    }


async def test_a_stream_that_says_it_in_other_words_is_remembered(db: Database) -> None:
    await collect(db, reading(**COAT))
    said = reading(price=129_000, name="?", unknown=["name"])

    first, _ = await collect(db, said)
    again, _ = await collect(db, said)

    assert [(change.kind, bool(change.digest)) for change in (*first, *again)] == [
        (ChangeKind.SAME, True),
        (ChangeKind.SAME, False),
    ]
    assert await rows(db, "select version, last_changed_at from source_records") == [(1, NOON)]


async def test_a_stream_speaks_up_only_when_what_it_says_changes(db: Database) -> None:
    """The list's cached price does not undo what the item's own page said."""
    await collect(db, reading(**COAT))
    await collect(db, reading(stream="detail", price=119_000))

    changes, _ = await collect(db, reading(**COAT))
    moved, _ = await collect(db, reading(**COAT | {"price": 99_000}))

    assert [change.kind for change in (*changes, *moved)] == [ChangeKind.SAME, ChangeKind.CHANGED]
    assert await rows(db, "select price, version from products") == [(99_000, 3)]


async def test_readings_of_one_record_are_folded_in_order(db: Database) -> None:
    changes, written = await collect(
        db,
        reading(price=1, name="x"),
        reading("B2", price=5),
        reading(stream="detail", price=2, color="red"),
        reading(price=1, name="x"),
    )

    assert [(change.kind, change.version) for change in changes] == [
        (ChangeKind.NEW, 0),
        (ChangeKind.NEW, 0),
        (ChangeKind.CHANGED, 1),
        (ChangeKind.SAME, 2),
    ]
    a, b = written.ids[0], written.ids[1]
    assert written == records.Written((a, b, a, a), 2, 1, 1)
    assert await rows(
        db, "select record_id, version, normalized_data from source_data order by source_id, version"
    ) == [
        (a, 1, {"price": 1, "name": "x"}),
        (a, 2, {"price": 2, "name": "x", "color": "red"}),
        (b, 1, {"price": 5}),
    ]
    assert await rows(db, "select product_id, price, version from products order by product_id") == [
        ("A1", 2, 2),
        ("B2", 5, 1),
    ]
    assert await rows(db, "select topic, event_key from outbox order by id") == [
        ("source.registered", "okmall:A1"),
        ("source.changed", "okmall:A1"),
        ("source.registered", "okmall:B2"),
    ]


async def leave_out(db: Database, kept: list[int], *readings: Reading) -> records.Written:
    """Write only these of the changes, as when a guard holds the others."""

    async def work(tx: Tx) -> records.Written:
        changes = await records.compare(tx, readings, groups={})
        return await records.write(tx, [changes[place] for place in kept], run=1, now=tx.now)

    return await db.transact(work)


async def test_what_is_held_does_not_slip_in_with_what_follows(db: Database) -> None:
    await collect(db, reading(price=100, name="x"))
    jump, same_again = reading(price=900, name="x"), reading(stream="detail", price=900, color="red")

    written = await leave_out(db, [1], jump, same_again)

    assert written.changed == 1
    assert await rows(db, "select normalized_data, version from source_data_current") == [
        ({"price": 100, "name": "x", "color": "red"}, 2)
    ]
    changes, _ = await collect(db, same_again)
    assert [change.fields for change in changes] == [(FieldChange("price", "price", 100, 900),)]


async def test_what_follows_a_new_item_that_is_held_is_left_out_too(db: Database) -> None:
    written = await leave_out(
        db, [1, 2], reading(price=900), reading(stream="detail", price=800), reading(stream="detail", price=800)
    )

    assert written == records.Written((0, 0), 0, 0, 0)
    assert await rows(db, "select * from source_records") == []


async def test_an_absence_is_written_without_having_been_seen(db: Database, clock: ManualClock) -> None:
    await collect(db, reading(**COAT))
    clock.advance(days=1)

    async def absent(tx: Tx) -> records.Written:
        changes = await records.compare(tx, [reading(stream="absence", listed=False)], groups={})
        return await records.write(tx, changes, run=2, now=tx.now, sighted=False)

    assert (await db.transact(absent)).changed == 1
    assert await rows(db, "select version, last_seen_at from source_data_current") == [(2, NOON)]


async def test_what_was_proved_absent_is_heard_again(db: Database) -> None:
    """Its list says what it always said; that it says so again is the news."""
    await collect(db, reading(**COAT))
    await collect(db, reading(stream="absence", listed=False))
    assert await rows(db, "select listed, in_stock, price from products") == [(False, None, 129_000)]

    changes, _ = await collect(db, reading(**COAT))

    assert [change.fields for change in changes] == [(FieldChange("listed", "stock", False, True),)]
    assert await rows(db, "select listed from products") == [(True,)]


async def test_what_a_person_edited_stays(db: Database, clock: ManualClock) -> None:
    _, written = await collect(db, reading(**COAT, sold_out=False), reading("B2", **COAT))
    id = written.ids[0]
    await db.transact(lambda tx: products.edit(tx, id, {"name": "긴 패딩", "in_stock": False}))
    clock.advance(hours=1)

    await collect(db, *(reading(key, name="새 이름", price=99_000, sold_out=False) for key in ("A1", "B2")))

    found = "select name, price, in_stock, version from products order by product_id"
    assert await rows(db, found) == [("긴 패딩", 99_000, False, 2), ("새 이름", 99_000, True, 2)]
    async with db.read() as tx:
        assert await products.differences(tx, id) == {"in_stock": (False, True), "name": ("긴 패딩", "새 이름")}
    await db.transact(lambda tx: products.unlock(tx, id, ["name"]))
    async with db.read() as tx:
        product = await products.get(tx, id)
    assert (product["name"], product["locked"]) == ("새 이름", ["in_stock"])
    with pytest.raises(Invalid, match="no field 'mall' to edit"):
        await db.transact(lambda tx: products.edit(tx, id, {"mall": "x"}))
    with pytest.raises(Missing, match="no product 999"):
        await db.transact(lambda tx: products.edit(tx, 999, {"name": "x"}))


async def test_what_markets_and_models_said_goes_over_to_the_next_version(db: Database) -> None:
    _, written = await collect(db, reading(price=1))
    id = written.ids[0]
    await db.transact(lambda tx: markets.set_market_data(tx, [markets.Sync(id, "buyma", {"status": "active"})]))
    await db.transact(lambda tx: markets.set_ai_data(tx, {id: {"quality_score": 0.9}}))

    await collect(db, reading(price=2), reading(stream="detail", price=3))

    assert await rows(db, "select version, market_data, ai_data from source_data_current") == [
        (3, {"buyma": {"status": "active"}}, {"quality_score": 0.9})
    ]


async def test_other_types_have_no_product(db: Database) -> None:
    await collect(db, reading(type=SourceType.ORDER, amount=5), reading(price=5))

    assert await rows(db, "select source_type, source_id from source_records order by source_type") == [
        ("order", "A1"),
        ("supplier_product", "A1"),
    ]
    assert await rows(db, "select count(*) as n from products") == [(1,)]


async def test_versions_are_marked_on_their_way(db: Database, clock: ManualClock) -> None:
    await collect(db, reading(price=1), reading("B2", price=1))
    later = clock.advance(minutes=1)
    [(version,)] = await rows(db, "select id from source_data where source_id = 'A1'")

    await db.transact(lambda tx: records.mark(tx, [version], ProcessingStatus.PROCESSED, workflow_id="convert"))

    assert await rows(
        db, "select source_id, processing_status, workflow_id, updated_at from source_data order by source_id"
    ) == [("A1", "processed", "convert", later), ("B2", "raw", "1", NOON)]


async def test_records_are_found_by_key_and_by_id(db: Database) -> None:
    _, written = await collect(db, reading(price=1), reading("🧥", price=1))

    async with db.read() as tx:
        assert await records.find(tx, "okmall", ["🧥", "nothing"]) == {"🧥": written.ids[1]}
        assert await records.keys(tx, [written.ids[0], 999_999]) == {
            written.ids[0]: records.Record(written.ids[0], SourceType.SUPPLIER_PRODUCT, "okmall", "A1", 1)
        }


@pytest.mark.parametrize(
    ("said", "wrong"),
    [
        ({"key": ""}, "its key"),
        ({"key": "x" * 101}, "its key"),
        ({"key": "a\0b"}, "its key"),
        ({"stream": "s" * 51}, "its stream"),
        ({"name": "a\0b"}, "NUL"),
        ({"name": "x" * 1_600_000}, "1,600,011 characters"),
        ({"name": "\ud800"}, "not representable as JSON"),
    ],
)
async def test_what_no_database_could_keep_is_refused(empty_sqlite: str, said: dict[str, Any], wrong: str) -> None:
    """Before any of them is asked, so one is enough."""
    db = await connect(empty_sqlite)
    with pytest.raises(Invalid, match=wrong):
        await collect(db, reading(**said))
    await db.close()


async def test_hostile_values_are_kept_whole_and_cut_only_in_the_product(db: Database) -> None:
    hostile: dict[str, Any] = {
        "name": "<script>alert(1)</script>" * 100,
        "price": 2**70,
        "brand": {"id": "N" * 300},
        "options": [{"code": "긴" * 400, "price": 1}],
        "measurements": {"a": {"b": [1.5, None, True]}},
    }
    await collect(db, reading(**hostile))
    await collect(db, reading(**hostile | {"options": [{"code": "긴" * 400, "price": 2}]}))

    assert await rows(db, "select normalized_data from source_data where version = 1") == [(hostile,)]
    assert await rows(db, "select name, price, brand from products") == [(hostile["name"][:500], None, "N" * 200)]
    [(field, old, new)] = await rows(db, "select field, old_value, new_value from field_changes")
    assert (len(field), field[:10], old, new) == (255, "options.긴긴", 1, 2)


# --- more than one writer --------------------------------------------------------------------------------------------


async def test_writers_of_the_same_records_make_one_history(db: Database, other: Database) -> None:
    """Both find every record new at first, then both change it, in opposite orders; nothing is lost or doubled."""
    keys = [f"A{n}" for n in range(20)]

    async def crawl(mine: Database, stream: str, order: list[str]) -> None:
        for price in range(1, 6):
            said: dict[str, Any] = {f"{stream}_price": price}
            await collect(mine, *(reading(key, stream=stream, **said) for key in order))

    await asyncio.gather(crawl(db, "list", keys), crawl(other, "detail", keys[::-1]))

    final = {"list_price": 5, "detail_price": 5}
    assert await rows(db, "select source_id, version, normalized_data from source_data_current order by source_id") == [
        (key, 10, final) for key in sorted(keys)
    ]
    assert await rows(db, "select count(*) as n from source_data") == [(200,)]
    assert await rows(db, "select count(*) as n from outbox") == [(200,)]
    assert await rows(db, "select count(*) as n from products") == [(20,)]


async def test_a_change_compared_with_an_older_version_begins_again(db: Database, other: Database) -> None:
    await collect(db, reading(price=1))

    async def compared(mine: Database, price: int) -> list[Change]:
        async with mine.read() as tx:
            return await records.compare(tx, [reading(price=price)], groups={})

    stale = await compared(db, 2)
    await collect(other, reading(price=3))

    with pytest.raises(Contended, match="A1 was changed by someone else"):
        async with db.begin() as tx:
            await records.write(tx, stale, run=1, now=tx.now)
    assert await rows(db, "select version, normalized_data from source_data_current") == [(2, {"price": 3})]


async def test_what_a_record_says_that_cannot_be_read_is_not_taken_for_the_same(db: Database) -> None:
    """Its version was put by someone else and taken away between our two looks at it."""
    await collect(db, reading(price=1))
    await db.transact(lambda tx: tx.execute(Statement("delete from data_lineage")))
    await db.transact(lambda tx: tx.execute(Statement("delete from source_data")))

    async with db.read() as tx:
        same = await records.compare(tx, [reading(price=1)], groups={})
        with pytest.raises(Contended, match="A1 was changed by someone else"):
            await records.compare(tx, [reading(price=2)], groups={})
    assert [change.kind for change in same] == [ChangeKind.SAME]


async def test_an_item_made_by_someone_else_meanwhile_begins_again(db: Database, other: Database) -> None:
    async with db.read() as tx:
        stale = await records.compare(tx, [reading(price=1)], groups={})
    await collect(other, reading(price=1))

    with pytest.raises(Contended, match="made by someone else"):
        async with db.begin() as tx:
            await records.write(tx, stale, run=1, now=tx.now)


async def test_intervals_adapt_to_what_changes(db: Database, clock: ManualClock) -> None:
    async def interval(price: int, run: int) -> int:
        clock.advance(hours=1)
        await collect(db, reading(price=price), run=run)
        [(seconds,)] = await rows(db, "select interval_seconds from source_seen")
        return int(seconds)

    found = [await interval(price, run) for run, price in enumerate([1, 1, 1, 2, 2], start=1)]
    again = await interval(2, 5)
    busy = [await interval(price, 6 + price) for price in range(3, 12)]
    quiet = [await interval(11, 20 + run) for run in range(14)]

    day = int(timedelta(days=1).total_seconds())
    assert found == [day, day * 3 // 2, day * 9 // 4, day * 9 // 8, day * 27 // 16]
    assert (again, busy[-1], quiet[-1]) == (found[-1], 3_600, 604_800)
