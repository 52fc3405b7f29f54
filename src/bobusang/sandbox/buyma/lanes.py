"""Work that is done later, in order for each key, by a few workers at once."""

from __future__ import annotations

import asyncio
from collections import deque
from heapq import heappop, heappush
from itertools import count
from typing import TYPE_CHECKING
from zlib import crc32

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    Work = Callable[[], Awaitable[None]]

LANES = 16


class Lanes:
    """So many queues by time; what has the same key waits in the same one."""

    def __init__(self, lanes: int = LANES) -> None:
        self._heaps: list[list[tuple[float, int, Work]]] = [[] for _ in range(lanes)]
        self._news: list[asyncio.Event] = []
        self._workers: list[asyncio.Task[None]] = []
        self._order = count()
        self._busy = 0
        self._settled = asyncio.Event()
        self.broken: deque[str] = deque(maxlen=100)
        """Errors of the sandbox itself: there must be none."""

    @property
    def pending(self) -> int:
        """How much is not done yet."""
        return self._busy + sum(map(len, self._heaps))

    async def open(self) -> None:
        """Begin."""
        self._news = [asyncio.Event() for _ in self._heaps]
        self._workers = [asyncio.create_task(self._run(lane)) for lane in range(len(self._heaps))]

    async def close(self) -> None:
        """Leave what is not done."""
        for worker in self._workers:
            worker.cancel()
        await asyncio.gather(*self._workers, return_exceptions=True)
        self.clear()

    def clear(self) -> None:
        """Forget what has not begun."""
        for heap in self._heaps:
            heap.clear()
        self._settled.set()

    def put(self, key: str, delay: float, work: Work) -> None:
        """Do it after so many seconds."""
        lane = crc32(key.encode()) % len(self._heaps)
        due = asyncio.get_running_loop().time() + delay
        heappush(self._heaps[lane], (due, next(self._order), work))
        self._news[lane].set()

    async def idle(self) -> None:
        """Wait until nothing is left that is due."""
        while self.pending > len(self._waiting()):
            self._settled.clear()
            await self._settled.wait()

    async def hasten(self) -> bool:
        """When all is done that is due, let what comes next wait no longer; whether something comes."""
        await self.idle()
        if not (waiting := self._waiting()):
            return False
        lane = min(waiting)[1]
        heap = self._heaps[lane]
        _, order, work = heappop(heap)  # nothing in it is due, so this one is the first
        heappush(heap, (0.0, order, work))
        self._news[lane].set()
        return True

    def _waiting(self) -> list[tuple[tuple[float, int], int]]:
        """What is not due yet, by its time, and its lane."""
        now = asyncio.get_running_loop().time()
        return [(one[:2], lane) for lane, heap in enumerate(self._heaps) for one in heap if one[0] > now]

    async def settled(self) -> None:
        """Wait until nothing is left."""
        while self.pending:
            self._settled.clear()
            await self._settled.wait()

    async def _run(self, lane: int) -> None:
        while True:
            work = await self._next(lane)
            self._busy += 1
            try:
                await work()
            except Exception as error:
                self.broken.append(f"{type(error).__name__}: {error}")
            finally:
                self._busy -= 1
                self._settled.set()

    async def _next(self, lane: int) -> Work:
        heap, news, loop = self._heaps[lane], self._news[lane], asyncio.get_running_loop()
        while True:
            news.clear()
            wait = heap[0][0] - loop.time() if heap else None
            if wait is not None and wait <= 0:
                return heappop(heap)[2]
            try:
                async with asyncio.timeout(wait):
                    await news.wait()
            except TimeoutError:
                continue
