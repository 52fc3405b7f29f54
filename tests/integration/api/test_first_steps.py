"""What a shop has of its first steps, on each database."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bobusang.stages.collect import decisions
from bobusang.views.first_steps import FirstSteps, first_steps

if TYPE_CHECKING:
    from tests.integration.api.door import Door


async def test_an_empty_shop_has_none_and_one_that_has_begun_is_not_empty(door: Door) -> None:
    db = door.app.engine.db
    before = await db.transact(first_steps)
    await db.transact(lambda tx: decisions.decide(tx, "okmall", enabled=True, why="an agreement", by="me"))
    after = await db.transact(first_steps)

    assert (before, before.is_empty) == (FirstSteps(), True)
    assert (after, after.is_empty) == (FirstSteps(sources=True, decided=True), False)
