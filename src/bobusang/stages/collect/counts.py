"""Counts of what was fetched: appended by every batch, summed by day, source, target and endpoint, folded when old."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from bobusang.kit.sql import Bulk, Statement
from bobusang.stages.collect.tables import fetch_counts

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date, datetime

    from bobusang.kit.db import Row, Tx

ROWS_AT_ONCE = 5_000


@dataclass(frozen=True, slots=True)
class Counts:
    """What came of some fetches. Retried and throttled ones are neither success nor failure yet."""

    success: int = 0
    failure: int = 0
    retries: int = 0
    throttled: int = 0
    not_modified: int = 0
    items: int = 0
    changed: int = 0
    bytes: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(*(getattr(self, name) + getattr(other, name) for name in NAMES))


@dataclass(frozen=True, slots=True)
class Place:
    """What was fetched: one endpoint of a source for a target; `job_id` None: of all runs of that day."""

    source: str
    target: str
    endpoint: str
    job_id: int | None = None


@dataclass(frozen=True, slots=True)
class Daily:
    """The counts of one day."""

    day: str
    place: Place
    counts: Counts


NAMES = tuple(one.name for one in fields(Counts))
_SUMS = ", ".join(f"sum({name}) as {name}" for name in NAMES)
_ROWS = Bulk(fetch_counts, ("at", "day", "source", "target", "endpoint", "job_id", *NAMES))

DAILY = Statement(f"""
    select day, source, target, endpoint, {_SUMS} from fetch_counts
    where day >= :since and day <= :until and (:source = '' or source = :source) and (:target = '' or target = :target)
    group by day, source, target, endpoint order by day, source, target, endpoint""")
OF_JOB = Statement(f"select endpoint, {_SUMS} from fetch_counts where job_id = :job_id group by endpoint")
_OLD = """
    select id, day, source, target, endpoint, {names} from fetch_counts
    where day < :before and job_id is not null order by day, source, target, endpoint limit :limit"""
OLD = Statement(_OLD.format(names=", ".join(NAMES)) + " for update", sqlite=_OLD.format(names=", ".join(NAMES)))
DROP = Statement("delete from fetch_counts where id in (:ids...)")


async def add(tx: Tx, counted: Sequence[tuple[Place, Counts]], *, zone: str = "Asia/Seoul") -> None:
    """Append counts; the day is that of the source's own zone. Also for what came to nothing: failures, throttling."""
    day = day_of(tx.now, zone)
    await tx.insert(_ROWS, [_row(tx.now, day, place, counts) for place, counts in counted])


async def daily(tx: Tx, since: date, until: date, *, source: str = "", target: str = "") -> list[Daily]:
    """Sums by day, source, target and endpoint, from one day to another, both included."""
    rows = await tx.fetch(DAILY, since=since.isoformat(), until=until.isoformat(), source=source, target=target)
    return [Daily(row["day"], Place(row["source"], row["target"], row["endpoint"]), _counts(row)) for row in rows]


async def of_job(tx: Tx, job_id: int) -> dict[str, Counts]:
    """The counts of one run so far, by endpoint; folded away some days after its end."""
    return {row["endpoint"]: _counts(row) for row in await tx.fetch(OF_JOB, job_id=job_id)}


async def fold(tx: Tx, before: date) -> int:
    """Replace rows of the days before by their sums, in one bounded pass; how many rows went."""
    rows = await tx.fetch(OLD, before=before.isoformat(), limit=ROWS_AT_ONCE)
    if not rows:
        return 0
    sums: dict[tuple[str, Place], Counts] = {}
    for row in rows:
        at = row["day"], Place(row["source"], row["target"], row["endpoint"])
        sums[at] = sums.get(at, Counts()) + _counts(row)
    await tx.execute(DROP, ids=[row["id"] for row in rows])
    await tx.insert(_ROWS, [_row(tx.now, day, place, counts) for (day, place), counts in sums.items()])
    return len(rows)


def day_of(now: datetime, zone: str) -> str:
    """The day that it is in a zone."""
    return now.astimezone(ZoneInfo(zone)).date().isoformat()


def _row(now: datetime, day: str, place: Place, counts: Counts) -> tuple[object, ...]:
    numbers = (getattr(counts, name) for name in NAMES)
    return now, day, place.source, place.target, place.endpoint, place.job_id, *numbers


def _counts(row: Row) -> Counts:
    return Counts(*(int(row[name]) for name in NAMES))
