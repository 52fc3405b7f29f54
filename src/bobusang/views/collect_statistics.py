"""What was fetched: by day, source, target and endpoint; and the growing sums that metrics are made of."""

from dataclasses import dataclass, fields
from datetime import date, datetime

from bobusang.kit.db import Row, Tx
from bobusang.kit.sql import Statement
from bobusang.stages.collect.counts import NAMES, Counts

_SUMS = ", ".join(f"sum({name}) as {name}" for name in NAMES)
_DAYS = f"""
    select day, source, target, endpoint, {_SUMS} from fetch_counts
    where day >= :since and day <= :until
      and (:source = '' or source = :source) and (:target = '' or target = :target)"""
_GROUPED = """
    group by day, source, target, endpoint order by day desc, source, target, endpoint limit :limit"""
DAYS = Statement(_DAYS + _GROUPED)
DAYS_AFTER = Statement(f"""{_DAYS}
      and (day < :day or day = :day and (source, target, endpoint) > (:after_source, :after_target, :after_endpoint))
    {_GROUPED}""")
SETTLED = Statement("select max(id) as value from fetch_counts where id > :after and at <= :before")
# Folding replaces rows by their sums, which are of no job: what was counted once must not be counted again.
TOTALS = Statement(f"""
    select source, endpoint, {_SUMS} from fetch_counts where id <= :upto group by source, endpoint""")
TOTALS_SINCE = Statement(f"""
    select source, endpoint, {_SUMS} from fetch_counts where id > :after and id <= :upto and job_id is not null
    group by source, endpoint""")

Sums = dict[tuple[str, str], Counts]


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchDay:
    """One endpoint for one target on one day (of the source's own zone)."""

    day: date
    source: str
    target: str
    endpoint: str
    success: int
    failure: int
    retries: int
    throttled: int
    not_modified: int
    """Of the successes: the server said 304."""
    items: int
    changed: int
    bytes: int
    success_rate: float | None
    """Of the requests that are over; None: none is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchFilter:
    """Which days, both included; what is empty does not matter."""

    since: date
    until: date
    source: str = ""
    target: str = ""


async def days(tx: Tx, wanted: FetchFilter, after: tuple[str, str, str, str] | None, limit: int) -> list[FetchDay]:
    """The newest day first; `after` is the day, source, target and endpoint that were shown last."""
    asked = {
        "since": wanted.since.isoformat(),
        "until": wanted.until.isoformat(),
        "source": wanted.source,
        "target": wanted.target,
        "limit": limit,
    }
    if after is None:
        rows = await tx.fetch(DAYS, **asked)
    else:
        names = ("day", "after_source", "after_target", "after_endpoint")
        rows = await tx.fetch(DAYS_AFTER, **asked, **dict(zip(names, after, strict=True)))
    return [_day(row) for row in rows]


async def settled(tx: Tx, after: int, before: datetime) -> int | None:
    """The last count written by then; None when there is none behind `after`."""
    found: int | None = await tx.value(SETTLED, after=after, before=before)
    return found


async def sums(tx: Tx, after: int, upto: int) -> Sums:
    """Sums by source and endpoint of the counts behind `after` and up to `upto`; of all of them when it is 0."""
    rows = await tx.fetch(TOTALS_SINCE, after=after, upto=upto) if after else await tx.fetch(TOTALS, upto=upto)
    return {(row["source"], row["endpoint"]): _counts(row) for row in rows}


def _counts(row: Row) -> Counts:
    return Counts(*(int(row[one.name]) for one in fields(Counts)))


def _day(row: Row) -> FetchDay:
    told = {name: int(row[name]) for name in NAMES}
    over = told["success"] + told["failure"]
    return FetchDay(
        day=date.fromisoformat(row["day"]),
        source=row["source"],
        target=row["target"],
        endpoint=row["endpoint"],
        **told,
        success_rate=round(told["success"] / over, 4) if over else None,
    )
