"""Accidents of real shops, tried here: each would have been stopped, or seen (docs/incidents.md)."""

from __future__ import annotations

import asyncio
import math
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import select

from bobusang.kit import json
from bobusang.kit.errors import BobusangError
from bobusang.kit.money import yen
from bobusang.platform.tables import outbox
from bobusang.stages.register import holds, listings
from bobusang.stages.register.deciding import Chosen, Stopped, Waiting
from bobusang.stages.register.diffing import Idle, Kind
from bobusang.stages.register.drafting import today
from bobusang.stages.register.guards import Guard
from bobusang.stages.register.model import Axis, Caution, Option, Policy, State, Stock, Variant
from bobusang.stages.register.receipts import freshness, receipts
from bobusang.stages.register.tables import CallState
from tests.integration.register.desk import Desk
from tests.integration.register.shop import Mood
from tests.unit.register.making import COLORS, SIZES, WANTED, stocks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bobusang.kit.db import Database
    from bobusang.stages.register.model import Wanted
    from bobusang.stages.register.planning import Planned
    from bobusang.testing.clock import ManualClock

SOLD_OUT = replace(WANTED, variants=stocks(Stock.OUT))
NOBODY_KNOWS = replace(WANTED, variants=stocks(Stock.UNKNOWN))
PATIENCE = Policy().patience + timedelta(minutes=2)
BLANK: list[Any] = [None, yen(0), yen(-5), math.nan, Decimal("NaN"), "", 0]


def coats(count: int, of: Wanted = WANTED) -> list[Wanted]:
    return [replace(of, product_id=id, sku=f"okmall/{id}") for id in range(1, count + 1)]


async def listed(db: Database, count: int = 1, policy: Policy | None = None) -> Desk:
    """So many coats, live."""
    desk = await Desk.opened(db, policy)
    await desk.go(*coats(count))
    await desk.told()
    desk.shop.calls.clear()
    return desk


def stopped_by(planned: Sequence[Planned]) -> list[Guard | None]:
    return [one.decision.trip.guard if isinstance(one.decision, Stopped) else None for one in planned]


# --- prices ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("blank", BLANK, ids=repr)
async def test_without_a_floor_nothing_leaves_neither_new_nor_changed(db: Database, blank: Any) -> None:
    """2012: every listing with a blank minimum was sold for one cent."""
    desk = await listed(db)
    coat, fresh = coats(2)

    planned = await desk.plan(replace(coat, price=yen(21_000), floor=blank), replace(fresh, floor=blank))

    assert stopped_by(planned) == [Guard.NO_FLOOR] * 2
    assert desk.shop.calls == []
    assert await desk.rows("select count(*) as open_calls from market_calls where open_key is not null") == [
        {"open_calls": 0}
    ]


async def test_a_rule_that_moves_every_price_is_held(db: Database) -> None:
    """2014: a repricer took every price of a shop down in one run; each step alone looked small."""
    desk = await listed(db, 20)

    planned = await desk.plan(*coats(20, replace(WANTED, price=yen(21_900))), run="r2")

    assert stopped_by(planned) == [Guard.CHANGED] * 20
    assert desk.shop.calls == []


async def test_what_sold_out_goes_though_the_prices_of_a_run_are_held_and_the_prices_are_held_after_it(
    db: Database,
) -> None:
    """A guard that stops an edit must not keep on sale what cannot be delivered, nor be forgotten once that is told."""
    desk = await listed(db, 20)
    wishes = coats(20, replace(WANTED, price=yen(21_900), variants=stocks(c1_s1=Stock.OUT)))

    planned = await desk.plan(*wishes, run="r2")
    await desk.send([one.outgoing for one in planned])
    await desk.told()

    assert [one.decision.step.kind for one in planned if isinstance(one.decision, Chosen)] == [Kind.STOCK] * 20
    async with db.read() as tx:
        assert await listings.standing(tx, desk.account.id, range(1, 21)) == {}
    assert stopped_by(await desk.plan(*wishes, run="r2")) == [Guard.CHANGED] * 20


async def test_a_price_changed_by_hand_at_the_market_is_noticed_and_put_right(db: Database) -> None:
    desk = await listed(db)
    (coat,) = coats(1)
    desk.shop.products[100]["price"] = 21_000
    desk.shop.ticks += 1

    (moved,) = await desk.told([desk.shop.hook("product/update", desk.shop.said(100))])
    await desk.go(coat)

    assert (moved.price, moved.state) == (21_000, State.LIVE)
    assert [call["price"] for call in desk.shop.calls] == [22_500]


# --- stock -----------------------------------------------------------------------------------------------------------


async def test_sources_that_answer_nothing_close_nothing(db: Database) -> None:
    """Every page of a mall answered 500 and was taken for gone."""
    desk = await listed(db, 20)

    planned = await desk.plan(*coats(20, NOBODY_KNOWS), run="r2")

    assert [one.decision for one in planned] == [Idle("as confirmed")] * 20
    assert await desk.rows("select state, count(*) as n from listings group by state") == [{"state": "LIVE", "n": 20}]


async def test_a_shop_that_sells_out_one_by_one_is_stopped_too_and_the_next_run_does_not_go_on(db: Database) -> None:
    """Products stream: no batch holds enough of them to look like an accident."""
    desk = await listed(db, 30)
    gone = coats(27, SOLD_OUT)

    first = [one for coat in gone for one in await desk.plan(coat, run="r2")]
    later = await desk.plan(*gone[5:], run="r3")

    assert [type(one.decision) for one in first] == [Chosen] * 5 + [Stopped] * 22
    assert stopped_by(first[5:]) == stopped_by(later) == [Guard.CLOSED] * 22


async def test_a_stock_that_the_market_did_not_take_is_not_believed(db: Database, clock: ManualClock) -> None:
    """Two months of `stock 0`, each answered 200, and twenty sold."""
    desk = await listed(db, policy=Policy(sends=2))
    (gone,) = coats(1, SOLD_OUT)
    await desk.go(gone)
    for _ in range(3):
        desk.shop.queue.clear()
        desk.shop.ticks += 1
        (moved,) = await desk.told([desk.shop.hook("product/update", desk.shop.said(100))])
        assert (moved.state, moved.keys) == (State.LIVE, ())
        clock.advance(seconds=PATIENCE.total_seconds())
        await desk.recover()

    async with db.read() as tx:
        (receipt, _) = await receipts(tx, gone.sku)
        (hold,) = await holds.pick(tx, desk.account.id)
    assert [call["order_quantity"] for call in desk.shop.calls] == [0, 0]
    assert (receipt.call.state, receipt.is_complete) == (CallState.LOST, False)
    assert hold.guard is Guard.UNANSWERED


def spelled_anew(count: int) -> list[Wanted]:
    """So many coats whose colours have other codes and texts than before."""
    colors = tuple(Option(Axis.COLOR, f"n{one.code}", f"{one.text}!", f"{one.market_text}!") for one in COLORS)
    variants = tuple(Variant(color.key, size.key, Stock.TO_ORDER) for color in colors for size in SIZES)
    return coats(count, replace(WANTED, options=colors + SIZES, variants=variants))


@pytest.mark.parametrize("at_once", [20, 1])
async def test_a_mall_that_spells_all_its_options_anew_suspends_nothing(db: Database, at_once: int) -> None:
    """The edits are more than a run may make; the stock of the old options alone would close what is sold."""
    desk = await listed(db, 20)
    wishes = spelled_anew(20)

    planned = [
        one for start in range(0, 20, at_once) for one in await desk.plan(*wishes[start : start + at_once], run="r2")
    ]
    await desk.send([one.outgoing for one in planned if one.outgoing is not None])
    await desk.told()

    changed = 0 if at_once == 20 else 12
    assert stopped_by(planned) == [None] * changed + [Guard.CHANGED] * (20 - changed)
    assert {one["status"] for one in desk.shop.products.values()} == {"public"}


async def test_what_is_closed_because_its_price_is_held_is_counted_as_closed(db: Database) -> None:
    """Without a floor no edit leaves, and what can no longer be had is taken off, but not a whole shop of it."""
    desk = await listed(db, 20)
    wishes = [replace(one, floor=None) for one in spelled_anew(20)]

    few = await desk.plan(*wishes[:2], run="r2")
    rest = await desk.plan(*wishes[2:], run="r2")

    assert [one.decision.step.kind for one in few if isinstance(one.decision, Chosen)] == [Kind.CLOSE] * 2
    assert stopped_by(rest) == [Guard.CLOSED] * 18


async def test_a_shop_that_is_all_in_stock_at_once_waits_for_a_person(db: Database) -> None:
    """A source that cannot read what is sold out calls everything available."""
    desk = await listed(db, 20, Policy(caution=Caution(closed=100)))
    await desk.go(*coats(20, SOLD_OUT), run="r2")
    await desk.told()
    desk.shop.calls.clear()

    planned = await desk.plan(*coats(20), run="r3")

    assert stopped_by(planned) == [Guard.CHANGED] * 20
    async with db.read() as tx:
        found = await holds.pick(tx, desk.account.id)
    await db.transact(lambda tx: desk.register.decide_hold(tx, found[-1].id, approve=True, who="owner"))
    again = await desk.plan(*coats(20), run="r3")
    assert stopped_by(again) == [None] + [Guard.CHANGED] * 19


# --- the same product once -------------------------------------------------------------------------------------------


async def test_two_processes_that_list_a_product_at_once_list_it_once(db: Database, other: Database) -> None:
    desk = await Desk.opened(db)

    found = await asyncio.gather(
        *(
            one.transact(lambda tx, run=run: desk.register.plan(tx, desk.account, run, [WANTED]))  # type: ignore[misc]
            for one, run in ((db, "r1"), (other, "r2"))
        )
    )
    await desk.send([planned.outgoing for (planned,) in found if planned.outgoing is not None])
    await desk.told()

    assert sorted(type(planned.decision).__name__ for (planned,) in found) == [Chosen.__name__, Waiting.__name__]
    assert len(desk.shop.products) == 1


async def test_a_reference_is_for_life_and_for_one_product(db: Database) -> None:
    """With an id the market overwrites the reference: a wrong one in our books would be pushed to it."""
    desk = await Desk.opened(db)
    coat, second = coats(2)
    for wish in (coat, replace(coat, price=yen(23_000)), coats(1, SOLD_OUT)[0], coat):
        await desk.go(wish)
        await desk.told()
    await desk.go(second)
    await desk.told()

    names = [call["reference_number"] for call in desk.shop.calls]
    assert len(names) == 5
    assert [names.index(name) for name in names] == [0, 0, 0, 0, 4]
    rows = await desk.rows("select id, reference from listings order by product_id")
    assert [row["reference"] for row in rows] == [names[0], names[4]]
    with pytest.raises(BobusangError):
        await db.transact(lambda tx: _rename(tx, rows[1]["id"], names[0]))


async def _rename(tx: Any, id: int, reference: str) -> None:
    (listing,) = (await listings.lock(tx, [id])).values()
    await listings.save(tx, [replace(listing, reference=reference)])


# --- what nobody saw -------------------------------------------------------------------------------------------------


async def test_a_failed_last_edit_is_seen_and_tried_again_when_its_cause_is_gone(db: Database) -> None:
    """18,800 listings were live with a failed last edit, and looked well."""
    desk = await listed(db)
    (coat,) = coats(1)
    await desk.go(replace(coat, price=yen(23_000)))
    desk.shop.queue.clear()
    told = {"request_uid": "u1", "reference_number": desk.shop.calls[0]["reference_number"]}
    refused = desk.shop.hook("product/fail_to_update", told | {"errors": {"comments": ["使用できない文字"]}})

    (moved,) = await desk.told([refused])

    async with db.read() as tx:
        (receipt, _) = await receipts(tx, coat.sku)
        figures = await freshness(tx, desk.account.id)
        topics = await tx.fetch(select(outbox.c.payload).where(outbox.c.topic == "listing.changed"))
    assert (moved.state, moved.price) == (State.LIVE, 22_500)
    assert (receipt.call.state, receipt.is_complete, figures.refused) == (CallState.REJECTED, False, 1)
    assert receipt.listing.refusal is not None
    assert receipt.listing.refusal.words == (
        "comments: a character that BUYMA does not take: Hangul, or an invisible one"
    )
    assert [json.loads(row["payload"])["call"] for row in topics] == ["CONFIRMED", "REJECTED"]

    await desk.go(replace(coat, price=yen(23_000), comments="直しました。"))
    await desk.told()
    async with db.read() as tx:
        assert (await freshness(tx, desk.account.id)).refused == 0


async def test_a_listing_that_nobody_edits_is_extended_before_it_lapses(db: Database, clock: ManualClock) -> None:
    """Unchanged listings got no edit, and were gone after 90 days."""
    desk = await listed(db)
    (coat,) = coats(1)

    async def ending() -> list[int]:
        day = today(desk.register.market.abilities, clock.now())
        async with db.read() as tx:
            return await listings.ending(tx, desk.account.id, day + timedelta(days=desk.account.policy.extend))

    before = await ending()
    clock.advance(days=76)
    due = await ending()
    (planned,) = await desk.plan(coat, run="r2")
    await desk.send([planned.outgoing])
    await desk.told()

    assert (before, due, await ending()) == ([], [1], [])
    assert isinstance(planned.decision, Chosen)
    assert planned.decision.step.kind is Kind.EXTEND
    first, last = await desk.rows("select payload from market_calls order by id")
    until = [json.loads(row["payload"])["product"]["available_until"] for row in (first, last)]
    assert until[0] < until[1]


async def test_a_key_that_has_run_out_stops_the_account_and_is_told(db: Database) -> None:
    """Keys of another market die after 180 days, and the tools built on them stop in silence."""
    desk = await listed(db)
    wish = replace(coats(1)[0], price=yen(23_000))
    desk.shop.mood = Mood.SHUT
    await desk.go(wish, run="r2")

    (planned,) = await desk.plan(wish, run="r3")

    why = "BUYMA answered 401: check the account's token and permissions"
    async with db.read() as tx:
        (row,) = await tx.fetch(select(outbox.c.payload).where(outbox.c.topic == "account.switched"))
    assert stopped_by([planned]) == [Guard.SWITCH]
    assert json.loads(row["payload"]) == {"account": "buyma/main", "enabled": False, "why": why}
