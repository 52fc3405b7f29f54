"""PostgreSQL by asyncpg: READ COMMITTED, arrays for lists, LISTEN/NOTIFY for wake-ups."""

from __future__ import annotations

import asyncio
import time
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

import asyncpg

from bobusang.kit.clock import SyncedClock
from bobusang.kit.db import KEPT, Contended, Database, Duplicate, Row, Tx
from bobusang.kit.dbs.translation import Translation
from bobusang.kit.errors import BobusangError, Invalid, Unavailable
from bobusang.kit.sql import Bulk, Dialect, Revise, bind_core, bulk_text, revise_text
from bobusang.kit.turns import Turns

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence, Set
    from contextlib import AbstractAsyncContextManager

    from sqlalchemy import ClauseElement

    from bobusang.kit.clock import Clock
    from bobusang.kit.ids import Ids

OLDEST = 150000
CHANNEL = "bobusang"
CHUNK = 5000
RECONNECT_SECONDS = 1.0
# Sorts without an index are still done; before PostgreSQL 18 their penalty looks so dear that they would be compiled
# first.
WALK = "set local enable_sort = off; set local jit = off"
# A hundredth of a second for all tables once they have a few hundred rows; what has grown fivefold since is studied
# again. Somebody else who is at a table, as its vacuum, is left alone: waiting for a vacuum ends it.
GROWN = """
    select s.relid::regclass::text as name from pg_stat_user_tables s join pg_class c on c.oid = s.relid
    where s.schemaname = current_schema() and pg_has_role(c.relowner, 'usage')
      and s.n_live_tup > 200 + 5 * greatest(c.reltuples, 0)"""
STUDY = "analyze (skip_locked) {}"


async def open_postgres(url: str, *, clock: Clock | None, pool: int) -> PostgresDatabase:
    """Connect, and refuse a server that is too old."""
    ours: set[int] = set()

    async def know(connection: Any) -> None:
        pid = connection.get_server_pid()
        ours.add(pid)
        connection.add_termination_listener(lambda _: ours.discard(pid))

    try:
        opened = await asyncpg.create_pool(
            url,
            min_size=1,
            max_size=pool + KEPT,
            statement_cache_size=400,
            max_inactive_connection_lifetime=0,
            timeout=10,
            init=know,
            reset=_as_it_is,
        )
    except (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError, ValueError) as error:
        raise _unreachable(url, error) from error
    database = PostgresDatabase(url, opened, clock, pool, ours)
    async with opened.acquire() as connection:
        version = int(await connection.fetchval("show server_version_num"))
    if version < OLDEST:
        await opened.close()
        raise Invalid(f"PostgreSQL {version // 10000} is too old", hint="use 15 or newer", field="database_url")
    await database.sync()
    return database


async def _as_it_is(connection: Any) -> None:
    """A connection goes back without a round trip to clear its session: we set nothing beyond a transaction, and one
    that is still open asyncpg has rolled back before it comes here."""


def _unreachable(url: str, error: Exception) -> Unavailable:
    where = url.rsplit("@", 1)[-1]
    return Unavailable(
        f"PostgreSQL at {where} cannot be used: {str(error) or type(error).__name__}",
        hint="check BOBUSANG_DATABASE_URL",
    )


class PostgresTx(Tx):
    """Statements on one connection."""

    dialect = Dialect.POSTGRES

    def __init__(self, connection: Any, now: Any, sequences: dict[str, Ids]) -> None:
        super().__init__(now, sequences)
        self.connection = connection

    async def _fetch(self, text: str, arguments: Sequence[Any]) -> Sequence[Row]:
        with TRANSLATION:
            found: Sequence[Row] = await self.connection.fetch(text, *arguments)
            return found

    async def _execute(self, text: str, arguments: Sequence[Any]) -> int:
        with TRANSLATION:
            status = await self.connection.execute(text, *arguments)
        return _affected(status)

    async def _execute_each(self, text: str, arguments: Sequence[Sequence[Any]]) -> None:
        with TRANSLATION:
            await self.connection.executemany(text, arguments)

    async def _insert(self, bulk: Bulk, rows: Sequence[Sequence[Any]]) -> int:
        inserted = 0
        with TRANSLATION:
            for start in range(0, len(rows), CHUNK):
                columns = list(zip(*rows[start : start + CHUNK], strict=True))
                same = _same(columns)
                text = bulk_text(bulk, self.dialect, same)
                values = [column[0] if place in same else column for place, column in enumerate(columns)]
                inserted += _affected(await self.connection.execute(text, *values))
        return inserted

    async def _revise(self, revise: Revise, rows: Sequence[Sequence[Any]]) -> None:
        text = revise_text(revise, self.dialect)
        with TRANSLATION:
            for start in range(0, len(rows), CHUNK):
                await self.connection.execute(text, *zip(*rows[start : start + CHUNK], strict=True))

    async def walk(self) -> None:
        await self._execute(WALK, ())

    async def create(self, statement: ClauseElement, /) -> int:
        text, arguments = bind_core(statement, self.dialect)
        if " returning " not in text.lower():
            text += " returning id"
        with TRANSLATION:
            found: int = await self.connection.fetchval(text, *arguments)
            return found


class PostgresDatabase(Database):
    """A pool, and a clock kept in step with the server's."""

    dialect = Dialect.POSTGRES
    polling = 5.0

    def __init__(self, url: str, pool: Any, clock: Clock | None, size: int, ours: Set[int]) -> None:
        super().__init__()
        self.url = url
        self._pool = pool
        self._ours = ours
        """The server's processes behind our own connections: their rings were heard when they committed."""
        self._turns = Turns(size, kept=KEPT)
        self._spare: list[Any] = []
        """Connections that nobody has a turn with. The pool would take each back by two tasks of the loop and hand it
        out again in another wrapping, which costs more than a statement does."""
        self._synced = SyncedClock() if clock is None else None
        self.clock = clock or self._synced or SyncedClock()

    async def sync(self) -> None:
        """Ask the server for the time."""
        if self._synced is None:
            return
        async with self._connected() as tx:
            asked = time.monotonic()
            with TRANSLATION:
                server = await tx.connection.fetchval("select clock_timestamp()")
            self._synced.sync(server, asked, time.monotonic())

    async def study(self) -> None:
        async with self._connected() as tx:
            for row in await tx._fetch(GROWN, ()):
                await tx._execute(STUDY.format(row["name"]), ())

    @asynccontextmanager
    async def begin(self, *, urgent: bool = False) -> AsyncIterator[Tx]:
        async with self._connected(urgent=urgent) as tx:
            ended, rings = False, list[str]()
            try:
                await tx._execute("begin", ())
                yield tx
                rings = sorted(tx.rings)
                await tx._execute("".join([*map(_notify, rings), "commit"]), ())
                ended = True
            finally:
                if not ended:
                    with suppress(BobusangError):
                        await tx._execute("rollback", ())
                    self._settle(tx, committed=False)
                    for note in rings:  # perhaps it was committed, and only the answer is missing
                        self._hear(note)
        self._settle(tx, committed=True)

    def read(self) -> AbstractAsyncContextManager[Tx]:
        return self._connected()

    @asynccontextmanager
    async def _connected(self, *, urgent: bool = False) -> AsyncIterator[PostgresTx]:
        async with self._turns.turn(urgent=urgent):  # the pool's own queue knows no hurry
            with TRANSLATION:
                connection = await self._acquired()
            try:
                yield PostgresTx(connection, self.clock.now(), self._sequences)
            except BaseException:  # perhaps in the middle of a statement: the pool knows how to end that
                with TRANSLATION:
                    await asyncio.shield(self._pool.release(connection))
                raise
            self._spare.append(connection)

    async def _acquired(self) -> Any:
        """A connection that lives: one that is spare, or one of the pool, which connects anew where it has to."""
        while self._spare:
            connection = self._spare.pop()
            with suppress(asyncpg.InterfaceError):  # its server has ended it, and the pool has it back
                if not connection.is_closed():
                    return connection
                await self._pool.release(connection)
        return await self._pool.acquire()

    @asynccontextmanager
    async def listen(self, callback: Callable[[str], None]) -> AsyncIterator[None]:
        self._listeners.append(callback)
        hearing = asyncio.Event()
        watch = asyncio.create_task(self._watch(callback, hearing))
        try:
            await hearing.wait()
            yield
        finally:
            self._listeners.remove(callback)
            watch.cancel()
            with suppress(asyncio.CancelledError):
                await watch

    async def _watch(self, callback: Callable[[str], None], hearing: asyncio.Event) -> None:
        """Keep one listening connection; after losing it, ring once, because something may have been missed."""
        while True:
            with suppress(OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError):
                connection = await asyncpg.connect(self.url, timeout=10)
                lost = asyncio.Event()
                connection.add_termination_listener(lambda _, lost=lost: lost.set())
                try:
                    await connection.add_listener(CHANNEL, lambda *heard: self._heard(callback, heard[1], heard[3]))
                    hearing.set()
                    callback("")
                    await lost.wait()
                finally:
                    connection.terminate()
            hearing.set()
            await asyncio.sleep(RECONNECT_SECONDS)

    def _heard(self, callback: Callable[[str], None], pid: int, note: str) -> None:
        """A ring of ours would send a slot for work that is taken already."""
        if pid not in self._ours:
            callback(note)

    async def close(self) -> None:
        try:
            await asyncio.wait_for(self._end(), 5)
        except TimeoutError:
            self._pool.terminate()

    async def _end(self) -> None:
        for connection in self._spare:
            await self._pool.release(connection)
        await self._pool.close()


def _notify(note: str) -> str:
    """A ring as a statement that goes with the commit in one round trip."""
    quoted = note.replace("'", "''").replace("\\", "\\\\")
    return f"notify {CHANNEL}, e'{quoted}'; "


def _same(columns: Sequence[Sequence[Any]]) -> frozenset[int]:
    """The columns (by place) with one value throughout; the first always stays an array, to say how many rows."""
    return frozenset(
        place
        for place, column in enumerate(columns)
        if place and column[0] is column[-1] and column.count(column[0]) == len(column)
    )


def _affected(status: str) -> int:
    """`UPDATE 5` → 5."""
    last = status.rsplit(" ", 1)[-1]
    return int(last) if last.isdigit() else 0


def _translated(error: BaseException) -> BobusangError | None:
    match error:
        case asyncpg.DeadlockDetectedError() | asyncpg.SerializationError() | asyncpg.LockNotAvailableError():
            return Contended(str(error))
        case asyncpg.UniqueViolationError():
            return Duplicate(str(error))
        case asyncpg.DiskFullError():
            return Unavailable(f"PostgreSQL's disk is full: {error}", hint="free some space; nothing was half-written")
        case asyncpg.ReadOnlySQLTransactionError():
            return Unavailable(f"PostgreSQL is read-only: {error}", hint="connect to the primary server")
        case asyncpg.DataError() | asyncpg.IntegrityConstraintViolationError():
            return Invalid(str(error))
        case (
            asyncpg.PostgresConnectionError()
            | asyncpg.OperatorInterventionError()
            | asyncpg.InsufficientResourcesError()
            | asyncpg.InterfaceError()
            | OSError()
            | TimeoutError()
        ):
            return Unavailable(f"PostgreSQL went away: {str(error) or type(error).__name__}", hint="is the server up?")
        case asyncpg.PostgresError():
            return BobusangError(str(error))
    return None


TRANSLATION = Translation(_translated)
