"""Jobs that ended long ago: their row and their steps' results are kept, their tasks are not."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Select, false, select

from bobusang.engine.tables import crawl_targets, crawling_jobs_archive, crawling_workflows
from bobusang.kit.clock import utc
from bobusang.kit.db import Row, Tx
from bobusang.kit.errors import Missing
from bobusang.views.columns import below, document
from bobusang.views.jobs import JobLine, line


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchivedJob(JobLine):
    """A job as the archive keeps it."""

    step_results: Any
    error_summary: Any
    archived_at: datetime


def _query() -> Select[Any]:
    table = crawling_jobs_archive.c
    return (
        select(
            crawling_jobs_archive,
            false().label("is_paused"),
            crawling_workflows.c.workflow_name,
            crawl_targets.c.target_key,
        )
        .join(crawling_workflows, crawling_workflows.c.id == table.workflow_id)
        .outerjoin(crawl_targets, crawl_targets.c.id == table.target_id)
    )


async def listed(tx: Tx, workflow_id: int | None, before: int | None, limit: int) -> list[ArchivedJob]:
    """Archived jobs, newest first."""
    table = crawling_jobs_archive.c
    clauses = below(table.id, before)
    if workflow_id is not None:
        clauses.append(table.workflow_id == workflow_id)
    query = _query().where(*clauses).order_by(table.id.desc()).limit(limit)
    return [_read(row) for row in await tx.fetch(query)]


async def one(tx: Tx, job_id: int) -> ArchivedJob:
    """One archived job."""
    row = await tx.first(_query().where(crawling_jobs_archive.c.id == job_id))
    if row is None:
        raise Missing(f"there is no job {job_id} in the archive", field="job_id")
    return _read(row)


def _read(row: Row) -> ArchivedJob:
    return ArchivedJob(
        **line(row),
        step_results=document(row["step_results"]),
        error_summary=document(row["error_summary"]),
        archived_at=utc(row["archived_at"]),
    )
