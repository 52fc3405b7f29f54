"""FULL of some brands before and after a hundred thousand other listings are there: neither may cost more for it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bench import conveyor, crowding
from bench.conveyor_shop import COLLECTED, LIVE, Plan, open_for_sale
from bench.report import Line, at_most
from bobusang.flows.conveyor.model import Mode

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bench.conveyor_shop import Spent, Stand
    from bobusang.flows.conveyor.model import Brand

MANY = {"quick": 20_000, "full": 100_000}


@dataclass(frozen=True, slots=True)
class Part:
    """A FULL run of some of the brands."""

    spent: Spent
    listed: int
    beside: int
    """How many products were there before it."""

    @property
    def cpu(self) -> float:
        """Milliseconds of our own processes a product."""
        return self.spent.ours * 1000 / self.listed


def run(size: str) -> Iterator[Line]:
    """On each database. What is beside are copies inside the database, which the market does not know."""
    for database in conveyor.DATABASES:
        few, many = asyncio.run(_measured(Plan(database, 2 * conveyor.PRODUCTS["quick"]), MANY[size]))
        for part in (few, many):
            yield Line(
                f"{database}: FULL of {part.listed:,} products beside {part.beside:,} others, CPU a product",
                f"{part.cpu:.1f} ms, {part.listed / part.spent.wall:.0f}/s",
            )
        yield at_most(f"{database}: CPU a product, many ÷ few", many.cpu / few.cpu, 1.3, "×")


async def _measured(plan: Plan, many: int) -> tuple[Part, Part]:
    async with open_for_sale(plan) as stand:
        first, *others = stand.brands
        await stand.run(Mode.FULL, brands=[first])  # who begins pays for what all use
        few = await _part(stand, others[::2])
        await crowding.crowd(stand.shop.yard.db, many, many)
        found = few, await _part(stand, others[1::2])
        await conveyor.sound(stand)
        return found


async def _part(stand: Stand, brands: Sequence[Brand]) -> Part:
    beside, before = await stand.value(COLLECTED), await stand.value(LIVE)
    spent = await stand.run(Mode.FULL, brands=brands)
    return Part(spent, await stand.value(LIVE) - before, beside)
