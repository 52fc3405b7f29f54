"""Jobs: in lists, and one with its steps, its execution, what went wrong, and what it waits for."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Select, select

from bobusang.engine import redriving
from bobusang.engine.model import (
    ExecutionStatus,
    JobStatus,
    JobType,
    ReasonClass,
    StepMode,
    StepState,
    StepType,
)
from bobusang.engine.redriving import Filter
from bobusang.engine.tables import (
    crawl_targets,
    crawling_jobs,
    crawling_workflows,
    job_steps,
    workflow_executions,
    workflow_steps,
)
from bobusang.kit.clock import utc
from bobusang.kit.db import Row, Tx
from bobusang.kit.errors import Missing
from bobusang.views import waiting
from bobusang.views.columns import below, document, queue_name
from bobusang.views.waiting import Dependency

MOST_ERRORS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class JobLine:
    """A job in a list."""

    id: int
    workflow_id: int
    workflow: str
    workflow_version: int
    schedule_id: int | None
    target_id: int | None
    target: str | None
    job_type: JobType
    status: JobStatus
    is_paused: bool
    priority: int
    queue: str
    total_items: int
    processed_items: int
    success_count: int
    failed_count: int
    skipped_count: int
    cancelled_count: int
    retry_count: int
    scheduled_at: datetime | None
    started_at: datetime | None
    completed_at: datetime | None
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class StepLine:
    """One step of a job, with its counters."""

    name: str
    order: int
    step_type: StepType
    handler: str
    mode: StepMode
    state: StepState
    created: int
    succeeded: int
    failed: int
    skipped: int
    cancelled: int
    retried: int
    started_at: datetime | None
    completed_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """Where a job has got to; the context is its checkpoint."""

    status: ExecutionStatus
    current_step: str | None
    context: Any
    step_results: Any
    started_at: datetime | None
    completed_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One cause of failure and how often it came."""

    error: str
    count: int
    reason_class: ReasonClass | None = None
    fingerprint: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class JobDetail(JobLine):
    """A job with all there is to know of it."""

    input: Any
    key: str | None
    steps: list[StepLine]
    execution: Execution | None
    errors: list[Fault]
    depends_on: list[Dependency]
    waits_for: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class JobFilter:
    """Which jobs; what is not given does not matter."""

    status: Sequence[JobStatus] = ()
    workflow_id: int | None = None
    schedule_id: int | None = None
    target_id: int | None = None
    since: datetime | None = None
    ids: Sequence[int] = field(default=())
    target: str | None = None
    """How the key of its target begins."""


def _query() -> Select[Any]:
    return (
        select(crawling_jobs, crawling_workflows.c.workflow_name, crawl_targets.c.target_key)
        .join(crawling_workflows, crawling_workflows.c.id == crawling_jobs.c.workflow_id)
        .outerjoin(crawl_targets, crawl_targets.c.id == crawling_jobs.c.target_id)
    )


def _where(wanted: JobFilter) -> list[Any]:
    table = crawling_jobs.c
    clauses: list[Any] = []
    if wanted.status:
        clauses.append(table.status.in_([status.value for status in wanted.status]))
    if wanted.ids:
        clauses.append(table.id.in_(list(wanted.ids)))
    if wanted.target is not None:
        begins = crawl_targets.c.target_key.startswith(wanted.target, autoescape=True)
        clauses.append(table.target_id.in_(select(crawl_targets.c.id).where(begins)))
    if wanted.since is not None:
        clauses.append(table.created_at >= wanted.since)
    for column, value in (
        (table.workflow_id, wanted.workflow_id),
        (table.schedule_id, wanted.schedule_id),
        (table.target_id, wanted.target_id),
    ):
        if value is not None:
            clauses.append(column == value)
    return clauses


async def listed(tx: Tx, wanted: JobFilter, before: int | None, limit: int) -> list[JobLine]:
    """Jobs, newest first."""
    table = crawling_jobs.c
    query = _query().where(*_where(wanted), *below(table.id, before)).order_by(table.id.desc()).limit(limit)
    return [JobLine(**line(row)) for row in await tx.fetch(query)]


async def reasons(tx: Tx, lines: Sequence[JobLine]) -> dict[int, list[str]]:
    """Why those of a list that do not go on wait, in words; in two statements for all of them."""
    pending = [job for job in lines if job.status is JobStatus.PENDING]
    unmet = await waiting.unmet(tx, [job.id for job in pending]) if pending else {}
    full = await waiting.full(tx, sorted({job.workflow_id for job in pending})) if pending else {}
    found = {job.id: ["it is paused"] for job in lines if job.is_paused and not job.status.ended}
    for job in pending:
        why = [*waiting.by_time(job.scheduled_at, tx.now), *unmet.get(job.id, ())]
        if job.workflow_id in full:
            why.append(full[job.workflow_id])
        if why:
            found.setdefault(job.id, []).extend(why)
    return found


async def ids(tx: Tx, wanted: JobFilter, limit: int) -> list[int]:
    """The ids of matching jobs, oldest first."""
    table = crawling_jobs.c
    query = select(table.id).where(*_where(wanted)).order_by(table.id).limit(limit)
    return [row["id"] for row in await tx.fetch(query)]


async def one(tx: Tx, job_id: int) -> JobDetail:
    """A job with its steps, its execution and its troubles."""
    row = await tx.first(_query().where(crawling_jobs.c.id == job_id))
    if row is None:
        raise Missing(f"there is no job {job_id}", hint="one that ended long ago is in the archive", field="job_id")
    depends_on = await waiting.dependencies(tx, job_id)
    return JobDetail(
        **line(row),
        input=document(row["input"]),
        key=row["dedup_key"],
        steps=await steps(tx, job_id),
        execution=await _execution(tx, job_id),
        errors=await _errors(tx, row),
        depends_on=depends_on,
        waits_for=await waiting.reasons(tx, row, depends_on),
    )


def line(row: Row) -> dict[str, Any]:
    """The columns that every list of jobs shows."""
    same = ("id", "workflow_id", "workflow_version", "schedule_id", "target_id", "priority", "total_items")
    counts = ("processed_items", "success_count", "failed_count", "skipped_count", "cancelled_count", "retry_count")
    instants = ("scheduled_at", "started_at", "completed_at", "created_at", "updated_at")
    return {
        **{name: row[name] for name in (*same, *counts)},
        **{name: utc(row[name]) for name in instants},
        "workflow": row["workflow_name"],
        "target": row["target_key"],
        "job_type": JobType(row["job_type"]),
        "status": JobStatus(row["status"]),
        "is_paused": bool(row["is_paused"]),
        "queue": queue_name(row["queue"]),
    }


async def steps(tx: Tx, job_id: int) -> list[StepLine]:
    """A job's steps in their order."""
    table = workflow_steps.c
    query = (
        select(job_steps, table.step_name, table.step_type, table.handler, table.mode)
        .join(workflow_steps, table.id == job_steps.c.step_id)
        .where(job_steps.c.job_id == job_id)
        .order_by(job_steps.c.step_order)
    )
    counters = ("created", "succeeded", "failed", "skipped", "cancelled", "retried")
    return [
        StepLine(
            name=row["step_name"],
            order=row["step_order"],
            step_type=StepType(row["step_type"]),
            handler=row["handler"],
            mode=StepMode(row["mode"]),
            state=StepState(row["state"]),
            started_at=utc(row["started_at"]),
            completed_at=utc(row["completed_at"]),
            **{name: row[name] for name in counters},
        )
        for row in await tx.fetch(query)
    ]


async def _execution(tx: Tx, job_id: int) -> Execution | None:
    row = await tx.first(select(workflow_executions).where(workflow_executions.c.job_id == job_id))
    if row is None:
        return None
    return Execution(
        status=ExecutionStatus(row["status"]),
        current_step=row["current_step"],
        context=document(row["context"]),
        step_results=document(row["step_results"]),
        started_at=utc(row["started_at"]),
        completed_at=utc(row["completed_at"]),
    )


async def _errors(tx: Tx, row: Row) -> list[Fault]:
    """What the job itself noted at its end; until then, its dead letters by cause."""
    if row["error_summary"]:
        return [Fault(error=fault["error"], count=fault["count"]) for fault in document(row["error_summary"])]
    groups = await tx.fetch(redriving.grouped(Filter(job_id=row["id"], limit=MOST_ERRORS)))
    return [
        Fault(
            error=group["error"] or "",
            count=group["times"],
            reason_class=ReasonClass(group["reason_class"]),
            fingerprint=group["fingerprint"],
        )
        for group in groups
    ]


async def state(tx: Tx, job_id: int) -> tuple[JobStatus, bool]:
    """A job's status, and whether it is paused."""
    table = crawling_jobs.c
    row = await tx.first(select(table.status, table.is_paused).where(table.id == job_id))
    if row is None:
        raise Missing(f"there is no job {job_id}", hint="one that ended long ago is in the archive", field="job_id")
    return JobStatus(row["status"]), bool(row["is_paused"])
