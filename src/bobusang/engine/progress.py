"""Progress: folds the appended counters into jobs and steps, and moves both when something is over."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bobusang.engine import barriers, ending, making
from bobusang.engine.hooks import StepsMoved
from bobusang.engine.model import JobStatus, NewTask, Run, Step, StepMode, StepState
from bobusang.engine.pausing import to_sweep
from bobusang.engine.rules import Count, states, verdict
from bobusang.engine.settling import DOOM
from bobusang.kit import json
from bobusang.kit.errors import Invalid
from bobusang.kit.sql import Statement

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from bobusang.engine.books import Books
    from bobusang.engine.hooks import Hooks
    from bobusang.kit.db import Row, Tx

JOBS_AT_ONCE = 200
DELTAS_AT_ONCE = 20_000

# Who has waited longest comes first: by job id, a few hundred busy jobs would keep all later ones from ending.
MOVED = Statement("""
    select job_id, min(id) as first from (select job_id, id from job_deltas order by id limit :deltas) as oldest
    group by job_id order by first limit :limit""")
LOCK = Statement(
    "select id, status, is_doomed from crawling_jobs where id in (:ids...) order by id for update skip locked",
    sqlite="select id, status, is_doomed from crawling_jobs where id in (:ids...) order by id",
)
DELTAS = Statement("select * from job_deltas where job_id in (:ids...) order by id limit :limit")
TAKEN = Statement(
    "delete from job_deltas where id in (:ids...)",
    # The order makes it take the primary key: it would scan a short table, and wait for the rows of whoever appends.
    mariadb="delete from job_deltas where id in (:ids...) order by id limit :count",
)
STEPS = Statement("select * from job_steps where job_id in (:ids...) order by job_id, step_order")
COUNT = Statement("""
    update job_steps set state = :state, created = :created, succeeded = :succeeded, failed = :failed,
      skipped = :skipped, cancelled = :cancelled, retried = :retried,
      started_at = coalesce(started_at, :started_at), completed_at = :completed_at
    where job_id = :job_id and step_id = :step_id""")
TOTAL = Statement("""
    update crawling_jobs set total_items = :total, processed_items = :processed, success_count = :succeeded,
      failed_count = :failed, skipped_count = :skipped, cancelled_count = :cancelled, retry_count = :retried,
      updated_at = :now where id = :id""")
CURRENT = Statement("update workflow_executions set current_step = :name where job_id = :job_id")


async def moved(tx: Tx) -> list[int]:
    """The jobs that have news, whoever has waited longest first."""
    return [row["job_id"] for row in await tx.fetch(MOVED, deltas=DELTAS_AT_ONCE, limit=JOBS_AT_ONCE)]


@dataclass(frozen=True, slots=True)
class _Job:
    """A job with its news applied."""

    run: Run
    status: JobStatus
    doomed: bool
    rows: Sequence[Row]
    """Its steps as they were."""
    counts: Sequence[Count]
    found: Sequence[StepState]

    def changed(self) -> list[tuple[Step, Count, StepState]]:
        """The steps that are not as they were."""
        steps = zip(self.rows, self.run.plan.steps, self.counts, self.found, strict=True)
        return [
            (step, count, state) for row, step, count, state in steps if count != _count(row) or state != row["state"]
        ]

    def current(self) -> Step | None:
        """The first step that is not over."""
        both = zip(self.run.plan.steps, self.found, strict=True)
        return next((step for step, state in both if state is not StepState.DONE), None)


async def fold(tx: Tx, books: Books, hooks: Hooks, only: int | None = None) -> int:
    """One pass over the jobs that have news, or over one of them; how many counters were folded."""
    ids = await moved(tx) if only is None else [only]
    if not ids:
        return 0
    jobs = await tx.fetch(LOCK, ids=ids)
    locked = [row["id"] for row in jobs]
    if not locked:
        return 0
    deltas = await tx.fetch(DELTAS, ids=locked, limit=DELTAS_AT_ONCE)
    if deltas:
        await tx.execute(TAKEN, ids=[row["id"] for row in deltas], count=len(deltas))
    news: dict[int, dict[int, Count]] = defaultdict(lambda: defaultdict(Count))
    for row in deltas:
        news[row["job_id"]][row["step_id"]] += _count(row)
    steps: dict[int, list[Row]] = defaultdict(list)
    for row in await tx.fetch(STEPS, ids=locked):
        steps[row["job_id"]].append(row)
    runs = await books.runs(tx, locked)
    applied = [
        await _applied(tx, books, runs[job["id"]], job, steps[job["id"]], news[job["id"]])
        for job in jobs
        if job["id"] in news and job["id"] in runs
    ]
    await _write(tx, applied)
    await hooks.step(tx, _told(applied))
    for job in applied:
        await _ended(tx, books, hooks, job)
    return len(deltas)


def _count(row: Row) -> Count:
    return Count(row["created"], row["succeeded"], row["failed"], row["skipped"], row["cancelled"], row["retried"])


async def _applied(tx: Tx, books: Books, run: Run, job: Row, rows: Sequence[Row], news: dict[int, Count]) -> _Job:
    """A job after its news: its counters, and what a step that is over hands to the next."""
    counts = [_count(row) + news.get(row["step_id"], Count()) for row in rows]
    status, doomed = JobStatus(job["status"]), bool(job["is_doomed"])
    found = [StepState.PENDING] * len(counts) if status is JobStatus.PENDING else list(states(counts))
    if status is JobStatus.RUNNING and not doomed:
        try:
            await _hand_over(tx, books, run, rows, counts, found)
        except Invalid as error:  # what a step should gather cannot be mapped: nothing could ever end this job
            await tx.execute(DOOM, job_id=run.job_id, now=tx.now, error=json.dumps([{"error": str(error), "count": 1}]))
            doomed = True
    return _Job(run, status, doomed, rows, counts, found)


async def _ended(tx: Tx, books: Books, hooks: Hooks, job: _Job) -> None:
    """End a job that failed, or of which nothing is left."""
    if job.status is not JobStatus.RUNNING:
        return
    run = job.run
    if job.doomed:
        await ending.end(tx, books, hooks, run, JobStatus.FAILED)
        await to_sweep(tx, run.job_id)
    elif job.current() is None:
        gathering = [step.gather for step in run.plan.steps]
        await ending.end(tx, books, hooks, run, verdict(job.counts, run.plan.tolerance, gathering))


async def _hand_over(
    tx: Tx, books: Books, run: Run, rows: Sequence[Row], counts: list[Count], found: list[StepState]
) -> None:
    """Open what a barrier held back, step by step, because what opens is not over; and shut what a task run again
    makes come too early."""
    for index, step in enumerate(run.plan.steps):
        if found[index] is not StepState.DONE:
            if any(later.gather and count.open for later, count in zip(run.plan.steps, counts, strict=True)):
                await barriers.shut_behind(tx, run, step)
            return
        was_over = rows[index]["state"] == StepState.DONE and not counts[index].open
        if step.mode is StepMode.BARRIER and index + 1 < len(counts):
            await barriers.open_after(tx, run, step)
            following = run.plan.steps[index + 1]
            if following.gather and not was_over:
                counts[index + 1] += Count(created=await _gather(tx, books, run, step, following, counts[index]))
                found[:] = states(counts)


async def _gather(tx: Tx, books: Books, run: Run, step: Step, following: Step, count: Count) -> int:
    """The one task of a gathering step; its key makes a second call make nothing."""
    results = {step.name: result_of(count)}
    value: Any = results[step.name]
    if following.input is not None:
        value = following.input.apply(making.scope(run, following, value, results))
    new = NewTask(value, key="gather", raw=True)
    made = await making.make(tx, books, [making.draft(run, following, new, key="gather", limit=books.payload_limit)])
    return made.total()


def result_of(count: Count) -> dict[str, int]:
    """A step's counters as its result."""
    return {
        "tasks": count.created,
        "succeeded": count.succeeded,
        "failed": count.failed,
        "skipped": count.skipped,
        "cancelled": count.cancelled,
    }


async def _write(tx: Tx, jobs: Sequence[_Job]) -> None:
    """The counters of all jobs, each kind by one statement."""
    steps, totals, currents = [], [], []
    for job in jobs:
        id = job.run.job_id
        steps += [_step_row(id, *one, tx.now) for one in job.changed()]
        totals.append(_total_row(id, sum(job.counts, Count()), tx.now))
        current = job.current()
        if job.status is JobStatus.RUNNING and not job.doomed and current is not None:
            currents.append({"job_id": id, "name": current.name})
    await tx.execute_each(COUNT, steps)
    await tx.execute_each(TOTAL, totals)
    await tx.execute_each(CURRENT, currents)


def _step_row(job_id: int, step: Step, count: Count, state: StepState, now: datetime) -> dict[str, Any]:
    return {
        "job_id": job_id,
        "step_id": step.id,
        "state": state,
        "created": count.created,
        "succeeded": count.succeeded,
        "failed": count.failed,
        "skipped": count.skipped,
        "cancelled": count.cancelled,
        "retried": count.retried,
        "started_at": now if count.created else None,
        "completed_at": now if state is StepState.DONE else None,
    }


def _total_row(job_id: int, total: Count, now: datetime) -> dict[str, Any]:
    return {
        "id": job_id,
        "total": total.created,
        "processed": total.ended,
        "succeeded": total.succeeded,
        "failed": total.failed,
        "skipped": total.skipped,
        "cancelled": total.cancelled,
        "retried": total.retried,
        "now": now,
    }


def _told(jobs: Sequence[_Job]) -> list[StepsMoved]:
    """What the hooks are told: the jobs of which some step moved."""
    found = []
    for job in jobs:
        names = tuple(step.name for step, _, _ in job.changed())
        if names:
            standing = dict(
                zip((step.name for step in job.run.plan.steps), zip(job.found, job.counts, strict=True), strict=True)
            )
            found.append(StepsMoved(job.run, job.status, names, standing))
    return found
