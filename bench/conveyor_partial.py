"""PARTIAL over listings that did not change, and FULL ten times as large: neither may cost more than its share."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bench import conveyor
from bench.conveyor_shop import Plan, open_for_sale
from bench.report import Line, at_most
from bobusang.flows.conveyor.model import Mode
from bobusang.kit.sql import Statement

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bench.conveyor import Full
    from bench.conveyor_shop import Spent, Stand

TIMES = 10
WRITES = ("products", "variants")
"""The market's doors that change something."""
DUE = Statement("select count(*) as value from competitor_prices where due_at <= :now")


@dataclass(frozen=True, slots=True)
class Partial:
    """A FULL run and the PARTIAL right after it."""

    full: Full
    spent: Spent
    calls: Counter[tuple[str, str]]
    """By mall and endpoint, those of the PARTIAL."""
    due: int
    """Searches that were due before it."""
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
    each = full.each(found.spent.ours)
    apart = f"sandbox {full.each(found.spent.sandbox):.2f} ms"
    apart += f", database server {full.each(found.spent.server):.2f} ms" if found.spent.server else ""
    yield Line(f"{database}: PARTIAL, CPU a product", f"{each:.2f} ms ({apart} apart) in {found.spent.wall:.0f} s")
    yield at_most(f"{database}: PARTIAL ÷ FULL, CPU a product", each / full.cpu, 1 / 20, "×")
    writes = sum(calls["buyma", endpoint] for endpoint in WRITES)
    yield at_most(f"{database}: PARTIAL, calls that change something at the market", writes, 0, "calls")
    searches = calls["buyma", "search"]
    yield at_most(f"{database}: PARTIAL, searches ({found.due} were due)", searches, found.due, "calls")
    pages = ", ".join(f"{count:,} {mall} {endpoint}" for (mall, endpoint), count in sorted(calls.items()) if count)
    yield Line(f"{database}: PARTIAL, all calls", pages)
    yield at_most(f"{database}: PARTIAL, memory at most", found.peak, 500, "MB")


async def _measure(plan: Plan) -> Partial:
    async with open_for_sale(plan) as stand:
        full = await conveyor.full_of(stand, ends=False)
        due = await stand.value(DUE, now=stand.shop.yard.db.clock.now())
        before = await calls(stand)
        spent = await stand.run(Mode.PARTIAL)
        after = await calls(stand)
        after.subtract(before)
        return Partial(full, spent, after, due, stand.peak)


async def calls(stand: Stand) -> Counter[tuple[str, str]]:
    """The calls that the sandbox has got so far, by mall and endpoint."""
    found: Counter[tuple[str, str]] = Counter()
    for row in (await stand.shop.door.counts())["requests"]:
        found[row["mall"], row["endpoint"]] += row["count"]
    return found
