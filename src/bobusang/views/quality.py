"""Data quality for the screen: what samples of products lack or break, how readable pages are, and why texts are held.

All is bounded: the newest products of each mall, the newest runs, the newest held products. So the page costs the same
with a thousand products and with a million.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

import msgspec

from bobusang.kit import json
from bobusang.kit.clock import utc
from bobusang.kit.db import Row, Tx
from bobusang.kit.sql import Statement
from bobusang.stages.collect.guards import FEW, Guard
from bobusang.stages.convert.gates import Rule
from bobusang.stages.convert.model import Reason, Why

SAMPLE = 500
"""Products of each mall that are looked at, the newest."""
RUNS = 400
HELD = 400
ALARM = 0.01
"""A field that fewer pages than this lack is no drift."""

FIELDS = ("name", "brand", "price", "image", "url", "in_stock", "category", "model")
"""What a product should tell."""
_LACKS = {name: f"{name} is null" for name in FIELDS}
_BREAKS = {
    "price_above_zero": "price <= 0",
    "list_price": "list_price < price",
    "currency": "price is not null and currency is null",
    "address": "url not like 'http%'",
    "plain_name": "name like '%<%>%' or name like '%&%;%'",
}
RULES = tuple(_BREAKS)
CHECKS: Mapping[str, str] = _LACKS | _BREAKS
"""By name: when a product fails it."""

_COLUMNS = (
    "id, mall, product_id, brand, name, price, list_price, currency, url, image, in_stock, listed, category, model"
)
_SUMS = ", ".join(f"sum(case when {fails} then 1 else 0 end) as {name}" for name, fails in CHECKS.items())
NEWEST_RUNS = Statement("""
    select job_id, source, target, started_at, unknown, tripped, reason from collect_runs
    order by job_id desc limit :most""")
NEWEST_HELD = Statement("""
    select product_id, reasons from conversions where market = :market and state = 'HELD'
    order by product_id desc limit :most""")

_SAID = {
    "Korean is left": Rule.HANGUL,
    "may not be said on": Rule.WORD,
    "are allowed": Rule.LENGTH,
    "HTML is not allowed": Rule.HTML,
    "signs that nobody sees": Rule.UNSEEN,
    "was lost in decoding": Rule.BROKEN,
    "there is no text": Rule.EMPTY,
    "blanks at an end": Rule.BLANKS,
}
_reasons = msgspec.json.Decoder(tuple[Reason, ...])


@dataclass(frozen=True, slots=True)
class Sampled:
    """A mall's sample: how many products, and how many of them fail each check."""

    mall: str
    products: int
    failing: Mapping[str, int]

    def passing(self, check: str) -> float | None:
        """The share that passes."""
        return 1 - self.failing[check] / self.products if self.products else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Failing:
    """A product that fails a check."""

    id: int
    mall: str
    key: str
    brand: str | None
    name: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Readable:
    """How often a field of a source's pages could not be read: in its newest runs (a quarter of those that are
    remembered), and in those before them."""

    source: str
    field: str
    before: float | None
    now: float | None
    unknown: int
    seen: int
    since: datetime
    is_drift: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Tripped:
    """A run that a guard stopped."""

    job_id: int
    source: str
    target: str
    guard: Guard
    reason: str
    started_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """Why products wait: how many of those that were looked at. `rule`: of a text that would be refused, by which."""

    why: Why
    rule: Rule | None
    products: int
    text: str
    product_id: int
    """The newest of them, and what was said of it."""


async def sampled(tx: Tx, malls: Sequence[str]) -> list[Sampled]:
    """What the samples of these malls fail; a mall without products is left out."""
    if not malls:
        return []
    rows = await tx.fetch(_counting(len(malls)), sample=SAMPLE, **_named(malls))
    return [Sampled(row["mall"], int(row["products"]), {name: int(row[name]) for name in CHECKS}) for row in rows]


async def failing(tx: Tx, malls: Sequence[str], check: str, before: int | None, limit: int) -> list[Failing]:
    """The products of the samples that fail a check, the newest first."""
    if not malls:
        return []
    rows = await tx.fetch(
        _failing(len(malls), check), sample=SAMPLE, before=before or 2**62, limit=limit, **_named(malls)
    )
    return [
        Failing(id=row["id"], mall=row["mall"], key=row["product_id"], brand=row["brand"], name=row["name"])
        for row in rows
    ]


async def runs(tx: Tx) -> tuple[list[Readable], list[Tripped]]:
    """How readable the pages of each source are, drift first; and the runs that a guard stopped, the newest first."""
    rows = await tx.fetch(NEWEST_RUNS, most=RUNS)
    by_source: defaultdict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_source[row["source"]].append(row)
    found = [one for source, mine in by_source.items() for one in _readable(source, mine)]
    return (
        sorted(found, key=lambda one: (not one.is_drift, one.source, one.field)),
        [_tripped(row) for row in rows if row["tripped"]],
    )


async def gates(tx: Tx, market: str) -> tuple[list[Gate], int]:
    """Why the newest held products wait, the most frequent first, and how many were looked at."""
    rows = await tx.fetch(NEWEST_HELD, market=market, most=HELD)
    counts: Counter[tuple[Why, Rule | None]] = Counter()
    newest: dict[tuple[Why, Rule | None], tuple[int, str]] = {}
    for row in rows:
        said = {(one.why, _rule(one)): one.text for one in reversed(_reasons.decode(row["reasons"]))}
        counts.update(said.keys())
        for key, text in said.items():
            newest.setdefault(key, (row["product_id"], text))
    found = [
        Gate(why=why, rule=rule, products=count, product_id=newest[why, rule][0], text=newest[why, rule][1])
        for (why, rule), count in counts.items()
    ]
    return sorted(found, key=lambda one: (-one.products, one.why, one.rule or "")), len(rows)


def _rule(reason: Reason) -> Rule | None:
    """By which rule a text would be refused; the reason tells it in words only."""
    if reason.why is not Why.TEXT_REFUSED:
        return None
    return next((rule for words, rule in _SAID.items() if words in reason.text), None)


def _readable(source: str, rows: Sequence[Row]) -> list[Readable]:
    """`rows` are a source's runs, the newest first."""
    recent = max(1, len(rows) // 4)
    now, before = _tallied(rows[:recent]), _tallied(rows[recent:])
    since = utc(rows[recent - 1]["started_at"])
    found = []
    for name in sorted({*now, *before}):
        (unknown, seen), (was_unknown, was_seen) = now.get(name, (0, 0)), before.get(name, (0, 0))
        share = unknown / seen if seen else None
        was = was_unknown / was_seen if was_seen else None
        drift = unknown >= FEW and share is not None and share > max(ALARM, 2 * (was or 0))
        found.append(
            Readable(
                source=source,
                field=name,
                before=was,
                now=share,
                unknown=unknown,
                seen=seen,
                since=since,
                is_drift=drift,
            )
        )
    return found


def _tallied(rows: Sequence[Row]) -> dict[str, tuple[int, int]]:
    """By field: how many readings could not tell it, of how many."""
    found: dict[str, tuple[int, int]] = {}
    for row in rows:
        told: dict[str, dict[str, int]] = json.loads(row["unknown"] or "{}")
        for name, seen in told.get("seen", {}).items():
            unknown, all_ = found.get(name, (0, 0))
            found[name] = unknown + told.get("unknown", {}).get(name, 0), all_ + seen
    return found


def _tripped(row: Row) -> Tripped:
    return Tripped(
        job_id=row["job_id"],
        source=row["source"],
        target=row["target"],
        guard=Guard(row["tripped"]),
        reason=row["reason"] or "",
        started_at=utc(row["started_at"]),
    )


@lru_cache(maxsize=16)
def _counting(malls: int) -> Statement:
    return Statement(f"""
        select mall, count(*) as products, {_SUMS} from ({_samples(malls)}) sample
        where listed is null or listed group by mall order by mall""")


@lru_cache(maxsize=256)
def _failing(malls: int, check: str) -> Statement:
    return Statement(f"""
        select id, mall, product_id, brand, name from ({_samples(malls)}) sample
        where (listed is null or listed) and ({CHECKS[check]}) and id < :before order by id desc limit :limit""")


def _samples(malls: int) -> str:
    """The newest products of so many malls, each by the index over a mall's products."""
    return " union all ".join(
        f"select * from (select {_COLUMNS} from products where mall = :mall_{place} order by id desc limit :sample) "
        f"of_{place}"
        for place in range(malls)
    )


def _named(malls: Sequence[str]) -> dict[str, str]:
    return {f"mall_{place}": mall for place, mall in enumerate(malls)}
