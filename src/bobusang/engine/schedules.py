"""Schedules: FIXED by cron and zone, DYNAMIC by observed change, MANUAL by hand."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from sqlalchemy import insert, select, update

from bobusang.engine import firing
from bobusang.engine.books import PAYLOAD_LIMIT
from bobusang.engine.calendar.cadence import Bounds
from bobusang.engine.calendar.misfire import Misfire, Overlap
from bobusang.engine.calendar.timetable import Timetable, validate
from bobusang.engine.model import NORMAL_PRIORITY, PRIORITIES, JobType, ScheduleType
from bobusang.engine.tables import crawl_targets, crawling_schedules, crawling_workflows
from bobusang.kit import json
from bobusang.kit.errors import Conflict, Invalid, Missing

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from bobusang.engine.books import Books
    from bobusang.engine.hooks import Hooks
    from bobusang.kit.db import Row, Tx

SHORTEST = timedelta(minutes=5)
LONGEST = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class ScheduleSpec:
    """A schedule as it is asked for."""

    name: str
    workflow_id: int
    type: ScheduleType = ScheduleType.FIXED
    cron: str | None = None
    timezone: str = "UTC"
    target_id: int | None = None
    priority: int = NORMAL_PRIORITY
    misfire: Misfire = Misfire.ONCE
    misfire_window: timedelta = timedelta(days=1)
    misfire_cap: int = 10
    overlap: Overlap = Overlap.SKIP
    jitter: timedelta = timedelta()
    job_type: JobType = JobType.FULL
    input: Mapping[str, Any] = field(default_factory=dict)
    interval: timedelta | None = None
    min_interval: timedelta = SHORTEST
    max_interval: timedelta = LONGEST


async def create(tx: Tx, spec: ScheduleSpec) -> int:
    """Store a schedule; it first fires at its next instant."""
    await _check(tx, spec)
    await _must_be_free(tx, spec.name)
    values = _columns(spec)
    created = {"is_active": True, "next_run_at": _first(spec, tx.now), "created_at": tx.now, "updated_at": tx.now}
    return await tx.create(insert(crawling_schedules).values(**values, **created))


async def change(tx: Tx, schedule_id: int, spec: ScheduleSpec) -> None:
    """Replace what a schedule says. A fire that is planned stays planned: the change counts from then on."""
    row = await get(tx, schedule_id)
    await _check(tx, spec)
    await _must_be_free(tx, spec.name, besides=schedule_id)
    keeps = row["next_run_at"] is not None and row["schedule_type"] == spec.type and row["is_active"]
    values = _columns(spec) | {"updated_at": tx.now}
    if not keeps and row["is_active"]:
        values["next_run_at"] = _first(spec, tx.now)
    await tx.execute(update(crawling_schedules).where(crawling_schedules.c.id == schedule_id).values(**values))


async def _must_be_free(tx: Tx, name: str, besides: int = 0) -> None:
    table = crawling_schedules.c
    if await tx.first(select(table.id).where(table.live_name == name, table.id != besides)) is not None:
        raise Conflict(
            f"there is a schedule '{name}' already", hint="choose another name or edit that one", field="name"
        )


async def pause(tx: Tx, schedule_id: int) -> None:
    """Fire no more until resumed."""
    await get(tx, schedule_id)
    await _set(tx, schedule_id, is_active=False)


async def resume(tx: Tx, schedule_id: int) -> None:
    """Fire again from the next instant on; what was missed while paused is not made up for."""
    row = await get(tx, schedule_id)
    if row["is_active"]:
        raise Conflict(f"schedule '{row['name']}' is not paused")
    await _set(tx, schedule_id, is_active=True, next_run_at=_first(spec_of(row), tx.now))


async def delete(tx: Tx, schedule_id: int) -> None:
    """Take a schedule away; its jobs stay, and its name is free again."""
    await get(tx, schedule_id)
    await _set(tx, schedule_id, is_active=False, deleted_at=tx.now, live_name=None, next_run_at=None)


async def run_now(tx: Tx, books: Books, hooks: Hooks, schedule_id: int) -> int | None:
    """Fire once by hand, within the overlap policy; the job's id, or None when the policy says no."""
    row = await get(tx, schedule_id)
    job_id = await firing.fire_one(tx, books, hooks, row, tx.now)
    if job_id is not None:
        await _set(tx, schedule_id, last_run_at=tx.now)
    return job_id


async def get(tx: Tx, schedule_id: int) -> Row:
    """A schedule that is not deleted."""
    table = crawling_schedules
    row = await tx.first(select(table).where(table.c.id == schedule_id, table.c.deleted_at.is_(None)))
    if row is None:
        raise Missing(f"there is no schedule {schedule_id}", hint="`bobusang schedule list` shows them")
    return row


def next_fires(row: Row, count: int, after: datetime) -> tuple[datetime, ...]:
    """The next instants of a FIXED schedule, the first one as it is planned."""
    if not row["is_active"] or row["schedule_type"] != ScheduleType.FIXED:
        return ()
    return Timetable(row["cron_expression"], row["timezone"]).next_fires(count, after)


def _first(spec: ScheduleSpec, now: datetime) -> datetime | None:
    match spec.type:
        case ScheduleType.FIXED:
            return Timetable(spec.cron or "", spec.timezone).after(now)
        case ScheduleType.DYNAMIC:
            return now + (spec.interval or spec.min_interval)
        case ScheduleType.MANUAL:
            return None


async def _check(tx: Tx, spec: ScheduleSpec) -> None:
    if not 1 <= len(spec.name) <= 100 or "\0" in spec.name:
        raise Invalid("a schedule's name has 1 to 100 characters", field="name")
    if spec.priority not in PRIORITIES:
        raise Invalid(f"priority {spec.priority} is not between 1 and 10", hint="10 is most urgent", field="priority")
    if spec.misfire_cap < 1 or spec.misfire_window <= timedelta() or spec.jitter < timedelta():
        raise Invalid("misfire_cap and misfire_window must be positive, jitter not negative", field="misfire_cap")
    if spec.type is ScheduleType.FIXED:
        if not spec.cron:
            raise Invalid("a FIXED schedule needs a cron expression", hint="like '0 3 * * *'", field="cron")
        validate(spec.cron, spec.timezone)
    if spec.type is ScheduleType.DYNAMIC:
        Bounds(spec.min_interval, spec.max_interval)
    workflows, targets = crawling_workflows, crawl_targets
    if await tx.first(select(workflows.c.id).where(workflows.c.id == spec.workflow_id)) is None:
        raise Missing(f"there is no workflow {spec.workflow_id}", field="workflow_id")
    if spec.target_id is not None and not await tx.first(select(targets.c.id).where(targets.c.id == spec.target_id)):
        raise Missing(f"there is no target {spec.target_id}", field="target_id")


def _columns(spec: ScheduleSpec) -> dict[str, Any]:
    interval = spec.interval or spec.min_interval
    return {
        "workflow_id": spec.workflow_id,
        "target_id": spec.target_id,
        "schedule_type": spec.type.value,
        "cron_expression": spec.cron,
        "priority": spec.priority,
        "name": spec.name,
        "live_name": spec.name,
        "timezone": spec.timezone,
        "misfire": spec.misfire.value,
        "misfire_window_s": int(spec.misfire_window.total_seconds()),
        "misfire_cap": spec.misfire_cap,
        "overlap": spec.overlap.value,
        "jitter_s": int(spec.jitter.total_seconds()),
        "job_type": spec.job_type.value,
        "input": json.payload(dict(spec.input), limit=PAYLOAD_LIMIT, name="input") if spec.input else None,
        "interval_s": int(interval.total_seconds()),
        "min_interval_s": int(spec.min_interval.total_seconds()),
        "max_interval_s": int(spec.max_interval.total_seconds()),
    }


def spec_of(row: Row) -> ScheduleSpec:
    """What a stored schedule says."""
    return ScheduleSpec(
        name=row["name"],
        workflow_id=row["workflow_id"],
        type=ScheduleType(row["schedule_type"]),
        cron=row["cron_expression"],
        timezone=row["timezone"],
        target_id=row["target_id"],
        priority=row["priority"],
        misfire=Misfire(row["misfire"]),
        misfire_window=timedelta(seconds=row["misfire_window_s"]),
        misfire_cap=row["misfire_cap"],
        overlap=Overlap(row["overlap"]),
        jitter=timedelta(seconds=row["jitter_s"]),
        job_type=JobType(row["job_type"]),
        input=json.loads(row["input"]) if row["input"] else {},
        interval=timedelta(seconds=row["interval_s"]),
        min_interval=timedelta(seconds=row["min_interval_s"]),
        max_interval=timedelta(seconds=row["max_interval_s"]),
    )


async def _set(tx: Tx, schedule_id: int, **values: Any) -> None:
    table = crawling_schedules
    await tx.execute(update(table).where(table.c.id == schedule_id).values(**values, updated_at=tx.now))
