"""Commits that transactions of SQLite share: all of them are on the disk before one goes on, each is undone alone."""

from __future__ import annotations

import asyncio
import sqlite3
import sys
from asyncio.subprocess import PIPE
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bobusang.kit.db import Contended, connect
from bobusang.kit.dbs import joint
from bobusang.kit.dbs.sqlite import place
from bobusang.kit.errors import BobusangError, Invalid
from bobusang.kit.sql import Statement

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from bobusang.kit.db import Database

TABLE = Statement("create table goods (id integer primary key, next integer references goods (id))")
PUT = Statement("insert into goods (id) values (:id)")
ALL = Statement("select id from goods order by id")
DEFER = Statement("pragma defer_foreign_keys = on")
DANGLE = Statement("insert into goods (id, next) values (:id, 999)")


class Shop:
    """People with a transaction each, which ends when they are told; what they tell and hear is noted."""

    def __init__(self, db: Database, disk: sqlite3.Connection) -> None:
        self.db = db
        self.disk = disk
        self.log: list[str] = []
        self.inside: dict[int, asyncio.Event] = {}
        self._ends: dict[int, asyncio.Event] = {}

    async def comes(self, id: int, *, urgent: bool = False, put: Statement = PUT) -> asyncio.Task[None]:
        self._ends[id], self.inside[id] = asyncio.Event(), asyncio.Event()
        task = asyncio.create_task(self._stays(id, put, urgent=urgent))
        await settled()
        return task

    async def ends(self, *ids: int) -> None:
        for id in ids:
            self._ends[id].set()
            await settled()

    async def _stays(self, id: int, put: Statement, *, urgent: bool) -> None:
        async with self.db.begin(urgent=urgent) as tx:
            tx.after_commit(lambda: self.log.append(f"{id} kept"))
            tx.after_rollback(lambda: self.log.append(f"{id} undone"))
            if put is not PUT:
                await tx.execute(DEFER)
            await tx.execute(put, id=id)
            self.inside[id].set()
            await self._ends[id].wait()
            if id < 0:
                raise Invalid("a negative number")

    @property
    def on_disk(self) -> list[int]:
        """As another process sees it."""
        return [id for (id,) in self.disk.execute("select id from goods order by id")]


async def settled() -> None:
    """Let everybody go on who waits for no thread."""
    for _ in range(20):
        await asyncio.sleep(0)


@pytest.fixture
async def shop(fresh_sqlite: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Shop]:
    monkeypatch.setattr(joint, "SHARED_SECONDS", 60.0)
    db = await connect(fresh_sqlite)
    async with db.begin() as tx:
        await tx.execute(TABLE)
        await tx.execute(PUT, id=100)  # known to be quick from now on
    disk = sqlite3.connect(place(fresh_sqlite), isolation_level=None)
    yield Shop(db, disk)
    disk.close()
    await db.close()


async def test_nobody_goes_on_before_it_is_on_the_disk(shop: Shop) -> None:
    first, second, third = [await shop.comes(id) for id in (1, 2, 3)]
    await shop.ends(1, 2)

    assert (first.done(), second.done(), shop.on_disk, shop.log) == (False, False, [100], [])

    await shop.ends(3)
    async with asyncio.timeout(30):
        await asyncio.gather(first, second, third)
    assert (shop.on_disk, shop.log) == ([1, 2, 3, 100], ["1 kept", "2 kept", "3 kept"])


async def test_who_waits_for_nobody_waits_for_no_other(shop: Shop) -> None:
    async with asyncio.timeout(30):
        alone = await shop.comes(1)
        await shop.ends(1)
        await alone

    assert shop.on_disk == [1, 100]


async def test_an_urgent_one_takes_all_with_it_to_the_disk(shop: Shop) -> None:
    first = await shop.comes(1)
    slow = await shop.comes(2)
    urgent = await shop.comes(3, urgent=True)
    await shop.ends(1, 3)
    async with asyncio.timeout(30):
        await asyncio.gather(first, urgent)

    assert (slow.done(), shop.on_disk) == (False, [1, 3, 100])
    await shop.ends(2)
    await slow


async def test_after_a_while_no_more_are_waited_for(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joint, "SHARED_SECONDS", 0.0)
    first = await shop.comes(1)
    slow = await shop.comes(2)
    await shop.ends(1)
    async with asyncio.timeout(30):
        await first

    assert (slow.done(), shop.on_disk) == (False, [1, 100])
    await shop.ends(2)
    await slow


async def test_one_that_fails_is_undone_alone(shop: Shop) -> None:
    tasks = [await shop.comes(id) for id in (1, -2, 3, -4)]
    await shop.ends(1, -2, 3, -4)
    async with asyncio.timeout(30):
        found = await asyncio.gather(*tasks, return_exceptions=True)

    assert [type(one) for one in found] == [type(None), Invalid, type(None), Invalid]
    assert (shop.on_disk, sorted(shop.log)) == ([1, 3, 100], ["-2 undone", "-4 undone", "1 kept", "3 kept"])


async def test_a_commit_that_fails_keeps_nothing_of_anybody(shop: Shop) -> None:
    tasks = [await shop.comes(1), await shop.comes(2, put=DANGLE), await shop.comes(3)]
    await shop.ends(1, 2, 3)
    async with asyncio.timeout(30):
        found = await asyncio.gather(*tasks, return_exceptions=True)

    assert {str(one) for one in found} == {"FOREIGN KEY constraint failed"}
    assert all(isinstance(one, BobusangError) for one in found)
    assert (shop.on_disk, shop.log) == ([100], ["1 undone", "2 undone", "3 undone"])


async def test_what_sqlite_has_undone_wholly_is_told_to_all(shop: Shop) -> None:
    """As it does by itself when the disk is full."""
    first, second = await shop.comes(1), await shop.comes(-2)
    await shop.ends(1)
    await shop.inside[-2].wait()
    shop.db._writer.connection.execute("rollback")  # type: ignore[attr-defined]
    await shop.ends(-2)
    async with asyncio.timeout(30):
        found = await asyncio.gather(first, second, return_exceptions=True)

    assert [type(one) for one in found] == [Contended, Invalid]
    assert (shop.on_disk, sorted(shop.log)) == ([100], ["-2 undone", "1 undone"])


async def test_what_is_done_is_kept_when_everybody_else_goes_away(shop: Shop) -> None:
    done = await shop.comes(1)
    waiting = [await shop.comes(id) for id in (2, 3)]
    shop._ends[1].set()
    while not shop.db._joint.done:  # type: ignore[attr-defined]  # noqa: ASYNC110 - not a step later
        await asyncio.sleep(0)
    for one in waiting:
        one.cancel()
    async with asyncio.timeout(30):
        await asyncio.gather(done, *waiting, return_exceptions=True)

    assert (done.done(), done.cancelled(), shop.on_disk, shop.log[0]) == (True, False, [1, 100], "1 kept")


async def test_one_that_is_cancelled_while_it_waits_for_the_disk_was_kept_all_the_same(shop: Shop) -> None:
    done, last = await shop.comes(1), await shop.comes(2)
    await shop.ends(1)
    done.cancel()
    await settled()
    assert not done.done()
    await shop.ends(2)
    async with asyncio.timeout(30):
        await asyncio.gather(done, last, return_exceptions=True)

    assert (done.cancelled(), shop.on_disk, shop.log) == (True, [1, 2, 100], ["1 kept", "2 kept"])


PLAYERS = st.lists(st.sampled_from(["keep", "fail", "cancel", "urgent", "read"]), min_size=1, max_size=12)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(players=PLAYERS)
async def test_whatever_happens_what_was_told_is_what_is_there(tmp_path: Path, players: list[str]) -> None:
    url = f"sqlite:///{tmp_path / 'goods.db'}"
    (tmp_path / "goods.db").unlink(missing_ok=True)
    db = await connect(url)
    kept: set[int] = set()
    tasks: dict[int, asyncio.Task[None]] = {}

    async def play(id: int, how: str) -> None:
        async with db.begin(urgent=how == "urgent") as tx:
            tx.after_commit(lambda: kept.add(id))
            if how == "read":
                await tx.fetch(ALL)
                return
            await tx.execute(PUT, id=id)
            await asyncio.sleep(0)
            if how == "fail":
                raise Invalid("failed")
            if how == "cancel":
                tasks[len(players) - 1 - id].cancel()
                await asyncio.sleep(0)

    try:
        async with db.begin() as tx:
            await tx.execute(TABLE)
        async with asyncio.timeout(30):
            for id, how in enumerate(players):
                tasks[id] = asyncio.create_task(play(id, how))
            await asyncio.gather(*tasks.values(), return_exceptions=True)
        async with db.read() as tx:
            there = {row["id"] for row in await tx.fetch(ALL)}
    finally:
        await db.close()

    wrote = {id for id, how in enumerate(players) if how != "read"}
    assert there == kept & wrote
    assert {id for id, task in tasks.items() if not task.cancelled() and task.exception() is None} <= kept


CROWD = """
import asyncio, os, sys
from bobusang.kit.db import connect
from bobusang.kit.sql import Statement

PUT = Statement("insert into goods (id) values (:id)")

async def main():
    db = await connect(sys.argv[1])
    async def put(first):
        for id in range(first, 1_000_000, 20):
            async with db.begin() as tx:
                await tx.execute(PUT, id=id)
            print(id, flush=True)
    await asyncio.gather(*(put(first) for first in range(20)))

asyncio.run(main())
"""


async def test_a_crash_takes_nothing_that_was_told(fresh_sqlite: str) -> None:
    db = await connect(fresh_sqlite)
    async with db.begin() as tx:
        await tx.execute(TABLE)
    crowd = await asyncio.create_subprocess_exec(sys.executable, "-c", CROWD, fresh_sqlite, stdout=PIPE)
    assert crowd.stdout is not None
    told = [int(await crowd.stdout.readline()) for _ in range(500)]
    crowd.kill()
    told += [int(line) for line in (await crowd.stdout.read()).splitlines(keepends=True) if line.endswith(b"\n")]
    await crowd.wait()
    async with db.read() as tx:
        there = {row["id"] for row in await tx.fetch(ALL)}
    await db.close()

    assert set(told) - there == set()
