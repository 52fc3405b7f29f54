"""Giving up on malls that do not answer: their brands end in ERROR with the cause, and people are told."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

from bobusang.engine import control as engine_control
from bobusang.engine.upkeep.duty import Duty
from bobusang.flows.collect.asks import pools_of
from bobusang.flows.conveyor import telling
from bobusang.flows.conveyor.model import Brand, Stage
from bobusang.kit.sql import Statement
from bobusang.platform.alerting import raise_alert
from bobusang.stages.collect import gatebook
from bobusang.stages.collect.tables import BreakerState

if TYPE_CHECKING:
    from bobusang.engine.service import Engine
    from bobusang.kit.db import Row, Tx
    from bobusang.stages.collect.gatebook import Shown

EVERY = timedelta(minutes=1)
SILENT = (BreakerState.OPEN, BreakerState.HALF_OPEN)
# A job that has just begun, as by a retry, waits as long as any other: the mall may answer by now.
WAITING = Statement("""
    select c.batch_id, c.mall_name, c.brand_name, c.job_id
    from pipeline_control c join crawling_jobs j on j.id = c.job_id
    where c.stage = 'COLLECT' and c.status = 'RUNNING' and c.mall_name = :mall
      and j.status = 'RUNNING' and j.is_paused = :no and j.created_at <= :before
      and exists (select 1 from tasks t where t.job_id = j.id and t.status in ('PENDING', 'RUNNING', 'RETRYING')
        and t.pool = :pool)
    order by c.job_id""")
_LIVE = "select id from crawling_jobs where id = :id and status = 'RUNNING'"
LIVE = Statement(f"{_LIVE} for update", sqlite=_LIVE)
WHY = Statement("""
    update pipeline_control set error_msg = :why
    where batch_id = :batch_id and mall_name = :mall and brand_name = :brand and stage = 'COLLECT'""")


def abandon(engine: Engine, patience: timedelta) -> Duty:
    """Every minute: brands that wait for a mall which has been silent for longer than our patience."""

    async def run() -> int:
        async with engine.db.read() as tx:
            found = await _waiting(tx, patience)
        for row, why in found:
            await engine.db.transact(partial(_given_up, engine=engine, row=row, why=why))
        return 0

    return Duty("silent malls", min(EVERY, patience), run)


async def _waiting(tx: Tx, patience: timedelta) -> list[tuple[Row, str]]:
    """The brands to be given up, each with why."""
    before = tx.now - patience
    found: dict[int, tuple[Row, str]] = {}
    for one in await gatebook.show(tx):
        if _is_silent(one) and (since := one.standing.breaker.opened_at) is not None and since <= before:
            pool = pools_of(one.source, one.endpoint)
            for row in await tx.fetch(WAITING, mall=one.source, pool=pool, before=before, no=False):
                why = f"{one.source} {one.endpoint} has not answered since {since:%Y-%m-%d %H:%M} UTC"
                found.setdefault(row["job_id"], (row, f"{why}: {one.standing.breaker.reason}"))
    return list(found.values())


def _is_silent(one: Shown) -> bool:
    return bool(one.endpoint) and one.standing.breaker.state in SILENT


async def _given_up(tx: Tx, *, engine: Engine, row: Row, why: str) -> None:
    """End a brand's job, if it still lives. Its list is not proved then, so nothing counts as absent."""
    if await tx.first(LIVE, id=row["job_id"]) is None:
        return
    batch_id, mall, brand = row["batch_id"], row["mall_name"], row["brand_name"]
    await tx.execute(WHY, batch_id=batch_id, mall=mall, brand=brand, why=why)
    await engine_control.cancel(tx, engine.books, engine.hooks, row["job_id"])
    advice = f"COLLECT: {why}. When it answers: `bobusang run retry {batch_id}`"
    await raise_alert(tx, telling.stage_failed(Stage.COLLECT, Brand(mall, brand), batch_id, advice))
