"""What stands in the frame of every page: numbers beside the menu and how the whole is doing, read for all at most
every two seconds, so that no page pays for it."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bobusang.kit.errors import BobusangError
from bobusang.views import needs as views
from bobusang.views import workers
from bobusang.views.needs import Needs

if TYPE_CHECKING:
    from bobusang.wiring import App

EVERY = 2.0


@dataclass(frozen=True, slots=True)
class Frame:
    """The numbers; `well` is False when nobody works or leads, or the database is away."""

    needs: Needs = field(default_factory=Needs)
    workers: int = 0
    led: bool = False
    database: bool = False

    @property
    def well(self) -> bool:
        return self.database and self.led and self.workers > 0


class Standing:
    """The frame of this process' pages."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._at = float("-inf")
        self._turn = asyncio.Lock()
        self.frame = Frame()

    async def look(self) -> Frame:
        """The numbers, not older than two seconds; what cannot be read is shown as away."""
        if time.monotonic() - self._at < EVERY:
            return self.frame
        async with self._turn:
            if time.monotonic() - self._at >= EVERY:
                self.frame = await self._read()
                self._at = time.monotonic()
        return self.frame

    def expire(self) -> None:
        """Something was decided just now: the next page counts again."""
        self._at = float("-inf")

    async def _read(self) -> Frame:
        engine = self._app.engine
        try:
            async with engine.db.read() as tx:
                office = await workers.leader(tx)
                alive = await workers.alive(tx, tx.now - engine.pace.dead_after)
                return Frame(await views.needs(tx), alive, office is not None and office.is_held, database=True)
        except BobusangError:
            return Frame()
