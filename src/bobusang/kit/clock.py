"""What time it is: always aware UTC, always asked of a clock that a test can replace."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from typing import Protocol, overload

WIDTH = len("2026-01-27 03:00:00.000000")


class Clock(Protocol):
    """Tells the time; every decision takes its answer as an argument."""

    def now(self) -> datetime:
        """The present instant, aware and in UTC."""
        ...


class SystemClock:
    """This machine's own clock."""

    def now(self) -> datetime:
        return datetime.now(UTC)


class SyncedClock:
    """The database's clock, carried between beats by our monotonic one.

    Workers on different machines must agree on what has expired, so none of them uses its own wall clock; and a
    round trip for every statement would be waste. `sync` takes one measured answer; until the next one the
    monotonic clock, which no administrator can set back, moves it forward.
    """

    def __init__(self) -> None:
        self._base = datetime.now(UTC)
        self._mark = time.monotonic()

    def sync(self, server: datetime, asked: float, answered: float) -> None:
        """Take the server's time, measured between two readings of `time.monotonic`."""
        self._base = server
        self._mark = (asked + answered) / 2

    def now(self) -> datetime:
        return self._base + timedelta(seconds=time.monotonic() - self._mark)


@overload
def utc(value: datetime | str) -> datetime: ...
@overload
def utc(value: None) -> None: ...
def utc(value: datetime | str | None) -> datetime | None:
    """Read an instant as any of our databases gives it."""
    if value is None:
        return None
    if isinstance(value, str):
        value = datetime.fromisoformat(value)
    return value if value.tzinfo else value.replace(tzinfo=UTC)


def text(value: datetime) -> str:
    """Fixed-width UTC text, so that text order is time order (SQLite)."""
    if value.tzinfo is not UTC and value.tzinfo is not None:
        value = value.astimezone(UTC)
    return value.isoformat(" ", "microseconds")[:WIDTH]
