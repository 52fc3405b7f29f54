"""How long a call is waited for: so long for all of it, and never longer than so long for any sign of life."""

from __future__ import annotations

import asyncio


class Patience:
    """One timer for all phases of a call; entered as `async with patience.limit`, it raises TimeoutError.

    One that is moved on costs a third of what a timer a phase would: most calls are over before it is moved at all.
    """

    __slots__ = ("_end", "_now", "_whole", "began", "limit")

    def __init__(self, whole: float, first: float) -> None:
        """`whole` seconds for all, beginning now, and `first` until the first sign of life."""
        self._now = asyncio.get_running_loop().time
        self._whole = whole
        self.began = self._now()
        self._end = self.began + whole
        self.limit = asyncio.timeout_at(self.began + min(whole, first))

    def expect(self, within: float) -> None:
        """The next sign of life, within so many seconds from now."""
        self.limit.reschedule(min(self._now() + within, self._end))

    @property
    def spent(self) -> float:
        """Seconds since it began."""
        return self._now() - self.began

    @property
    def lost(self) -> str:
        """What ran out, once it has."""
        if (self.limit.when() or 0.0) < self._end:
            return "silence for too long"
        return f"the answer was not complete within {self._whole:g} s"
