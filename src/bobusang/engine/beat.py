"""The heartbeat: one row a worker, beaten from a thread and a connection of its own.

A handler that hogs the interpreter or a queue of writes must not make its worker look dead, and one beat a process
costs nothing, however many tasks it holds. A worker that cannot beat fences itself before anyone takes its claims.
"""

from __future__ import annotations

import asyncio
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from bobusang.kit.db import connect
from bobusang.kit.errors import BobusangError
from bobusang.kit.sql import Statement

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import timedelta

BEAT = Statement("update workers set beat_at = :now where id = :id")


class Beat:
    """Keeps one worker row alive until stopped."""

    def __init__(self, url: str, worker_id: int, every: timedelta, dead_after: timedelta) -> None:
        self._url = url
        self._worker_id = worker_id
        self._every = every.total_seconds()
        self._patience = dead_after.total_seconds() * 2 / 3
        self._stop = threading.Event()
        self._last = time.monotonic()
        self._thread = threading.Thread(target=self._main, name="bobusang-beat", daemon=True)
        self.lost: Callable[[], object] | None = None
        """Called, from the thread, when the row is gone: someone has taken us for dead."""

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        self._thread.join(timeout=self._every + 10)

    @property
    def is_fenced(self) -> bool:
        """Whether the last good beat is so old that others may soon take our claims."""
        return time.monotonic() - self._last > self._patience

    def _main(self) -> None:
        asyncio.run(self._beats())

    async def _beats(self) -> None:
        while not self._stop.is_set():
            with suppress(BobusangError):
                await self._connected()
            self._stop.wait(min(self._every, 1.0))

    async def _connected(self) -> None:
        database = await connect(self._url, pool=1)
        try:
            while not self._stop.is_set():
                begun = time.monotonic()
                async with database.begin() as tx:
                    alive = await tx.execute(BEAT, id=self._worker_id, now=tx.now)
                if not alive:
                    if self.lost is not None:
                        self.lost()
                    return
                self._last = begun
                self._stop.wait(self._every)
        finally:
            await database.close()
