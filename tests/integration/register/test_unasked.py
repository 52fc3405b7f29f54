"""A word that is no verdict: whoever thought a listing right forgets it, whoever waits for a verdict looks again."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from bobusang.flows.conveyor import marking, marks
from bobusang.flows.conveyor.marking import Fine
from bobusang.flows.market.inbox import apply
from bobusang.kit.money import yen
from bobusang.stages.register import listings
from tests.integration.register.desk import Desk
from tests.unit.register.making import WANTED

if TYPE_CHECKING:
    from bobusang.kit.db import Database
    from bobusang.testing.clock import ManualClock
    from tests.integration.register.shop import Hook

COATS = [replace(WANTED, product_id=number, sku=f"okmall/{number}") for number in (1, 2)]
MARKS = "select product_id from conveyor_marks where stamp = 's' order by product_id"


async def opened(db: Database) -> Desk:
    """Two coats, live and marked."""
    desk = await Desk.opened(db)
    await desk.go(*COATS)
    await hear(desk, desk.shop.work())
    await mark(desk, db.clock.now())
    return desk


async def mark(desk: Desk, looked: Any) -> None:
    told: list[dict[str, Any]] = [{"id": id, "version": 1, "stamp": "s", "model": "m", "prices": {}} for id in (1, 2)]
    await desk.db.transact(lambda tx: marking.mark(tx, "buyma", [Fine(one, looked) for one in told]))


async def hear(desk: Desk, hooks: list[Hook]) -> None:
    """As the duty of the market does it."""
    await desk.receive(hooks)
    await apply(desk.db, desk.register).run()


def by_hand(desk: Desk, **changes: Any) -> Hook:
    """What the market tells of the first coat after somebody has changed it there."""
    desk.shop.products[100] |= changes
    desk.shop.ticks += 1
    return desk.shop.hook("product/update", desk.shop.said(100))


async def marked(desk: Desk) -> list[int]:
    return [row["product_id"] for row in await desk.rows(MARKS)]


@pytest.mark.parametrize("changes", [{"price": 1_000}, {"order_quantity": 1}, {"list_price": 25_000}])
async def test_a_listing_that_the_market_has_otherwise_is_no_longer_marked(db: Database, changes: Any) -> None:
    desk = await opened(db)
    assert await marked(desk) == [1, 2]

    await hear(desk, [by_hand(desk, **changes)])

    assert await marked(desk) == [2]


async def test_a_word_that_says_nothing_new_leaves_the_mark(db: Database) -> None:
    desk = await opened(db)

    await hear(desk, [by_hand(desk)])

    assert await marked(desk) == [1, 2]


async def test_a_word_that_says_nothing_new_after_it_was_looked_at_keeps_no_mark_away(
    db: Database, clock: ManualClock
) -> None:
    """Whatever is sent twice is told twice: half of a shop would be looked at again for nothing."""
    desk = await opened(db)
    looked = clock.now()
    clock.advance(seconds=1)
    await hear(desk, [by_hand(desk)])
    async with db.begin() as tx:
        await marks.forget(tx, "buyma", [1, 2])

    await mark(desk, looked)

    assert await marked(desk) == [1, 2]


async def test_what_the_market_made_otherwise_after_it_was_looked_at_is_not_marked(
    db: Database, clock: ManualClock
) -> None:
    desk = await opened(db)
    looked = clock.now()
    clock.advance(seconds=1)
    await hear(desk, [by_hand(desk, price=1_000)])

    await mark(desk, looked)

    assert await marked(desk) == [2]
    await mark(desk, looked + timedelta(seconds=1))
    assert await marked(desk) == [1, 2]


async def test_a_verdict_that_was_not_the_last_word_is_no_sign_that_all_is_well(
    db: Database, clock: ManualClock
) -> None:
    desk = await opened(db)
    await desk.go(*(replace(coat, price=yen(23_000)) for coat in COATS))
    await hear(desk, desk.shop.work())
    async with db.read() as tx:
        after_verdict = await listings.standing(tx, desk.account.id, [1, 2])
    clock.advance(seconds=1)
    await hear(desk, [by_hand(desk, price=1_000)])

    async with db.read() as tx:
        assert (after_verdict, await listings.standing(tx, desk.account.id, [1, 2])) == ({1: True, 2: True}, {2: True})


async def test_who_waits_for_a_verdict_that_came_with_another_word_looks_again(db: Database) -> None:
    desk = await opened(db)
    settled = await desk.go(*(replace(coat, price=yen(23_000)) for coat in COATS))
    verdicts = desk.shop.work()

    await hear(desk, [*verdicts, by_hand(desk, price=1_000)])

    told = {row["wait_key"]: row["signal_data"] for row in await desk.rows("select wait_key, signal_data from waits")}
    assert [told[one.key] for one in settled] == ["null", '"verdict"']
