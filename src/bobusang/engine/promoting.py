"""Promoting what has become runnable: delayed entries whose time has come, and waits that nobody ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bobusang.engine import queue
from bobusang.engine.model import HeldReason, due
from bobusang.engine.waiting import entry_of
from bobusang.kit.clock import utc
from bobusang.kit.errors import Conflict
from bobusang.kit.sql import Statement

if TYPE_CHECKING:
    from bobusang.kit.db import Tx

AT_ONCE = 1000

_COLUMNS = "task_id, job_id, lane, queue, priority, attempt, dispatches"
DELAYED = Statement(
    f"""select {_COLUMNS}, run_at from queue_delayed where run_at <= :now
    order by run_at, task_id limit :limit for update skip locked""",
    sqlite=f"select {_COLUMNS}, run_at from queue_delayed where run_at <= :now order by run_at, task_id limit :limit",
)
UNDELAY = Statement("delete from queue_delayed where task_id in (:ids...)")
OVERSLEPT = Statement(
    f"""select {_COLUMNS}, until as run_at, wait_key from queue_held where until <= :now and reason = :reason
    order by until limit :limit for update skip locked""",
    sqlite=f"""select {_COLUMNS}, until as run_at, wait_key from queue_held where until <= :now and reason = :reason
    order by until limit :limit""",
)
UNHOLD = Statement("delete from queue_held where task_id in (:ids...)")
UNWAIT = Statement("""
    delete from waits where wait_key in (:keys...) and task_id in (:ids...) and signalled_at is null""")
HASTEN = Statement(f"delete from queue_delayed where task_id = :id returning {_COLUMNS}")
NEXT = Statement("select min(run_at) as value from queue_delayed")


async def promote(tx: Tx) -> int:
    """Move one bounded batch to ready; how many."""
    await tx.walk()
    delayed = await tx.fetch(DELAYED, now=tx.now, limit=AT_ONCE)
    if delayed:
        await tx.execute(UNDELAY, ids=[row["task_id"] for row in delayed])
    asleep = await tx.fetch(OVERSLEPT, now=tx.now, reason=HeldReason.WAIT, limit=AT_ONCE)
    if asleep:
        ids = [row["task_id"] for row in asleep]
        await tx.execute(UNHOLD, ids=ids)
        await tx.execute(UNWAIT, keys=[row["wait_key"] for row in asleep], ids=ids)
    rows = [*delayed, *asleep]
    await queue.put(tx, [entry_of(row, due(utc(row["run_at"]), row["queue"], row["priority"])) for row in rows])
    return len(rows)


async def hasten(tx: Tx, task_id: int) -> None:
    """Let a task that waits for its time, or for its next attempt, run now."""
    row = await tx.first(HASTEN, id=task_id)
    if row is None:
        raise Conflict(f"task {task_id} is not delayed", hint="only what waits for its time can run before it")
    await queue.put(tx, [entry_of(row, due(tx.now, row["queue"], row["priority"]))])
