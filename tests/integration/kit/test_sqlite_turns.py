"""SQLite's statements and the rest of the process: quick ones are run at once, and nobody is kept from their turn."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import pytest

from bobusang.kit.clock import text
from bobusang.kit.db import Contended, connect
from bobusang.kit.dbs import sqlite
from bobusang.kit.dbs.lane import FORGIVEN
from bobusang.kit.dbs.sqlite import place
from bobusang.kit.errors import Invalid
from bobusang.kit.sql import Statement
from bobusang.testing.clock import NOON

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from bobusang.kit.db import Database

COUNTED = Statement("""
    with recursive numbers(one) as (select 1 union all select one + 1 from numbers where one < :most)
    select count(*) as value from numbers""")
MANY = 1_000_000


class Others:
    """Whoever else has something to do, and how often they had their turn."""

    turns = 0

    async def live(self) -> None:
        while True:
            self.turns += 1
            await asyncio.sleep(0)


@asynccontextmanager
async def others() -> AsyncIterator[Others]:
    found = Others()
    living = asyncio.create_task(found.live())
    try:
        yield found
    finally:
        living.cancel()


@pytest.fixture
async def db(fresh_sqlite: str) -> AsyncIterator[Database]:
    found = await connect(fresh_sqlite)
    yield found
    await found.close()


async def test_what_is_known_to_be_quick_is_done_at_once(db: Database) -> None:
    async with db.begin() as tx:
        await tx.value(COUNTED, most=1)
        async with others() as them:
            assert await tx.value(COUNTED, most=2) == 2
            assert them.turns == 0


async def test_many_quick_statements_leave_others_their_turns(db: Database) -> None:
    async with db.begin() as tx, others() as them:
        for _ in range(2_000):
            await tx.value(COUNTED, most=5)

    assert them.turns > 1


async def test_what_was_slow_once_keeps_nobody_waiting_again(db: Database) -> None:
    async with db.read() as tx:
        for most in (1, MANY):
            await tx.value(COUNTED, most=most)
        async with others() as them:
            assert await tx.value(COUNTED, most=MANY) == MANY

    assert them.turns > 1


async def test_what_was_slow_once_is_forgiven_after_some_quick_turns(db: Database) -> None:
    async with db.read() as tx:
        await tx.value(COUNTED, most=MANY)
        for _ in range(2 * FORGIVEN):
            await tx.value(COUNTED, most=1)
        async with others() as them:
            assert await tx.value(COUNTED, most=2) == 2
            assert them.turns == 0


async def test_a_quick_statement_that_is_refused_is_said_in_our_words(db: Database) -> None:
    put = Statement("insert into scratch (id) values (:id)")
    async with db.begin() as tx:
        await tx.execute(Statement("create table scratch (id integer primary key check (id < 9))"))
        await tx.execute(put, id=1)
        with pytest.raises(Invalid, match="CHECK"):
            await tx.execute(put, id=9)


async def test_instants_are_written_as_what_they_are_in_whatever_order_they_come(db: Database) -> None:
    same, later = Statement("select :a || ' ' || :b || ' ' || :c as value"), NOON + timedelta(hours=1)
    seoul = NOON.astimezone(ZoneInfo("Asia/Seoul"))

    async with db.read() as tx:
        found = await tx.value(same, a=NOON, b=later, c=NOON), await tx.value(same, a=NOON, b=NOON, c=seoul)

    noon, one = text(NOON), text(later)
    assert found == (f"{noon} {one} {noon}", f"{noon} {noon} {noon}")


async def test_somebody_elses_writing_is_waited_for(fresh_sqlite: str, db: Database) -> None:
    other = sqlite3.connect(place(fresh_sqlite), isolation_level=None)
    other.execute("begin immediate")

    async def wanted() -> int:
        async with db.begin() as tx:
            return int(await tx.value(COUNTED, most=3))

    waiting = asyncio.create_task(wanted())
    for _ in range(10):
        await asyncio.sleep(0)
    assert not waiting.done()
    other.execute("rollback")
    other.close()
    assert await waiting == 3


async def test_somebody_who_writes_for_too_long_is_named(
    fresh_sqlite: str, db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "BUSY_SECONDS", 0.01)
    other = sqlite3.connect(place(fresh_sqlite), isolation_level=None)
    other.execute("begin immediate")
    try:
        with pytest.raises(Contended, match="another process is writing"):
            async with db.begin():
                raise AssertionError("somebody else is writing")
    finally:
        other.close()
