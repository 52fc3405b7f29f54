"""The keeper: runs duties at their times, those of the leader only while we lead."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING

from bobusang.engine.leader import Leader
from bobusang.kit import log
from bobusang.kit.errors import BobusangError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bobusang.engine.upkeep.duty import Duty
    from bobusang.kit.db import Database

RENEW = timedelta(seconds=5)
REST = 1.0


class Keeper:
    """All the duties of one process."""

    def __init__(
        self, db: Database, duties: Sequence[Duty], *, lead: bool = True, lease: timedelta | None = None
    ) -> None:
        self._db = db
        self._duties = duties if lead else [duty for duty in duties if not duty.leader]
        self.leader = Leader(db, "upkeep", **({} if lease is None else {"lease": lease}))
        self._lead = lead
        self._renew = min(RENEW, (lease or RENEW * 3) / 3)
        self._bells = {duty.name: asyncio.Event() for duty in self._duties}
        self._stopping = asyncio.Event()
        self._log = log.get("upkeep")

    def stop(self) -> None:
        """Finish the passes under way and end."""
        self._stopping.set()
        for bell in self._bells.values():
            bell.set()

    async def run(self) -> None:
        """Keep going until stopped."""
        async with self._db.listen(self._hear):
            office = asyncio.create_task(self._office())
            try:
                async with asyncio.TaskGroup() as group:
                    for duty in self._duties:
                        group.create_task(self._keep(duty))
            finally:
                office.cancel()
                with suppress(asyncio.CancelledError):
                    await office
                with suppress(BobusangError):  # then the lease runs out by itself
                    await self.leader.resign()

    def _hear(self, note: str) -> None:
        kind = note.partition(":")[0]
        for duty in self._duties:
            if kind in duty.rings or (not note and duty.rings):
                self._bells[duty.name].set()

    async def _office(self) -> None:
        while self._lead:
            led = self.leader.leads
            if await self.leader.campaign() and not led:
                self._log.info("leads upkeep", term=self.leader.term)
                for bell in self._bells.values():
                    bell.set()
            await asyncio.sleep(self._renew.total_seconds())

    async def _keep(self, duty: Duty) -> None:
        bell = self._bells[duty.name]
        while not self._stopping.is_set():
            bell.clear()
            rest = duty.every.total_seconds()
            if not duty.leader or self.leader.leads:
                try:
                    done = await duty.run()
                except Exception as error:  # a duty that fails is tried again; the others must not notice
                    self._log.warning("duty failed", duty=duty.name, error=repr(error))
                    done, rest = 0, max(rest, REST)
                pause = duty.rest_after(done)
                if pause is not None:
                    await _wait(self._stopping, pause.total_seconds())
                if done:
                    continue
            if self._stopping.is_set():
                return
            await _wait(bell, rest)


async def _wait(event: asyncio.Event, seconds: float) -> None:
    """Until it is set, or for so long."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
