"""Answering goes before reading: while people and markets call us, whoever reads large pages rests between two.

Reading in a thread keeps the interpreter, so a process that reads one page after the other answers nobody in time. In a
process of its own it still takes a core, and every page that is read makes work for the loop.
"""

from __future__ import annotations

import time
from collections import deque

SPAN_SECONDS = 1.0
MANY = 20
"""So many calls within the span, and somebody is waiting for us."""
LONG_SECONDS = 0.02
"""A page that takes less keeps nobody waiting long enough to matter."""
REST = 4.0
"""Times as long as the reading took: four fifths of the time are then for answering."""
REST_APART = 1.0
"""The same for pages that are read in another process: half of a core is then for answering."""


class Manners:
    """One a process: told of every call that comes in, asked after every page."""

    def __init__(self) -> None:
        self._calls: deque[float] = deque(maxlen=MANY)

    def called(self) -> None:
        """Somebody calls us."""
        self._calls.append(time.monotonic())

    def rest_after(self, seconds: float, times: float = REST) -> float:
        """How long to rest after reading for so long; not at all while hardly anybody calls."""
        busy = len(self._calls) == MANY and time.monotonic() - self._calls[0] < SPAN_SECONDS
        return seconds * times if busy and seconds >= LONG_SECONDS else 0.0
