"""Rebuilds as the process that leads runs them: what was asked for anywhere, and what a lost index needs."""

from __future__ import annotations

import asyncio
from contextlib import aclosing, suppress
from datetime import timedelta
from typing import TYPE_CHECKING

from bobusang.engine.upkeep.duty import Duty
from bobusang.flows.indexing import asking
from bobusang.flows.indexing.rebuilding import rebuild
from bobusang.kit import log as logs
from bobusang.kit.errors import BobusangError, Conflict, Drifted

if TYPE_CHECKING:
    from bobusang.flows.indexing.indexer import Indexer
    from bobusang.flows.indexing.rebuilding import Progress

log = logs.get(__name__)

LOOK_EVERY = timedelta(seconds=5)
TELL_EVERY = 0.5
"""Seconds between two words on how far it is, unless it comes to another phase."""


class Rebuilding:
    """The rebuild that this process is at, if it is at one."""

    def __init__(self, indexer: Indexer) -> None:
        self._indexer = indexer
        self._task: asyncio.Task[None] | None = None

    @property
    def under_way(self) -> bool:
        """Whether this process rebuilds now."""
        return self._task is not None and not self._task.done()

    async def look(self) -> int:
        """A pass of upkeep: an index that is not there or cannot be read is asked for anew, and what was asked for is
        begun. It goes on by itself, so that upkeep can end before it."""
        if not self.under_way:
            try:
                await self._indexer.index.check()
            except Drifted as error:
                log.warning("the search index is made anew", why=str(error))
                await self._indexer.db.transact(asking.ask)
            await self.begin()
        await self._indexer.tell_rest()
        return 0

    async def begin(self) -> None:
        """Begin the rebuild that was asked for, if there is one and we are not at it; also one that somebody has left
        behind."""
        async with self._indexer.db.read() as tx:
            found = await asking.standing(tx)
        if found is not None and found.under_way and not self.under_way:
            self._task = asyncio.create_task(self._run(found.number))

    async def finished(self) -> None:
        """Until this process is at none."""
        if self._task is not None:
            await asyncio.shield(self._task)

    async def heal(self) -> None:
        """Look, and wait for the end of what that has begun."""
        await self.look()
        await self.finished()

    async def stop(self) -> None:
        """Leave it to the next; the old index goes on serving."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    async def _run(self, number: int) -> None:
        try:
            await self._rebuild(number)
        except Conflict as error:  # another process is at it or writes just now: it stays asked for
            log.info("the search index is not made anew yet", why=str(error))
        except Exception as error:
            log.warning("the rebuild failed; the old index goes on serving", error=str(error))
            why = str(error)  # Python forgets `error` before this is called
            with suppress(BobusangError):  # who cannot be told finds it asked for, and it is tried again
                await self._indexer.db.transact(lambda tx: asking.end(tx, number, why))

    async def _rebuild(self, number: int) -> None:
        told: tuple[str, float] = ("", 0.0)
        async with aclosing(rebuild(self._indexer)) as steps:
            async for progress in steps:
                now = asyncio.get_running_loop().time()
                if progress.phase != told[0] or now >= told[1] + TELL_EVERY:
                    await self._tell(number, progress)
                    told = (progress.phase, now)
        await self._indexer.db.transact(lambda tx: asking.end(tx, number))

    async def _tell(self, number: int, progress: Progress) -> None:
        await self._indexer.db.transact(lambda tx: asking.move(tx, number, progress))


def look(rebuilding: Rebuilding) -> Duty:
    """The leader's: SQL is the truth, so a lost index is never lost for long."""
    return Duty("search", LOOK_EVERY, rebuilding.look, frozenset({asking.BELL}))
