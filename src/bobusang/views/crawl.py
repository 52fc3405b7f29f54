"""The crawl tasks of design [B]: which seller, endpoint and page, in the states that [B] names; and how far runs are.

| [B] | here |
|---|---|
| WAITING | made, and delayed or held |
| PUBLISHED | ready: the next free worker takes it |
| RUNNING | in a claim |
| SUCCESS, FAILED | over |
| RETRY | answered by a 429, a 5xx or a wait at the gate: it is tried again |
| TIMEOUT | its deadline passed or its worker died: it is queued again |
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import select

from bobusang.catalog.sellers import Seller
from bobusang.engine.model import JobStatus, TaskStatus
from bobusang.engine.tables import crawling_jobs, queue_ready, tasks
from bobusang.kit.clock import utc
from bobusang.kit.db import Row, Tx
from bobusang.kit.sql import Statement
from bobusang.stages.collect.tables import RunMode, collect_runs
from bobusang.views.columns import document, shortened
from bobusang.views.standing import claimed_tasks

KIND = "seller:"
RUNS_AT_ONCE = 20
"""How many runs one call looks through for tasks of a rare state."""

# The last thing that went wrong with each of these tasks, where it was a time-out or a crash.
LATE = Statement("""
    select a.task_id as value from task_attempts a
    join (select max(id) as id from task_attempts where task_id in (:ids...) group by task_id) last on last.id = a.id
    where a.reason_class in ('TIMEOUT', 'CRASHED')""")
_OF_RUNS = "t.job_id in (:jobs...) and t.pool is not null group by t.job_id, t.status"
COUNTS = Statement(f"""
    select t.job_id, t.status, 'all' as place, count(*) as tasks from tasks t where {_OF_RUNS}
    union all
    select t.job_id, t.status, 'claimed' as place, count(*) as tasks
    from claimed_tasks q join tasks t on t.id = q.task_id where q.job_id in (:jobs...) and {_OF_RUNS}
    union all
    select t.job_id, t.status, 'resting' as place, count(*) as tasks
    from queue_delayed q join tasks t on t.id = q.task_id where q.job_id in (:jobs...) and {_OF_RUNS}
    union all
    select t.job_id, t.status, 'resting' as place, count(*) as tasks
    from queue_held q join tasks t on t.id = q.task_id where q.job_id in (:jobs...) and {_OF_RUNS}
    union all
    select t.job_id, t.status, 'late' as place, count(*) as tasks from tasks t
    join task_attempts a on a.id = (select max(b.id) from task_attempts b where b.task_id = t.id)
    where t.status in ('PENDING', 'RETRYING') and a.reason_class in ('TIMEOUT', 'CRASHED')
      and not exists (select 1 from claimed_tasks c where c.task_id = t.id) and {_OF_RUNS}""")


class CrawlState(StrEnum):
    """The states of a crawl task in [B]."""

    WAITING = "WAITING"
    PUBLISHED = "PUBLISHED"
    RUNNING = "RUNNING"
    SUCCESS = "SUCCESS"
    FAILED = "FAILED"
    RETRY = "RETRY"
    TIMEOUT = "TIMEOUT"


OPEN = (TaskStatus.PENDING, TaskStatus.RETRYING)
STORED = {
    CrawlState.SUCCESS: (TaskStatus.SUCCESS,),
    CrawlState.FAILED: (TaskStatus.FAILED,),
    CrawlState.RETRY: (TaskStatus.RETRYING,),
}
"""How the engine stores a state; an open one is told apart by where its queue entry stands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlTask:
    """A crawl task."""

    id: int
    job_id: int
    mall: str
    seller: str
    endpoint: str
    page: int | None
    item: str | None
    status: CrawlState
    retries: int
    url: str | None
    error: str | None
    created_at: datetime
    completed_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a run is: how many tasks stand in each state, and their share of all."""

    job_id: int
    mall: str
    seller: str
    mode: RunMode
    status: JobStatus
    tasks: int
    states: dict[CrawlState, int]
    ratios: dict[CrawlState, float]
    started_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlFilter:
    """Which tasks; what is not given does not matter."""

    seller: Seller | None = None
    status: CrawlState | None = None
    endpoint: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Tasks, the newest run first, and where to go on: in this run below this task (None: there are no more)."""

    tasks: list[CrawlTask]
    resume: tuple[int, int] | None


async def listed(tx: Tx, wanted: CrawlFilter, after: tuple[int, int] | None, limit: int) -> Found:
    """Tasks of crawls. One call looks through a bounded number of runs and says where to go on."""
    upto, below = after or (None, None)
    runs = await _runs(tx, wanted.seller, upto, RUNS_AT_ONCE)
    found: list[CrawlTask] = []
    for run in runs:
        before, wants = below if run["job_id"] == upto else None, limit + 1 - len(found)
        rows = await _of_run(tx, wanted, run["job_id"], before, wants)
        found += [task for task in await _told(tx, run, rows) if wanted.status in (None, task.status)]
        if len(found) > limit:
            last = found[limit - 1]
            return Found(tasks=found[:limit], resume=(last.job_id, last.id))
        if len(rows) == wants:  # there may be more of this run, though not all of these were in the wanted state
            return Found(tasks=found, resume=(run["job_id"], rows[-1]["id"]))
    return Found(tasks=found, resume=(runs[-1]["job_id"], 0) if len(runs) == RUNS_AT_ONCE else None)


async def progress(tx: Tx, seller: Seller | None, upto: int | None, limit: int) -> list[Progress]:
    """How far runs are, the newest first; `upto` the first one to show."""
    runs = await _runs(tx, seller, upto, limit)
    if not runs:
        return []
    ids = [run["job_id"] for run in runs]
    states = await _counted(tx, ids)
    return [_progress(run, states.get(run["job_id"], {})) for run in runs]


async def _runs(tx: Tx, seller: Seller | None, upto: int | None, limit: int) -> Sequence[Row]:
    table, jobs = collect_runs.c, crawling_jobs.c
    query = select(table.job_id, table.source, table.target, table.mode, table.started_at, jobs.status).join(
        crawling_jobs, jobs.id == table.job_id
    )
    if seller is not None:  # the index over (source, scope, started_at) finds its runs
        query = query.where(table.source == seller.mall, table.scope == f"list:{KIND}{seller.seller_id}")
    else:
        query = query.where(table.scope.like(f"list:{KIND}%"))
    if upto is not None:
        query = query.where(table.job_id <= upto)
    return await tx.fetch(query.order_by(table.job_id.desc()).limit(limit))


async def _of_run(tx: Tx, wanted: CrawlFilter, job_id: int, before: int | None, limit: int) -> Sequence[Row]:
    """Requests of a run; planning and closing, which are in no pool, are none."""
    table = tasks.c
    query = select(tasks).where(table.job_id == job_id, table.pool.is_not(None)).order_by(table.id.desc()).limit(limit)
    if before is not None:
        query = query.where(table.id < before)
    if wanted.status is not None:
        stored = STORED.get(wanted.status, OPEN)
        query = query.where(table.status.in_([status.value for status in stored]))
    if wanted.endpoint is not None:
        query = query.where(table.pool.endswith(f":{wanted.endpoint}", autoescape=True))
    return await tx.fetch(query)


async def _told(tx: Tx, run: Row, rows: Sequence[Row]) -> list[CrawlTask]:
    states = await _states(tx, [(row["id"], TaskStatus(row["status"])) for row in rows])
    return [_task(run, row, states[row["id"]]) for row in rows]


async def _states(tx: Tx, found: Sequence[tuple[int, TaskStatus]]) -> dict[int, CrawlState]:
    """The state of each task, by its stored status and where its queue entry stands."""
    ids = [id for id, status in found if status in OPEN]
    if not ids:
        return {id: CrawlState(status) for id, status in found}
    claimed = await _among(tx, claimed_tasks, ids)
    ready = await _among(tx, queue_ready, ids)
    late = {row["value"] for row in await tx.fetch(LATE, ids=ids)}
    return {id: _state(status, id in claimed, id in ready, id in late) for id, status in found}


def _state(status: TaskStatus, claimed: bool, ready: bool, late: bool) -> CrawlState:
    if status not in OPEN:
        return CrawlState(status)
    if claimed:
        return CrawlState.RUNNING
    if late:
        return CrawlState.TIMEOUT
    if status is TaskStatus.RETRYING:
        return CrawlState.RETRY
    return CrawlState.PUBLISHED if ready else CrawlState.WAITING


async def _among(tx: Tx, entries: Any, ids: Sequence[int]) -> set[int]:
    rows = await tx.fetch(select(entries.c.task_id).where(entries.c.task_id.in_(list(ids))))
    return {row["task_id"] for row in rows}


async def _counted(tx: Tx, jobs: Sequence[int]) -> dict[int, dict[CrawlState, int]]:
    """How many tasks of each run stand in each state."""
    places: dict[int, Counter[tuple[str, str]]] = {}
    for row in await tx.fetch(COUNTS, jobs=list(jobs)):
        places.setdefault(row["job_id"], Counter())[row["place"], row["status"]] += row["tasks"]
    return {job_id: _by_state(counted) for job_id, counted in places.items()}


def _by_state(of: Counter[tuple[str, str]]) -> dict[CrawlState, int]:
    """States by place and stored status; the places are not counted at one instant, so nothing goes below zero."""
    pending, retrying = TaskStatus.PENDING.value, TaskStatus.RETRYING.value
    waiting = of["resting", pending]
    moved = {status: of["claimed", status] + of["late", status] for status in (pending, retrying)}
    found = {
        CrawlState.WAITING: waiting,
        CrawlState.PUBLISHED: of["all", pending] - moved[pending] - waiting,
        CrawlState.RUNNING: of["claimed", pending] + of["claimed", retrying],
        CrawlState.SUCCESS: of["all", TaskStatus.SUCCESS.value],
        CrawlState.FAILED: of["all", TaskStatus.FAILED.value],
        CrawlState.RETRY: of["all", retrying] - moved[retrying],
        CrawlState.TIMEOUT: of["late", pending] + of["late", retrying],
    }
    return {state: count for state, count in found.items() if count > 0}


def _task(run: Row, row: Row, state: CrawlState) -> CrawlTask:
    asked = document(row["input_data"]) or {}
    page = (asked.get("given") or {}).get("page")
    return CrawlTask(
        id=row["id"],
        job_id=row["job_id"],
        mall=run["source"],
        seller=run["target"].removeprefix(KIND),
        endpoint=row["pool"].rpartition(":")[2],
        page=page if isinstance(page, int) else None,
        item=asked.get("item") or None,
        status=state,
        retries=row["retry_count"],
        url=row["target_url"],
        error=None if state is CrawlState.SUCCESS else shortened(row["error_message"]),
        created_at=utc(row["created_at"]),
        completed_at=utc(row["completed_at"]),
    )


def _progress(run: Row, states: dict[CrawlState, int]) -> Progress:
    total = sum(states.values())
    return Progress(
        job_id=run["job_id"],
        mall=run["source"],
        seller=run["target"].removeprefix(KIND),
        mode=RunMode(run["mode"]),
        status=JobStatus(run["status"]),
        tasks=total,
        states={state: states[state] for state in CrawlState if state in states},
        ratios={state: round(states[state] / total, 4) for state in CrawlState if state in states},
        started_at=utc(run["started_at"]),
    )
