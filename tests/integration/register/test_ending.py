"""A listing whose edit cannot go out does not lapse: it is extended as it is, at a price that may be asked."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from bobusang.kit.money import yen
from bobusang.stages.register import listings
from bobusang.stages.register.deciding import Chosen, Faulty, Stopped
from bobusang.stages.register.diffing import Idle
from bobusang.stages.register.drafting import today
from bobusang.stages.register.guards import Guard
from tests.integration.register.desk import Desk
from tests.unit.register.making import WANTED

if TYPE_CHECKING:
    from datetime import date

    from bobusang.kit.db import Database
    from bobusang.stages.register.model import Wanted
    from bobusang.testing.clock import ManualClock
    from tests.integration.register.shop import Hook

COAT = replace(WANTED, product_id=1, sku="okmall/1")
FAULTY = replace(COAT, comments="한글")
DEARER = replace(COAT, price=yen(35_000))
REWORDED = replace(COAT, comments="新しい説明です。")
CALLS = "select kind, state from market_calls where kind <> 'CREATE' order by id"


async def listed(db: Database) -> Desk:
    desk = await Desk.opened(db)
    await desk.go(COAT)
    await desk.told()
    return desk


async def go(desk: Desk, wish: Wanted, *, refuses: bool = False) -> str:
    """Plan, send and hear the verdict; what became of it."""
    (planned,) = await desk.plan(wish, run=f"r {desk.db.clock.now()}")
    if planned.outgoing is not None:
        await desk.send([planned.outgoing])
        await desk.told([refusal(desk)] if refuses else None)
    match planned.decision:
        case Chosen(step):
            return step.kind.value
        case Stopped(trip, _):
            return trip.guard.value
        case Idle(is_refused=True):
            return "refused"
        case other:
            return type(other).__name__


def refusal(desk: Desk) -> Hook:
    uid, _, product = desk.shop.queue.pop()
    told = desk.shop._failure(uid, product["reference_number"], {"comments": ["使用できない文字が含まれています"]})
    return desk.shop.hook("product/fail_to_update", told)


def left(desk: Desk) -> timedelta:
    """For how long the market shows it."""
    (product,) = desk.shop.products.values()
    end = [int(part) for part in product["available_until"].split("/")]
    day: date = today(desk.register.market.abilities, desk.db.clock.now())
    return type(day)(*end) - day


async def over_a_year(desk: Desk, clock: ManualClock, wish: Wanted, **more: Any) -> list[str]:
    """What becomes of a wish, day by day, without repetitions; the listing never lapses."""
    seen: list[str] = []
    for _ in range(365):
        clock.advance(days=1)
        became = await go(desk, wish, **more)
        seen += [] if seen[-1:] == [became] else [became]
        assert left(desk) > timedelta(days=12)
    return seen


async def test_a_listing_whose_edit_is_faulty_is_extended_all_the_same(db: Database, clock: ManualClock) -> None:
    desk = await listed(db)

    seen = await over_a_year(desk, clock, FAULTY)

    assert seen == [*["Faulty", "EXTEND"] * 4, "Faulty"]
    assert {product["comments"] for product in desk.shop.products.values()} == {COAT.comments}


async def test_a_listing_whose_price_a_guard_holds_is_extended_at_the_price_that_it_has(
    db: Database, clock: ManualClock
) -> None:
    desk = await listed(db)

    seen = await over_a_year(desk, clock, DEARER)

    assert seen == [*["step", "EXTEND"] * 4, "step"]
    assert {product["price"] for product in desk.shop.products.values()} == {22_500}
    assert await desk.rows("select guard from listing_holds where state = 'HELD'") == [{"guard": "step"}]


async def test_a_listing_whose_edit_was_refused_is_extended_and_a_refused_extension_is_not_repeated(
    db: Database, clock: ManualClock
) -> None:
    desk = await listed(db)
    clock.advance(days=70)
    assert [await go(desk, REWORDED, refuses=True), await go(desk, REWORDED)] == ["EDIT", "refused"]
    clock.advance(days=6)

    assert [await go(desk, REWORDED, refuses=True) for _ in range(3)] == ["EXTEND", "refused", "refused"]
    assert left(desk) == timedelta(days=13)
    await desk.go(replace(REWORDED, comments=COAT.comments, price=yen(22_600)))
    await desk.told()
    assert left(desk) == timedelta(days=89)


async def test_a_price_that_may_not_be_asked_any_more_is_not_extended_and_a_person_hears_when_it_ends(
    db: Database, clock: ManualClock
) -> None:
    desk = await listed(db)
    loss = replace(FAULTY, floor=yen(30_000))
    (planned,) = await desk.plan(loss)
    assert isinstance(planned.decision, Stopped)
    at_a_loss = replace(FAULTY, price=yen(29_000), floor=yen(23_000))
    assert isinstance((await desk.plan(at_a_loss))[0].decision, Faulty)
    clock.advance(days=80)

    assert await go(desk, at_a_loss, refuses=True) == Guard.BELOW_FLOOR

    (held,) = await desk.rows("select reason from listing_holds where state = 'HELD' and guard = 'below_floor'")
    [end] = await desk.rows("select available_until as day from listings")
    assert held["reason"] == f"22,500 is below the floor 23,000, so it is not extended beyond {end['day']}"


async def test_an_extension_does_not_say_that_a_product_was_taken_as_it_was_sent_last(
    db: Database, clock: ManualClock
) -> None:
    desk = await listed(db)
    clock.advance(days=80)
    assert await go(desk, FAULTY) == "EXTEND"

    async with db.read() as tx:
        assert await listings.standing(tx, desk.account.id, [1]) == {}
