"""Jobs: made once for a key, started when limits and dependencies allow, paused, resumed, cancelled."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from sqlalchemy import insert

from bobusang.engine import barriers, ending, making, settling
from bobusang.engine.hooks import JobMoved
from bobusang.engine.model import (
    NORMAL_PRIORITY,
    PRIORITIES,
    DependencyType,
    ExecutionStatus,
    JobStatus,
    JobType,
    NewTask,
    QueueType,
    Run,
)
from bobusang.engine.tables import crawling_jobs, job_dependencies, job_steps, workflow_executions
from bobusang.kit import json
from bobusang.kit.errors import Conflict, Invalid, Missing
from bobusang.kit.sql import Bulk, Statement

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from bobusang.engine.books import Books
    from bobusang.engine.hooks import Hooks
    from bobusang.engine.making import Draft
    from bobusang.kit.db import Tx

WORKFLOW = Statement("select id, version, is_active, workflow_name from crawling_workflows where id = :id")
TARGET = Statement("select id from crawl_targets where id = :id")
KNOWN = Statement("select id as value from crawling_jobs where dedup_key = :key")
LIMITS = Statement(
    "select * from parallel_execution_config where workflow_id = :id for update",
    sqlite="select * from parallel_execution_config where workflow_id = :id",
)
RUNNING = Statement("""
    select count(*) as value from crawling_jobs where workflow_id = :id and status = 'RUNNING'""")
PENDING = Statement("""
    select j.id, j.workflow_id from crawling_jobs j
    left join parallel_execution_config p on p.workflow_id = j.workflow_id
    where j.status = 'PENDING' and j.is_paused = false and (j.scheduled_at is null or j.scheduled_at <= :now)
      and not exists (select 1 from job_dependencies d join crawling_jobs o on o.id = d.depends_on_job_id
        where d.job_id = j.id and (o.status in ('PENDING', 'RUNNING')
          or d.dependency_type = 'SUCCESS' and o.status in ('FAILED', 'CANCELLED')))
      and (p.max_parallel_jobs is null or p.max_parallel_jobs >
        (select count(*) from crawling_jobs r where r.workflow_id = j.workflow_id and r.status = 'RUNNING'))
    order by j.priority desc, j.id limit 200""")
BROKEN = Statement("""
    select distinct d.job_id, d.depends_on_job_id, o.status from job_dependencies d
    join crawling_jobs j on j.id = d.job_id join crawling_jobs o on o.id = d.depends_on_job_id
    where j.status = 'PENDING' and d.dependency_type = 'SUCCESS' and o.status in ('FAILED', 'CANCELLED')
    order by d.job_id""")
BEGIN = Statement("""
    update crawling_jobs set status = 'RUNNING', started_at = :now, updated_at = :now
    where id = :id and status = 'PENDING'""")
NOTE = Statement("update crawling_jobs set error_summary = :summary where id = :id")
EXISTS = Statement("select id from crawling_jobs where id in (:ids...)")
BOTH = Statement(
    "select id, status from crawling_jobs where id in (:ids...) order by id for update",
    sqlite="select id, status from crawling_jobs where id in (:ids...) order by id",
)
LOST = Statement("""
    select coalesce(sum(j.failed + j.skipped + j.cancelled), 0) as value from job_steps j
    join workflow_steps s on s.id = j.step_id where j.job_id = :id and s.step_name = :step""")
SOWN = Statement("select id from tasks where job_id = :id limit 1")
STEP_ROWS = Bulk(job_steps, ("job_id", "step_id", "step_order"))
DEPENDENCIES = Bulk(job_dependencies, ("job_id", "depends_on_job_id", "dependency_type"), keep=True)
UPSTREAM = Statement("select job_id, depends_on_job_id from job_dependencies where job_id in (:ids...)")


@dataclass(frozen=True, slots=True)
class NewJob:
    """A job to be made; a second one with the same `key` is the first."""

    workflow_id: int
    target_id: int | None = None
    job_type: JobType = JobType.FULL
    input: Mapping[str, Any] = field(default_factory=dict)
    key: str | None = None
    priority: int = NORMAL_PRIORITY
    queue: QueueType = QueueType.NORMAL
    scheduled_at: datetime | None = None
    schedule_id: int | None = None
    after: Sequence[tuple[int, DependencyType]] = ()
    seeds: Sequence[NewTask] | None = None
    """The first step's tasks; None: one, with the job's input."""


async def create(tx: Tx, books: Books, hooks: Hooks, new: NewJob) -> tuple[int, bool]:
    """Make a job and start it if nothing stands in its way; its id, and whether it is new."""
    workflow = await tx.first(WORKFLOW, id=new.workflow_id)
    if workflow is None:
        raise Missing(f"there is no workflow {new.workflow_id}", field="workflow_id")
    if not workflow["is_active"]:
        raise Conflict(f"workflow '{workflow['workflow_name']}' is switched off", hint="activate it first")
    _check(new)
    text = json.payload(dict(new.input), limit=books.payload_limit, name="input")
    if new.key is not None:
        known = await tx.value(KNOWN, key=new.key)
        if known is not None:
            return known, False
    if new.target_id is not None and await tx.first(TARGET, id=new.target_id) is None:
        raise Missing(f"there is no target {new.target_id}", field="target_id")
    job_id = await tx.create(
        insert(crawling_jobs).values(
            schedule_id=new.schedule_id,
            workflow_id=new.workflow_id,
            workflow_version=workflow["version"],
            target_id=new.target_id,
            job_type=new.job_type.value,
            status=JobStatus.PENDING.value,
            scheduled_at=new.scheduled_at,
            priority=new.priority,
            queue=new.queue.value,
            input=text,
            dedup_key=new.key,
            created_at=tx.now,
            updated_at=tx.now,
        )
    )
    await _depend(tx, job_id, new.after)
    run = await books.run(tx, job_id)
    tx.after_rollback(lambda: books.forget_run(job_id))
    await tx.insert(STEP_ROWS, [(job_id, step.id, step.order) for step in run.plan.steps])
    await hooks.job(tx, JobMoved(run, JobStatus.PENDING))
    drafts = _drafts(books, run, new.seeds)
    later = new.scheduled_at is not None and new.scheduled_at > tx.now
    if not later and not new.after and await tx.first(LIMITS, id=new.workflow_id) is None:
        await start(tx, books, hooks, run, drafts)
    else:
        if new.seeds is not None:
            await _sow(tx, books, [replace(draft, barrier=True) for draft in drafts])
        tx.ring("jobs")
    return job_id, True


def _check(new: NewJob) -> None:
    if new.priority not in PRIORITIES:
        raise Invalid(f"priority {new.priority} is not between 1 and 10", hint="10 is most urgent", field="priority")
    if new.key is not None:
        making.bounded(new.key, making.KEY_LIMIT, "key")
    if new.seeds is not None and not new.seeds:
        raise Invalid("seeds is empty", hint="leave it out for one task with the job's input", field="seeds")


async def _depend(tx: Tx, job_id: int, after: Sequence[tuple[int, DependencyType]]) -> None:
    if not after:
        return
    wanted = {upstream for upstream, _ in after}
    found = {row["id"] for row in await tx.fetch(EXISTS, ids=list(wanted))}
    if missing := wanted - found:
        raise Missing(f"job {min(missing)}, on which this one should depend, does not exist", field="after")
    await tx.insert(DEPENDENCIES, [(job_id, upstream, kind.value) for upstream, kind in after])


async def depend(tx: Tx, job_id: int, upstream: int, kind: DependencyType) -> None:
    """Let a pending job wait for another; a circle is refused, because nobody in it could ever start."""
    # Both are locked, so that two halves of a circle cannot be made at once.
    found = {row["id"]: row["status"] for row in await tx.fetch(BOTH, ids=sorted({job_id, upstream}))}
    if job_id not in found:
        raise Missing(f"there is no job {job_id}")
    if JobStatus(found[job_id]) is not JobStatus.PENDING:
        raise Conflict(f"job {job_id} is {found[job_id]}: only a pending one can still wait for another")
    reached, frontier = set[int](), {upstream}
    while frontier:
        if job_id in frontier:
            raise Invalid(
                f"job {upstream} already waits for job {job_id}: neither could start", field="depends_on_job_id"
            )
        reached |= frontier
        rows = await tx.fetch(UPSTREAM, ids=list(frontier))
        frontier = {row["depends_on_job_id"] for row in rows} - reached
    await _depend(tx, job_id, [(upstream, kind)])


def _drafts(books: Books, run: Run, seeds: Sequence[NewTask] | None = None) -> list[Draft]:
    """A job's first tasks."""
    tasks = [NewTask(dict(run.input) or dict(run.target) or None)] if seeds is None else seeds
    return [
        making.draft(run, run.plan.steps[0], new, key=f"seed.{index}", limit=books.payload_limit, sequence=index)
        for index, new in enumerate(tasks, start=1)
    ]


async def _sow(tx: Tx, books: Books, drafts: Sequence[Draft]) -> None:
    await settling.append(tx, settling.created(await making.make(tx, books, drafts)))


async def start(tx: Tx, books: Books, hooks: Hooks, run: Run, drafts: Sequence[Draft]) -> bool:
    """Begin a pending job: its execution, its budgets, its first tasks (none: those it was made with)."""
    if not await tx.execute(BEGIN, id=run.job_id, now=tx.now):
        return False
    first = run.plan.steps[0]
    await tx.execute(
        insert(workflow_executions).values(
            workflow_id=run.plan.workflow_id,
            job_id=run.job_id,
            current_step=first.name,
            status=ExecutionStatus.RUNNING.value,
            context="{}",
            step_results="{}",
            started_at=tx.now,
            created_at=tx.now,
        )
    )
    await making.limit(tx, run)
    await _sow(tx, books, drafts)
    if not drafts:
        await barriers.release(tx, run, [first])
        await settling.nudge(tx, run.job_id, first.id)
    await hooks.job(tx, JobMoved(run, JobStatus.RUNNING))
    return True


async def start_pending(tx: Tx, books: Books, hooks: Hooks) -> int:
    """Start what limits and dependencies allow; fail what can never start. How many moved."""
    moved = 0
    for row in await tx.fetch(BROKEN):
        run = await books.run(tx, row["job_id"])
        note = f"job {row['depends_on_job_id']}, whose success it needs, ended {row['status']}"
        await tx.execute(NOTE, id=row["job_id"], summary=json.dumps([{"error": note, "count": 1}]))
        moved += await ending.end(tx, books, hooks, run, JobStatus.CANCELLED)
    free: dict[int, float] = {}
    for row in await tx.fetch(PENDING, now=tx.now):
        workflow_id = row["workflow_id"]
        if workflow_id not in free:
            limits = await tx.first(LIMITS, id=workflow_id)
            running = await tx.value(RUNNING, id=workflow_id) if limits is not None else 0
            free[workflow_id] = float("inf") if limits is None else limits["max_parallel_jobs"] - running
        if free[workflow_id] >= 1:
            free[workflow_id] -= 1
            moved += await _start(tx, books, hooks, await books.run(tx, row["id"]))
    return moved


async def _start(tx: Tx, books: Books, hooks: Hooks, run: Run) -> bool:
    """Start one; a job whose first task cannot be made fails alone, or it would keep all others from starting."""
    try:
        drafts = [] if await tx.first(SOWN, id=run.job_id) else _drafts(books, run)
    except Invalid as error:
        await tx.execute(NOTE, id=run.job_id, summary=json.dumps([{"error": str(error), "count": 1}]))
        return await ending.end(tx, books, hooks, run, JobStatus.FAILED)
    return await start(tx, books, hooks, run, drafts)


async def lost(tx: Tx, job_id: int, step: str) -> int:
    """How many tasks of a step ended without success, by the counters as they are folded by now."""
    return int(await tx.value(LOST, id=job_id, step=step))
