"""MariaDB by asyncmy: READ COMMITTED (a claim under REPEATABLE READ blocks inserts), explicit VALUES for many rows."""

from __future__ import annotations

import asyncio
import time
from contextlib import asynccontextmanager, suppress
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

import asyncmy
import asyncmy.cursors
import asyncmy.errors
from sqlalchemy import JSON, Text

from bobusang.kit import json
from bobusang.kit.clock import SyncedClock, utc
from bobusang.kit.clock import text as instant_text
from bobusang.kit.db import KEPT, Contended, Database, Duplicate, Row, Tx
from bobusang.kit.dbs.translation import Translation
from bobusang.kit.errors import BobusangError, Invalid, Unavailable
from bobusang.kit.sql import Bulk, Dialect, Revise, bind_core, bulk_text, revise_text
from bobusang.kit.turns import Turns

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator, Sequence

    from sqlalchemy import ClauseElement, Table

    from bobusang.kit.clock import Clock
    from bobusang.kit.ids import Ids

OLDEST = (10, 6)
CHUNK = 500
LARGEST = 1 << 20
"""Characters of one statement's large texts: escaped twice, and three bytes each, they may grow sixfold."""
SETUP = (
    "set session transaction isolation level read committed",
    "set session time_zone = '+00:00', innodb_lock_wait_timeout = 10, sql_mode = 'STRICT_ALL_TABLES', sql_notes = 0",
)

CONTENDED = {1213, 1205, 1020}
LOST = {2002, 2003, 2006, 2013, 2055, 1040, 1053, 1927, 4031}
DUPLICATE = {1062}
FULL = {1021, 1114}
BAD_DATA = {1264, 1265, 1292, 1366, 1406, 1048, 3140, 4025, 1452, 1451}


async def open_mariadb(url: str, *, clock: Clock | None, pool: int) -> MariadbDatabase:
    """Connect, and refuse MySQL and servers that are too old."""
    database = MariadbDatabase(url, _address(url), clock, pool)
    async with database.read() as tx:
        version: str = (await tx._fetch("select version() as value", ()))[0]["value"]
    if "mariadb" not in version.lower():
        await database.close()
        raise Invalid(f"MySQL {version} is not supported", hint="use MariaDB 10.6 or newer", field="database_url")
    if tuple(int(part) for part in version.split("-", maxsplit=1)[0].split(".")[:2]) < OLDEST:
        await database.close()
        raise Invalid(f"MariaDB {version} is too old", hint="use 10.6 or newer", field="database_url")
    await database.sync()
    return database


def _address(url: str) -> dict[str, Any]:
    parts = urlsplit(url)
    if not parts.path.strip("/"):
        raise Invalid(
            f"no database in {parts.hostname}", hint="write mariadb://user:pw@host/database", field="database_url"
        )
    return {
        "host": parts.hostname or "127.0.0.1",
        "port": parts.port or 3306,
        "user": unquote(parts.username or "root"),
        "password": unquote(parts.password or ""),
        "db": unquote(parts.path.strip("/")),
    }


class MariadbTx(Tx):
    """Statements on one connection."""

    dialect = Dialect.MARIADB

    def __init__(self, connection: Any, now: Any, sequences: dict[str, Ids]) -> None:
        super().__init__(now, sequences)
        self.connection = connection

    async def _fetch(self, text: str, arguments: Sequence[Any]) -> Sequence[Row]:
        with TRANSLATION:
            async with self.connection.cursor(asyncmy.cursors.DictCursor) as cursor:
                await cursor.execute(text, tuple(arguments))
                rows: Sequence[Row] = await cursor.fetchall()
                return rows

    async def _execute(self, text: str, arguments: Sequence[Any]) -> int:
        with TRANSLATION:
            async with self.connection.cursor() as cursor:
                affected: int = await cursor.execute(text, tuple(arguments))
                return affected

    async def _insert(self, bulk: Bulk, rows: Sequence[Sequence[Any]]) -> int:
        head = bulk_text(bulk, self.dialect)
        marks = "(" + ",".join(["%s"] * len(bulk.columns)) + ")"
        first = bulk.columns[0]
        # `insert ignore` would also swallow truncations and bad values, so the key is set to itself instead.
        tail = f" on duplicate key update {first} = {first}" if bulk.keep else ""
        inserted = 0
        for part in _parts(rows, wide(bulk.table, bulk.columns)):
            text = head + ",".join([marks] * len(part)) + tail
            inserted += await self._execute(text, [value for row in part for value in row])
        return inserted

    async def _revise(self, revise: Revise, rows: Sequence[Sequence[Any]]) -> None:
        text = revise_text(revise, self.dialect)
        for part in _parts(rows, wide(revise.table, (revise.key, *revise.columns))):
            document = [[_plain(value) for value in row] for row in part]
            await self._execute(text, (json.dumps(document),))

    async def create(self, statement: ClauseElement, /) -> int:
        text, arguments = bind_core(statement, self.dialect)
        with TRANSLATION:
            async with self.connection.cursor() as cursor:
                await cursor.execute(text, tuple(arguments))
                found: int = cursor.lastrowid
                return found


@lru_cache(maxsize=256)
def wide(table: Table, columns: tuple[str, ...]) -> tuple[int, ...]:
    """Which of these columns may hold a large text."""
    return tuple(at for at, name in enumerate(columns) if isinstance(table.c[name].type, JSON | Text))


def _parts(rows: Sequence[Sequence[Any]], wide: tuple[int, ...]) -> Iterator[Sequence[Sequence[Any]]]:
    """Rows that fit into one statement: so many, and together not larger than a server takes at once (16 MB)."""
    start = size = 0
    for end, row in enumerate(rows if wide else ()):
        length = sum(len(row[at]) for at in wide if row[at] is not None)
        if end > start and (size + length > LARGEST or end - start == CHUNK):
            yield rows[start:end]
            start, size = end, 0
        size += length
    for begin in range(start, len(rows), CHUNK):
        yield rows[begin : begin + CHUNK]


def _plain(value: object) -> object:
    """A value as JSON_TABLE reads it into a column."""
    return instant_text(value) if isinstance(value, datetime) else value


class MariadbDatabase(Database):
    """A small pool of our own making: asyncmy's hands out connections that the server has closed."""

    dialect = Dialect.MARIADB
    polling = 0.25

    def __init__(self, url: str, address: dict[str, Any], clock: Clock | None, pool: int) -> None:
        super().__init__()
        self.url = url
        self._address = address
        self._free: list[Any] = []
        self._turns = Turns(pool, kept=KEPT)
        self._synced = SyncedClock() if clock is None else None
        self.clock = clock or self._synced or SyncedClock()

    async def sync(self) -> None:
        """Ask the server for the time."""
        if self._synced is None:
            return
        async with self.read() as tx:
            asked = time.monotonic()
            server = utc((await tx._fetch("select utc_timestamp(6) as value", ()))[0]["value"])
            self._synced.sync(server, asked, time.monotonic())

    @asynccontextmanager
    async def begin(self, *, urgent: bool = False) -> AsyncIterator[Tx]:
        async with self._connection(urgent=urgent) as connection:
            tx = MariadbTx(connection, self.clock.now(), self._sequences)
            ended = False
            try:
                await tx._execute("begin", ())
                yield tx
                await tx._execute("commit", ())
                ended = True
            finally:
                if not ended:
                    self._settle(tx, committed=False)
        self._settle(tx, committed=True)

    @asynccontextmanager
    async def read(self) -> AsyncIterator[Tx]:
        async with self._connection() as connection:
            yield MariadbTx(connection, self.clock.now(), self._sequences)

    @asynccontextmanager
    async def _connection(self, *, urgent: bool = False) -> AsyncIterator[Any]:
        """A connection; one that saw an error or a cancellation is closed, because its state is not known."""
        async with self._turns.turn(urgent=urgent):
            connection = self._free.pop() if self._free else await self._connect()
            healthy = False
            try:
                yield connection
                healthy = True
            except BobusangError as error:
                healthy = not isinstance(error, Unavailable) and await self._rolled_back(connection)
                raise
            finally:
                if healthy:
                    self._free.append(connection)
                else:
                    connection.close()

    async def _rolled_back(self, connection: Any) -> bool:
        try:
            await connection.rollback()
        except (asyncmy.errors.Error, OSError):
            return False
        return True

    async def _connect(self) -> Any:
        try:
            connection = await asyncmy.connect(**self._address, charset="utf8mb4", autocommit=True, connect_timeout=10)
            async with connection.cursor() as cursor:
                for statement in SETUP:
                    await cursor.execute(statement)
            return connection
        except (asyncmy.errors.Error, OSError, TimeoutError) as error:
            where = f"{self._address['host']}:{self._address['port']}/{self._address['db']}"
            raise Unavailable(
                f"MariaDB at {where} cannot be used: {error}", hint="check BOBUSANG_DATABASE_URL"
            ) from error

    @asynccontextmanager
    async def listen(self, callback: Callable[[str], None]) -> AsyncIterator[None]:
        """Only this process's own rings; others are found by polling."""
        self._listeners.append(callback)
        try:
            yield
        finally:
            self._listeners.remove(callback)

    async def close(self) -> None:
        for connection in self._free:
            with suppress(asyncmy.errors.Error, OSError):
                connection.close()
        self._free.clear()


def _translated(error: BaseException) -> BobusangError | None:
    if isinstance(error, OSError | TimeoutError | asyncio.IncompleteReadError):
        return Unavailable(f"MariaDB went away: {error}", hint="is the server up?")
    if not isinstance(error, asyncmy.errors.MySQLError):
        return None
    number = error.args[0] if error.args else 0
    if number in CONTENDED:
        return Contended(str(error))
    if number in DUPLICATE:
        return Duplicate(str(error))
    if number in LOST or isinstance(error, asyncmy.errors.InterfaceError):
        return Unavailable(f"MariaDB went away: {error}", hint="is the server up?")
    if number in FULL:
        return Unavailable(f"MariaDB's disk is full: {error}", hint="free some space; nothing was half-written")
    if number in BAD_DATA or isinstance(error, asyncmy.errors.DataError):
        return Invalid(str(error))
    return BobusangError(str(error))


TRANSLATION = Translation(_translated)
