"""Dead letters: looked at, mended, and driven again one by one, by filter, or the first ten."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import Select, func, select

from bobusang.engine import barriers, making, queue, settling
from bobusang.engine.model import (
    Entry,
    ExecutionStatus,
    HeldReason,
    JobStatus,
    ReasonClass,
    TaskOutcome,
    TaskStatus,
    due,
)
from bobusang.engine.settling import COUNTED, Deltas
from bobusang.engine.tables import crawling_jobs, dead_letters, tasks, workflow_steps
from bobusang.kit import json
from bobusang.kit.errors import Conflict, Missing
from bobusang.kit.sql import Statement

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bobusang.engine.books import Books
    from bobusang.kit.db import Row, Tx

AT_ONCE = 500

_JOBS = """
    select id, status, exists (select 1 from job_sweeps s where s.job_id = crawling_jobs.id) as is_swept
    from crawling_jobs where id in (:ids...) order by id"""
LOCK_JOBS = Statement(f"{_JOBS} for update", sqlite=_JOBS)
TAKE = Statement("delete from dead_letters where task_id in (:ids...)")
DEAD = Statement("""
    select d.task_id, d.job_id, d.step_id, d.queue, d.priority, t.outcome, t.pool from dead_letters d
    join tasks t on t.id = d.task_id where d.task_id in (:ids...) order by d.task_id""")
UNFINISHED = Statement("""
    select t.id as task_id, t.job_id, t.step_id, j.queue, j.priority, t.outcome, t.pool from tasks t
    join crawling_jobs j on j.id = t.job_id
    where t.job_id = :id and t.status = 'FAILED' order by t.id limit :limit""")
ONE = Statement("""
    select t.id as task_id, t.job_id, t.step_id, t.status, j.queue, j.priority, t.outcome, t.pool from tasks t
    join crawling_jobs j on j.id = t.job_id where t.id = :id""")
FRESH = Statement("""
    update tasks set status = 'PENDING', outcome = null, retry_count = 0, completed_at = null, updated_at = :now
    where id in (:ids...)""")
REOPEN = Statement("""
    update crawling_jobs set status = 'RUNNING', job_type = 'RETRY', completed_at = null, is_doomed = false,
      error_summary = null, updated_at = :now where id in (:ids...) and status in ('FAILED', 'SUCCESS')""")
REOPEN_EXECUTION = Statement("""
    update workflow_executions set status = :status, completed_at = null
    where job_id in (:ids...) and status <> 'PAUSED'""")
EDIT = Statement("update tasks set input_data = :input, updated_at = :now where id = :id")


ALIVE = select(crawling_jobs.c.id).where(crawling_jobs.c.status != JobStatus.CANCELLED.value)


@dataclass(frozen=True, slots=True)
class Filter:
    """Which dead letters; what is not given does not matter."""

    ids: Sequence[int] | None = None
    job_id: int | None = None
    workflow_id: int | None = None
    reason: ReasonClass | None = None
    fingerprint: str | None = None
    after: int = 0
    limit: int = 50


def matching(wanted: Filter) -> Select[Any]:
    """The dead letters of a filter, oldest first, with what a person needs to see."""
    return (
        select(
            dead_letters,
            tasks.c.task_key,
            tasks.c.target_url,
            tasks.c.input_data,
            tasks.c.retry_count,
            workflow_steps.c.step_name,
        )
        .join(tasks, tasks.c.id == dead_letters.c.task_id)
        .join(workflow_steps, workflow_steps.c.id == dead_letters.c.step_id)
        .where(*_where(wanted), dead_letters.c.task_id > wanted.after)
        .order_by(dead_letters.c.task_id)
        .limit(wanted.limit)
    )


def _where(wanted: Filter) -> list[Any]:
    table = dead_letters.c
    clauses: list[Any] = []
    if wanted.ids is not None:
        clauses.append(table.task_id.in_(list(wanted.ids)))
    for column, value in (
        (table.job_id, wanted.job_id),
        (table.workflow_id, wanted.workflow_id),
        (table.reason_class, wanted.reason),
        (table.fingerprint, wanted.fingerprint),
    ):
        if value is not None:
            clauses.append(column == value)
    return clauses


def grouped(wanted: Filter) -> Select[Any]:
    """How many there are of each cause, most first, with one example."""
    table = dead_letters.c
    times = func.count().label("times")
    return (
        select(
            table.reason_class,
            table.fingerprint,
            times,
            func.min(table.error).label("error"),
            func.min(table.created_at).label("first_at"),
            func.max(table.created_at).label("last_at"),
            func.min(table.task_id).label("example"),
        )
        .where(*_where(wanted))
        .group_by(table.reason_class, table.fingerprint)
        .order_by(times.desc())
        .limit(wanted.limit)
    )


async def redrive(tx: Tx, books: Books, wanted: Filter) -> int:
    """Run matching dead letters again, up to the filter's limit; how many."""
    query = matching(wanted)
    if wanted.ids is None:  # those that cannot be driven must not stand in the way of the others
        query = query.where(dead_letters.c.job_id.in_(ALIVE))
    found = await tx.fetch(query)
    if not found:
        return 0
    jobs = {row["id"]: row for row in await tx.fetch(LOCK_JOBS, ids=sorted({row["job_id"] for row in found}))}
    rows = await tx.fetch(DEAD, ids=[row["task_id"] for row in found])  # by now somebody else may have driven some
    alive = [row for row in rows if row["job_id"] in jobs and _obstacle(jobs[row["job_id"]]) is None]
    if rows and not alive:
        obstacle = _obstacle(jobs[rows[0]["job_id"]])
        assert obstacle is not None
        raise obstacle
    if alive:
        await _again(tx, books, alive)
    return len(alive)


async def retry_job(tx: Tx, books: Books, job_id: int) -> int:
    """Run everything of a job again that failed; how many tasks."""
    job = await tx.first(LOCK_JOBS, ids=[job_id])
    if job is None:
        raise Missing(f"there is no job {job_id}")
    if job["status"] == JobStatus.PENDING:
        raise Conflict(f"job {job_id} is PENDING", hint="only what has failed can be tried again")
    if (obstacle := _obstacle(job)) is not None:
        raise obstacle
    count = 0
    while rows := await tx.fetch(UNFINISHED, id=job_id, limit=AT_ONCE):
        await _again(tx, books, rows)
        count += len(rows)
    return count


async def retry_task(tx: Tx, books: Books, task_id: int) -> None:
    """Run one task again that failed, whether it is among the dead letters or not."""
    row = await tx.first(ONE, id=task_id)
    if row is None:
        raise Missing(f"there is no task {task_id}")
    (job,) = await tx.fetch(LOCK_JOBS, ids=[row["job_id"]])
    row = await tx.first(ONE, id=task_id)  # once more, for it may have moved before its job was locked
    if row is None or row["status"] != TaskStatus.FAILED:
        raise Conflict(f"task {task_id} has not failed", hint="only what has failed can be tried again")
    if (obstacle := _obstacle(job)) is not None:
        raise obstacle
    await _again(tx, books, [row])


def _obstacle(job: Row) -> Conflict | None:
    """Why nothing of this job can be run again now."""
    if job["status"] == JobStatus.CANCELLED:
        return Conflict(f"job {job['id']} was cancelled", hint="start a new job instead")
    if JobStatus(job["status"]).ended and job["is_swept"]:
        return Conflict(f"job {job['id']} is still being cleared away", hint="try again in a moment")
    return None


async def _again(tx: Tx, books: Books, rows: Sequence[Row]) -> None:
    """What stands behind a barrier waits there: the fold that takes these counters opens it, at once if nothing earlier
    runs again."""
    ids = [row["task_id"] for row in rows]
    jobs = sorted({row["job_id"] for row in rows})
    runs = await books.runs(tx, jobs)
    # By step: a fold that stops between two of their counters must not take an earlier step for over.
    rows = sorted(rows, key=lambda row: (row["job_id"], runs[row["job_id"]].plan.by_id[row["step_id"]].order))
    await tx.execute(TAKE, ids=ids)
    await tx.execute(FRESH, ids=ids, now=tx.now)
    await tx.execute(REOPEN, ids=jobs, now=tx.now)
    await tx.execute(REOPEN_EXECUTION, ids=jobs, status=ExecutionStatus.RUNNING)
    for run in runs.values():
        await making.limit(tx, run)
    ready: list[Entry] = []
    held: list[tuple[Entry, int, HeldReason, None, None]] = []
    for row in rows:
        run = runs[row["job_id"]]
        step = run.plan.by_id[row["step_id"]]
        lane = await making.lane_of(tx, books, run, step, row["pool"] or "")
        kind = row["queue"] if step.queue is None else step.queue
        key = due(tx.now, kind, row["priority"])
        entry = Entry(row["task_id"], row["job_id"], lane, key, kind, row["priority"], 0, 0)
        if barriers.is_behind(run, step):
            held.append((entry, step.id, HeldReason.BARRIER, None, None))
        else:
            ready.append(entry)
    await queue.put(tx, ready)
    await queue.hold(tx, held)
    for job_id, mine in itertools.groupby(rows, key=lambda row: row["job_id"]):
        run = runs[job_id]
        await barriers.shut_behind(tx, run, run.plan.by_id[next(mine)["step_id"]])
    await settling.append(tx, _deltas(rows))


def _deltas(rows: Sequence[Row]) -> Deltas:
    """What these tasks had counted as, taken back."""
    deltas: Deltas = defaultdict(Counter)
    for row in rows:
        deltas[row["job_id"], row["step_id"]][COUNTED[TaskOutcome(row["outcome"])]] -= 1
    return deltas


async def edit(tx: Tx, books: Books, task_id: int, value: Any) -> None:
    """Mend the input of a dead letter before driving it again."""
    if not await tx.fetch(matching(Filter(ids=[task_id]))):
        raise Missing(f"task {task_id} is not among the dead letters")
    text = json.payload(value, limit=books.payload_limit, name="input")
    await tx.execute(EDIT, id=task_id, input=text, now=tx.now)


async def discard(tx: Tx, wanted: Filter) -> int:
    """Throw matching dead letters away; their tasks stay failed."""
    ids = [row["task_id"] for row in await tx.fetch(matching(wanted))]
    return await tx.execute(TAKE, ids=ids) if ids else 0
