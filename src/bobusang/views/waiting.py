"""What a job that has not begun waits for."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import func, select

from bobusang.engine.model import DependencyType, JobStatus
from bobusang.engine.tables import crawling_jobs, job_dependencies, parallel_execution_config
from bobusang.kit.clock import utc
from bobusang.kit.db import Row, Tx
from bobusang.views.columns import words

MOST = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependency:
    """A job that must end first; its status is None once it has been archived."""

    job_id: int
    type: DependencyType
    status: JobStatus | None


async def dependencies(tx: Tx, job_id: int) -> list[Dependency]:
    """The jobs this one depends on."""
    table = job_dependencies.c
    query = (
        select(table.depends_on_job_id, table.dependency_type, crawling_jobs.c.status)
        .outerjoin(crawling_jobs, crawling_jobs.c.id == table.depends_on_job_id)
        .where(table.job_id == job_id)
        .order_by(table.depends_on_job_id)
        .limit(MOST)
    )
    return [
        Dependency(
            job_id=row["depends_on_job_id"],
            type=DependencyType(row["dependency_type"]),
            status=None if row["status"] is None else JobStatus(row["status"]),
        )
        for row in await tx.fetch(query)
    ]


async def reasons(tx: Tx, job: Row, depends_on: list[Dependency]) -> list[str]:
    """Why a job does not go on, in words; nothing when it does, or is over."""
    status = JobStatus(job["status"])
    if status.ended:
        return []
    found = [_paused(job["pause_reason"])] if job["is_paused"] else []
    if status is JobStatus.PENDING:
        found += by_time(utc(job["scheduled_at"]), tx.now)
        found += [
            _not_ended(other.job_id, other.status)
            for other in depends_on
            if other.status is not None and not other.status.ended
        ]
        found += await _by_limit(tx, job["workflow_id"])
    return found


async def unmet(tx: Tx, jobs: Sequence[int]) -> dict[int, list[str]]:
    """Of these jobs those that others must end for, in words."""
    table = job_dependencies.c
    query = (
        select(table.job_id, table.depends_on_job_id, crawling_jobs.c.status)
        .join(crawling_jobs, crawling_jobs.c.id == table.depends_on_job_id)
        .where(table.job_id.in_(list(jobs)), crawling_jobs.c.status.in_([JobStatus.PENDING, JobStatus.RUNNING]))
        .order_by(table.job_id, table.depends_on_job_id)
        .limit(MOST)
    )
    found: dict[int, list[str]] = {}
    for row in await tx.fetch(query):
        found.setdefault(row["job_id"], []).append(_not_ended(row["depends_on_job_id"], row["status"]))
    return found


async def full(tx: Tx, workflows: Sequence[int]) -> dict[int, str]:
    """Of these workflows those that run as many jobs as they may, in words."""
    limits, jobs = parallel_execution_config.c, crawling_jobs.c
    running = (
        select(func.count())
        .select_from(crawling_jobs)
        .where(jobs.workflow_id == limits.workflow_id, jobs.status == JobStatus.RUNNING)
        .scalar_subquery()
    )
    query = select(limits.workflow_id, limits.max_parallel_jobs, running.label("running")).where(
        limits.workflow_id.in_(list(workflows))
    )
    return {
        row["workflow_id"]: _at_limit(row["running"], row["max_parallel_jobs"])
        for row in await tx.fetch(query)
        if row["running"] >= row["max_parallel_jobs"]
    }


def _paused(reason: str | None) -> str:
    return f"it is paused: {reason}" if reason else "it is paused"


def _not_ended(job_id: int, status: str) -> str:
    return f"job {job_id} has not ended: it is {status}"


def _at_limit(running: int, most: int) -> str:
    return f"its workflow runs {running} jobs of at most {most}"


def by_time(scheduled_at: datetime | None, now: datetime) -> list[str]:
    """Whether a job's time has not come, in words."""
    if scheduled_at is None or scheduled_at <= now:
        return []
    return [f"it is scheduled for {words(scheduled_at)}"]


async def _by_limit(tx: Tx, workflow_id: int) -> list[str]:
    limits = parallel_execution_config.c
    most: Any = await tx.value(select(limits.max_parallel_jobs.label("value")).where(limits.workflow_id == workflow_id))
    if most is None:
        return []
    jobs = crawling_jobs.c
    running = await tx.value(
        select(func.count().label("value"))
        .select_from(crawling_jobs)
        .where(jobs.workflow_id == workflow_id, jobs.status == JobStatus.RUNNING)
    )
    return [_at_limit(running, most)] if running >= most else []
