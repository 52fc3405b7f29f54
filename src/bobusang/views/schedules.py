"""Schedules: what they say, in words too, when they fire next, and what became of their last fires."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from sqlalchemy import Select, select

from bobusang.engine.calendar.cron_words import describe
from bobusang.engine.calendar.misfire import Decision, Misfire, Overlap
from bobusang.engine.calendar.timetable import Timetable, validate
from bobusang.engine.model import JobStatus, JobType, ScheduleType
from bobusang.engine.tables import crawl_targets, crawling_jobs, crawling_schedules, crawling_workflows, schedule_fires
from bobusang.kit.clock import utc
from bobusang.kit.db import Row, Tx
from bobusang.kit.errors import Missing
from bobusang.kit.sql import Statement
from bobusang.views.columns import below, document

NEXT = 5
LAST = 20

# From the twentieth fire on, by the primary key: a schedule of every minute has had very many.
LAST_OF_EACH = Statement(f"""
    select f.schedule_id, f.fire_at, f.decision, f.job_id, j.status
    from crawling_schedules s
    join schedule_fires f on f.schedule_id = s.id and f.fire_at >= coalesce(
      (select x.fire_at from schedule_fires x where x.schedule_id = s.id
       order by x.fire_at desc limit 1 offset {LAST - 1}), :ever)
    left join crawling_jobs j on j.id = f.job_id
    where s.id in (:ids...) order by f.schedule_id, f.fire_at desc""")
EVER = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """A cadence as people say it."""

    ko: str
    en: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleLine:
    """A schedule in a list."""

    id: int
    name: str
    workflow_id: int
    workflow: str
    target_id: int | None
    target: str | None
    schedule_type: ScheduleType
    cron: str | None
    timezone: str
    words: Words
    is_active: bool
    priority: int
    job_type: JobType
    misfire: Misfire
    overlap: Overlap
    next_run_at: datetime | None
    last_run_at: datetime | None
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Fire:
    """One instant that came, and what became of it."""

    fire_at: datetime
    decision: Decision
    job_id: int | None
    job_status: JobStatus | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleDetail(ScheduleLine):
    """A schedule with its next and its last fires."""

    input: Any
    misfire_window_seconds: int
    misfire_cap: int
    jitter_seconds: int
    interval_seconds: int | None
    min_interval_seconds: int | None
    max_interval_seconds: int | None
    next_fires: list[datetime]
    fires: list[Fire]


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """What a cron expression would mean."""

    words: Words
    fires: list[datetime]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleFilter:
    """Which schedules; what is not given does not matter."""

    workflow_id: int | None = None
    active: bool | None = None
    text: str | None = None
    """A part of the name."""
    ids: Sequence[int] | None = None


def _query() -> Select[Any]:
    table = crawling_schedules.c
    return (
        select(crawling_schedules, crawling_workflows.c.workflow_name, crawl_targets.c.target_key)
        .join(crawling_workflows, crawling_workflows.c.id == table.workflow_id)
        .outerjoin(crawl_targets, crawl_targets.c.id == table.target_id)
        .where(table.deleted_at.is_(None))
    )


async def listed(tx: Tx, wanted: ScheduleFilter, before: int | None, limit: int) -> list[ScheduleLine]:
    """Schedules, newest first."""
    table = crawling_schedules.c
    query = _query().where(*below(table.id, before))
    if wanted.workflow_id is not None:
        query = query.where(table.workflow_id == wanted.workflow_id)
    if wanted.active is not None:
        query = query.where(table.is_active.is_(wanted.active))
    if wanted.ids is not None:
        query = query.where(table.id.in_(wanted.ids))
    if wanted.text is not None:
        query = query.where(table.name.icontains(wanted.text, autoescape=True))
    return [ScheduleLine(**_line(row)) for row in await tx.fetch(query.order_by(table.id.desc()).limit(limit))]


async def one(tx: Tx, schedule_id: int) -> ScheduleDetail:
    """A schedule with its fires."""
    row = await tx.first(_query().where(crawling_schedules.c.id == schedule_id))
    if row is None:
        raise Missing(f"there is no schedule {schedule_id}", field="schedule_id")
    return ScheduleDetail(
        **_line(row),
        input=document(row["input"]) or {},
        misfire_window_seconds=row["misfire_window_s"],
        misfire_cap=row["misfire_cap"],
        jitter_seconds=row["jitter_s"],
        interval_seconds=row["interval_s"],
        min_interval_seconds=row["min_interval_s"],
        max_interval_seconds=row["max_interval_s"],
        next_fires=next_fires(row, NEXT),
        fires=await _fires(tx, schedule_id),
    )


def next_fires(row: Row, count: int) -> list[datetime]:
    """What is planned, then what the timetable says after it; of a DYNAMIC schedule only the plan is known."""
    return upcoming(ScheduleLine(**_line(row)), count)


def upcoming(line: ScheduleLine, count: int = NEXT) -> list[datetime]:
    """The same of a line of a list."""
    planned = line.next_run_at
    if planned is None or not line.is_active:
        return []
    if line.schedule_type is not ScheduleType.FIXED:
        return [planned]
    return [planned, *_walked(line.cron or "", line.timezone, count - 1, planned)]


@lru_cache(maxsize=1024)
def _walked(cron: str, zone: str, count: int, after: datetime) -> tuple[datetime, ...]:
    return Timetable(cron, zone).next_fires(count, after)


def preview(cron: str, zone: str, now: datetime) -> Preview:
    """What a cron expression would mean; Invalid says which part of it is wrong."""
    timetable = validate(cron, zone)
    words = Words(ko=describe(cron, "ko"), en=describe(cron, "en"))
    return Preview(words=words, fires=list(timetable.next_fires(NEXT, now)))


async def last_fires(tx: Tx, ids: Sequence[int]) -> dict[int, list[Fire]]:
    """The last twenty fires of each of these schedules, the newest first."""
    found: dict[int, list[Fire]] = {id: [] for id in ids}
    for row in await tx.fetch(LAST_OF_EACH, ids=list(ids), ever=EVER) if ids else ():
        found[row["schedule_id"]].append(_fire(row))
    return found


async def _fires(tx: Tx, schedule_id: int) -> list[Fire]:
    table = schedule_fires.c
    query = (
        select(schedule_fires, crawling_jobs.c.status)
        .outerjoin(crawling_jobs, crawling_jobs.c.id == table.job_id)
        .where(table.schedule_id == schedule_id)
        .order_by(table.fire_at.desc())
        .limit(LAST)
    )
    return [_fire(row) for row in await tx.fetch(query)]


def _fire(row: Row) -> Fire:
    return Fire(
        fire_at=utc(row["fire_at"]),
        decision=Decision(row["decision"]),
        job_id=row["job_id"],
        job_status=None if row["status"] is None else JobStatus(row["status"]),
    )


def _line(row: Row) -> dict[str, Any]:
    same = ("id", "name", "workflow_id", "target_id", "timezone", "priority")
    instants = ("next_run_at", "last_run_at", "created_at", "updated_at")
    return {
        **{name: row[name] for name in same},
        **{name: utc(row[name]) for name in instants},
        "workflow": row["workflow_name"],
        "target": row["target_key"],
        "schedule_type": ScheduleType(row["schedule_type"]),
        "cron": row["cron_expression"],
        "words": _words(row),
        "is_active": bool(row["is_active"]),
        "job_type": JobType(row["job_type"]),
        "misfire": Misfire(row["misfire"]),
        "overlap": Overlap(row["overlap"]),
    }


def _words(row: Row) -> Words:
    match ScheduleType(row["schedule_type"]):
        case ScheduleType.FIXED:
            cron = row["cron_expression"]
            return Words(ko=describe(cron, "ko"), en=describe(cron, "en"))
        case ScheduleType.DYNAMIC:
            minutes = (row["interval_s"] or 0) / 60
            return Words(ko=f"변화에 따라, 지금은 {minutes:g}분마다", en=f"by change, now every {minutes:g} minutes")
        case ScheduleType.MANUAL:
            return Words(ko="수동", en="by hand")
