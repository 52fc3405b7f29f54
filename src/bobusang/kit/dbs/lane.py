"""One connection to SQLite and the thread that owns it: what is quick is done at once, what may last goes there."""

from __future__ import annotations

import asyncio
import random
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

from bobusang.kit import clock as clocks
from bobusang.kit.db import Contended, Duplicate
from bobusang.kit.errors import BobusangError, Invalid, Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

T = TypeVar("T")

BUSY_SECONDS = 10.0
QUICK_SECONDS = 0.002
"""CPU time that a statement, or several in a row, may take where everybody else waits for it: the way to the thread and
back costs a tenth of a millisecond, several times what most statements do."""
REMEMBERED = 4096
"""Statements of which is known whether they are quick."""
FORGIVEN = 20
"""How often a statement that was not quick must be so again: the first of a cold cache is slow, and a large batch."""


class Written:
    """Instants as text. All rows of a batch have the same `now`, the very same, so the last one is remembered: else a
    twentieth of storing goes into writing it out again and again."""

    def __init__(self) -> None:
        self._last: tuple[datetime, str] | None = None

    def __call__(self, moment: datetime) -> str:
        last = self._last
        if last is None or last[0] is not moment:
            last = self._last = moment, clocks.text(moment)
        return last[1]


sqlite3.register_adapter(datetime, Written())


class Lane:
    """One connection and the thread that owns it."""

    def __init__(self, path: Path, name: str, *, cache: int) -> None:
        self._path = path
        self._cache = cache
        self._pool = ThreadPoolExecutor(1, thread_name_prefix=name)
        self._quick: dict[str, int] = {}  # above 0: trusted to be; below: how often it must be first
        self._in_a_row = 0.0
        self.connection: sqlite3.Connection

    async def open(self) -> None:
        await self.call(self._open)

    def _open(self) -> None:
        self.connection = _connect(self._path, self._cache)

    async def call(self, work: Callable[..., T], *arguments: Any) -> T:
        """Run in the thread. Cancelled or not, what was begun there ends before we go on: nothing is left half-way."""
        self._in_a_row = 0.0
        future = asyncio.get_running_loop().run_in_executor(self._pool, work, *arguments)
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            await asyncio.wait([future])
            if not future.cancelled():
                future.exception()
            raise
        except sqlite3.Error as error:
            raise _translated(error, self._path) from error

    async def run(self, text: str, work: Callable[[str], T]) -> T:
        """Run a statement: here if it is known to be quick, but not so many that nobody else has a turn."""
        if self._in_a_row > QUICK_SECONDS or self._quick.get(text, 0) <= 0:
            return await self.call(self._timed, text, work)
        return self.here(lambda: self._timed(text, work))

    def rested(self) -> None:
        """Everybody else had a turn just now."""
        self._in_a_row = 0.0

    def here(self, work: Callable[[], T]) -> T:
        """Run where everybody waits for it: what is known to be quick."""
        try:
            return work()
        except sqlite3.Error as error:
            raise _translated(error, self._path) from error

    def _timed(self, text: str, work: Callable[[str], T]) -> T:
        begun = time.thread_time()
        found = work(text)
        spent = time.thread_time() - begun
        self._in_a_row += spent
        if len(self._quick) >= REMEMBERED:
            self._quick.clear()
        self._quick[text] = min(1, self._quick.get(text, 0) + 1) if spent < QUICK_SECONDS else -FORGIVEN
        return found

    async def close(self) -> None:
        with suppress(AttributeError, BobusangError):
            await self.call(self.connection.close)
        self._pool.shutdown()


def with_log(connection: sqlite3.Connection) -> None:
    """Write by a write-ahead log from now on. Of two that open a new file at once one is told that it is locked: here
    SQLite does not wait, whatever its time-out, for each may hold what the other waits for."""
    until = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute("pragma journal_mode = wal")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
            time.sleep(random.uniform(0, 0.02))
        else:
            return


def _connect(path: Path, cache: int) -> sqlite3.Connection:
    try:
        connection = sqlite3.connect(
            path, timeout=BUSY_SECONDS, isolation_level=None, cached_statements=512, check_same_thread=False
        )
        connection.row_factory = sqlite3.Row
        with_log(connection)
        for pragma in ("synchronous = full", "foreign_keys = on", "temp_store = memory"):
            connection.execute(f"pragma {pragma}")
        # The write-ahead log is copied back every 4,000 pages rather than 1,000: fewer stalls inside a commit.
        connection.execute("pragma wal_autocheckpoint = 4000")
        connection.execute(f"pragma cache_size = -{cache >> 10}")
    except sqlite3.Error as error:
        raise _translated(error, path) from error
    return connection


def _translated(error: sqlite3.Error, path: Path) -> BobusangError:
    """What a person can do about it."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    match code:
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return Contended(f"{path} is busy: another process is writing")
        case sqlite3.SQLITE_CONSTRAINT if "UNIQUE" in str(error):
            return Duplicate(str(error))
        case sqlite3.SQLITE_CONSTRAINT | sqlite3.SQLITE_MISMATCH | sqlite3.SQLITE_TOOBIG:
            return Invalid(str(error))
        case sqlite3.SQLITE_FULL:
            return Unavailable(f"the disk of {path} is full", hint="free some space; nothing was half-written")
        case sqlite3.SQLITE_READONLY:
            return Unavailable(f"{path} cannot be written", hint="check the rights of the file and its folder")
        case sqlite3.SQLITE_CANTOPEN:
            return Unavailable(f"{path} cannot be opened", hint="check that the folder exists and is writable")
        case sqlite3.SQLITE_NOTADB | sqlite3.SQLITE_CORRUPT:
            return Unavailable(f"{path} is not a healthy SQLite database: {error}", hint="restore it from a backup")
        case sqlite3.SQLITE_IOERR:
            return Unavailable(f"reading or writing {path} failed: {error}", hint="check the disk")
    return BobusangError(f"{path}: {error}")
