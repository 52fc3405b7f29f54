"""PARTIAL over listings that did not change, and FULL ten times as large: neither may cost more than its share."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bench import conveyor
from bench.conveyor_shop import MALL, Plan, open_for_sale
from bench.report import Line, at_most
from bobusang.flows.conveyor.model import Mode
from bobusang.kit.sql import Statement
from bobusang.sandbox.fault import Trouble

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bench.conveyor import Full
    from bench.conveyor_shop import Spent, Stand

TIMES = 10
WRITES = ("products", "variants")
"""The market's doors that change something."""
Calls = Counter[tuple[str, str, int]]
"""By mall, endpoint and status."""
DUE = Statement("select count(*) as value from competitor_prices where due_at <= :now")


@dataclass(frozen=True, slots=True)
class Partial:
    """A FULL run and two PARTIAL ones right after it."""

    full: Full
    known: Spent
    """A PARTIAL whose pages the mall does not send again, by their tags …"""
    spent: Spent
    """… and one that gets and reads all of them, though nothing changed."""
    calls: Calls
    """Those of both."""
    due: int
    """Searches that were due before them."""
    peak: float


def run(size: str) -> Iterator[Line]:
    """On each database."""
    for database in conveyor.DATABASES:
        small = conveyor.measured(Plan(database, conveyor.PRODUCTS[size]))
        yield from conveyor.told(database, small)
        found = asyncio.run(_measure(Plan(database, conveyor.PRODUCTS[size] * TIMES)))
        name = f"{database}, {TIMES} times as many"
        yield from conveyor.told(name, found.full)
        ratio = found.full.cpu / small.cpu
        yield at_most(f"{database}: CPU a product of FULL, {TIMES} times as many ÷ the first", ratio, 1.3, "×")
        yield from _told(database, found)


def _told(database: str, found: Partial) -> Iterator[Line]:
    full, calls = found.full, found.calls
    for name, spent in {"all pages answered by 304": found.known, "all pages sent again": found.spent}.items():
        each = full.each(spent.ours)
        apart = f"sandbox {full.each(spent.sandbox):.2f} ms"
        apart += f", database server {full.each(spent.server):.2f} ms" if spent.server else ""
        yield Line(f"{database}: PARTIAL, {name}, CPU a product", f"{each:.2f} ms ({apart} apart), {spent.wall:.0f} s")
        yield at_most(f"{database}: PARTIAL, {name}, ÷ FULL", each / full.cpu, 1 / 20, "×")
    writes = sum(many(calls, "buyma", endpoint) for endpoint in WRITES)
    yield at_most(f"{database}: PARTIAL, calls that change something at the market", writes, 0, "calls")
    searches = many(calls, "buyma", "search")
    yield at_most(f"{database}: PARTIAL, searches ({found.due} were due)", searches, found.due, "calls")
    every = (f"{count:,} {' '.join(map(str, names))}" for names, count in sorted(calls.items()) if count)
    yield Line(f"{database}: PARTIAL, all calls", ", ".join(every))
    yield at_most(f"{database}: PARTIAL, memory at most", found.peak, 500, "MB")


async def _measure(plan: Plan) -> Partial:
    async with open_for_sale(plan) as stand:
        full = await conveyor.full_of(stand, ends=False)
        due = await stand.value(DUE, now=stand.shop.yard.db.clock.now())
        before = await calls_of(stand)
        known = await stand.run(Mode.PARTIAL)
        await stand.shop.door.fault(MALL, "*", Trouble.UNTAGGED)
        spent = await stand.run(Mode.PARTIAL)
        after = await calls_of(stand)
        after.subtract(before)
        return Partial(full, known, spent, after, due, stand.peak)


async def calls_of(stand: Stand) -> Calls:
    """The calls that the sandbox has got so far."""
    rows = (await stand.shop.door.counts())["requests"]
    return Counter({(row["mall"], row["endpoint"], row["status"]): row["count"] for row in rows})


def many(calls: Calls, mall: str, endpoint: str) -> int:
    """How many went to an endpoint."""
    return sum(count for names, count in calls.items() if names[:2] == (mall, endpoint))
