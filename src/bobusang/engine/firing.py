"""Firing schedules: which instants are due, each of them once, and what becomes of one that overlaps."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from bobusang.engine import control, jobs
from bobusang.engine.calendar import misfire
from bobusang.engine.calendar.cadence import Bounds, jitter, next_instant, next_interval
from bobusang.engine.calendar.misfire import Decision, Due, Misfire, Overlap
from bobusang.engine.calendar.timetable import Timetable
from bobusang.engine.jobs import NewJob
from bobusang.engine.model import DependencyType, JobType, ScheduleType
from bobusang.engine.tables import schedule_fires
from bobusang.kit import json
from bobusang.kit.clock import utc
from bobusang.kit.errors import Conflict
from bobusang.kit.sql import Bulk, Statement

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from bobusang.engine.books import Books
    from bobusang.engine.hooks import Hooks, JobMoved
    from bobusang.kit.db import Row, Tx

_DUE = "is_active = true and deleted_at is null and next_run_at <= :now"
DUE = Statement(f"""
    select id from crawling_schedules where {_DUE} order by priority desc, next_run_at, id limit 50""")
ONE = Statement(
    f"select * from crawling_schedules where id = :id and {_DUE} for update skip locked",
    sqlite=f"select * from crawling_schedules where id = :id and {_DUE}",
)
FIRE = Bulk(schedule_fires, ("schedule_id", "fire_at", "decision", "job_id", "created_at"), keep=True)
FIRED = Statement("""
    update schedule_fires set decision = :decision, job_id = :job_id
    where schedule_id = :schedule_id and fire_at = :fire_at""")
MOVE = Statement("""
    update crawling_schedules set last_run_at = coalesce(:last_run_at, last_run_at), next_run_at = :next_run_at,
      previous_fire_at = :previous where id = :id""")
LIVE = Statement("""
    select id, status from crawling_jobs where schedule_id = :id and status in ('PENDING', 'RUNNING') order by id""")
OBSERVED = Statement("""
    select s.id, s.interval_s, s.min_interval_s, s.max_interval_s, e.context
    from crawling_schedules s join crawling_jobs j on j.schedule_id = s.id
    join workflow_executions e on e.job_id = j.id where j.id = :job_id and s.schedule_type = 'DYNAMIC'""")
INTERVAL = Statement("update crawling_schedules set interval_s = :interval_s where id = :id")


def planned(row: Mapping[str, Any] | Row, now: datetime) -> Due:
    """The fires of a schedule that are due, and when it is due next. Pure.

    The instant that was planned fires even when the cadence has changed since: a change counts from the next fire.
    """
    promised = utc(row["next_run_at"])
    if ScheduleType(row["schedule_type"]) is ScheduleType.DYNAMIC:
        interval = timedelta(seconds=row["interval_s"])
        base = promised if now - promised <= interval else now
        return Due((promised,), 0, next_instant(base, interval, f"schedule:{row['id']}"))
    timetable = Timetable(row["cron_expression"], row["timezone"])
    policy, window = Misfire(row["misfire"]), timedelta(seconds=row["misfire_window_s"])
    found = misfire.due(timetable, promised, now, policy, window, row["misfire_cap"])
    wanted = {
        Misfire.ONCE: not found.fires,
        Misfire.SKIP: now - promised <= misfire.GRACE,
        Misfire.ALL: now - promised <= window and len(found.fires) < row["misfire_cap"],
    }
    if wanted[policy]:
        return replace(found, fires=(promised, *found.fires))
    return replace(found, skipped=found.skipped + 1)


async def due(tx: Tx) -> list[int]:
    """The schedules whose time has come."""
    return [row["id"] for row in await tx.fetch(DUE, now=tx.now)]


async def fire(tx: Tx, books: Books, hooks: Hooks, schedule_id: int) -> int:
    """Fire what is due of a schedule, unless somebody else does so now; how many jobs came of it."""
    row = await tx.first(ONE, id=schedule_id, now=tx.now)
    if row is None:
        return 0
    made, now = 0, planned(row, tx.now)
    for instant in now.fires:
        made += await fire_one(tx, books, hooks, row, instant) is not None
    await _move(tx, row, now)
    return made


async def pass_over(tx: Tx, schedule_id: int) -> None:
    """Put what is due of a schedule on record as skipped, because firing it is refused."""
    row = await tx.first(ONE, id=schedule_id, now=tx.now)
    if row is not None:
        now = planned(row, tx.now)
        await tx.insert(FIRE, [(row["id"], instant, Decision.SKIP.value, None, tx.now) for instant in now.fires])
        await _move(tx, row, now)


async def _move(tx: Tx, row: Row, now: Due) -> None:
    await tx.execute(
        MOVE,
        id=row["id"],
        last_run_at=tx.now if now.fires else None,
        next_run_at=now.next,
        previous=now.fires[-1] if now.fires else utc(row["previous_fire_at"]),
    )


async def fire_one(tx: Tx, books: Books, hooks: Hooks, row: Row, instant: datetime) -> int | None:
    """Fire one instant of a schedule, unless it was fired before: the unique row decides, whoever else tries."""
    if not await tx.insert(FIRE, [(row["id"], instant, Decision.SKIP.value, None, tx.now)]):
        return None
    live = await tx.fetch(LIVE, id=row["id"])
    running = sum(1 for job in live if job["status"] == "RUNNING")
    decision = misfire.overlap(Overlap(row["overlap"]), running, len(live) - running)
    new = NewJob(
        workflow_id=row["workflow_id"],
        target_id=row["target_id"],
        job_type=JobType(row["job_type"]),
        input=json.loads(row["input"]) if row["input"] else {},
        key=f"schedule:{row['id']}:{instant.isoformat()}",
        priority=row["priority"],
        schedule_id=row["id"],
        scheduled_at=instant + jitter(f"schedule:{row['id']}", instant, timedelta(seconds=row["jitter_s"])),
    )
    match decision:
        case Decision.SKIP:
            return None
        case Decision.CANCEL_THEN_START:
            for job in live:
                await control.cancel(tx, books, hooks, job["id"])
        case Decision.BUFFER:
            new = replace(new, after=[(job["id"], DependencyType.FINISH) for job in live])
        case Decision.START:
            pass
    try:
        job_id, _ = await jobs.create(tx, books, hooks, new)
    except Conflict:  # the workflow was switched off: the fire is on record, nothing runs
        return None
    await tx.execute(FIRED, schedule_id=row["id"], fire_at=instant, decision=decision, job_id=job_id)
    return job_id


async def learn(tx: Tx, moved: JobMoved) -> None:
    """A DYNAMIC schedule learns from what its job saw: the context's `observed: {seen, changed}`."""
    if not moved.status.ended:
        return
    row = await tx.first(OBSERVED, job_id=moved.run.job_id)
    if row is None or not row["context"]:
        return
    match json.loads(row["context"]):
        case {"observed": {"seen": int(seen), "changed": int(changed)}} if 0 <= changed <= seen:
            pass
        case _:  # what a handler says may be anything, and must not keep its job from ending
            return
    bounds = Bounds(timedelta(seconds=row["min_interval_s"]), timedelta(seconds=row["max_interval_s"]))
    interval = next_interval(timedelta(seconds=row["interval_s"]), seen, changed, bounds)
    await tx.execute(INTERVAL, id=row["id"], interval_s=int(interval.total_seconds()))
