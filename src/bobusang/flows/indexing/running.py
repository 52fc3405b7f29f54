"""Rebuilds as this process runs them: one at a time, watched by whoever asks, and begun by itself for a lost index."""

from __future__ import annotations

import asyncio
from contextlib import aclosing, suppress
from datetime import timedelta
from typing import TYPE_CHECKING

from bobusang.engine.upkeep.duty import Duty
from bobusang.flows.indexing.rebuilding import Progress, rebuild
from bobusang.kit import log as logs
from bobusang.kit.errors import BobusangError, Conflict, Drifted

if TYPE_CHECKING:
    from bobusang.flows.indexing.indexer import Indexer

log = logs.get(__name__)

HEAL_EVERY = timedelta(seconds=5)


class Rebuilding:
    """The rebuild of this process, if one is under way, and how the last one ended."""

    def __init__(self, indexer: Indexer) -> None:
        self._indexer = indexer
        self._task: asyncio.Task[None] | None = None
        self._moved = asyncio.Event()
        self.progress: Progress | None = None
        self.error: BobusangError | None = None

    @property
    def under_way(self) -> bool:
        """Whether this process rebuilds now."""
        return self._task is not None and not self._task.done()

    def start(self) -> None:
        """Begin a rebuild that goes on whoever asked for it."""
        if self.under_way:
            raise Conflict("a rebuild is under way already", hint="`bobusang search status` shows how far it is")
        self.progress, self.error = Progress(0, 0, "reading"), None
        self._task = asyncio.create_task(self._run())

    async def wait(self, seconds: float) -> None:
        """Until it has moved on or ended, or the time is over."""
        self._moved.clear()
        if self.under_way:
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._moved.wait()

    async def finished(self) -> None:
        """Until it has ended; raises what it failed by."""
        if self._task is not None:
            await asyncio.shield(self._task)
        if self.error is not None:
            raise self.error

    async def stop(self) -> None:
        """Give it up; the old index goes on serving."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    async def heal(self) -> int:
        """A pass of upkeep: make an index anew that is not there or cannot be read."""
        try:
            await self._indexer.index.check()
        except Drifted as error:
            if not self.under_way:
                log.warning("the search index is made anew", why=str(error))
                self.start()
            with suppress(Conflict):  # another process is at it
                await self.finished()
        await self._indexer.tell_rest()
        return 0

    async def _run(self) -> None:
        try:
            async with aclosing(rebuild(self._indexer)) as steps:
                async for progress in steps:
                    self.progress = progress
                    self._moved.set()
        except BobusangError as error:
            self.error = error
            log.warning("the rebuild failed; the old index goes on serving", error=str(error))
        finally:
            self._moved.set()


def heal(rebuilding: Rebuilding) -> Duty:
    """The leader's: SQL is the truth, so a lost index is never lost for long."""
    return Duty("search", HEAL_EVERY, rebuilding.heal)
