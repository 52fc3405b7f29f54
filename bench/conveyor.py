"""FULL through all five stages: CPU of our own processes a product, on PostgreSQL and SQLite, by page and picture."""

from __future__ import annotations

import asyncio
import os
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bench import conveyor_library
from bench.conveyor_shop import COLLECTED, LIVE, Plan, Spent, open_for_sale
from bench.quota import possible
from bench.report import Line, at_least, at_most
from bobusang.flows.conveyor.model import Mode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bench.conveyor_shop import Stand

PRODUCTS = {"quick": 1_000, "full": 10_000}
DATABASES = ("postgresql", "sqlite")
MOST = {"default": 12.0, "real": 20.0}
"""Milliseconds a product without pictures, by page size."""
SIZES = {"default": "default page size", "real": "captured page size"}
SIDE = 600
METER = "bench.conveyor_up"
IMAGE, SHOWING = "conveyor.image", "API: /media"
"""What pictures cost: to fetch, check, make and keep them, and to show them to the market."""
PICTURES = "pictures"
"""The pool in which pictures are decoded and made."""
SHARE = 0.4
"""Of a core, for each of our processes where two of them and all else are to have room on two cores."""
LEAST_TOLD = 0.05
"""Milliseconds a product below which nobody is named in the breakdown."""


@dataclass(frozen=True, slots=True)
class Full:
    """One FULL run on a fresh database."""

    plan: Plan
    spent: Spent
    collected: int
    listed: int
    peak: float
    stages: tuple[tuple[str, str, float], ...]

    def each(self, seconds: float) -> float:
        """Milliseconds for each product that is on the market now."""
        return seconds * 1000 / self.listed

    @property
    def cpu(self) -> float:
        """Milliseconds of our own processes a product."""
        return self.each(self.spent.ours)

    def of(self, who: str = "", thread: str = "") -> float:
        """Milliseconds a product of a handler, duty or door, or of a pool of threads."""
        return self.each(sum(one[2] for one in self.stages if who in ("", one[0]) and thread in ("", one[1])))


def run(size: str) -> Iterator[Line]:
    """One small picture each, because the market takes nothing without; what pictures cost is told and taken off."""
    for database in DATABASES:
        for page_size, most in MOST.items():
            plan = Plan(database, PRODUCTS[size], page_size=page_size)
            full, watched = measured(plan), measured(replace(plan, meter=METER))
            name = f"{database}, {SIZES[page_size]}"
            yield from told(name, full)
            # By their share: who watches costs every stage alike.
            without = full.cpu * (1 - (watched.of(IMAGE) + watched.of(SHOWING)) / watched.cpu)
            yield at_most(f"{name}: CPU a product without pictures", without, most, "ms")
            yield from breakdown(name, watched)


def pictures(size: str) -> Iterator[Line]:
    """Two pictures of 600 × 600 each, by one process and, on PostgreSQL, with a second worker."""
    yield from conveyor_library.run(SIDE)
    for database in DATABASES:
        plan = Plan(database, PRODUCTS[size], pictures=2, side=SIDE, meter=METER)
        full = measured(plan)
        yield from told(database, full)
        yield at_most(f"{database}: CPU a product with two pictures", full.cpu, 35, "ms")
        yield Line(f"{database}: the picture library's own part of it", f"{full.of(thread=PICTURES):.1f} ms")
        yield from breakdown(database, full)
        if database == "postgresql":
            yield from _with_a_second(full)


def _with_a_second(one: Full) -> Iterator[Line]:
    two = measured(replace(one.plan, workers=2))
    yield from told("postgresql, two workers", two)
    gain = (two.listed / two.spent.wall) / (one.listed / one.spent.wall)
    yield at_least("postgresql: a second worker process gains", gain, 1.4)
    most = _most(two.spent) * two.listed / (one.listed / one.spent.wall)
    yield Line("postgresql: what it could gain if all cores were busy all the time", f"{most:.2f}×")
    if possible():
        yield from _with_room(one.plan)


def _most(spent: Spent) -> float:
    """How often a second the cores of this machine have the CPU time that a run took of all: ours, sandbox, server."""
    return (os.cpu_count() or 1) / (spent.ours + spent.sandbox + spent.server)


def _with_room(plan: Plan) -> Iterator[Line]:
    """The same where database, sandbox and benchmark have cores to spare: each of ours gets a part of one."""
    one = measured(replace(plan, share=SHARE, meter=""))
    two = measured(replace(plan, share=SHARE, meter="", workers=2))
    name = f"postgresql, {SHARE:g} of a core for each of ours"
    for count, full in ((1, one), (2, two)):
        yield Line(f"{name}: {count} process{'es' * (count > 1)}", f"{full.listed / full.spent.wall:.1f}/s")
    gain = (two.listed / two.spent.wall) / (one.listed / one.spent.wall)
    yield at_least(f"{name}: a second worker process gains", gain, 1.4)


def measured(plan: Plan) -> Full:
    """One FULL run on a fresh database and a fresh sandbox."""

    async def work() -> Full:
        async with open_for_sale(plan) as stand:
            return await full_of(stand)

    return asyncio.run(work())


async def full_of(stand: Stand, *, ends: bool = True) -> Full:
    """FULL in an open shop; with `ends` its processes are stopped, and tell their stages."""
    spent = await stand.run(Mode.FULL)
    await sound(stand)
    collected, listed = await stand.value(COLLECTED), await stand.value(LIVE)
    stages = tuple(stand.stages()) if ends else ()
    return Full(stand.plan, spent, collected, listed, stand.peak, stages)


async def sound(stand: Stand) -> None:
    """A run that sold something twice, or that left something open, is no measurement."""
    market = await stand.shop.door.market(limit=0)
    wrong = {name: market[name] for name in ("made_again", "same_reference", "broken", "pending") if market[name]}
    if wrong:
        raise RuntimeError(f"the market is not as it should be: {wrong}")


def told(name: str, full: Full) -> Iterator[Line]:
    """What every FULL run says of itself."""
    spent, plan = full.spent, full.plan
    shown = f"{plan.pictures} picture{'s' * (plan.pictures > 1)} of {plan.side} × {plan.side} each"
    listed = f"{full.listed:,} listed of {full.collected:,} collected"
    yield Line(f"{name}: FULL, {shown}", f"{listed} in {spent.wall:.0f} s, {full.listed / spent.wall:.0f}/s")
    apart = f"sandbox {full.each(spent.sandbox):.1f} ms"
    apart += f", database server {full.each(spent.server):.1f} ms" if spent.server else ""
    yield Line(f"{name}: CPU a product", f"{full.cpu:.1f} ms ({apart} apart)")
    yield at_most(f"{name}: memory at most", full.peak, 500, "MB")


def breakdown(name: str, full: Full) -> Iterator[Line]:
    """Who used how much, the largest first; what a stage had done in threads stands in brackets."""
    found: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for who, thread, seconds in full.stages:
        found[who][thread] += full.each(seconds)
    for who, threads in sorted(found.items(), key=lambda one: -sum(one[1].values())):
        if sum(threads.values()) >= LEAST_TOLD:
            apart = ", ".join(f"{thread} {spent:.2f}" for thread, spent in sorted(threads.items()) if spent >= 0.005)
            yield Line(f"{name}: {who}", f"{sum(threads.values()):.2f} ms ({apart})")
