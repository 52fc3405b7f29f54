"""What a person closes is taken off by one call, stays off whatever the mall shows, and comes back when it is open."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bobusang.flows.market.closing import close
from bobusang.stages.register import accounts, closing
from bobusang.stages.register.deciding import Waiting
from bobusang.stages.register.diffing import Idle
from bobusang.stages.register.limiting import WORDS, Limit
from bobusang.stages.register.model import Caution, Policy, Stock
from tests.integration.register.desk import Desk
from tests.integration.register.shop import Mood
from tests.unit.register.making import WANTED, stocks

if TYPE_CHECKING:
    from bobusang.kit.db import Database
    from bobusang.testing.clock import ManualClock

COATS = [replace(WANTED, product_id=number, sku=f"okmall-{number}") for number in range(1, 4)]
CALLS = "select kind, run_id, state from market_calls where kind <> 'CREATE' order by id"


async def opened(db: Database, policy: Policy | None = None) -> Desk:
    desk = await Desk.opened(db, policy)
    await desk.go(*COATS)
    await desk.told()
    return desk


async def shut(desk: Desk, *skus: str) -> int:
    ids = [row["id"] for row in await desk.rows("select id, sku from listings") if row["sku"] in skus]
    return await desk.db.transact(lambda tx: closing.close(tx, ids, who="kim", why="a letter"))


async def ids(desk: Desk) -> list[int]:
    return [row["id"] for row in await desk.rows("select id from listings order by id")]


async def states(desk: Desk) -> dict[str, str]:
    return {row["sku"]: row["state"] for row in await desk.rows("select sku, state from listings order by id")}


async def test_a_closed_listing_goes_off_by_one_call_and_comes_back_when_it_is_opened(db: Database) -> None:
    desk = await opened(db)
    live = dict.fromkeys(("okmall-1", "okmall-2", "okmall-3"), "LIVE")

    assert (await shut(desk, "okmall-1"), await shut(desk, "okmall-1")) == (1, 0)
    assert (await close(db, desk.register).run(), await close(db, desk.register).run()) == (1, 0)
    assert await desk.rows(CALLS) == [{"kind": "CLOSE", "run_id": "person", "state": "ACCEPTED"}]
    await desk.told()
    assert await states(desk) == live | {"okmall-1": "SUSPENDED"}
    assert await close(db, desk.register).run() == 0

    [planned] = await desk.plan(COATS[0])
    assert planned.decision == Idle(WORDS[Limit.CLOSED])

    [first, *_] = await ids(desk)
    assert await db.transact(lambda tx: closing.open_again(tx, [first])) == 1
    await desk.go(COATS[0])
    await desk.told()
    assert await states(desk) == live
    assert [row["kind"] for row in await desk.rows(CALLS)] == ["CLOSE", "REVIVE"]


async def test_a_persons_closing_that_is_refused_goes_as_a_whole_product(db: Database) -> None:
    """The market's grid is another than ours, and nobody looks at the product itself."""
    desk = await opened(db)
    number = min(desk.shop.products)
    product = desk.shop.products[number]
    product["variants"] = [*product["variants"], {"options": ["?"], "stock_type": "purchase_for_order"}]
    [row] = await desk.rows(f"select sku from listings where market_id = '{number}'")
    await shut(desk, row["sku"])

    for _ in range(2):
        assert await close(db, desk.register).run() == 1
        await desk.told()

    assert (await states(desk))[row["sku"]] == "SUSPENDED"
    assert [(call["kind"], call["state"]) for call in await desk.rows(CALLS)] == [
        ("CLOSE", "REJECTED"),
        ("CLOSE", "CONFIRMED"),
    ]
    assert await close(db, desk.register).run() == 0


async def test_a_person_closes_more_than_a_run_may_and_uses_up_none_of_it(db: Database) -> None:
    desk = await opened(db, Policy(caution=Caution(closed=10, few=1)))

    await shut(desk, "okmall-1", "okmall-2")
    assert await close(db, desk.register).run() == 2
    await desk.told()
    await desk.go(replace(COATS[2], variants=stocks(Stock.OUT)))
    await desk.told()

    assert set((await states(desk)).values()) == {"SUSPENDED"}
    assert await desk.rows("select guard from listing_holds") == []


async def test_a_run_that_its_guard_stops_still_closes_what_a_person_closed(db: Database) -> None:
    desk = await opened(db, Policy(caution=Caution(closed=10, few=1)))
    await shut(desk, "okmall-1")

    await desk.go(COATS[0], *(replace(coat, variants=stocks(Stock.OUT)) for coat in COATS[1:]))
    await desk.told()

    assert await states(desk) == {"okmall-1": "SUSPENDED", "okmall-2": "LIVE", "okmall-3": "LIVE"}


async def test_closing_overtakes_what_the_market_has_not_judged_yet(db: Database) -> None:
    desk = await opened(db)
    await desk.go(replace(COATS[0], comments="新しい説明です。"))

    await shut(desk, "okmall-1")
    assert await close(db, desk.register).run() == 1
    assert await desk.rows(CALLS) == [
        {"kind": "EDIT", "run_id": "r1", "state": "SUPERSEDED"},
        {"kind": "CLOSE", "run_id": "person", "state": "ACCEPTED"},
    ]
    [planned] = await desk.plan(COATS[0])
    assert isinstance(planned.decision, Waiting)
    await desk.told()
    assert (await states(desk))["okmall-1"] == "SUSPENDED"


async def test_what_could_not_be_sent_is_sent_when_it_can_be(db: Database, clock: ManualClock) -> None:
    desk = await opened(db)
    await shut(desk, "okmall-1")
    desk.shop.mood = Mood.BUSY
    assert await close(db, desk.register).run() == 1
    assert await desk.rows(CALLS) == [{"kind": "CLOSE", "run_id": "person", "state": "CANCELLED"}]
    assert await close(db, desk.register).run() == 0  # the market asked for a rest

    clock.advance(hours=1)
    desk.shop.mood = Mood.FINE
    await db.transact(lambda tx: accounts.switch(tx, desk.account, enabled=False, why="a pause"))
    assert await close(db, desk.register).run() == 0
    await db.transact(lambda tx: accounts.switch(tx, desk.account, enabled=True, why=""))
    assert await close(db, desk.register).run() == 1
    await desk.told()
    assert (await states(desk))["okmall-1"] == "SUSPENDED"


async def test_what_is_closed_before_it_was_ever_sent_is_not_listed(db: Database) -> None:
    desk = await Desk.opened(db)
    desk.shop.mood = Mood.BUSY
    await desk.go(COATS[0])
    await shut(desk, "okmall-1")

    [planned] = await desk.plan(COATS[0])

    assert planned.decision == Idle(WORDS[Limit.CLOSED])
    found: list[dict[str, Any]] = await desk.rows("select state, closed_by, closed_why from listings")
    assert found == [{"state": "NEW", "closed_by": "kim", "closed_why": "a letter"}]
