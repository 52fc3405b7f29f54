"""`pipeline_control` moves with the engine: written in the transactions that move steps and jobs, so it never lies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bobusang.engine.model import JobStatus
from bobusang.flows.collect.run import mode_of
from bobusang.flows.conveyor import batches, rules, telling
from bobusang.flows.conveyor.model import BatchStatus, Brand, Mode, Stage, StageStatus
from bobusang.kit.sql import Statement
from bobusang.platform.alerting import raise_alert, settle_alerts
from bobusang.stages.register import accounts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bobusang.engine.hooks import JobMoved, StepsMoved
    from bobusang.engine.model import Run
    from bobusang.kit.db import Row, Tx

WORKFLOW = "conveyor"
MOST_TOLD = 5
"""So many brands are named when a batch has failed."""
_BRAND = "batch_id = :batch_id and mall_name = :mall and brand_name = :brand"
ASSIGN = Statement(f"update pipeline_control set job_id = :job_id where {_BRAND} and status = 'PENDING'")
# Rows of stages that were not asked for do not exist, and those of another job by now are not ours.
ROWS = Statement("select id, job_id, stage, status from pipeline_control where job_id in (:jobs...)")
MOVE = Statement("""
    update pipeline_control set status = :status, item_count = :items, updated_at = :now,
      started_at = coalesce(started_at, :started_at), error_msg = :error where id = :id""")
CLOSE = Statement("""
    update pipeline_control set status = 'ERROR', error_msg = coalesce(error_msg, :error), updated_at = :now
    where batch_id = :batch_id and mall_name = :mall and brand_name = :brand and status in ('PENDING', 'RUNNING')""")
# Of one table in one statement MariaDB does not read and write both, unless what is read is a table of its own.
LAST = Statement(f"""
    update pipeline_control set status = 'ERROR', error_msg = :error, updated_at = :now where status = 'DONE'
      and id = (select id from (select max(id) as id from pipeline_control where {_BRAND}) as ended)""")
# What PRICE and REGISTER passed over for want of an account is not done, however smoothly they ran.
UNSOLD = Statement(f"""
    update pipeline_control set status = 'ERROR', error_msg = :why, updated_at = :now
    where {_BRAND} and stage in ('PRICE', 'REGISTER') and status = 'DONE'""")
PARTLY = Statement(f"""
    update pipeline_control set error_msg = :why where {_BRAND} and stage = 'REGISTER' and status = 'DONE'""")
STANDING = Statement(f"select stage, status, error_msg from pipeline_control where {_BRAND} order by id")
BROKEN = Statement("""
    select mall_name, brand_name, stage, error_msg from pipeline_control
    where batch_id = :batch_id and status = 'ERROR' order by id limit :limit""")
CAUSE = Statement("""
    select t.error_message as value from tasks t join workflow_steps s on s.id = t.step_id
    where t.job_id = :job_id and s.step_name in (:steps...) and t.status = 'FAILED' order by t.id limit 1""")


def batch_of(run: Run) -> str:
    """The batch that a job belongs to; empty for a job that was started by itself."""
    return str(run.input.get("batch") or "") if run.plan.name == WORKFLOW else ""


def brand_of(run: Run) -> Brand:
    """The brand that a job of a batch is for."""
    return Brand(str(run.target["source"]), str(run.target["key"]))


async def on_step(tx: Tx, moved: Sequence[StepsMoved]) -> None:
    """Bring the rows of the steps' stages up to the engine's counters. A job that has ended moves nothing any more:
    what is swept up behind it would make its stages look done."""
    ours = {one.run.job_id: one for one in moved if batch_of(one.run) and not one.status.ended}
    if not ours:
        return
    moves: list[dict[str, Any]] = []
    again: list[Run] = []
    for row in await tx.fetch(ROWS, jobs=sorted(ours)):
        one, stage = ours[row["job_id"]], Stage(row["stage"])
        if not any(rules.STAGE_OF.get(name) is stage for name in one.moved):
            continue
        status = rules.status_of([at for name, at in one.standing.items() if rules.STAGE_OF.get(name) is stage])
        counted = one.standing.get(rules.COUNTED[stage])
        moves.append(
            {
                "id": row["id"],
                "status": status,
                "items": 0 if counted is None else counted[1].succeeded,
                "now": tx.now,
                "started_at": None if status is StageStatus.PENDING else tx.now,
                "error": await _cause(tx, one.run.job_id, stage) if status is StageStatus.ERROR else None,
            }
        )
        if status is StageStatus.RUNNING and row["status"] in (StageStatus.DONE, StageStatus.ERROR):
            again.append(one.run)
    await tx.execute_each(MOVE, moves)
    for run in again:
        await batches.take(tx, batch_of(run), [brand_of(run)])
        await batches.reopen(tx, batch_of(run))


async def on_job(tx: Tx, moved: JobMoved) -> None:
    """A brand's job is made, and moves its rows from now on; or has ended: what is not over by now failed with it,
    people are told, the batch may end."""
    if not (batch_id := batch_of(moved.run)):
        return
    brand = brand_of(moved.run)
    names = {"batch_id": batch_id, "mall": brand.mall, "brand": brand.name}
    if moved.status is JobStatus.PENDING:
        await tx.execute(ASSIGN, **names, job_id=moved.run.job_id)
    if not moved.status.ended:
        return
    by_itself = [Stage(row["stage"]) for row in _failed(await tx.fetch(STANDING, **names))]
    cancelled = moved.status is JobStatus.CANCELLED
    words = "its job was cancelled" if cancelled else "its job failed before this stage"
    await tx.execute(CLOSE, **names, error=words, now=tx.now)
    if moved.status is JobStatus.FAILED:  # with hardly anything to register REGISTER had an easy time
        await tx.execute(LAST, **names, error="too much failed in the stages before", now=tx.now)
    unsold = await _unsold(tx, names)
    rows = await tx.fetch(STANDING, **names)
    status = await batches.leave(tx, batch_id, brand)
    failed = _failed(rows)
    told = "; ".join(f"{row['stage']}: {row['error_msg'] or 'no cause was given'}" for row in failed)
    well = [Stage(row["stage"]) for row in rows if row["status"] == StageStatus.DONE]
    await settle_alerts(tx, [telling.stage_key(stage, brand) for stage in well])
    # Who cancels knows which brands, and an account that is off has an alert of its own: the batch's is enough.
    if failed and not cancelled and (by_itself or not unsold):
        causes = by_itself or [Stage(failed[0]["stage"])]  # the stages behind fail with it, and are no trouble more
        await raise_alert(tx, *(telling.stage_failed(stage, brand, batch_id, told) for stage in causes))
    mode = Mode(mode_of(moved.run).value)
    if status is BatchStatus.FAILED:
        await raise_alert(tx, telling.batch_failed(mode, batch_id, await _broken(tx, batch_id)))
    if status is BatchStatus.COMPLETED:
        await settle_alerts(tx, [telling.batch_key(mode)])


async def _unsold(tx: Tx, names: Mapping[str, str]) -> bool:
    """Whether all accounts are switched off, so that the brand was not sold; where only some are, its row says so."""
    every = await accounts.every(tx)
    off = [one for one in every if not one.enabled]
    why = "; ".join(f"{one.market}/{one.name} is switched off: {one.stopped_why}" for one in off)
    if off and len(off) == len(every):
        await tx.execute(UNSOLD, **names, why=why, now=tx.now)
        return True
    if off:
        await tx.execute(PARTLY, **names, why=f"{why} (the other accounts were served)")
    return False


async def _broken(tx: Tx, batch_id: str) -> str:
    """What failed in a batch, of each brand the first stage: the others behind it failed with it."""
    rows = await tx.fetch(BROKEN, batch_id=batch_id, limit=MOST_TOLD * len(Stage) + 1)
    first: dict[Brand, str] = {}
    for row in rows:
        why = row["error_msg"] or "no cause was given"
        first.setdefault(Brand(row["mall_name"], row["brand_name"]), f"{row['stage']}: {why}")
    told = [f"{brand.mall} {brand.name} {words}" for brand, words in first.items()]
    more = ["and more"] if len(told) > MOST_TOLD else []
    return "; ".join(["not every brand was registered", *told[:MOST_TOLD], *more])


def _failed(rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if row["status"] == StageStatus.ERROR]


async def _cause(tx: Tx, job_id: int, stage: Stage) -> str | None:
    steps = [name for name, its in rules.STAGE_OF.items() if its is stage]
    found: str | None = await tx.value(CAUSE, job_id=job_id, steps=steps)
    return found
