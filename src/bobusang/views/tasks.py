"""Tasks: in lists, and one with its input, output, attempts, and where its queue entry stands."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Select, select

from bobusang.engine.model import ReasonClass, StepType, TaskOutcome, TaskStatus
from bobusang.engine.tables import crawling_workflows, task_attempts, tasks, workflow_steps
from bobusang.kit.clock import utc
from bobusang.kit.db import Row, Tx
from bobusang.kit.errors import Missing
from bobusang.views.columns import below, document, shortened
from bobusang.views.standing import NOWHERE, Place, Standing, claimed_tasks, standings

WINDOW = 10_000
"""How many tasks one request looks through for a status or a handler that no index finds."""
MOST_ATTEMPTS = 100
OPEN = (TaskStatus.PENDING, TaskStatus.RETRYING)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Tasks, newest first, and the id to go on from (None: there are no more)."""

    lines: list[TaskLine]
    resume: int | None


async def listed(tx: Tx, wanted: TaskFilter, before: int | None, limit: int, alive_since: datetime) -> Found:
    """Tasks, newest first. Where no index helps, one call looks through a bounded number and says where to go on."""
    table, clauses, end = tasks.c, below(tasks.c.id, before), None
    if wanted.job_id is not None:
        clauses.append(table.job_id == wanted.job_id)
    if wanted.step is not None or wanted.handler is not None:
        clauses.append(table.step_id.in_(_steps(wanted)))
    if wanted.status is TaskStatus.RUNNING:
        clauses.append(table.id.in_(select(claimed_tasks.c.task_id)))
    elif wanted.status is not None:
        clauses.append(table.status == wanted.status.value)
    if (
        len(clauses) > len(below(table.id, before))
        and wanted.job_id is None
        and wanted.status is not TaskStatus.RUNNING
    ):
        end = await _window(tx, before)
        clauses += [] if end is None else [table.id >= end]
    rows = await tx.fetch(_query().where(*clauses).order_by(table.id.desc()).limit(limit + 1))
    shown = rows[:limit]
    where = await standings(tx, [row["id"] for row in shown if _has_entry(row)], alive_since)
    lines = [_line(row, where.get(row["id"])) for row in shown]
    resume = shown[-1]["id"] if len(rows) > limit else end
    return Found(lines=[task for task in lines if wanted.status in (None, task.status)], resume=resume)


async def _window(tx: Tx, before: int | None) -> int | None:
    """The last id that one call looks at; None when it can look at all."""
    query = select(tasks.c.id.label("value")).where(*below(tasks.c.id, before))
    end: int | None = await tx.value(query.order_by(tasks.c.id.desc()).limit(1).offset(WINDOW - 1))
    return end


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
