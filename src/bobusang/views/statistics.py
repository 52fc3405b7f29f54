"""Figures: what the engine measured of itself, and seven days of jobs."""

from dataclasses import dataclass
from datetime import date, datetime

from bobusang.engine.statistics import ALL
from bobusang.kit.clock import utc
from bobusang.kit.db import Tx
from bobusang.kit.sql import Statement

DAYS = Statement("""
    select v.job_date, v.workflow_id, w.workflow_name, v.total_jobs, v.success_jobs, v.avg_duration_sec,
      v.total_items_processed
    from v_job_statistics v join crawling_workflows w on w.id = v.workflow_id
    order by v.job_date desc, w.workflow_name limit 1000""")


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One number; the label says of which queue, workflow, handler or class."""

    name: str
    label: str
    value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Day:
    """The jobs of one workflow that were made on one day (UTC)."""

    job_date: date
    workflow_id: int
    workflow: str
    total_jobs: int
    success_jobs: int
    avg_duration_sec: float | None
    total_items_processed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistics:
    """Both; `measured_at` is None until upkeep has measured once."""

    measured_at: datetime | None
    figures: list[Figure]
    days: list[Day]


async def stored(tx: Tx) -> tuple[datetime | None, list[Figure]]:
    """What was measured last, and when."""
    rows = await tx.fetch(ALL)
    figures = [Figure(name=row["name"], label=row["label"], value=row["value"]) for row in rows]
    return max((utc(row["measured_at"]) for row in rows), default=None), figures


async def read(tx: Tx) -> Statistics:
    """All figures."""
    measured_at, figures = await stored(tx)
    days = [
        Day(
            job_date=date.fromisoformat(str(row["job_date"])),
            workflow_id=row["workflow_id"],
            workflow=row["workflow_name"],
            total_jobs=row["total_jobs"],
            success_jobs=int(row["success_jobs"]),
            avg_duration_sec=None if row["avg_duration_sec"] is None else float(row["avg_duration_sec"]),
            total_items_processed=int(row["total_items_processed"] or 0),
        )
        for row in await tx.fetch(DAYS)
    ]
    return Statistics(measured_at=measured_at, figures=figures, days=days)
