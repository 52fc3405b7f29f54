"""Every change tells its own way, from the source to the market's own words."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from bobusang.stages.register.model import State
from bobusang.stages.register.receipts import Freshness, Line, freshness, receipts
from tests.integration.register.desk import Desk
from tests.unit.register.making import WANTED

if TYPE_CHECKING:
    from bobusang.kit.db import Database
    from bobusang.testing.clock import ManualClock


async def test_a_receipt_has_every_step_with_its_time(db: Database, clock: ManualClock) -> None:
    desk = await Desk.opened(db)
    began = clock.now()
    clock.advance(seconds=3)
    sent = clock.now()
    await desk.go(replace(WANTED, seen_at=began, changed_at=began, decided_at=began, quote="q1"))
    clock.advance(minutes=2)
    await desk.told()

    async with db.read() as tx:
        (receipt,) = await receipts(tx, WANTED.sku)
        figures = await freshness(tx, desk.account.id)

    assert receipt.is_complete
    assert receipt.call.quote == "q1"
    assert receipt.lines == (
        *(Line(step, began) for step in ("seen", "changed", "decided")),
        *(Line(step, sent) for step in ("intended", "sent", "accepted")),
        *(Line(step, sent + timedelta(minutes=2)) for step in ("confirmed", "read back")),
    )
    assert figures == Freshness({State.LIVE: 1}, 1, (3.0, 3.0), (120.0, 120.0), None)
