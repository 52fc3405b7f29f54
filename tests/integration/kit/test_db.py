"""The database contract, on all three databases."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import select

from bobusang.kit import json
from bobusang.kit.clock import utc
from bobusang.kit.db import Contended, Database, Duplicate, Tx, connect
from bobusang.kit.dbs.postgres import PostgresDatabase
from bobusang.kit.errors import Invalid, Unavailable
from bobusang.kit.sql import Bulk, Dialect, Revise, Statement
from tests.integration.kit.conftest import MAKE, SCRATCH

if TYPE_CHECKING:
    from pathlib import Path

ROWS = Bulk(SCRATCH, ("id", "name", "at", "doc"))
KEPT = Bulk(SCRATCH, ("id", "name", "at", "doc"), keep=True)
COUNT = Statement("select count(*) as value from scratch")
AT = datetime(2026, 11, 16, 3, 4, 5, 678901, tzinfo=UTC)
HANGUL = "보부상 🧺 100% %s :x"


async def everything(db: Database) -> list[tuple[Any, ...]]:
    async with db.read() as tx:
        rows = await tx.fetch(Statement("select id, name, at, doc from scratch order by id"))
    return [(row["id"], row["name"], utc(row["at"]), row["doc"] and json.loads(row["doc"])) for row in rows]


async def count(db: Database) -> int:
    async with db.read() as tx:
        found: int = await tx.value(COUNT)
        return found


async def test_values_come_back_as_they_went_in(db: Database) -> None:
    async with db.begin() as tx:
        inserted = await tx.insert(ROWS, [(1, HANGUL, AT, '{"색": ["빨강", null]}'), (2, None, None, None)])

    assert inserted == 2
    assert await everything(db) == [(1, HANGUL, AT, {"색": ["빨강", None]}), (2, None, None, None)]


async def test_many_rows_of_one_value_and_of_many(db: Database) -> None:
    async with db.begin() as tx:
        await tx.insert(ROWS, [(number, f"name {number}", AT, "{}") for number in range(6001)])
        changes = [(number, f"new {number}", None) for number in range(0, 6001, 2)]
        await tx.revise(Revise(SCRATCH, "id", ("name", "at")), changes)

    found = await everything(db)
    assert [row[1] for row in found] == [f"{'name' if number % 2 else 'new'} {number}" for number in range(6001)]
    assert {row[2] for row in found} == {AT, None}


async def test_a_row_that_is_there_is_kept(db: Database) -> None:
    async with db.begin() as tx:
        first = await tx.insert(KEPT, [(1, "a", AT, None), (2, "b", AT, None)])
        second = await tx.insert(KEPT, [(2, "other", AT, None), (3, "b", AT, None), (4, "d", AT, None)])

    assert (first, second) == (2, 1)
    assert [(row[0], row[1]) for row in await everything(db)] == [(1, "a"), (2, "b"), (4, "d")]


async def test_a_statement_runs_once_for_each_set_of_parameters(db: Database) -> None:
    add = Statement(
        "insert into scratch (id, name, at) values (:id, :name, :at) on conflict (id) do update set name = :name",
        mariadb="insert into scratch (id, name, at) values (:id, :name, :at) on duplicate key update name = :name",
    )
    async with db.begin() as tx:
        await tx.execute_each(add, [])
        await tx.execute_each(add, [{"id": id, "name": name, "at": AT} for id, name in [(1, "a"), (2, "b"), (1, "c")]])

    assert await everything(db) == [(1, "c", AT, None), (2, "b", AT, None)]


@pytest.mark.parametrize("kind", ["sqlite", "postgres", "mariadb"])
async def test_an_urgent_transaction_goes_before_all_that_wait(request: pytest.FixtureRequest, kind: str) -> None:
    db = await connect(request.getfixturevalue(f"fresh_{kind}"), pool=1)
    done: list[str] = []

    async def work(name: str, *, urgent: bool) -> None:
        async with db.begin(urgent=urgent) as tx:
            await tx.fetch(Statement("select 1 as value"))
            done.append(name)

    try:
        async with asyncio.TaskGroup() as group, db.begin():
            for name, urgent in [("first", False), ("second", False), ("a webhook", True), ("another", True)]:
                group.create_task(work(name, urgent=urgent))
                await asyncio.sleep(0)
    finally:
        await db.close()

    assert (sorted(done[:2]), done[2:]) == (["a webhook", "another"], ["first", "second"])


@pytest.mark.parametrize("kind", ["postgres", "mariadb"])
async def test_an_urgent_transaction_waits_for_none_that_is_open(request: pytest.FixtureRequest, kind: str) -> None:
    db = await connect(request.getfixturevalue(f"fresh_{kind}"), pool=1)
    try:
        async with asyncio.timeout(30), db.begin(), db.begin(urgent=True) as tx:
            assert await tx.value(Statement("select 1 as value")) == 1
    finally:
        await db.close()


async def test_our_own_rings_are_heard_once(fresh_postgres: str) -> None:
    db, heard = await connect(fresh_postgres), asyncio.Queue[str]()
    other = await connect(fresh_postgres)

    async def ring(tx: Tx) -> None:
        tx.ring(f"of {'us' if tx.sequences is db._sequences else 'another'}")

    try:
        async with asyncio.timeout(30), db.listen(heard.put_nowait):
            assert await heard.get() == ""
            await db.transact(ring)
            await other.transact(ring)  # the server tells in the order of commits, so an echo of ours would come first
            assert [await heard.get(), await heard.get()] == ["of us", "of another"]
    finally:
        await db.close()
        await other.close()


async def test_connections_that_the_server_has_ended_are_not_handed_out(fresh_postgres: str) -> None:
    db, other = await connect(fresh_postgres), await connect(fresh_postgres)
    assert isinstance(db, PostgresDatabase)
    pid = Statement("select pg_backend_pid() as value")
    end = Statement("select pg_terminate_backend(pid) from unnest(:pids::int[]) pid")

    async def served() -> int:
        async with db.read() as tx:
            found: int = await tx.value(pid)
            return found

    try:
        async with db.read() as one, db.read() as two:
            used = [await one.value(pid), await two.value(pid)]
        assert await served() in used
        async with other.read() as tx:
            await tx.fetch(end, pids=used)
        async with asyncio.timeout(30):
            while db._ours & set(used):  # noqa: ASYNC110 - asyncpg's own listener takes them out
                await asyncio.sleep(0)
        async with db.read() as one, db.read() as two:
            assert not {await one.value(pid), await two.value(pid)} & set(used)
    finally:
        await db.close()
        await other.close()


async def test_a_table_that_has_outgrown_what_is_known_of_it_is_studied(fresh_postgres: str) -> None:
    """A plan of an empty table is kept until somebody looks: the server does so after a minute at the earliest."""
    db, told = await connect(fresh_postgres), Statement("select pg_stat_force_next_flush()")
    known = Statement("""
        select c.reltuples, s.analyze_count from pg_class c join pg_stat_user_tables s on s.relid = c.oid
        where c.relname = 'scratch'""")

    async def grow(tx: Tx, numbers: range) -> None:
        await tx.insert(ROWS, [(number, f"name {number}", AT, "{}") for number in numbers])
        await tx.fetch(told)

    found = []
    try:
        await db.transact(lambda tx: tx.execute(MAKE))
        for numbers in (range(100), range(100, 1000), range(1000, 2000), range(2000, 9000)):
            await db.transact(partial(grow, numbers=numbers))
            await db.study()
            async with db.read() as tx:
                row = await tx.first(known)
                assert row is not None
                found.append((row["reltuples"], row["analyze_count"]))
    finally:
        await db.close()

    assert found == [(-1, 0), (1000, 1), (1000, 1), (9000, 2)]


async def test_rings_are_heard_as_they_were_rung(fresh_postgres: str) -> None:
    db, heard = await connect(fresh_postgres), asyncio.Queue[str]()
    other = await connect(fresh_postgres)
    notes = ["lane:7", "pool 'a\\'b' \\\\ 100%", "ready:1:2"]

    async def ring(tx: Tx) -> None:
        for note in notes:
            tx.ring(note)

    try:
        async with asyncio.timeout(30), other.listen(heard.put_nowait):
            assert await heard.get() == ""
            await db.transact(ring)
            assert sorted([await heard.get() for _ in notes]) == sorted(notes)
    finally:
        await db.close()
        await other.close()


async def test_keys_are_compared_byte_by_byte(db: Database) -> None:
    names = ["a", "A", "á", "a ", "ａ", "가", "각", "ß", "ss", "SS"]
    async with db.begin() as tx:
        await tx.insert(ROWS, [(number, name, AT, None) for number, name in enumerate(names)])
        rows = await tx.fetch(Statement("select id from scratch where name = :name"), name="a")

    assert [row["id"] for row in rows] == [0]
    assert await count(db) == len(names)


async def test_lists_and_names_in_one_statement(db: Database) -> None:
    statement = Statement("""
        select id from scratch where id in (:ids...) and id not in (:others...) and id > :least order by id""")
    async with db.begin() as tx:
        await tx.insert(ROWS, [(number, str(number), AT, None) for number in range(10)])
        some = await tx.fetch(statement, ids=[1, 3, 5, 7], others=[5], least=1)
        none = await tx.fetch(statement, ids=[], others=[5], least=1)

    assert ([row["id"] for row in some], list(none)) == ([3, 7], [])


async def test_core_expressions_run_in_the_same_transaction(db: Database) -> None:
    async with db.begin() as tx:
        await tx.execute(SCRATCH.insert().values(id=7, name=HANGUL, at=AT, doc='{"n": 1}'))
        row = await tx.first(select(SCRATCH.c.name).where(SCRATCH.c.at <= AT, SCRATCH.c.id.in_([7, 8])).limit(1))

    assert row is not None
    assert row["name"] == HANGUL


async def test_an_error_undoes_everything_and_calls_no_one(db: Database) -> None:
    heard: list[str] = []

    async def work(tx: Tx) -> None:
        tx.ring("never")
        tx.after_commit(lambda: heard.append("committed"))
        tx.after_rollback(lambda: heard.append("rolled back"))
        await tx.insert(ROWS, [(1, "a", AT, None)])
        await tx.insert(ROWS, [(1, "b", AT, None)])

    async with db.listen(heard.append):
        heard.clear()
        with pytest.raises(Duplicate):
            await db.transact(work)

    assert (await count(db), heard) == (0, ["rolled back"])


async def test_a_cancelled_transaction_is_undone_and_the_next_one_works(db: Database) -> None:
    begun = asyncio.Event()

    async def work() -> None:
        async with db.begin() as tx:
            await tx.insert(ROWS, [(1, "a", AT, None)])
            begun.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(work())
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    async with db.begin() as tx:
        await tx.insert(ROWS, [(2, "b", AT, None)])
    assert [row[0] for row in await everything(db)] == [2]


async def test_contention_is_retried_from_the_start_by_the_outermost_caller(db: Database) -> None:
    tries: list[int] = []

    async def work(tx: Tx) -> int:
        tries.append(len(tries))
        await tx.insert(ROWS, [(len(tries), "a", AT, None)])
        if len(tries) < 3:
            raise Contended("somebody was in the way")
        return len(tries)

    assert await db.transact(work) == 3
    assert [row[0] for row in await everything(db)] == [3]


async def test_two_who_lock_each_others_rows_both_succeed(db: Database) -> None:
    """A real deadlock on the servers; on SQLite the second simply waits."""
    async with db.begin() as tx:
        await tx.insert(ROWS, [(1, "one", AT, None), (2, "two", AT, None)])
    change = Statement("update scratch set at = :now where id = :id")
    both = asyncio.Barrier(2)

    async def work(first: int, second: int) -> None:
        tried = 0

        async def swap(tx: Tx) -> None:
            nonlocal tried
            tried += 1
            await tx.execute(change, id=first, now=tx.now)
            if tried == 1 and tx.dialect is not Dialect.SQLITE:
                await both.wait()
            await tx.execute(change, id=second, now=tx.now)

        await db.transact(swap)

    await asyncio.wait_for(asyncio.gather(work(1, 2), work(2, 1)), 60)


async def test_a_ring_is_heard_elsewhere(db: Database) -> None:
    """PostgreSQL carries the note, SQLite that something changed, MariaDB nothing: there workers look more often."""
    if db.dialect is Dialect.MARIADB:
        assert db.polling == 0.25
        return
    other = await connect(db.url)
    heard: asyncio.Queue[str] = asyncio.Queue()
    try:
        async with db.listen(heard.put_nowait):
            while not heard.empty():
                heard.get_nowait()
            async with other.begin() as tx:
                await tx.insert(ROWS, [(1, "a", AT, None)])
                tx.ring("ready:1:2")
            note = await asyncio.wait_for(heard.get(), 10)
    finally:
        await other.close()

    assert note == ("" if db.dialect is Dialect.SQLITE else "ready:1:2")


async def test_a_value_that_does_not_fit_is_the_callers_mistake(db: Database) -> None:
    async def work(tx: Tx) -> None:
        bad = "x" * 101 if tx.dialect is not Dialect.SQLITE else None  # SQLite minds no lengths, but wrong types
        await tx.insert(ROWS, [(1 if bad else "one", bad, AT, None)])

    with pytest.raises(Invalid):
        await db.transact(work)

    assert await count(db) == 0


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("mysql://root@127.0.0.1/x", "MySQL is not supported (use MariaDB 10.6 or newer with a mariadb:// address)"),
        ("oracle://x", "unknown database 'oracle' (use sqlite:///file.db, postgresql://… or mariadb://…)"),
        ("sqlite://", "'sqlite://' names no file (write sqlite:///relative.db or sqlite:////absolute.db)"),
        ("mariadb://root@127.0.0.1", "no database in 127.0.0.1 (write mariadb://user:pw@host/database)"),
    ],
)
async def test_a_wrong_address_is_refused_with_what_to_write(url: str, said: str) -> None:
    with pytest.raises(Invalid) as caught:
        await connect(url)

    assert str(caught.value) == said


@pytest.mark.parametrize("url", ["postgresql://a:secret@127.0.0.1:1/x", "mariadb://a:secret@127.0.0.1:1/x"])
async def test_an_unreachable_server_is_named_without_its_password(url: str) -> None:
    with pytest.raises(Unavailable) as caught:
        await connect(url)

    assert "127.0.0.1:1/x cannot be used" in str(caught.value)
    assert "BOBUSANG_DATABASE_URL" in str(caught.value)
    assert "secret" not in str(caught.value)


async def test_a_file_that_is_no_database_is_named(tmp_path: Path) -> None:
    (tmp_path / "shop.db").write_text("not a database, but long enough to be looked at as one" * 50)

    with pytest.raises(Unavailable, match=r"shop\.db is not a healthy SQLite database.*restore it from a backup"):
        await connect(f"sqlite:///{tmp_path / 'shop.db'}")


async def test_a_full_disk_is_said_and_nothing_is_half_written(fresh_sqlite: str) -> None:
    db = await connect(fresh_sqlite)
    try:
        async with db.begin() as tx:
            await tx.execute(Statement("create table scratch (id integer primary key, name text)"))
            await tx.fetch(Statement("pragma max_page_count = 20"))
        with pytest.raises(Unavailable) as caught:
            async with db.begin() as tx:
                await tx.insert(Bulk(SCRATCH, ("id", "name")), [(number, "x" * 1000) for number in range(200)])
        assert await count(db) == 0
        assert "is full" in str(caught.value)
        assert "nothing was half-written" in str(caught.value)
    finally:
        await db.close()


async def test_reading_goes_on_while_somebody_writes(db: Database) -> None:
    async with db.begin() as tx:
        await tx.insert(ROWS, [(1, "a", AT, None)])
        assert await asyncio.wait_for(count(db), 10) == 0
    assert await count(db) == 1
