"""Waiting for somebody who does not let us in now: put off for a moment, never for as long as they say."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from bobusang.engine.outcome import Snooze

if TYPE_CHECKING:
    from datetime import datetime

SOON = timedelta(seconds=1)
"""A task that must wait goes back to its pool after this; the gate has blocked the pool for as long as need be."""


def put_off(until: datetime, now: datetime, reason: str, *, pool: str = "", most: timedelta = SOON) -> Snooze:
    """A task that was turned away. A halt lasts until a person acts, and the gate tells it by the year 9999: a task
    that slept so long would not hear when it is over."""
    return Snooze(min(until, now + most), reason, pool)
