"""Tasks: in lists, and one with its input, output, attempts, and where its queue entry stands."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Select, select, union_all

from bobusang.engine.model import ReasonClass, StepType, TaskOutcome, TaskStatus
from bobusang.engine.tables import crawling_workflows, task_attempts, tasks, workflow_steps
from bobusang.kit.clock import utc
from bobusang.kit.db import Row, Tx
from bobusang.kit.errors import Missing
from bobusang.kit.sql import Statement
from bobusang.views.columns import below, document, shortened, window
from bobusang.views.standing import NOWHERE, Place, Standing, claimed_tasks, standings

WINDOW = 10_000
"""How many tasks one request looks through for a status or a handler that no index finds."""
MOST_ATTEMPTS = 100
OPEN = (TaskStatus.PENDING, TaskStatus.RETRYING)
STORED = (*OPEN, TaskStatus.SUCCESS, TaskStatus.FAILED)
"""RUNNING is not stored: it means to be inside a claim."""


# A job's target tells of which mall its products are.
PRODUCT = Statement("""
    select p.id, p.name from crawling_jobs j join crawl_targets t on t.id = j.target_id
      join crawl_sources s on s.id = t.source_id join products p on p.mall = s.name and p.product_id = :key
    where j.id = :job_id""")
RAW = Statement("select id from raw_pages where sha256 = :sha256 order by id desc limit 1")


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskLine:
    """A task in a list; `why` says what an open one waits for."""

    id: int
    job_id: int
    workflow: str
    step: str
    handler: str
    task_type: StepType
    task_key: str
    target_url: str | None
    status: TaskStatus
    outcome: TaskOutcome | None
    retry_count: int
    sequence_number: int
    response_time_ms: int | None
    error_message: str | None
    place: Place
    why: str | None
    started_at: datetime | None
    completed_at: datetime | None
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """An attempt that did not succeed."""

    attempt: int
    outcome: str
    reason_class: ReasonClass | None
    error: str | None
    worker_id: int | None
    started_at: datetime | None
    ended_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskDetail(TaskLine):
    """A task with all there is to know of it."""

    input: Any
    output: Any
    signal: Any
    attempts: list[Attempt]
    standing: Standing


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskFilter:
    """Which tasks; what is not given does not matter."""

    status: TaskStatus | None = None
    job_id: int | None = None
    step: str | None = None
    handler: str | None = None
    outcome: TaskOutcome | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What a task is about: the product it is for, and the answer that it archived; None where there is none."""

    product_id: int | None = None
    product: str | None = None
    raw_id: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Tasks, newest first, and the id to go on from (None: there are no more)."""

    lines: list[TaskLine]
    resume: int | None


async def listed(tx: Tx, wanted: TaskFilter, before: int | None, limit: int, alive_since: datetime) -> Found:
    """Tasks, newest first. Where no index helps, one call looks through a bounded number and says where to go on."""
    end: int | None = None
    if wanted.status is TaskStatus.RUNNING:
        query = _running(wanted, before)
    elif wanted.job_id is not None:
        query = _of_job(wanted, wanted.job_id, before, limit + 1)
    else:
        if wanted != TaskFilter():
            end = await window(tx, tasks.c.id, before, WINDOW)
        query = _among(wanted, before, end)
    ids = [row["id"] for row in await tx.fetch(query.limit(limit + 1))]
    rows = await tx.fetch(_query().where(tasks.c.id.in_(ids[:limit])).order_by(tasks.c.id.desc())) if ids else []
    where = await standings(tx, [row["id"] for row in rows if _has_entry(row)], alive_since)
    lines = [_line(row, where.get(row["id"])) for row in rows]
    resume = ids[limit - 1] if len(ids) > limit else end
    return Found(lines=[task for task in lines if wanted.status in (None, task.status)], resume=resume)


def _running(wanted: TaskFilter, before: int | None) -> Select[Any]:
    """Those inside claims."""
    claimed, table = claimed_tasks.c, tasks.c
    query = select(claimed.task_id.label("id")).order_by(claimed.task_id.desc())
    if before is not None:
        query = query.where(claimed.task_id < before)
    if wanted.job_id is not None:
        query = query.where(claimed.job_id == wanted.job_id)
    if wanted.step is not None or wanted.handler is not None:
        query = query.join(tasks, table.id == claimed.task_id).where(table.step_id.in_(_steps(wanted)))
    return query


def _of_job(wanted: TaskFilter, job_id: int, before: int | None, limit: int) -> Select[Any]:
    """Those of a job, from the end of its index by status: of a job with a million tasks only a page is read."""
    table = tasks.c
    parts = []
    for status in STORED if wanted.status is None else (wanted.status,):
        part = select(table.id).where(table.job_id == job_id, table.status == status.value, *below(table.id, before))
        if wanted.step is not None or wanted.handler is not None:
            part = part.where(table.step_id.in_(_steps(wanted)))
        if wanted.outcome is not None:
            part = part.where(table.outcome == wanted.outcome.value)
        parts.append(part.order_by(table.id.desc()).limit(limit).subquery())
    found = union_all(*(select(part.c.id) for part in parts)).subquery()
    return select(found.c.id).order_by(found.c.id.desc())


def _among(wanted: TaskFilter, before: int | None, end: int | None) -> Select[Any]:
    """Those between two ids."""
    table = tasks.c
    query = select(table.id).where(*below(table.id, before)).order_by(table.id.desc())
    if end is not None:
        query = query.where(table.id >= end)
    if wanted.status is not None:
        query = query.where(table.status == wanted.status.value)
    if wanted.outcome is not None:
        query = query.where(table.outcome == wanted.outcome.value)
    if wanted.step is not None or wanted.handler is not None:
        query = query.where(table.step_id.in_(_steps(wanted)))
    return query


def _has_entry(row: Row) -> bool:
    return row["status"] in OPEN or row["outcome"] == TaskOutcome.PARKED


def _steps(wanted: TaskFilter) -> Select[Any]:
    query = select(workflow_steps.c.id)
    if wanted.step is not None:
        query = query.where(workflow_steps.c.step_name == wanted.step)
    if wanted.handler is not None:
        query = query.where(workflow_steps.c.handler == wanted.handler)
    return query


def _query(*extra: Any) -> Select[Any]:
    table, steps = tasks.c, workflow_steps.c
    shown = [column for column in table if column.name not in ("input_data", "output_data", "signal_data")]
    return (
        select(*shown, *extra, steps.step_name, steps.handler, crawling_workflows.c.workflow_name)
        .join(workflow_steps, steps.id == table.step_id)
        .join(crawling_workflows, crawling_workflows.c.id == steps.workflow_id)
    )


async def one(tx: Tx, task_id: int, alive_since: datetime) -> TaskDetail:
    """A task with its history."""
    table = tasks.c
    row = await tx.first(_query(table.input_data, table.output_data, table.signal_data).where(table.id == task_id))
    if row is None:
        raise Missing(f"there is no task {task_id}", hint="tasks of archived jobs are not kept", field="task_id")
    standing = (await standings(tx, [task_id], alive_since)).get(task_id, NOWHERE)
    return TaskDetail(
        **_columns(row, standing, full=True),
        input=document(row["input_data"]),
        output=document(row["output_data"]),
        signal=document(row["signal_data"]),
        attempts=await attempts(tx, task_id),
        standing=standing,
    )


async def about(tx: Tx, job_id: int, input: Any, output: Any) -> About:
    """What stands behind a task, by what it was given and what it gave."""
    key, digest = _product_key(input), output.get("raw") if isinstance(output, dict) else None
    product = await tx.first(PRODUCT, job_id=job_id, key=key) if key else None
    raw = await tx.first(RAW, sha256=digest) if isinstance(digest, str) else None
    return About(
        product_id=product["id"] if product else None,
        product=product["name"] if product else None,
        raw_id=raw["id"] if raw else None,
    )


def _product_key(input: Any) -> str | None:
    """The mall's own id of the product that a task of the conveyor is for."""
    match input:
        case {"item": str() as key} | {"key": str() as key} | {"keys": [str() as key]}:
            return key
    return None


async def attempts(tx: Tx, task_id: int) -> list[Attempt]:
    """What went wrong so far, oldest first."""
    table = task_attempts.c
    query = select(task_attempts).where(table.task_id == task_id).order_by(table.id.desc()).limit(MOST_ATTEMPTS)
    rows = await tx.fetch(query)
    return [
        Attempt(
            attempt=row["attempt"],
            outcome=row["outcome"],
            reason_class=None if row["reason_class"] is None else ReasonClass(row["reason_class"]),
            error=row["error"],
            worker_id=row["worker_id"],
            started_at=utc(row["started_at"]),
            ended_at=utc(row["ended_at"]),
        )
        for row in reversed(rows)
    ]


def _line(row: Row, standing: Standing | None) -> TaskLine:
    return TaskLine(**_columns(row, standing or NOWHERE))


def _columns(row: Row, standing: Standing, *, full: bool = False) -> dict[str, Any]:
    same = ("id", "job_id", "handler", "task_key", "target_url", "retry_count", "sequence_number", "response_time_ms")
    claimed = standing.place is Place.CLAIMED
    return {
        **{name: row[name] for name in same},
        "workflow": row["workflow_name"],
        "step": row["step_name"],
        "task_type": StepType(row["task_type"]),
        "status": TaskStatus.RUNNING if claimed else TaskStatus(row["status"]),
        "outcome": None if row["outcome"] is None else TaskOutcome(row["outcome"]),
        "error_message": row["error_message"] if full else shortened(row["error_message"]),
        "place": standing.place,
        "why": None if standing.place is Place.NONE else standing.why,
        "started_at": standing.since if claimed else utc(row["started_at"]),
        "completed_at": utc(row["completed_at"]),
        "created_at": utc(row["created_at"]),
        "updated_at": utc(row["updated_at"]),
    }
