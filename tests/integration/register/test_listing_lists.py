"""Listings are narrowed and paged the same on every database."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bobusang.kit.sql import Statement
from bobusang.stages.register.market import Cause
from bobusang.stages.register.model import State
from bobusang.views import listing_calls, listing_lists, skus
from bobusang.views.listing_lists import Narrowed
from tests.integration.register.desk import Desk
from tests.unit.register.making import WANTED

if TYPE_CHECKING:
    from bobusang.kit.db import Database

MANY = [replace(WANTED, product_id=number, sku=f"okmall-{number}") for number in range(1, 6)]
REFUSE = Statement("update listings set refusal_cause = 'mapping', drift = '[]' where sku in (:skus...)")


async def test_each_way_to_narrow(db: Database) -> None:
    desk = await Desk.opened(db)
    await desk.go(*MANY[:3])
    await desk.told()
    await desk.go(*MANY[3:])
    await db.transact(lambda tx: tx.execute(REFUSE, skus=["okmall-1", "okmall-4"]))

    async def found(before: int | None = None, limit: int = 10, **wanted: Any) -> list[str]:
        async with db.read() as tx:
            part = await listing_lists.part(tx, Narrowed(**wanted), before, limit)
        return [line.sku.removeprefix("okmall-") for line in part.lines]

    async with db.read() as tx:
        first = await listing_lists.part(tx, Narrowed(account="main"), None, 2)
        numbers = [line.market_id for line in (await listing_lists.part(tx, Narrowed(state=State.LIVE), None, 9)).lines]
        calls = await listing_calls.calls(tx, [line.id for line in first.lines], 5)
        of_number = await skus.of_number(tx, str(numbers[0]))
        nobody = (await skus.of_sku(tx, "okmall-1"), await skus.of_url(tx, "https://nowhere.test/"))

    assert await found() == await found(account="main") == await found(market="buyma") == ["5", "4", "3", "2", "1"]
    assert await found(state=State.LIVE) == ["3", "2", "1"]
    assert await found(refused=True) == await found(cause=Cause.MAPPING) == await found(drifted=True) == ["4", "1"]
    assert await found(refused=True, state=State.LIVE, account="main") == ["1"]
    assert await found(drifted=True, state=State.LIVE, account="main") == ["1"]
    assert await found(text="okmall-2") == await found(text=numbers[1]) == ["2"]
    assert await found(account="nobody") == await found(cause=Cause.DATA) == []
    assert await found(before=first.resume, account="main") == ["3", "2", "1"]
    assert [(call.kind, call.state) for call in calls] == [("CREATE", "ACCEPTED")] * 2
    assert (of_number, nobody) == ("okmall-3", (None, None))
