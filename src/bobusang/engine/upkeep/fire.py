"""Fire: schedules whose time has come make jobs."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from bobusang.engine import firing
from bobusang.engine.upkeep.duty import Duty
from bobusang.kit import log
from bobusang.kit.errors import Invalid, Missing

if TYPE_CHECKING:
    from bobusang.engine.service import Engine


def fire(engine: Engine) -> Duty:
    """Every half second: cron knows minutes, so nobody notices."""

    async def run() -> int:
        async with engine.db.read() as tx:
            waiting = await firing.due(tx)
        return sum([await _fire(engine, schedule_id) for schedule_id in waiting])

    return Duty("fire", timedelta(seconds=0.5), run)


async def _fire(engine: Engine, schedule_id: int) -> int:
    """Each by itself: one whose job cannot be made (its input no longer suits) must not keep the others from firing."""
    try:
        return await engine.do(firing.fire, schedule_id)
    except (Invalid, Missing) as error:
        log.get("schedules").error("a schedule cannot fire", schedule=schedule_id, error=str(error))
        await engine.db.transact(lambda tx: firing.pass_over(tx, schedule_id))
        return 0
