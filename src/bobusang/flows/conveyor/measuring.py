"""What the belt did, minute by minute: products through each stage, jobs that ended, and what went wrong."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from bobusang.engine import history
from bobusang.engine.upkeep.duty import Duty
from bobusang.flows.conveyor import rules
from bobusang.kit.clock import utc
from bobusang.kit.sql import Statement

if TYPE_CHECKING:
    from bobusang.engine.service import Engine
    from bobusang.kit.db import Tx

EVERY = timedelta(seconds=20)
"""Several times a minute: what ran while nobody measured is told of all minutes since, so less is then blurred."""
SETTLED = timedelta(seconds=5)
"""What is written down now may say that it happened some seconds ago: so much is left to the next time."""
THROUGHPUT, JOBS, FAILURES, COUNTED = "throughput", "jobs", "failures", "counted"

BATCHES = Statement("""
    select batch_id, start_time from pipeline_batches
    where start_time >= :oldest and (status = 'RUNNING' or end_time >= :since)""")
ITEMS = Statement("""
    select p.batch_id, s.step_name, sum(c.succeeded) as items
    from (select distinct batch_id, job_id from pipeline_control where batch_id in (:batches...)) p
      join job_steps c on c.job_id = p.job_id join workflow_steps s on s.id = c.step_id
    where s.step_name in (:steps...) group by p.batch_id, s.step_name""")
SEEN = Statement("select label, value from engine_history where name = :name and label in (:labels...)")
FORGET_SEEN = Statement("delete from engine_history where name = :name and label in (:labels...)")
NOTE = Statement("insert into engine_history (name, label, at, value) values (:name, :label, :at, :value)")
ENDED = Statement("""
    select status, count(*) as times from crawling_jobs where completed_at > :since and completed_at <= :until
    group by status""")
WRONG = Statement("""
    select reason_class, count(*) as times from task_attempts
    where ended_at > :since and ended_at <= :until and reason_class is not null group by reason_class""")


def measure(engine: Engine) -> Duty:
    """Three times a minute, into the minute's own row."""

    async def run() -> int:
        await engine.db.transact(measured)
        return 0

    return Duty("history", EVERY, run)


async def measured(tx: Tx) -> None:
    """Store what happened since the last time, and forget what is too old."""
    last, until = await history.last(tx), tx.now - SETTLED
    since = last or until - history.MINUTE
    if until <= since:
        return
    await history.add(tx, THROUGHPUT, await _through(tx, since), since, until)
    ended = {row["status"]: row["times"] for row in await tx.fetch(ENDED, since=since, until=until)}
    await history.add(tx, JOBS, ended, since, until)
    wrong = {row["reason_class"]: row["times"] for row in await tx.fetch(WRONG, since=since, until=until)}
    await history.add(tx, FAILURES, wrong, since, until)
    await history.move_on(tx, until)
    await history.forget(tx)


async def _through(tx: Tx, since: datetime) -> dict[str, int]:
    """Products by stage: what the engine counts of each batch, less what was counted of it before. That stands beside
    the figures, at the time its batch began, and is forgotten with them."""
    oldest = tx.now - history.KEEP
    # A fold may be behind what ended: a batch is looked at once more after its end.
    rows = await tx.fetch(BATCHES, oldest=oldest, since=since - EVERY)
    began = {row["batch_id"]: utc(row["start_time"]) for row in rows}
    if not began:
        return {}
    stage_of = {step: stage for stage, step in rules.COUNTED.items()}
    counts: dict[str, int] = {}
    for row in await tx.fetch(ITEMS, batches=sorted(began), steps=sorted(stage_of)):
        label = f"{row['batch_id']}:{stage_of[row['step_name']]}"
        counts[label] = counts.get(label, 0) + int(row["items"])
    seen = {row["label"]: int(row["value"]) for row in await tx.fetch(SEEN, name=COUNTED, labels=sorted(counts))}
    moved = {label: count for label, count in counts.items() if count != seen.get(label, 0)}
    await tx.execute(FORGET_SEEN, name=COUNTED, labels=sorted(moved))
    notes = [
        {"name": COUNTED, "label": label, "at": began[label.partition(":")[0]], "value": float(count)}
        for label, count in sorted(moved.items())
    ]
    await tx.execute_each(NOTE, notes)
    found: dict[str, int] = {}
    for label, count in moved.items():  # a brand that was given a new job begins anew, and takes nothing back
        stage = label.partition(":")[2]
        found[stage] = found.get(stage, 0) + max(0, count - seen.get(label, 0))
    return found
