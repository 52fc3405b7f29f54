"""Statistics: the engine measures itself, so that dashboards and metrics cost one small read."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from bobusang.engine import statistics as figures
from bobusang.engine.upkeep.duty import Duty

if TYPE_CHECKING:
    from bobusang.engine.service import Engine


def statistics(engine: Engine) -> Duty:
    """Every fifteen seconds."""

    async def run() -> int:
        async with engine.db.read() as tx:
            found = await figures.measure(tx, engine.pace.dead_after)
        await engine.db.transact(lambda tx: figures.store(tx, found))
        return 0

    return Duty("statistics", timedelta(seconds=15), run)
