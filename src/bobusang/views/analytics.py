"""What charts of analytics are made of: minutes summed up, changes on their way to the market, margins, runs, calls.

Everything is bounded: by the minutes that are kept, or by how many of the newest are looked at.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import median

from bobusang.kit.clock import utc
from bobusang.kit.db import Tx
from bobusang.kit.sql import Statement
from bobusang.stages.register import accounts
from bobusang.stages.register.budget import DAY, HOUR, SLOT
from bobusang.stages.register.market import Family
from bobusang.stages.register.model import Account
from bobusang.views.margins import margin_of, with_tail

MOST_CALLS = 500
"""The newest calls to markets that are looked at."""
MOST_PRICES = 200
"""The newest decided prices that are looked at."""
MOST_RUNS = 60

NAMES = ("failures", "jobs", "throughput")

_SECONDS = re.compile(r"seconds\((\w+)\)")


def _timed(text: str) -> Statement:
    """A statement with `seconds(column)` since 1970 and `div` in the words of each database."""

    def told(seconds: str, div: str = "/", number: str = ":step") -> str:
        words = _SECONDS.sub(lambda found: seconds.format(found.group(1)), text)
        return words.replace(" div ", f" {div} ").replace(":step", number)

    return Statement(
        sqlite=told("cast(strftime('%s', {}) as integer)"),
        postgres=told("cast(floor(extract(epoch from {})) as bigint)", number="cast(:step as bigint)"),
        mariadb=told("timestampdiff(second, '1970-01-01', {})", "div"),
    )


MEASURED = _timed("""
    select name, label, seconds(at) div :step as slot, sum(value) as value from engine_history
    where name in (:names...) and at >= :since group by name, label, slot""")
CONFIRMED = _timed("""
    select account_id, seconds(confirmed_at) div :step as slot, seconds(confirmed_at) - seconds(seen_at) as waited
    from (select id, account_id, seen_at, confirmed_at from market_calls order by id desc limit :most) c
    where confirmed_at >= :since and seen_at is not null""")
SENT = Statement("""
    select kind, state, count(*) as calls from
      (select id, kind, state, created_at from market_calls order by id desc limit :most) c
    where created_at >= :since group by kind, state order by kind, state""")
PRICES = with_tail("""
    select tail(steps) as steps from
      (select id, decision, steps, created_at from price_quotes order by id desc limit :most) q
    where created_at >= :since and decision in ('QUOTE', 'KEEP')""")
RUNS = Statement("""
    select batch_id, run_mode, status, start_time, end_time from pipeline_batches
    where start_time >= :since order by start_time desc limit :most""")
USED = _timed("""
    select account_id, seconds(slot) div :step as slot, family, sum(calls) as calls from call_ledger
    where slot >= :since group by account_id, 2, family""")


@dataclass(frozen=True, slots=True)
class Period:
    """What is looked at: its length, the width of a point, and of one where there is less to tell."""

    name: str
    span: timedelta
    step: int
    wide: int


PERIODS = {
    "hour": Period("hour", timedelta(hours=1), 60, 600),
    "day": Period("day", timedelta(days=1), 1800, 7200),
    "week": Period("week", timedelta(days=7), 10_800, 86_400),
}


@dataclass(frozen=True, slots=True)
class Measured:
    """By name and label a value a point, in this period and in the one before; `x` are seconds since 1970."""

    x: list[int]
    now: Mapping[str, Mapping[str, list[float]]]
    before: Mapping[str, Mapping[str, list[float]]]

    def total(self, name: str, *labels: str, before: bool = False) -> float:
        """All of a name, or of some of its labels."""
        found = (self.before if before else self.now).get(name, {})
        return sum(sum(values) for label, values in found.items() if not labels or label in labels)


@dataclass(frozen=True, slots=True)
class Waited:
    """Seconds from seeing a change at the mall until the market confirmed it, of an account in a span of time."""

    account: str
    at: int
    half: float
    most: float
    changes: int


@dataclass(frozen=True, slots=True)
class Run:
    """How long a batch took."""

    batch_id: str
    mode: str
    status: str
    started_at: datetime
    seconds: float


@dataclass(frozen=True, slots=True)
class Calls:
    """Calls of an account by the hour, beside what the market allows."""

    account: str
    x: list[int]
    families: Mapping[str, list[int]]
    hour: int
    hour_limit: int
    day: int
    day_limit: int


@dataclass(frozen=True, slots=True)
class Analytics:
    """All of it."""

    period: Period
    measured: Measured
    waited: Sequence[Waited]
    waits: Sequence[float]
    sent: Mapping[str, Mapping[str, int]]
    margins: Sequence[float]
    runs: Sequence[Run]
    calls: Sequence[Calls]

    @property
    def margin(self) -> float | None:
        """The median of the margins."""
        return median(self.margins) if self.margins else None

    @property
    def slowest(self) -> float | None:
        """The p95 of all waits."""
        return spread(self.waits)[1] if self.waits else None


async def read(tx: Tx, period: Period) -> Analytics:
    """Seven statements."""
    since = tx.now - period.span
    known = {one.id: one for one in await accounts.every(tx)}
    names = {id: one.name for id, one in known.items()}
    waited, waits = await _waited(tx, period, names)
    sent: dict[str, dict[str, int]] = {}
    for row in await tx.fetch(SENT, since=since, most=MOST_CALLS):
        sent.setdefault(row["kind"], {})[row["state"]] = int(row["calls"])
    prices = await tx.fetch(PRICES, since=since, most=MOST_PRICES)
    runs = await tx.fetch(RUNS, since=since, most=MOST_RUNS)
    return Analytics(
        period=period,
        measured=await measured(tx, period),
        waited=waited,
        waits=waits,
        sent=sent,
        margins=[margin for row in prices if (margin := margin_of(row["steps"])) is not None],
        runs=[
            Run(
                row["batch_id"],
                row["run_mode"],
                row["status"],
                utc(row["start_time"]),
                ((utc(row["end_time"]) or tx.now) - utc(row["start_time"])).total_seconds(),
            )
            for row in reversed(runs)
        ],
        calls=await _calls(tx, known),
    )


async def measured(tx: Tx, period: Period) -> Measured:
    """What upkeep measured in this period and in the one before."""
    points = int(period.span.total_seconds()) // period.step
    last = int(tx.now.timestamp()) // period.step
    first = last - points + 1
    now: dict[str, dict[str, list[float]]] = {}
    before: dict[str, dict[str, list[float]]] = {}
    since = tx.now - 2 * period.span
    for row in await tx.fetch(MEASURED, names=list(NAMES), since=since, step=period.step):
        slot = int(row["slot"])
        place, at = (now, slot - first) if slot >= first else (before, slot - first + points)
        if 0 <= at < points:
            values = place.setdefault(row["name"], {}).setdefault(row["label"], [0.0] * points)
            values[at] += float(row["value"])
    return Measured([(first + at) * period.step for at in range(points)], now, before)


async def _waited(tx: Tx, period: Period, names: Mapping[int, str]) -> tuple[list[Waited], list[float]]:
    found: dict[tuple[int, str], list[float]] = {}
    rows = await tx.fetch(CONFIRMED, since=tx.now - period.span, most=MOST_CALLS, step=period.wide)
    for row in rows:
        account = names.get(row["account_id"], str(row["account_id"]))
        found.setdefault((int(row["slot"]), account), []).append(max(0.0, float(row["waited"])))
    lines = [
        Waited(account, slot * period.wide, *spread(waits), len(waits))
        for (slot, account), waits in sorted(found.items())
    ]
    return lines, [wait for waits in found.values() for wait in waits]


async def _calls(tx: Tx, known: Mapping[int, Account]) -> list[Calls]:
    """The ledger of the last day, which is all that there is of it."""
    step = int(SLOT.total_seconds())
    found: dict[int, dict[tuple[int, str], int]] = {}
    for row in await tx.fetch(USED, since=tx.now - DAY, step=step):
        found.setdefault(row["account_id"], {})[int(row["slot"]) * step, row["family"]] = int(row["calls"])
    now, hour = int(tx.now.timestamp()), int(HOUR.total_seconds())
    x = [(now // hour - back) * hour for back in reversed(range(24))]
    lines = []
    for id, account in known.items():
        used, budget = found.get(id, {}), account.policy.budget
        families = {family.value: [sum(_within(used, at, at + hour, {family.value})) for at in x] for family in Family}
        counted = {family.value for family in Family} if budget.stock_counts else {Family.PRODUCT.value}
        every = {family.value for family in Family}
        lines.append(
            Calls(
                account=account.name,
                x=x,
                families=families,
                hour=sum(_within(used, now - hour, now + step, every)),
                hour_limit=budget.hour,
                day=sum(_within(used, 0, now + step, counted)),
                day_limit=budget.day,
            )
        )
    return lines


def _within(used: Mapping[tuple[int, str], int], since: int, until: int, families: set[str]) -> Sequence[int]:
    return [calls for (at, family), calls in used.items() if since <= at < until and family in families]


def spread(values: Sequence[float]) -> tuple[float, float]:
    """Median and p95."""
    ordered = sorted(values)
    return ordered[(len(ordered) - 1) // 2], ordered[(len(ordered) * 95 - 1) // 100]
