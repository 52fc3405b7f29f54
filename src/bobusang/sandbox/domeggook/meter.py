"""Domeggook's quotas: calls of a key within a minute and within a day."""

from __future__ import annotations

import time
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

KEY = "sandbox"
MINUTE, DAY = 60.0, 86_400.0
PER_MINUTE, PER_DAY = 180, 15_000
"""What the real one allows; here it allows as much as one likes until it is told to count."""


class Meter:
    """Counts calls; 0 allows any number."""

    def __init__(self, per_minute: int = 0, per_day: int = 0, now: Callable[[], float] = time.time) -> None:
        self.per_minute = per_minute
        self.per_day = per_day
        self._now = now
        self._calls: deque[float] = deque(maxlen=PER_DAY)

    def exceeded(self) -> str:
        """Count a call; which quota it exceeds, or nothing. A call that is refused is not counted."""
        now = self._now()
        while self._calls and self._calls[0] <= now - DAY:
            self._calls.popleft()
        if self.per_day and len(self._calls) >= self.per_day:
            return "day"
        if self.per_minute and sum(moment > now - MINUTE for moment in self._calls) >= self.per_minute:
            return "minute"
        self._calls.append(now)
        return ""

    def clear(self) -> None:
        """No call was made."""
        self._calls.clear()
