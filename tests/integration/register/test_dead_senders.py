"""A worker died between an intent and its answer: who may send what after that, in every order, on each database."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from bobusang.flows.market.closing import close
from bobusang.kit.money import yen
from bobusang.stages.register import closing
from bobusang.stages.register.deciding import Chosen, Waiting
from bobusang.stages.register.diffing import Kind
from bobusang.stages.register.model import Stock
from tests.integration.register.desk import Desk
from tests.unit.register.making import WANTED, stocks

if TYPE_CHECKING:
    from bobusang.kit.db import Database
    from bobusang.stages.register.market import Outgoing
    from bobusang.stages.register.model import Wanted
    from bobusang.stages.register.planning import Planned
    from bobusang.testing.clock import ManualClock

COAT = replace(WANTED, product_id=1, sku="okmall/1")
CHEAPER = replace(COAT, price=yen(21_000))
GONE = replace(COAT, variants=stocks(Stock.OUT))
LESS = replace(COAT, variants=stocks(c1_s1=Stock.OUT))
LEASE = 60
CALLS = "select kind, state, sends from market_calls where kind <> 'CREATE' order by id"


async def intended(db: Database, wish: Wanted) -> tuple[Desk, Outgoing]:
    """A coat on sale, and the intent to change it, whose worker is heard of no more."""
    desk = await Desk.opened(db)
    await desk.go(COAT)
    await desk.told()
    desk.shop.calls.clear()
    (planned,) = await desk.plan(wish)
    assert planned.outgoing is not None
    return desk, planned.outgoing


async def planned(desk: Desk, wish: Wanted) -> Planned:
    (found,) = await desk.plan(wish, run="r2")
    return found


async def calls(desk: Desk) -> list[tuple[str, str, int]]:
    return [(row["kind"], row["state"], row["sends"]) for row in await desk.rows(CALLS)]


async def test_while_a_sender_may_still_send_nothing_overtakes_his_intent(db: Database, clock: ManualClock) -> None:
    desk, _ = await intended(db, CHEAPER)

    clock.advance(seconds=LEASE - 1)

    assert isinstance((await planned(desk, GONE)).decision, Waiting)


@pytest.mark.parametrize(("wish", "kind"), [(GONE, Kind.CLOSE), (LESS, Kind.STOCK)])
async def test_what_sold_out_overtakes_an_intent_that_nobody_may_send_any_more(
    db: Database, clock: ManualClock, wish: Wanted, kind: Kind
) -> None:
    desk, edit = await intended(db, CHEAPER)
    clock.advance(seconds=LEASE)

    found = await planned(desk, wish)
    late = await desk.register.send(desk.account, [edit])
    await desk.send([found.outgoing])
    await desk.told()

    assert isinstance(found.decision, Chosen)
    assert (found.decision.step.kind, late) == (kind, [])
    assert await calls(desk) == [("EDIT", "SUPERSEDED", 1), (kind, "CONFIRMED", 1)]


async def test_an_intent_that_was_overtaken_is_never_sent_again(db: Database, clock: ManualClock) -> None:
    desk, _ = await intended(db, CHEAPER)
    clock.advance(seconds=LEASE)
    await desk.go(GONE)
    await desk.told()

    clock.advance(hours=2)

    assert await desk.recover() == []
    assert ["price" in call for call in desk.shop.calls] == [False]


async def test_what_is_not_urgent_waits_for_the_intent_to_be_sent_again(db: Database, clock: ManualClock) -> None:
    desk, _ = await intended(db, CHEAPER)

    clock.advance(seconds=LEASE)

    assert isinstance((await planned(desk, replace(COAT, price=yen(20_500)))).decision, Waiting)


async def test_an_answer_that_comes_after_its_call_was_overtaken_names_the_request_and_changes_nothing_else(
    db: Database, clock: ManualClock
) -> None:
    """The edit was sent in time and its worker was slow: the failure of that request is not the closing's."""
    desk, edit = await intended(db, CHEAPER)
    sent = await desk.register.send(desk.account, [edit])
    [(uid, _, product)] = desk.shop.queue
    desk.shop.queue.clear()
    clock.advance(seconds=LEASE)
    await desk.go(GONE)
    await db.transact(lambda tx: desk.register.settle(tx, desk.account, sent))

    failure = desk.shop._failure(uid, product["reference_number"], {"price": ["価格は不正な値です"]})
    await desk.told([desk.shop.hook("product/fail_to_update", failure)])

    assert await calls(desk) == [("EDIT", "SUPERSEDED", 1), ("CLOSE", "ACCEPTED", 1)]
    await desk.told()
    assert await calls(desk) == [("EDIT", "SUPERSEDED", 1), ("CLOSE", "CONFIRMED", 1)]


@pytest.mark.parametrize("edit_first", [True, False])
async def test_whatever_the_market_does_first_it_is_closed_in_the_end(
    db: Database, clock: ManualClock, *, edit_first: bool
) -> None:
    desk, edit = await intended(db, CHEAPER)
    await desk.register.send(desk.account, [edit])
    clock.advance(seconds=LEASE)
    await desk.go(GONE)
    desk.shop.queue = desk.shop.queue if edit_first else desk.shop.queue[::-1]
    await desk.told()

    await desk.go(GONE)
    await desk.told()

    assert await desk.rows("select state, open_call from listings") == [{"state": "SUSPENDED", "open_call": None}]
    assert all(one["stock_type"] == "out_of_stock" for one in desk.shop.products[100]["variants"])


async def test_a_person_closes_what_a_dead_sender_was_to_change(db: Database, clock: ManualClock) -> None:
    desk, _ = await intended(db, CHEAPER)
    [row] = await desk.rows("select id from listings")
    await db.transact(lambda tx: closing.close(tx, [row["id"]], who="kim", why="a letter"))
    assert await close(db, desk.register).run() == 0

    clock.advance(seconds=LEASE)

    assert await close(db, desk.register).run() == 1
    assert await calls(desk) == [("EDIT", "SUPERSEDED", 1), ("CLOSE", "ACCEPTED", 1)]


async def test_a_stock_out_whose_sender_died_is_sent_again_at_once_and_then_with_patience(
    db: Database, clock: ManualClock
) -> None:
    desk, _ = await intended(db, GONE)

    found = []
    for seconds in (LEASE - 1, 1, LEASE, desk.account.policy.patience.total_seconds()):
        clock.advance(seconds=seconds)
        taken = await db.transact(lambda tx: desk.register.recover(tx, desk.account))  # who takes it dies, too
        found.append([one.token for one in taken])

    assert found == [[], [2], [], [3]]


async def test_a_change_whose_sender_died_waits_for_a_verdict_that_may_still_come(
    db: Database, clock: ManualClock
) -> None:
    desk, _ = await intended(db, CHEAPER)

    clock.advance(seconds=LEASE + (desk.account.policy.patience - timedelta(seconds=1)).total_seconds())

    assert await desk.recover() == []
    clock.advance(seconds=1)
    assert len(await desk.recover()) == 1
