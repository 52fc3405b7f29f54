"""Rows of fees, freight, duty and tax take over with the market's own day, which is not ours."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from bobusang.flows.conveyor.model import Mode, Stage
from bobusang.sandbox.buyma.account import Behaviour
from bobusang.sandbox.world import World
from bobusang.stages.price import ratebook, sheets
from bobusang.stages.price.rates import Fee, FeeKind
from bobusang.testing.clock import LeapingClock
from bobusang.testing.shop import Shop
from bobusang.views import prices
from tests.integration.flows.selling import OKMALL

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.timeout(180)

KNOWN = (Stage.PRICE, Stage.REGISTER)


async def sale_fees(shop: Shop) -> set[str]:
    """From when the sale fees are by which prices were decided last."""
    async with shop.yard.db.read() as tx:
        skus = [row["sku"] for row in await shop.yard.rows("select distinct sku from price_quotes")]
        found = [await prices.explained(tx, sku) for sku in skus]
    return {step.dated for one in found for step in one.steps if step.step == "sale fee"}


async def test_a_row_takes_over_when_its_day_begins_in_tokyo(tmp_path: Path) -> None:
    """By our own day it was nine hours late: the FULL of three in the morning priced by the row of yesterday."""
    clock = LeapingClock()
    said = {"behaviour": Behaviour(delay=0, retry_seconds=0.05)}
    world = World(seed=5, size=8, brands=1, pictures=1)
    async with Shop.opened(tmp_path, world=world, sandbox=said, clock=clock) as shop, shop.yard.working():
        night = (clock.now() - timedelta(days=1)).replace(hour=14, minute=30)
        clock.leap(seconds=(night - clock.now()).total_seconds())
        tomorrow = (night.date() + timedelta(days=1)).isoformat()
        dearer = Fee("buyma", FeeKind.SALE, tomorrow, "letter", rate=Decimal("0.15"))
        await shop.yard.db.transact(lambda tx: ratebook.put(tx, sheets.FEES, [dearer]))

        assert await shop.run(Mode.FULL, [OKMALL]) == "COMPLETED"
        before = await sale_fees(shop)
        clock.leap(hours=1)
        assert await shop.run(Mode.FULL, [OKMALL], stages=KNOWN) == "COMPLETED"

        assert tomorrow not in before
        assert await sale_fees(shop) == {tomorrow}
