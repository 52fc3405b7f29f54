"""What a job that has not begun waits for."""

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
    found = ["it is paused"] if job["is_paused"] else []
    if status is JobStatus.PENDING:
        found += _by_time(utc(job["scheduled_at"]), tx.now)
        found += [
            f"job {other.job_id} has not ended: it is {other.status}"
            for other in depends_on
            if other.status is not None and not other.status.ended
        ]
        found += await _by_limit(tx, job["workflow_id"])
    return found


def _by_time(scheduled_at: datetime | None, now: datetime) -> list[str]:
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
    return [f"its workflow runs {running} jobs of at most {most}"] if running >= most else []
