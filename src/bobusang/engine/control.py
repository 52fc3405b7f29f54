"""Pausing, resuming and cancelling jobs, and taking their entries out of the queue.

A job's own row changes at once. Its entries follow by `sweep`, in bounded batches and again while workers that had
claimed some of them still make new ones, so neither call is slow on a job of a million tasks.
"""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from typing import TYPE_CHECKING

from bobusang.engine import ending, queue, settling
from bobusang.engine.model import Entry, HeldReason, JobStatus, TaskOutcome, TaskStatus, due
from bobusang.engine.pausing import SWEPT, mark_paused, mark_running, to_sweep
from bobusang.engine.waiting import entry_of
from bobusang.kit.clock import utc
from bobusang.kit.errors import Conflict, Missing
from bobusang.kit.sql import Statement

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bobusang.engine.books import Books
    from bobusang.engine.hooks import Hooks
    from bobusang.kit.db import Row, Tx

AT_ONCE = 500
AGAIN = timedelta(seconds=2)

JOB = Statement(
    "select id, status, is_paused, is_doomed from crawling_jobs where id = :id for update",
    sqlite="select id, status, is_paused, is_doomed from crawling_jobs where id = :id",
)
LATER = Statement("update job_sweeps set next_at = :next_at where job_id = :id")
DUE = Statement("select job_id from job_sweeps where next_at <= :now order by job_id limit 20")
OPEN = Statement("""
    select id, step_id from tasks where job_id = :id and status in ('PENDING', 'RETRYING') order by id limit :limit""")
WAITING_READY = Statement("""
    select r.*, t.step_id, null as run_at from queue_ready r join tasks t on t.id = r.task_id
    where t.job_id = :id and t.status in ('PENDING', 'RETRYING') limit :limit""")
WAITING_DELAYED = Statement("""
    select d.*, t.step_id from queue_delayed d join tasks t on t.id = d.task_id where d.job_id = :id limit :limit""")
NOT_READY = Statement("delete from queue_ready where task_id in (:ids...)")
NOT_DELAYED = Statement("delete from queue_delayed where task_id in (:ids...)")
NOT_HELD = Statement("delete from queue_held where task_id in (:ids...)")
NOT_AWAITED = Statement("delete from waits where task_id in (:ids...)")
CLAIMS = Statement(
    "select token, entries from queue_claims order by token for update",
    sqlite="select token, entries from queue_claims order by token",
)
CANCEL = Statement("""
    update tasks set status = :status, outcome = :outcome, error_message = 'the job was cancelled',
      completed_at = :now, updated_at = :now where id in (:ids...)""")
PAUSED = Statement("""
    select task_id, job_id, lane, queue, priority, attempt, dispatches, until from queue_held
    where job_id = :id and reason = :reason limit :limit""")


async def _job(tx: Tx, job_id: int) -> Row:
    row = await tx.first(JOB, id=job_id)
    if row is None:
        raise Missing(f"there is no job {job_id}", hint="`bobusang job list` shows them")
    return row


async def _live(tx: Tx, job_id: int) -> Row:
    row = await _job(tx, job_id)
    if JobStatus(row["status"]).ended:
        raise Conflict(f"job {job_id} is over: {row['status']}")
    return row


async def pause(tx: Tx, job_id: int) -> None:
    """Let a job's waiting tasks wait; what runs is finished."""
    await _live(tx, job_id)
    await mark_paused(tx, job_id)


async def resume(tx: Tx, job_id: int) -> None:
    """Let a paused job go on."""
    row = await _live(tx, job_id)
    if not row["is_paused"]:
        raise Conflict(f"job {job_id} is not paused")
    await mark_running(tx, job_id)
    while rows := await tx.fetch(PAUSED, id=job_id, reason=HeldReason.PAUSED, limit=AT_ONCE):
        await tx.execute(NOT_HELD, ids=[row["task_id"] for row in rows])
        ready, delayed = [], []
        for row in rows:
            entry, until = entry_of(row, due(tx.now, row["queue"], row["priority"])), utc(row["until"])
            if until is not None and until > tx.now:
                delayed.append((entry, until, None))
            else:
                ready.append(entry)
        await queue.put(tx, ready)
        await queue.delay(tx, delayed)
    tx.ring("jobs")


async def cancel(tx: Tx, books: Books, hooks: Hooks, job_id: int) -> None:
    """End a job now; what runs is disowned, what waits is taken out of the queue."""
    await _live(tx, job_id)
    await ending.end(tx, books, hooks, await books.run(tx, job_id), JobStatus.CANCELLED)
    await to_sweep(tx, job_id)


async def sweep(tx: Tx) -> int:
    """Take entries of paused and ended jobs out of the queue; how many."""
    moved = 0
    for row in await tx.fetch(DUE, now=tx.now):
        job_id = row["job_id"]
        job = await tx.first(JOB, id=job_id)
        if job is None:
            await tx.execute(SWEPT, id=job_id)
            continue
        ended = JobStatus(job["status"]).ended
        count = await _withdraw(tx, job_id) if ended else await _set_aside(tx, job_id)
        if ended and count == 0:
            await tx.execute(SWEPT, id=job_id)
        else:
            await tx.execute(LATER, id=job_id, next_at=tx.now if count else tx.now + AGAIN)
        moved += count
    return moved


async def _set_aside(tx: Tx, job_id: int) -> int:
    """Hold what a paused job still has waiting."""
    ready = await tx.fetch(WAITING_READY, id=job_id, limit=AT_ONCE)
    delayed = await tx.fetch(WAITING_DELAYED, id=job_id, limit=AT_ONCE)
    if ready:
        await tx.execute(NOT_READY, ids=[row["task_id"] for row in ready])
    if delayed:
        await tx.execute(NOT_DELAYED, ids=[row["task_id"] for row in delayed])
    rows = [*ready, *delayed]
    await queue.hold(
        tx, [(entry_of(row, 0), row["step_id"], HeldReason.PAUSED, None, utc(row["run_at"])) for row in rows]
    )
    return len(rows)


async def _withdraw(tx: Tx, job_id: int) -> int:
    """Cancel what an ended job still has open, also inside other people's claims."""
    rows = await tx.fetch(OPEN, id=job_id, limit=AT_ONCE)
    if not rows:
        return 0
    ids = [row["id"] for row in rows]
    await _disown(tx, set(ids))
    for statement in (NOT_READY, NOT_DELAYED, NOT_HELD, NOT_AWAITED):
        await tx.execute(statement, ids=ids)
    await tx.execute(CANCEL, ids=ids, status=TaskStatus.FAILED, outcome=TaskOutcome.CANCELLED, now=tx.now)
    steps = Counter(row["step_id"] for row in rows)
    await settling.append(tx, {(job_id, step_id): Counter(cancelled=count) for step_id, count in steps.items()})
    return len(rows)


async def _disown(tx: Tx, ids: set[int]) -> None:
    """Take entries out of live claims: their workers will find that these are not theirs any more."""
    for row in await tx.fetch(CLAIMS):
        entries: Sequence[Entry] = queue.decode(row["entries"])
        kept = [entry for entry in entries if entry.task_id not in ids]
        if len(kept) < len(entries):
            await queue.keep(tx, row["token"], kept)
