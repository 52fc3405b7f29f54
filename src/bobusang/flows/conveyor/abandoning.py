"""Giving up on malls that do not answer: their brands end in ERROR with the cause, and people are told."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

from bobusang.engine import control as engine_control
from bobusang.engine.upkeep.duty import Duty
from bobusang.flows.collect.asks import pools_of
from bobusang.flows.conveyor import rules, telling
from bobusang.flows.conveyor.model import Brand, Stage
from bobusang.kit.sql import Statement
from bobusang.platform.alerting import raise_alert
from bobusang.stages.collect import gatebook
from bobusang.stages.collect.tables import BreakerState

if TYPE_CHECKING:
    from bobusang.engine.service import Engine
    from bobusang.kit.db import Tx
    from bobusang.stages.collect.gatebook import Shown

EVERY = timedelta(minutes=1)
SILENT = (BreakerState.OPEN, BreakerState.HALF_OPEN)
_OPEN = "from tasks t {} where t.job_id = j.id and t.status in ('PENDING', 'RUNNING', 'RETRYING')"
# A job that has just begun, as by a retry, waits as long as any other: the mall may answer by now.
WAITING = Statement(f"""
    select c.batch_id, c.mall_name, c.brand_name, c.job_id
    from pipeline_control c join crawling_jobs j on j.id = c.job_id
    where c.stage = :stage and c.status = 'RUNNING' and c.mall_name = :mall
      and j.status = 'RUNNING' and j.is_paused = :no and j.created_at <= :before
      and exists (select 1 {_OPEN.format("join workflow_steps s on s.id = t.step_id")}
        and t.pool = :pool and s.step_name in (:steps...))
      and (c.stage = 'COLLECT' or not exists (select 1 {_OPEN.format("")} and coalesce(t.pool, '') <> :pool))
    order by c.job_id""")
# Of a brand without its pages nothing is left to do; while pictures are waited for, what has its own goes on.
WAITS = (Stage.COLLECT, Stage.IMAGE)
_LIVE = "select id from crawling_jobs where id = :id and status = 'RUNNING'"
LIVE = Statement(f"{_LIVE} for update", sqlite=_LIVE)
WHY = Statement("""
    update pipeline_control set error_msg = :why
    where batch_id = :batch_id and mall_name = :mall and brand_name = :brand and stage = :stage""")


@dataclass(frozen=True, slots=True)
class Waiting:
    """A brand that has waited for too long: in which stage, and why nothing comes."""

    job_id: int
    batch_id: str
    brand: Brand
    stage: Stage
    why: str


def abandon(engine: Engine, patience: timedelta) -> Duty:
    """Every minute: brands that wait for a mall which has been silent for longer than our patience."""

    async def run() -> int:
        async with engine.db.read() as tx:
            found = await _waiting(tx, patience)
        for one in found:
            await engine.db.transact(partial(_given_up, engine=engine, one=one))
        return 0

    return Duty("silent malls", min(EVERY, patience), run)


async def _waiting(tx: Tx, patience: timedelta) -> list[Waiting]:
    """The brands to be given up, each once."""
    before = tx.now - patience
    found: dict[int, Waiting] = {}
    for one in await gatebook.show(tx):
        if not _is_silent(one) or (since := one.standing.breaker.opened_at) is None or since > before:
            continue
        why = f"{one.source} {one.endpoint} has not answered since {since:%Y-%m-%d %H:%M} UTC"
        named = {"mall": one.source, "pool": pools_of(one.source, one.endpoint)}
        for stage in WAITS:
            steps = [name for name, its in rules.STAGE_OF.items() if its is stage]
            for row in await tx.fetch(WAITING, **named, stage=stage, steps=steps, before=before, no=False):
                waiting = Waiting(
                    row["job_id"],
                    row["batch_id"],
                    Brand(row["mall_name"], row["brand_name"]),
                    stage,
                    f"{why}: {one.standing.breaker.reason}",
                )
                found.setdefault(waiting.job_id, waiting)
    return list(found.values())


def _is_silent(one: Shown) -> bool:
    return bool(one.endpoint) and one.standing.breaker.state in SILENT


async def _given_up(tx: Tx, *, engine: Engine, one: Waiting) -> None:
    """End a brand's job, if it still lives. Its list is not proved then, so nothing counts as absent."""
    if await tx.first(LIVE, id=one.job_id) is None:
        return
    names = {"batch_id": one.batch_id, "mall": one.brand.mall, "brand": one.brand.name}
    await tx.execute(WHY, **names, stage=one.stage, why=one.why)
    await engine_control.cancel(tx, engine.books, engine.hooks, one.job_id)
    advice = f"{one.stage}: {one.why}. When it answers: `bobusang run retry {one.batch_id}`"
    await raise_alert(tx, telling.stage_failed(one.stage, one.brand, one.batch_id, advice))
