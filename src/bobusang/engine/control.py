"""Pausing, resuming and cancelling jobs, and taking their entries out of the queue.

A job's own row changes at once. Its entries follow by `sweep`, in bounded batches and again while workers that had
claimed some of them still make new ones, so neither call is slow on a job of a million tasks.
"""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from typing import TYPE_CHECKING

from bobusang.engine import ending, queue, settling
from bobusang.engine.model import HeldReason, JobStatus, TaskOutcome, TaskStatus, due
from bobusang.engine.pausing import SWEPT, mark_paused, mark_running, to_sweep
from bobusang.engine.waiting import entry_of
from bobusang.kit.clock import utc
from bobusang.kit.errors import Conflict, Missing
from bobusang.kit.sql import Statement

if TYPE_CHECKING:
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
DUE = Statement("select job_id from job_sweeps where next_at <= :now order by next_at, job_id limit 20")
OPEN = Statement("""
    select id, step_id from tasks where job_id = :id and status in ('PENDING', 'RETRYING') order by id limit :limit""")
WAITING = {
    "queue_ready": Statement("""
      select r.task_id, t.step_id from queue_ready r join tasks t on t.id = r.task_id
      where t.job_id = :id and t.status in ('PENDING', 'RETRYING') limit :limit"""),
    "queue_delayed": Statement("""
      select d.task_id, t.step_id from queue_delayed d join tasks t on t.id = d.task_id
      where d.job_id = :id limit :limit"""),
}
# Whoever deletes an entry's row owns the entry: between our look and our delete someone else may have been there.
TAKE = {
    table: Statement(f"""
      delete from {table} where task_id in (:ids...)
      returning task_id, job_id, lane, queue, priority, attempt, dispatches, {more}""")
    for table, more in (
        ("queue_ready", "null as run_at"),
        ("queue_delayed", "run_at"),
        ("queue_held", "wait_key"),
    )
}
NOT_HELD = Statement("delete from queue_held where task_id in (:ids...)")
NOT_AWAITED = Statement("delete from waits where wait_key in (:keys...) and task_id in (:ids...)")
CLAIMS = Statement("select token, entries from queue_claims order by token")
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
        if job is not None and JobStatus(job["status"]).ended:
            count, over = await _withdraw(tx, job_id)
        elif job is not None and job["is_paused"]:
            count, over = await _set_aside(tx, job_id), False
        else:
            count, over = 0, True
        if over:
            await tx.execute(SWEPT, id=job_id)
        else:
            await tx.execute(LATER, id=job_id, next_at=tx.now if count else tx.now + AGAIN)
        moved += count
    return moved


async def _set_aside(tx: Tx, job_id: int) -> int:
    """Hold what a paused job still has waiting."""
    count = 0
    for table, waiting in WAITING.items():
        steps = {row["task_id"]: row["step_id"] for row in await tx.fetch(waiting, id=job_id, limit=AT_ONCE)}
        taken = await tx.fetch(TAKE[table], ids=list(steps)) if steps else []
        await queue.hold(
            tx,
            [(entry_of(row, 0), steps[row["task_id"]], HeldReason.PAUSED, None, utc(row["run_at"])) for row in taken],
        )
        count += len(taken)
    return count


async def _withdraw(tx: Tx, job_id: int) -> tuple[int, bool]:
    """Cancel what an ended job still has open, also inside other people's claims; how many, and whether that was all.

    Only what was really taken is cancelled: an entry on its way from one place to another is met the next time.
    """
    steps = {row["id"]: row["step_id"] for row in await tx.fetch(OPEN, id=job_id, limit=AT_ONCE)}
    if not steps:
        return 0, True
    taken = await _disown(tx, job_id, set(steps))
    for table, statement in TAKE.items():
        rows = await tx.fetch(statement, ids=list(steps))
        taken |= {row["task_id"] for row in rows}
        if table == "queue_held" and (keys := [row["wait_key"] for row in rows if row["wait_key"] is not None]):
            await tx.execute(NOT_AWAITED, keys=keys, ids=list(steps))
    if taken:
        await tx.execute(CANCEL, ids=sorted(taken), status=TaskStatus.FAILED, outcome=TaskOutcome.CANCELLED, now=tx.now)
        counts = Counter(steps[task_id] for task_id in taken)
        await settling.append(tx, {(job_id, step_id): Counter(cancelled=count) for step_id, count in counts.items()})
    return len(taken), False


async def _disown(tx: Tx, job_id: int, ids: set[int]) -> set[int]:
    """Take entries out of live claims: their workers will find that these are not theirs any more."""
    taken: set[int] = set()
    for row in await tx.fetch(CLAIMS):
        if all(entry.job_id != job_id for entry in queue.decode(row["entries"])):
            continue
        locked = await tx.first(settling.LOCKED, token=row["token"])
        if locked is not None:
            entries = queue.decode(locked["entries"])
            kept = [entry for entry in entries if entry.task_id not in ids]
            taken |= {entry.task_id for entry in entries} & ids
            await queue.keep(tx, row["token"], kept)
    return taken
