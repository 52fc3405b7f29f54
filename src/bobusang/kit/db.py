"""The database contract: transactions that retry, statements that know their dialect, wake-ups on commit.

Law 5: one step, one transaction, and nobody awaits the network inside one. `Database.transact` is the only place that
retries: a deadlock rolls the whole transaction back, so only the outermost caller may try again.
"""

from __future__ import annotations

import asyncio
import random
from typing import TYPE_CHECKING, Any, Protocol, TypeVar
from urllib.parse import urlsplit

from bobusang.kit.errors import BobusangError, Conflict, Invalid, Verdict
from bobusang.kit.sql import Bulk, Dialect, Revise, Statement, bind_core

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence
    from contextlib import AbstractAsyncContextManager
    from datetime import datetime

    from sqlalchemy import ClauseElement

    from bobusang.kit.clock import Clock
    from bobusang.kit.ids import Ids

T = TypeVar("T")

ATTEMPTS = 10
KEPT = 1
"""Connections to a server beyond the pool's, for urgent transactions alone: while pages are stored all the others are
taken, each for as long as a hundred answers of the server last."""


class Row(Protocol):
    """A result row, read by column name."""

    def __getitem__(self, key: str, /) -> Any: ...


class Contended(BobusangError):
    """A deadlock, serialization failure or lock time-out: the same transaction may succeed the next time."""

    code = "contended"
    verdict = Verdict.RETRY


class Duplicate(Conflict):
    """A unique key already has this value."""

    code = "duplicate"


class Tx:
    """One open transaction (or, from `Database.read`, one reading connection)."""

    dialect: Dialect

    def __init__(self, now: datetime, sequences: dict[str, Ids] | None = None) -> None:
        self.now = now
        self.sequences = {} if sequences is None else sequences
        """Ids that are free, by sequence; shared by all transactions of a database (see `ids.sequence`)."""
        self.rings: set[str] = set()
        self.committed: list[Callable[[], None]] = []
        self.rolled_back: list[Callable[[], None]] = []

    async def fetch(self, statement: Statement | ClauseElement, /, **params: Any) -> Sequence[Row]:
        """All rows."""
        text, arguments = self._bind(statement, params)
        return await self._fetch(text, arguments)

    async def first(self, statement: Statement | ClauseElement, /, **params: Any) -> Row | None:
        """The first row, or None."""
        rows = await self.fetch(statement, **params)
        return rows[0] if rows else None

    async def value(self, statement: Statement | ClauseElement, /, **params: Any) -> Any:
        """The one column of the first row, which the statement calls `value`; None without a row."""
        row = await self.first(statement, **params)
        return None if row is None else row["value"]

    async def execute(self, statement: Statement | ClauseElement, /, **params: Any) -> int:
        """Change rows; how many were affected."""
        text, arguments = self._bind(statement, params)
        return await self._execute(text, arguments)

    async def execute_each(self, statement: Statement, given: Sequence[Mapping[str, Any]], /) -> None:
        """Change rows by one statement, once for each set of its parameters, in their order; it takes no lists."""
        if given:
            names, text = statement.rendered(self.dialect).names, statement.rendered(self.dialect).text
            await self._execute_each(text, [[params[name] for name in names] for params in given])

    async def insert(self, bulk: Bulk, rows: Sequence[Sequence[Any]], /) -> int:
        """Insert many rows; how many were new."""
        return await self._insert(bulk, rows) if rows else 0

    async def revise(self, revise: Revise, rows: Sequence[Sequence[Any]], /) -> None:
        """Update many rows, each with values of its own."""
        if rows:
            await self._revise(revise, rows)

    async def create(self, statement: ClauseElement, /) -> int:
        """Insert one row of a table with a generated `id`; the id."""
        raise NotImplementedError

    async def walk(self) -> None:
        """From here on what is wanted in an order is read along an index that has it, not sorted: for the head of a
        queue, of which a database may not know how long it is. It would read a whole table in the order of its key, so
        it is said last, and not where the order is that of a few rows found by another index."""

    def ring(self, note: str) -> None:
        """Wake whoever listens, here and elsewhere, once this transaction is committed."""
        self.rings.add(note)

    def after_commit(self, callback: Callable[[], None]) -> None:
        """Call this once the transaction is committed."""
        self.committed.append(callback)

    def after_rollback(self, callback: Callable[[], None]) -> None:
        """Call this if the transaction is undone."""
        self.rolled_back.append(callback)

    def _bind(self, statement: Statement | ClauseElement, params: dict[str, Any]) -> tuple[str, Sequence[Any]]:
        if isinstance(statement, Statement):
            return statement.bind(self.dialect, params)
        return bind_core(statement, self.dialect)

    async def _fetch(self, text: str, arguments: Sequence[Any]) -> Sequence[Row]:
        raise NotImplementedError

    async def _execute(self, text: str, arguments: Sequence[Any]) -> int:
        raise NotImplementedError

    async def _execute_each(self, text: str, arguments: Sequence[Sequence[Any]]) -> None:
        for one in arguments:
            await self._execute(text, one)

    async def _insert(self, bulk: Bulk, rows: Sequence[Sequence[Any]]) -> int:
        raise NotImplementedError

    async def _revise(self, revise: Revise, rows: Sequence[Sequence[Any]]) -> None:
        raise NotImplementedError


class Database:
    """A pool of connections to one database."""

    dialect: Dialect
    url: str
    clock: Clock
    polling: float
    """The longest time between two looks for new work: short where no ring reaches us, long where one may be lost."""

    def __init__(self) -> None:
        self._listeners: list[Callable[[str], None]] = []
        self._sequences: dict[str, Ids] = {}

    def begin(self, *, urgent: bool = False) -> AbstractAsyncContextManager[Tx]:
        """A write transaction: committed at the end of the block, rolled back when the block raises.

        An urgent one goes before all others that wait: a short one, whose answer somebody outside waits for.
        """
        raise NotImplementedError

    def read(self) -> AbstractAsyncContextManager[Tx]:
        """A connection for reading."""
        raise NotImplementedError

    async def sync(self) -> None:
        """Bring our clock in step with the server's, where there is one."""

    async def study(self) -> None:
        """Have the database look again at tables that have outgrown what it knows of them, where it plans by that and
        is slow to notice."""

    async def close(self) -> None:
        """Give everything back."""
        raise NotImplementedError

    async def transact(self, work: Callable[[Tx], Awaitable[T]], *, urgent: bool = False) -> T:
        """Run `work` in a transaction, again from its start when the database says the same might succeed."""
        for attempt in range(1, ATTEMPTS + 1):
            try:
                async with self.begin(urgent=urgent) as tx:
                    return await work(tx)
            except Contended:
                if attempt == ATTEMPTS:
                    raise
            await asyncio.sleep(random.uniform(0, min(0.002 * 2**attempt, 0.5)))
        raise AssertionError("unreachable")

    def listen(self, callback: Callable[[str], None]) -> AbstractAsyncContextManager[None]:
        """Hear the rings of every process that this database can carry them from."""
        raise NotImplementedError

    def _settle(self, tx: Tx, *, committed: bool) -> None:
        for callback in tx.committed if committed else tx.rolled_back:
            callback()
        if committed:
            for note in tx.rings:
                self._hear(note)

    def _hear(self, note: str) -> None:
        for listener in tuple(self._listeners):
            listener(note)


def dialect_of(url: str) -> Dialect:
    """Which database an address means; one we do not speak to is refused with what to write instead."""
    match urlsplit(url).scheme:
        case "sqlite":
            return Dialect.SQLITE
        case "postgresql" | "postgres":
            return Dialect.POSTGRES
        case "mariadb":
            return Dialect.MARIADB
        case "mysql":
            hint = "use MariaDB 10.6 or newer with a mariadb:// address"
            raise Invalid("MySQL is not supported", hint=hint, field="database_url")
        case scheme:
            hint = "use sqlite:///file.db, postgresql://… or mariadb://…"
            raise Invalid(f"unknown database '{scheme or url}'", hint=hint, field="database_url")


async def connect(url: str, *, clock: Clock | None = None, pool: int = 4) -> Database:
    """Open the database that a URL names."""
    match dialect_of(url):
        case Dialect.SQLITE:
            from bobusang.kit.dbs.sqlite import open_sqlite

            return await open_sqlite(url, clock=clock)
        case Dialect.POSTGRES:
            from bobusang.kit.dbs.postgres import open_postgres

            return await open_postgres(url, clock=clock, pool=pool)
        case Dialect.MARIADB:
            from bobusang.kit.dbs.mariadb import open_mariadb

            return await open_mariadb(url, clock=clock, pool=pool)
