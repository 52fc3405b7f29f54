"""Runs of collecting: what a list showed and changed, whether it was proved complete, and what came of its fetches."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Select, func, select

from bobusang.engine.model import JobStatus
from bobusang.engine.tables import crawling_jobs
from bobusang.kit.clock import utc
from bobusang.kit.db import Row, Tx
from bobusang.kit.errors import Missing
from bobusang.stages.collect import counts
from bobusang.stages.collect.tables import HeldState, RunMode, RunState, collect_runs, held_writes
from bobusang.views.columns import below


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLine:
    """A run in a list. `coverage` is the share of the announced total that was listed; null: nothing was announced.

    `reason` says why the list is not proved complete, or which guard holds its changes (`tripped`). `status` is the
    job's; null: it is in the archive.
    """

    job_id: int
    source: str
    target: str
    mode: RunMode
    state: RunState
    status: JobStatus | None
    reason: str | None
    tripped: str | None
    known: int
    listed: int
    total: int | None
    coverage: float | None
    pages_read: int
    pages_expected: int | None
    new: int
    changed: int
    held: int
    missed: int
    absent: int
    started_at: datetime
    closed_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointLine:
    """What came of a run's fetches from one endpoint."""

    endpoint: str
    success: int
    failure: int
    retries: int
    throttled: int
    not_modified: int
    items: int
    changed: int
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RunDetail(RunLine):
    """A run with its fetches; `held_open` are those of its held writes that still wait for a person."""

    seconds: float
    held_open: int
    endpoints: list[EndpointLine]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFilter:
    """Which runs; what is not given does not matter."""

    source: str | None = None
    target: str | None = None
    state: RunState | None = None
    mode: RunMode | None = None


def _query() -> Select[Any]:
    return select(collect_runs, crawling_jobs.c.status).outerjoin(
        crawling_jobs, crawling_jobs.c.id == collect_runs.c.job_id
    )


async def listed(tx: Tx, wanted: RunFilter, before: int | None, limit: int) -> list[RunLine]:
    """Runs, newest first."""
    table = collect_runs.c
    query = _query().where(*below(table.job_id, before)).order_by(table.job_id.desc()).limit(limit)
    for name in ("source", "target", "state", "mode"):
        value = getattr(wanted, name)
        if value is not None:
            query = query.where(table[name] == value)
    return [RunLine(**_facts(row)) for row in await tx.fetch(query)]


async def one(tx: Tx, job_id: int) -> RunDetail:
    """One run."""
    row = await tx.first(_query().where(collect_runs.c.job_id == job_id))
    if row is None:
        raise Missing(f"job {job_id} has collected nothing", hint="`bobusang collect runs` shows those that have")
    open_held = (held_writes.c.state == HeldState.HELD, held_writes.c.job_id == job_id)
    facts = _facts(row)
    told = await counts.of_job(tx, job_id)
    return RunDetail(
        **facts,
        seconds=((facts["closed_at"] or tx.now) - facts["started_at"]).total_seconds(),
        held_open=await tx.value(select(func.count().label("value")).select_from(held_writes).where(*open_held)),
        endpoints=[
            EndpointLine(endpoint=endpoint, **{name: getattr(each, name) for name in counts.NAMES})
            for endpoint, each in sorted(told.items())
        ],
    )


def _facts(row: Row) -> dict[str, Any]:
    total, status = row["total"], row["status"]
    return {
        "job_id": row["job_id"],
        "source": row["source"],
        "target": row["target"],
        "mode": RunMode(row["mode"]),
        "state": RunState(row["state"]),
        "status": JobStatus(status) if status else None,
        "reason": row["reason"],
        "tripped": row["tripped"],
        "known": row["known"],
        "listed": row["listed"],
        "total": total,
        "coverage": round(min(1.0, row["listed"] / total), 4) if total else None,
        "pages_read": row["pages_read"],
        "pages_expected": row["pages_expected"],
        "new": row["new"],
        "changed": row["changed"],
        "held": row["held"],
        "missed": row["missed"],
        "absent": row["absent"],
        "started_at": utc(row["started_at"]),
        "closed_at": utc(row["closed_at"]),
    }
