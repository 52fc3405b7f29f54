"""What an account needs a person for is an alert, on each database: told with what to do, over when nothing is left."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from bobusang.flows.market import alarms
from bobusang.kit.errors import Missing
from bobusang.kit.money import Money
from bobusang.kit.sql import Statement
from bobusang.platform.alerting import open_alerts
from bobusang.stages.price.model import Hold, Keep, Quote, Reason, Rival, Search
from bobusang.stages.price.model import Wanted as Priced
from bobusang.stages.price.quotes import Quoted, write
from bobusang.stages.register import accounts
from bobusang.stages.register.model import Policy
from tests.integration.register.desk import Desk
from tests.integration.register.shop import Mood
from tests.unit.register.making import ACCOUNT, WANTED

if TYPE_CHECKING:
    from bobusang.engine.upkeep.duty import Duty
    from bobusang.kit.db import Database
    from bobusang.stages.price.model import Priced as Result
    from bobusang.testing.clock import ManualClock

COATS = [replace(WANTED, product_id=number, sku=f"okmall-{number}") for number in (1, 2)]
DEARER = replace(COATS[0], price=Money(99_900, "JPY"), ceiling=Money(200_000, "JPY"))
REFUSE = Statement("update listings set refusal_cause = :cause where sku = 'okmall-1'")


@pytest.fixture
async def desk(db: Database) -> Desk:
    """Two coats on sale."""
    found = await Desk.opened(db)
    await found.go(*COATS)
    await found.told()
    return found


async def told(desk: Desk) -> dict[str, tuple[str, str]]:
    """Look once; the alerts that are open then, with their level and title."""
    await watch(desk).run()
    return {one.key: (one.level.value, one.title) for one in await desk.db.transact(open_alerts)}


def watch(desk: Desk) -> Duty:
    return alarms.watch(desk.db, desk.register)


async def test_while_all_is_well_nothing_is_said(desk: Desk) -> None:
    assert await told(desk) == {}


async def test_an_account_that_the_market_shut_is_told_until_it_sends_again(desk: Desk) -> None:
    desk.shop.mood = Mood.SHUT
    await desk.go(replace(COATS[0], price=Money(WANTED.price.amount_minor + 100, "JPY")))  # type: ignore[union-attr]

    assert await told(desk) == {"account_off:buyma/main": ("CRITICAL", "buyma/main is switched off")}
    [one] = await desk.db.transact(open_alerts)
    assert one.text == (
        "BUYMA answered 401: check the account's token and permissions. Nothing is sent from it: 2 live listings keep "
        "price and stock as they are, and what sells out at the mall can still be ordered. Mend the cause (for 401 or "
        "403 the token), then `bobusang account start main`."
    )
    await desk.db.transact(lambda tx: accounts.switch(tx, desk.account, enabled=True, why=""))
    assert await told(desk) == {}


async def test_an_account_whose_token_is_not_there_is_told_until_it_is(desk: Desk) -> None:
    def gone(ref: str) -> str:
        raise Missing(f"the secret {ref} is not there", hint="set the variable")

    there = desk.register
    desk.register = replace(there, secret=gone)

    assert await told(desk) == {"no_secret:buyma/main": ("CRITICAL", "buyma/main has no token to send with")}
    [one] = await desk.db.transact(open_alerts)
    assert one.text == (
        "the secret token is not there (set the variable). Nothing is sent from it: 2 live listings keep price and "
        "stock as they are, and what sells out at the mall can still be ordered. The token is looked for as `bobusang "
        "account show main` says, by every process that works; `bobusang run retry BATCH` then runs again what failed "
        "for want of it."
    )
    desk.register = there
    assert await told(desk) == {}


async def test_a_send_that_a_guard_holds_asks_a_person_until_it_is_decided(desk: Desk) -> None:
    await desk.go(DEARER)

    assert await told(desk) == {"market_holds:buyma/main": ("WARNING", "buyma/main: guards hold 1 sends")}
    [row] = await desk.rows("select id from listing_holds where state = 'HELD'")
    await desk.db.transact(lambda tx: desk.register.decide_hold(tx, row["id"], approve=False, who="kim"))
    assert await told(desk) == {}


async def test_a_call_without_a_verdict_and_two_products_have_alerts_of_their_own(
    db: Database, clock: ManualClock
) -> None:
    desk = await Desk.opened(db, Policy(sends=1, patience=timedelta(minutes=1)))
    await desk.go(COATS[0])
    clock.advance(hours=1)
    await desk.recover()
    assert await told(desk) == {"lost_calls:buyma/main": ("CRITICAL", "buyma/main: 1 calls never got a verdict")}
    await desk.told()
    assert await told(desk) == {}

    stranger = desk.shop.said(100) | {"id": 999}
    await desk.told([desk.shop.hook("product/update", stranger)])
    title = "buyma/main: the market has 1 products twice"
    assert await told(desk) == {"two_products:buyma/main": ("CRITICAL", title)}


async def test_live_listings_that_the_market_refused_are_told(desk: Desk) -> None:
    await desk.db.transact(lambda tx: tx.execute(REFUSE, cause="data"))
    title = "buyma/main: the market refused the last change of 1 live listings"

    assert await told(desk) == {"refused_live:buyma/main": ("WARNING", title)}
    await desk.db.transact(lambda tx: tx.execute(REFUSE, cause=None))
    assert await told(desk) == {}


async def test_what_sells_below_its_floor_is_told_while_that_is_the_last_word(desk: Desk) -> None:
    yen = Money(1_000, "JPY")
    loss = Hold(Reason.FLOOR_TOO_FAR, "no step reaches it", floor=yen, ceiling=yen, is_below_floor=True)
    await priced(desk, 1, loss)
    await priced(desk, 2, loss)
    await priced(desk, 2, Keep(yen, Reason.IN_BAND, yen, yen))
    await priced(desk, 3, loss)  # on no market

    assert await told(desk) == {
        "below_floor:buyma/main": ("CRITICAL", "buyma/main: 1 live listings sell below their floor")
    }
    [one] = await desk.db.transact(open_alerts)
    assert one.text.startswith("okmall-1. Their price is held")
    await priced(desk, 1, Keep(yen, Reason.IN_BAND, yen, yen))
    assert await told(desk) == {}


async def test_a_raise_out_of_a_loss_that_a_guard_holds_is_told_as_a_loss_until_it_is_agreed(desk: Desk) -> None:
    floor = Money(99_900, "JPY")
    await priced(desk, 1, Quote(floor, Reason.COST_ROSE, floor, floor), current=WANTED.price)
    assert await told(desk) == {}  # it is on its way
    await desk.go(DEARER)

    assert await told(desk) == {
        "below_floor:buyma/main": ("CRITICAL", "buyma/main: 1 live listings sell below their floor"),
        "market_holds:buyma/main": ("WARNING", "buyma/main: guards hold 1 sends"),
    }
    [row] = await desk.rows("select id from listing_holds where state = 'HELD'")
    await desk.db.transact(lambda tx: desk.register.decide_hold(tx, row["id"], approve=True, who="kim"))
    assert await told(desk) == {}


async def test_what_ends_and_is_not_extended_is_told_before_and_after(desk: Desk, clock: ManualClock) -> None:
    [day] = {row["available_until"] for row in await desk.rows("select available_until from listings")}
    clock.advance(days=81)
    assert await told(desk) == {}
    await desk.go(COATS[1], run="r2")
    await desk.told()
    title = "buyma/main: 1 live listings end and are not extended"

    for _ in range(2):
        clock.advance(days=10)
        assert await told(desk) == {"ending_listings:buyma/main": ("WARNING", title)}
    [one] = await desk.db.transact(open_alerts)
    assert one.text.startswith(f"okmall-1 ({day}). After that day buyers see them no longer")
    await desk.go(COATS[0], run="r3")
    await desk.told()
    assert await told(desk) == {}


async def priced(desk: Desk, product: int, result: Result, current: Money | None = None) -> None:
    wanted = Priced(product, f"okmall-{product}", "buyma", "main", None, current=current)
    await desk.db.transact(lambda tx: write(tx, [Quoted(wanted, result, Rival(Search.NEVER), "JPY")]))


def test_what_is_many_is_counted_to_a_bound_and_named_in_part() -> None:
    counts = {"step": 600, "closed": 400}
    below = [f"okmall-{number}" for number in range(12)]

    holds, loss = alarms.judge(ACCOUNT, counts, below)

    assert holds.title == f"{ACCOUNT.market}/{ACCOUNT.name}: guards hold 1,000 or more sends"
    assert holds.text.startswith("400 by closed, 600 by step. ")
    assert loss.text.startswith(", ".join(below[:10]) + " and 2 more. ")
