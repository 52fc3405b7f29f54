"""Barriers: what waits until all earlier tasks are over, opened when they are, and shut again when one is run again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bobusang.engine import queue
from bobusang.engine.model import HeldReason, StepMode, due
from bobusang.engine.waiting import entry_of
from bobusang.kit.sql import Statement

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from bobusang.engine.model import Run, Step
    from bobusang.kit.db import Tx

AT_ONCE = 1_000

HELD = Statement("""
    select task_id, job_id, lane, queue, priority, attempt, dispatches from queue_held
    where job_id = :job_id and reason = :reason and step_id in (:steps...) limit :limit""")
UNHOLD = Statement("delete from queue_held where task_id in (:ids...)")
GATHERING = Statement("""
    select id, step_id from tasks
    where job_id = :job_id and step_id in (:steps...) and status in ('PENDING', 'RETRYING')""")
# Whoever deletes an entry's row owns the entry.
TAKE = tuple(
    Statement(f"""
      delete from {table} where task_id in (:ids...)
      returning task_id, job_id, lane, queue, priority, attempt, dispatches""")
    for table in ("queue_ready", "queue_delayed")
)


def is_behind(run: Run, step: Step) -> bool:
    """Whether a barrier stands before this step."""
    return any(before.mode is StepMode.BARRIER for before in run.plan.steps[: step.order - 1])


async def open_after(tx: Tx, run: Run, barrier: Step) -> None:
    """Make runnable what waits for this barrier: the steps up to and including the next one."""
    await release(tx, run, _behind(run, barrier))


def _behind(run: Run, barrier: Step) -> Iterator[Step]:
    for step in run.plan.steps[barrier.order :]:
        yield step
        if step.mode is StepMode.BARRIER:
            return


async def release(tx: Tx, run: Run, steps: Iterable[Step]) -> None:
    """Make runnable what these steps were held back."""
    waiting = [step.id for step in steps]
    while rows := await tx.fetch(HELD, job_id=run.job_id, reason=HeldReason.BARRIER, steps=waiting, limit=AT_ONCE):
        await tx.execute(UNHOLD, ids=[row["task_id"] for row in rows])
        await queue.put(tx, [entry_of(row, due(tx.now, row["queue"], row["priority"])) for row in rows])


async def shut_behind(tx: Tx, run: Run, step: Step) -> None:
    """Hold back again what gathers the results of this step or a later one: some of them are not there yet.

    What only follows a barrier goes on: each such task is one of many, and stands on what it was given.
    """
    steps = [later.id for later in run.plan.steps[step.order :] if later.gather]
    found = await tx.fetch(GATHERING, job_id=run.job_id, steps=steps) if steps else ()
    places = {row["id"]: row["step_id"] for row in found}
    for take in TAKE if places else ():
        rows = await tx.fetch(take, ids=sorted(places))
        await queue.hold(
            tx, [(entry_of(row, 0), places[row["task_id"]], HeldReason.BARRIER, None, None) for row in rows]
        )
