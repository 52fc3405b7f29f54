"""What came of a batch, for whoever asks why: its failures by cause, what was left out and why, how long such batches
take, who began it, and how it compares with the one before."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Any

from bobusang.engine.rules import fingerprint
from bobusang.flows.conveyor import rules
from bobusang.flows.conveyor.converting import COMES_AGAIN
from bobusang.flows.conveyor.model import Mode, Stage
from bobusang.flows.conveyor.watching import BatchLine, line_of
from bobusang.kit.clock import utc
from bobusang.kit.db import Row, Tx
from bobusang.kit.errors import Missing
from bobusang.kit.sql import Statement

MOST_TASKS = 20_000
"""Looked at; a batch that fails more often than this fails for few reasons."""
MOST_CAUSES = 50
QUOTED = re.compile(r"'[^']*'")
LOOKS_BACK = 60
"""Batches by which it is known how long one takes."""

_BRANDS = """
    select distinct batch_id, mall_name, brand_name, job_id from pipeline_control
    where batch_id in (:batches...) and {jobs}"""
_CAUSES = """
    select batch_id, step_name, error, count(*) as times, count(distinct job_id) as brands, min(id) as task_id,
      min(job_id) as job_id, min(task_key) as task_key, min(mall_name) as mall, sum(dead) as dead
    from ({tasks} limit :most) x group by batch_id, step_name, error order by times desc limit 1000"""
_TASK = "t.id, t.job_id, t.task_key, p.batch_id, p.mall_name, s.step_name, substr(t.error_message, 1, 500) as error"
_FAILED = f"""
    select {_TASK}, case when t.outcome = 'PARKED' then 1 else 0 end as dead from ({_BRANDS}) p
      join tasks t on t.job_id = p.job_id and t.status = 'FAILED' join workflow_steps s on s.id = t.step_id"""
# Only steps of which something was left out are looked through, by the index of a job's steps: SQLite keeps the order
# of a cross join, and would otherwise walk all tasks of a job.
_LEFT_OUT = f"""
    select {_TASK}, 0 as dead from ({_BRANDS}) p cross join job_steps c cross join tasks t cross join workflow_steps s
    where c.job_id = p.job_id and c.skipped > 0 and t.job_id = c.job_id and t.step_id = c.step_id
      and t.outcome = 'SKIPPED' and s.id = t.step_id"""
_OF_ALL, _OF_ONE = "job_id is not null", "job_id = :job"
FAILED, FAILED_OF, LEFT_OUT, LEFT_OUT_OF = (
    Statement(_CAUSES.format(tasks=tasks.format(jobs=jobs)))
    for tasks in (_FAILED, _LEFT_OUT)
    for jobs in (_OF_ALL, _OF_ONE)
)
PRODUCTS = Statement(
    "select id, mall, product_id, name from products where mall in (:malls...) and product_id in (:keys...)"
)
ENDED = Statement("""
    select run_mode, start_time, end_time from pipeline_batches where status = 'COMPLETED'
    order by id desc limit :limit""")
BEGUN = Statement("""
    select subject_id, actor from audit_log
    where subject_type = 'batch' and subject_id in (:batches...) and action = 'batch.start'""")
BOTH = Statement("""
    select b.* from pipeline_batches b join pipeline_batches mine on mine.batch_id = :batch_id
    where b.run_mode = mine.run_mode and b.id <= mine.id order by b.id desc limit 2""")
TOTALS = Statement("""
    select batch_id, stage, count(*) as brands, sum(item_count) as items,
      sum(case when status = 'ERROR' then 1 else 0 end) as failed
    from pipeline_control where batch_id in (:batches...) group by batch_id, stage""")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """Tasks of one stage with the same error but for numbers. `dead` are those among the dead letters; `task_id` and
    the product, where there is one, are an example; `brands` is how many it met."""

    stage: Stage
    step: str
    error: str
    fingerprint: str
    count: int
    dead: int
    brands: int
    job_id: int
    task_id: int
    product_id: int | None = None
    product: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Causes:
    """Why tasks of a batch failed, and why products were left out; most first."""

    failed: list[Cause]
    left_out: list[Cause]


@dataclass(frozen=True, slots=True, kw_only=True)
class StageChange:
    """A stage in a batch and in the one before; None: that one did not have it."""

    stage: Stage
    items: int
    failed: int
    items_before: int | None
    failed_before: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A batch and the one of the same mode before it. `new` are causes of failure that the earlier did not have,
    `gone` those that this one has no more."""

    batch: BatchLine
    before: BatchLine | None
    seconds: float
    seconds_before: float | None
    stages: list[StageChange]
    new: list[Cause]
    gone: list[Cause]


async def causes(tx: Tx, batch_id: str, job: int | None = None) -> Causes:
    """Why what is not on the market is not, of all of a batch or of one brand's job."""
    failed, keys = await _causes(tx, FAILED if job is None else FAILED_OF, [batch_id], job)
    left_out, more = await _causes(tx, LEFT_OUT if job is None else LEFT_OUT_OF, [batch_id], job)
    both = [failed.get(batch_id, []), _alike(left_out.get(batch_id, []))]
    named = await _named(tx, [*both[0], *both[1]], keys | more)
    return Causes(failed=named[: len(both[0])], left_out=named[len(both[0]) :])


async def compared(tx: Tx, batch_id: str) -> Comparison:
    """A batch beside the one before it."""
    rows = [line_of(row) for row in await tx.fetch(BOTH, batch_id=batch_id)]
    if not rows:
        raise Missing(f"there is no batch {batch_id}", hint="`bobusang run list` shows them", field="batch_id")
    batch, before = rows[0], rows[1] if len(rows) > 1 else None
    names = [one.batch_id for one in rows]
    totals: dict[tuple[str, str], Row] = {}
    for row in await tx.fetch(TOTALS, batches=names):
        totals[row["batch_id"], row["stage"]] = row
    found, _ = await _causes(tx, FAILED, names)
    mine, theirs = found.get(batch.batch_id, []), found.get(before.batch_id, []) if before else []
    return Comparison(
        batch=batch,
        before=before,
        seconds=_seconds(batch, tx),
        seconds_before=_seconds(before, tx) if before else None,
        stages=[_change(stage, totals, batch, before) for stage in Stage if _has(stage, totals, batch, before)],
        new=_others(mine, theirs) if before else [],
        gone=_others(theirs, mine),
    )


async def usual_seconds(tx: Tx) -> dict[Mode, float]:
    """How long batches of a mode take: the median of the last that ended well."""
    found: dict[Mode, list[float]] = {}
    for row in await tx.fetch(ENDED, limit=LOOKS_BACK):
        seconds = (utc(row["end_time"]) - utc(row["start_time"])).total_seconds()
        found.setdefault(Mode(row["run_mode"]), []).append(seconds)
    return {mode: median(spans) for mode, spans in found.items()}


async def begun_by(tx: Tx, batches: Iterable[str]) -> dict[str, str]:
    """Who began batches; one that nobody did was begun by its schedule."""
    wanted = sorted(batches)
    rows = await tx.fetch(BEGUN, batches=wanted) if wanted else []
    return {row["subject_id"]: row["actor"] for row in rows}


async def _causes(
    tx: Tx, statement: Statement, batches: Sequence[str], job: int | None = None
) -> tuple[dict[str, list[Cause]], dict[int, tuple[str, str]]]:
    """The causes of each batch, most first; and the mall and key of each example, by its task."""
    found: dict[str, dict[tuple[str, str], Cause]] = {}
    keys: dict[int, tuple[str, str]] = {}
    given = {"batches": list(batches), "most": MOST_TASKS} | ({} if job is None else {"job": job})
    for row in await tx.fetch(statement, **given):
        mine = found.setdefault(row["batch_id"], {})
        cause = _cause(row)
        keys[cause.task_id] = row["mall"], row["task_key"].rpartition(":")[0]
        known = mine.get((cause.step, cause.fingerprint))
        mine[cause.step, cause.fingerprint] = _together(known, cause) if known else cause
    return {batch: sorted(each.values(), key=_order)[:MOST_CAUSES] for batch, each in found.items()}, keys


def _cause(row: Row) -> Cause:
    error = row["error"] or ""
    return Cause(
        stage=rules.STAGE_OF.get(row["step_name"], Stage.COLLECT),
        step=row["step_name"],
        error=error,
        fingerprint=fingerprint(error),
        count=int(row["times"]),
        dead=int(row["dead"]),
        brands=int(row["brands"]),
        job_id=row["job_id"],
        task_id=row["task_id"],
    )


def _together(one: Cause, other: Cause) -> Cause:
    return replace(one, count=one.count + other.count, dead=one.dead + other.dead, brands=max(one.brands, other.brands))


def _alike(found: Sequence[Cause]) -> list[Cause]:
    """Those that differ only in what they quote as one; without what another task of the run has taken up."""
    groups: dict[tuple[str, str], Cause] = {}
    for one in found:
        if one.error in COMES_AGAIN:
            continue
        words = QUOTED.sub("'…'", one.error)
        known = groups.get((one.step, words))
        groups[one.step, words] = replace(_together(known, one), error=words) if known else one
    return sorted(groups.values(), key=_order)


def _order(cause: Cause) -> tuple[int, int]:
    return -cause.count, cause.task_id


async def _named(tx: Tx, found: Sequence[Cause], keys: dict[int, tuple[str, str]]) -> list[Cause]:
    """With the product of each example, where its task is about one."""
    wanted = {one.task_id: keys[one.task_id] for one in found if keys[one.task_id][1]}
    if not wanted:
        return list(found)
    malls, names = {mall for mall, _ in wanted.values()}, {name for _, name in wanted.values()}
    rows = await tx.fetch(PRODUCTS, malls=sorted(malls), keys=sorted(names))
    known: dict[tuple[str, str], Any] = {(row["mall"], row["product_id"]): row for row in rows}
    told = []
    for one in found:
        row = known.get(wanted.get(one.task_id, ("", "")))
        told.append(one if row is None else replace(one, product_id=row["id"], product=row["name"]))
    return told


def _seconds(batch: BatchLine, tx: Tx) -> float:
    return round(((batch.end_time or tx.now) - batch.start_time).total_seconds(), 1)


def _has(stage: Stage, totals: dict[tuple[str, str], Row], batch: BatchLine, before: BatchLine | None) -> bool:
    return any((one.batch_id, stage) in totals for one in (batch, before) if one)


def _change(
    stage: Stage, totals: dict[tuple[str, str], Row], batch: BatchLine, before: BatchLine | None
) -> StageChange:
    mine = totals.get((batch.batch_id, stage))
    theirs = totals.get((before.batch_id, stage)) if before else None
    return StageChange(
        stage=stage,
        items=int(mine["items"]) if mine else 0,
        failed=int(mine["failed"]) if mine else 0,
        items_before=int(theirs["items"]) if theirs else None,
        failed_before=int(theirs["failed"]) if theirs else None,
    )


def _others(these: Sequence[Cause], those: Sequence[Cause]) -> list[Cause]:
    known = {(one.step, one.fingerprint) for one in those}
    return [one for one in these if (one.step, one.fingerprint) not in known]
