"""Clocks that move when a test says so."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

NOON = datetime(2026, 1, 27, 12, 0, tzinfo=UTC)


class ManualClock:
    """Stands still until it is moved, forward or backward."""

    def __init__(self, now: datetime = NOON) -> None:
        self._now = now

    def now(self) -> datetime:
        return self._now

    def advance(self, **span: float) -> datetime:
        """Move by `seconds=…`, `minutes=…` and so on; the instant it then shows."""
        self._now += timedelta(**span)
        return self._now

    def set(self, now: datetime) -> None:
        """Move to an instant."""
        self._now = now


class LeapingClock:
    """Goes as the machine's own does, and leaps when it is told to: back to leave room, then ahead.

    Never beyond the machine's: a worker's heart beats by the database's own time, and must not seem to have stopped.
    """

    def __init__(self) -> None:
        self._behind = timedelta()

    def now(self) -> datetime:
        return datetime.now(UTC) - self._behind

    def leap(self, **span: float) -> None:
        """Leap by `hours=…`, `minutes=…` and so on."""
        self._behind -= timedelta(**span)
        assert self._behind >= timedelta(), "beyond the machine's own time"
