"""SQLite: one writer a process, readers beside it, WAL, every commit on the disk, shared by who waits for it; what may
last goes to a thread."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from bobusang.kit import clock as clocks
from bobusang.kit.db import Database, Row, Tx
from bobusang.kit.dbs.joint import Joint
from bobusang.kit.dbs.lane import BUSY_SECONDS, Lane
from bobusang.kit.errors import BobusangError, Invalid, Unavailable
from bobusang.kit.sql import Bulk, Dialect, Revise, bind_core, bulk_text, revise_text
from bobusang.kit.turns import Turns

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence
    from datetime import datetime

    from sqlalchemy import ClauseElement

    from bobusang.kit.clock import Clock
    from bobusang.kit.ids import Ids

READERS = 2
WRITER_CACHE, READER_CACHE = 64 << 20, 16 << 20
"""Bytes of pages that each connection keeps; what one of them lacks the system most often has."""
WATCH_SECONDS = 0.01
"""How often another process's commits are looked for: `data_version` costs microseconds, and p50 is half of this."""


async def open_sqlite(url: str, *, clock: Clock | None) -> SqliteDatabase:
    """Open (and make, if need be) the file a `sqlite:///` address names."""
    database = SqliteDatabase(url, place(url), clock or clocks.SystemClock())
    await database.open()
    return database


def place(url: str) -> Path:
    """The file that an address names, its folder made if need be."""
    parts = urlsplit(url)
    if parts.netloc or not parts.path.strip("/"):
        raise Invalid(
            f"'{url}' names no file", hint="write sqlite:///relative.db or sqlite:////absolute.db", field="database_url"
        )
    path = Path(unquote(parts.path[1:]))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Unavailable(
            f"the folder {path.parent} cannot be made: {error.strerror}", hint="check its rights"
        ) from error
    return path


class SqliteTx(Tx):
    """Statements of one transaction."""

    dialect = Dialect.SQLITE

    def __init__(self, lane: Lane, now: datetime, sequences: dict[str, Ids]) -> None:
        super().__init__(now, sequences)
        self._lane = lane

    async def _fetch(self, text: str, arguments: Sequence[Any]) -> Sequence[Row]:
        return await self._lane.run(text, lambda text: self._lane.connection.execute(text, arguments).fetchall())

    async def _execute(self, text: str, arguments: Sequence[Any]) -> int:
        return await self._lane.run(text, lambda text: self._lane.connection.execute(text, arguments).rowcount)

    async def _execute_each(self, text: str, arguments: Sequence[Sequence[Any]]) -> None:
        await self._lane.run(text, lambda text: self._lane.connection.executemany(text, arguments))

    async def _insert(self, bulk: Bulk, rows: Sequence[Sequence[Any]]) -> int:
        text = bulk_text(bulk, self.dialect)
        return await self._lane.run(text, lambda text: self._lane.connection.executemany(text, rows).rowcount)

    async def _revise(self, revise: Revise, rows: Sequence[Sequence[Any]]) -> None:
        text = revise_text(revise, self.dialect)
        await self._lane.run(text, lambda text: self._lane.connection.executemany(text, rows))

    async def create(self, statement: ClauseElement, /) -> int:
        text, arguments = bind_core(statement, self.dialect)
        found = await self._lane.run(text, lambda text: self._lane.connection.execute(text, arguments).lastrowid)
        assert found is not None
        return found


class SqliteDatabase(Database):
    """A file, its one writer and its readers."""

    dialect = Dialect.SQLITE
    polling = 1.0

    def __init__(self, url: str, path: Path, clock: Clock) -> None:
        super().__init__()
        self.url = url
        self.path = path
        self.clock = clock
        self._writer = Lane(path, "sqlite-writer", cache=WRITER_CACHE)
        self._turns = Turns(left=self._nobody_comes)
        self._joint: Joint | None = None
        self._ending: asyncio.Task[None] | None = None
        self._readers: asyncio.Queue[Lane] = asyncio.Queue()
        self._lanes = [self._writer]
        self._writer_sees = self._told = -1
        self._watcher: asyncio.Task[None] | None = None

    async def open(self) -> None:
        await self._writer.open()
        for _ in range(READERS):
            lane = Lane(self.path, "sqlite-reader", cache=READER_CACHE)
            await lane.open()
            self._lanes.append(lane)
            self._readers.put_nowait(lane)

    @asynccontextmanager
    async def begin(self, *, urgent: bool = False) -> AsyncIterator[Tx]:
        async with self._turns.turn(urgent=urgent):
            tx = SqliteTx(self._writer, self.clock.now(), self._sequences)
            joint = await self._entered()
            done = False
            try:
                yield tx
                self._left(joint, tx)
                done = True
            finally:
                try:
                    if not done:
                        self._settle(tx, committed=False)
                        await self._undo(joint)
                finally:
                    if urgent or joint.is_full or not self._turns.are_wanted:
                        await self._end(joint)
        await joint.outcome()

    async def _entered(self) -> Joint:
        """The transaction that is open, or a new one."""
        self._writer.rested()
        if self._joint is not None:
            self._writer.here(lambda: self._writer.connection.execute("savepoint ours"))
            return self._joint
        try:
            await self._begin()
        except BaseException:
            await self._writer.call(self._rollback)  # perhaps it has begun all the same
            raise
        self._joint = Joint(self._writer.connection.total_changes)
        return self._joint

    def _left(self, joint: Joint, tx: Tx) -> None:
        """One is done and waits for the commit."""
        if joint.done:
            self._writer.here(lambda: self._writer.connection.execute("release ours"))
        joint.done.append(tx)

    async def _undo(self, joint: Joint) -> None:
        """Take back what one has changed; of some errors SQLite has taken back what all have."""
        try:
            await self._writer.call(self._rollback_to if joint.done else self._rollback)
        finally:
            if not self._writer.connection.in_transaction:
                self._ended(joint)

    async def _end(self, joint: Joint) -> None:
        """Commit what is done, if something is, and tell all."""
        if self._joint is not joint:
            return
        error: BobusangError | None = None
        try:
            if self._writer.connection.total_changes == joint.changes:
                self._writer.here(lambda: self._commit(joint))  # nothing goes to the disk: the thread costs more
            else:
                await self._writer.call(self._commit, joint)
        except BobusangError as wrong:
            error = wrong
        finally:
            try:
                if not joint.is_kept:
                    await self._writer.call(self._rollback)
            finally:
                self._ended(joint, error)

    def _ended(self, joint: Joint, error: BobusangError | None = None) -> None:
        self._joint = None
        for tx in joint.done:
            self._settle(tx, committed=joint.is_kept)
        joint.end(error)

    def _nobody_comes(self) -> None:
        """Whoever was to end it has gone away while he waited for his turn."""
        if self._joint is not None:
            self._ending = asyncio.get_running_loop().create_task(self._end_alone(self._joint))

    async def _end_alone(self, joint: Joint) -> None:
        async with self._turns.turn(urgent=True):
            await self._end(joint)

    async def _begin(self) -> None:
        """Begin at once, or in the thread when another process is writing and we have to wait for it."""
        connection = self._writer.connection
        connection.execute("pragma busy_timeout = 0")
        try:
            connection.execute("begin immediate")
        except sqlite3.Error:
            connection.execute(f"pragma busy_timeout = {BUSY_SECONDS * 1000:.0f}")
            await self._writer.call(connection.execute, "begin immediate")
        else:
            connection.execute(f"pragma busy_timeout = {BUSY_SECONDS * 1000:.0f}")
        self._writer_sees = _version(connection)

    def _commit(self, joint: Joint) -> None:
        self._writer.connection.execute("commit")
        joint.is_kept = True

    def _rollback_to(self) -> None:
        if self._writer.connection.in_transaction:
            self._writer.connection.execute("rollback to ours")
            self._writer.connection.execute("release ours")

    def _rollback(self) -> None:
        if self._writer.connection.in_transaction:
            self._writer.connection.execute("rollback")

    @asynccontextmanager
    async def read(self) -> AsyncIterator[Tx]:
        lane = await self._readers.get()
        try:
            yield SqliteTx(lane, self.clock.now(), self._sequences)
        finally:
            self._readers.put_nowait(lane)

    @asynccontextmanager
    async def listen(self, callback: Callable[[str], None]) -> AsyncIterator[None]:
        self._listeners.append(callback)
        if self._watcher is None:
            self._watcher = asyncio.create_task(self._watch())
        try:
            yield
        finally:
            self._listeners.remove(callback)
            if not self._listeners and self._watcher is not None:
                watcher, self._watcher = self._watcher, None
                watcher.cancel()
                with suppress(asyncio.CancelledError):
                    await watcher

    async def _watch(self) -> None:
        """Notice the commits of other processes; our own ring directly, and would wake everybody for nothing."""
        self._others_wrote()
        while True:
            await asyncio.sleep(WATCH_SECONDS)
            if self._others_wrote():
                self._hear("")

    def _others_wrote(self) -> bool:
        """Whether another process has committed since this was last asked: the writer's own commits do not change the
        version that the writer sees. Whilst it writes nobody else can, so what it saw when it began still holds."""
        if not self._turns.are_taken:
            self._writer_sees = _version(self._writer.connection)
        changed, self._told = self._writer_sees != self._told, self._writer_sees
        return changed

    async def close(self) -> None:
        for lane in self._lanes:
            await lane.close()


def _version(connection: sqlite3.Connection) -> int:
    found: int = connection.execute("pragma data_version").fetchone()[0]
    return found
