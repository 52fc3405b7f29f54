"""Making tasks: rows, queue entries and counters for new tasks, once for each key."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bobusang.engine import budgets, queue
from bobusang.engine.model import Entry, HeldReason, NewTask, Run, Step, StepMode, StepType, TaskStatus, due
from bobusang.engine.tables import tasks
from bobusang.kit import json
from bobusang.kit.errors import Invalid
from bobusang.kit.sql import Bulk, Statement

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from bobusang.engine.books import Books
    from bobusang.kit.db import Tx

ROWS = Bulk(
    tasks,
    (
        "id",
        "job_id",
        "step_id",
        "task_key",
        "target_url",
        "task_type",
        "status",
        "sequence_number",
        "pool",
        "input_data",
        "created_at",
        "updated_at",
    ),
    keep=True,
)
MOST = Statement("select max_parallel_tasks as value from parallel_execution_config where workflow_id = :id")
SURVIVORS = Statement("select id from tasks where id in (:ids...)")

URL_LIMIT = 1000
KEY_LIMIT = 200
POOL_LIMIT = 100


@dataclass(frozen=True, slots=True)
class Draft:
    """A task that is ready to be written: mapped, encoded, checked."""

    run: Run
    step: Step
    key: str
    url: str | None
    input: str | None
    pool: str
    priority: int
    after: datetime | None
    sequence: int
    barrier: bool
    """Whether it waits until an earlier step is over."""


def draft(
    run: Run, step: Step, new: NewTask, *, key: str, limit: int, sequence: int = 0, maker: Step | None = None
) -> Draft:
    """Map and check one new task (pure, outside any transaction). `maker` is the step whose task asks for it."""
    value = new.input
    if step.input is not None and not new.raw:
        value = step.input.apply(scope(run, step, value))
    text = None if value is None else json.payload(value, limit=limit, name="input")
    return Draft(
        run=run,
        step=step,
        key=bounded(new.key or key, KEY_LIMIT, "key"),
        url=bounded(new.url, URL_LIMIT, "url") or None,
        input=text,
        pool=bounded(new.pool, POOL_LIMIT, "pool"),
        priority=new.priority or run.priority,
        after=new.after,
        sequence=sequence,
        barrier=maker is not None
        and any(s.mode is StepMode.BARRIER for s in run.plan.steps[maker.order - 1 : step.order - 1]),
    )


def scope(run: Run, step: Step, value: Any, results: Any = None) -> dict[str, Any]:
    """What a mapping's paths may start from."""
    job = {"id": run.job_id, "type": run.job_type, "input": run.input, "workflow": run.plan.name}
    return {"$": value, "job": job, "target": run.target, "config": step.config, "results": results}


def bounded(text: str, limit: int, name: str) -> str:
    """A text that a column of this width can keep."""
    if len(text) > limit:
        raise Invalid(f"{name} has {len(text)} characters, at most {limit} are allowed", field=name)
    if "\0" in text:
        raise Invalid(f"{name} contains a NUL character", field=name)
    try:
        text.isascii() or text.encode()
    except UnicodeEncodeError as error:
        raise Invalid(f"{name} contains half a surrogate pair", field=name) from error
    return text


async def make(tx: Tx, books: Books, drafts: Sequence[Draft]) -> Counter[tuple[int, int]]:
    """Write tasks and their entries; how many were new for each (job, step)."""
    if not drafts:
        return Counter()
    ids = await books.task_ids.take(tx, len(drafts))
    now = tx.now
    rows = [
        (
            task_id,
            d.run.job_id,
            d.step.id,
            d.key,
            d.url,
            d.step.type,
            TaskStatus.PENDING,
            d.sequence,
            d.pool or None,
            d.input,
            now,
            now,
        )
        for task_id, d in zip(ids, drafts, strict=True)
    ]
    made = await tx.insert(ROWS, rows)
    pairs = list(zip(ids, drafts, strict=True))
    if made < len(drafts):
        there = {row["id"] for row in await tx.fetch(SURVIVORS, ids=ids)}
        pairs = [(task_id, d) for task_id, d in pairs if task_id in there]
    await _enter(tx, books, pairs)
    return Counter((d.run.job_id, d.step.id) for _, d in pairs)


async def _enter(tx: Tx, books: Books, pairs: Sequence[tuple[int, Draft]]) -> None:
    """Queue entries for tasks just made."""
    ready: list[Entry] = []
    delayed: list[tuple[Entry, datetime, str | None]] = []
    held: list[tuple[Entry, int, HeldReason, str | None, datetime | None]] = []
    known: dict[tuple[int, int, str], int] = {}
    for task_id, d in pairs:
        wanted = (d.run.job_id, d.step.id, d.pool)
        lane = known.get(wanted)
        if lane is None:
            lane = known[wanted] = await lane_of(tx, books, d.run, d.step, d.pool)
        kind = d.run.queue if d.step.queue is None else d.step.queue
        entry = Entry(task_id, d.run.job_id, lane, due(d.after or tx.now, kind, d.priority), kind, d.priority, 0, 0)
        if d.barrier:
            held.append((entry, d.step.id, HeldReason.BARRIER, None, None))
        elif d.after is not None and d.after > tx.now:
            delayed.append((entry, d.after, None))
        else:
            ready.append(entry)
    await queue.put(tx, ready)
    await queue.delay(tx, delayed)
    await queue.hold(tx, held)


async def lane_of(tx: Tx, books: Books, run: Run, step: Step, pool: str = "") -> int:
    """The lane a step's tasks go to: all the pools that have a say, and the job where it has limits of its own."""
    pools = [*pool.split(","), step.pool, run.pool]
    if run.limited:
        pools.append(job_pool(run.job_id, step.type))
    return await books.lanes.get(tx, step.handler, run.job_id if run.limited else 0, pools)


async def limit(tx: Tx, run: Run) -> None:
    """The budgets of a job whose workflow limits its parallel tasks."""
    if not run.limited:
        return
    most = await tx.value(MOST, id=run.plan.workflow_id)
    for kind in (StepType.FETCH, StepType.STORE):
        pool = job_pool(run.job_id, kind)
        await budgets.set_budget(tx, pool, max_in_flight=most, counts_batches=kind is not StepType.FETCH)


def job_pool(job_id: int, kind: StepType) -> str:
    """The pool that keeps a job within its parallel tasks: fetches are counted one by one, other work by the batch."""
    return f"job:{job_id}:{'fetch' if kind is StepType.FETCH else 'work'}"
