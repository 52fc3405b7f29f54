"""A clock that moves when a test says so."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta


class ManualClock:
    def __init__(self) -> None:
        self._now = datetime(2026, 1, 27, 9, 0, tzinfo=UTC)

    def now(self) -> datetime:
        return self._now

    def advance(self, **span: float) -> None:
        self._now += timedelta(**span)
