"""Alerts: what was measured is judged, and people are told once, reminded, and told when it is over."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from bobusang.engine import alarms, statistics
from bobusang.engine.budgets import FOREVER
from bobusang.engine.upkeep.duty import Duty
from bobusang.kit.sql import Statement

if TYPE_CHECKING:
    from bobusang.engine.alarms import Thresholds
    from bobusang.engine.service import Engine
    from bobusang.platform.alerting import Alerting

LATE = Statement("""
    select * from crawling_schedules where is_active = true and deleted_at is null and next_run_at < :now
    order by next_run_at limit 100""")
HALTED_JOBS = Statement("""
    select id, pause_reason from crawling_jobs where status in ('PENDING', 'RUNNING') and is_paused = true
      and pause_reason is not null order by id limit 100""")
HALTED = Statement("select pool, reason from budgets where blocked_until >= :forever order by pool limit 100")


def alerts(engine: Engine, alerting: Alerting, limits: Thresholds) -> Duty:
    """Every thirty seconds."""

    async def run() -> int:
        async with engine.db.read() as tx:
            figures = await statistics.stored(tx)
            late = await tx.fetch(LATE, now=tx.now)
            halted = await tx.fetch(HALTED, forever=FOREVER)
            notices = [
                *alarms.judge(figures, limits),
                *alarms.late_schedules(late, tx.now),
                *alarms.halted_pools(halted),
                *alarms.halted_jobs(await tx.fetch(HALTED_JOBS)),
            ]
        await alerting.settle(notices, rules=alarms.RULES)
        return 0

    return Duty("alerts", timedelta(seconds=30), run)
