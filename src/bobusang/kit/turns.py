"""Turns: so many at a time, and whoever is in a hurry goes before all others that wait."""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable


class Turns:
    """A semaphore with two queues. Who has a turn keeps it, so even who is in a hurry waits for one to end; unless some
    turns, beyond those of everybody, are kept for hurry alone.

    Somebody urgent who comes back for turn after turn gets every second one: a turn is handed on before he can ask.
    """

    def __init__(self, at_once: int = 1, *, kept: int = 0, left: Callable[[], None] = lambda: None) -> None:
        self._free = at_once + kept
        self._kept = kept
        self._left = left
        """Called when a turn has ended and nobody waits for one."""
        self._urgent: deque[asyncio.Future[None]] = deque()
        self._others: deque[asyncio.Future[None]] = deque()

    @property
    def are_taken(self) -> bool:
        """Whether whoever came now, without hurry, would have to wait."""
        return self._free <= self._kept

    @property
    def are_wanted(self) -> bool:
        """Whether somebody waits."""
        return any(not place.done() for queue in (self._urgent, self._others) for place in queue)

    @asynccontextmanager
    async def turn(self, *, urgent: bool = False) -> AsyncIterator[None]:
        """Have a turn for as long as the block lasts."""
        await self._take(urgent=urgent)
        try:
            yield
        finally:
            self._hand_on()

    async def _take(self, *, urgent: bool) -> None:
        if self._free > (0 if urgent else self._kept):
            self._free -= 1
            return
        place = asyncio.get_running_loop().create_future()
        (self._urgent if urgent else self._others).append(place)
        try:
            await place
        except asyncio.CancelledError:
            if not place.cancelled():  # the turn was ours already
                self._hand_on()
            raise

    def _hand_on(self) -> None:
        for queue in (self._urgent, self._others) if self._free >= self._kept else (self._urgent,):
            while queue:
                place = queue.popleft()
                if not place.done():  # done: whoever waited there was cancelled
                    place.set_result(None)
                    return
        self._free += 1
        self._left()
