"""Clock: ours is brought in step with the database's, so that all machines agree on what has expired."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from bobusang.engine.upkeep.duty import Duty

if TYPE_CHECKING:
    from bobusang.engine.service import Engine


def clock(engine: Engine) -> Duty:
    """Once a minute; between, the monotonic clock carries it."""

    async def run() -> int:
        await engine.db.sync()
        return 0

    return Duty("clock", timedelta(minutes=1), run, leader=False)
