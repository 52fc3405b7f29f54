"""A product that begins anew: what the market has of it is closed for good, then another listing follows it, and never
are both on sale."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bobusang.catalog import markets
from bobusang.flows.market.closing import close
from bobusang.stages.register import closing, holds, listings, retiring
from bobusang.stages.register.diffing import Idle
from bobusang.stages.register.guards import Guard
from bobusang.stages.register.limiting import WORDS, Limit
from bobusang.stages.register.model import Axis, Option, Stock, Variant
from bobusang.stages.register.planning import LOOK, Postponed
from bobusang.testing.catalog import collect, reading
from tests.integration.register.desk import Desk
from tests.integration.register.shop import Mood
from tests.integration.register.test_claims import OURS, THEIRS, became, gone
from tests.unit.register.making import ACCOUNT, COLORS, WANTED

if TYPE_CHECKING:
    from bobusang.kit.db import Database
    from bobusang.stages.register.model import Listing
    from bobusang.testing.clock import ManualClock
    from tests.integration.register.shop import Hook

ONE_SIZE = Option(Axis.SIZE, "only", "FREE", "FREE", 1)
IN_STOCK = tuple(Variant(color.key, "only", Stock.TO_ORDER) for color in COLORS)
OUT = tuple(Variant(color.key, "only", Stock.OUT) for color in COLORS)
PLAIN = replace(WANTED, name="コート", options=(*COLORS, ONE_SIZE), variants=IN_STOCK)
"""The coat as the mall sells it now: by colour alone."""
CALLS = "select kind, run_id, state from market_calls order by id"
STANDS = "select id, state, retired, reference, market_id, closed_by, closed_why from listings order by id"


async def retired(desk: Desk, why: str = "by colour now") -> Listing | None:
    return await desk.db.transact(
        lambda tx: retiring.retire(tx, desk.account, WANTED.product_id, WANTED.sku, who="kim", why=why)
    )


async def closed(desk: Desk) -> int:
    return await close(desk.db, desk.register).run()


async def stands(desk: Desk) -> list[dict[str, Any]]:
    return await desk.rows(STANDS)


async def states(desk: Desk) -> list[tuple[str, bool]]:
    return [(row["state"], row["retired"] != 0) for row in await stands(desk)]


async def listed(db: Database) -> Desk:
    desk = await Desk.opened(db)
    await desk.go(WANTED)
    await desk.told()
    return desk


def says(desk: Desk, status: str) -> Hook:
    """The market's newest word of the first listing, which nobody asked for."""
    desk.shop.ticks += 1
    return desk.shop.hook("product/update", desk.shop.said(100) | {"status": status})


def in_the_way(reason: str) -> str:
    return f"its retired listing {reason}: it is listed anew once that one is closed there"


async def test_what_was_listed_is_closed_for_good_and_another_listing_follows(db: Database) -> None:
    desk = await listed(db)

    was = await retired(desk)
    assert was is not None
    assert (await retired(desk), await closed(desk), await closed(desk)) == (None, 1, 0)
    await desk.told()
    await desk.go(PLAIN)
    await desk.told()

    old, new = await stands(desk)
    assert old == {
        "id": was.id,
        "state": "SUSPENDED",
        "retired": was.id,
        "reference": was.reference,
        "market_id": "100",
        "closed_by": "kim",
        "closed_why": "by colour now",
    }
    assert (new["state"], new["retired"], new["market_id"], new["closed_by"]) == ("LIVE", 0, "101", None)
    assert new["reference"] not in (None, was.reference)
    assert [(one["kind"], one["run_id"]) for one in await desk.rows(CALLS)] == [
        ("CREATE", "r1"),
        ("CLOSE", "person"),
        ("CREATE", "r1"),
    ]
    made = desk.shop.products[101]
    assert (made["name"], made["reference_number"], len(made["variants"])) == ("コート", new["reference"], 2)
    async with db.read() as tx:
        found = await listings.by_sku(tx, WANTED.sku)
        assert await listings.ours(tx, [desk.account.id], ["100", "101", "102"]) == {"100", "101"}
    assert [one.is_retired for one in found] == [False, True]


async def test_the_next_one_waits_until_the_market_has_closed_what_was_before(db: Database, clock: ManualClock) -> None:
    desk = await listed(db)
    await retired(desk)
    why = in_the_way("100 is LIVE at the market")

    [now] = await desk.plan(PLAIN)
    assert now.decision == Postponed(clock.now() + LOOK, why)
    assert await closed(desk) == 1
    [under_way] = await desk.plan(PLAIN)
    assert under_way.decision == Postponed(clock.now() + LOOK, why)
    async with db.read() as tx:
        [preview] = await desk.register.preview(tx, desk.account, [PLAIN])
    assert (preview.decision, preview.request) == (Idle(why, is_refused=True), None)
    clock.advance(minutes=31)
    [late] = await desk.plan(PLAIN)
    assert late.decision == Idle(why, is_refused=True)
    assert await states(desk) == [("LIVE", True), ("NEW", False)]

    await desk.told()
    await desk.go(PLAIN)
    assert await states(desk) == [("SUSPENDED", True), ("SENT", False)]


async def test_what_the_market_says_late_of_the_old_one_changes_nothing_of_the_new(db: Database) -> None:
    desk = await listed(db)
    first = dict(desk.shop.products[100])
    await retired(desk)
    await closed(desk)
    await desk.told()
    await desk.go(PLAIN)
    await desk.told()
    [_, before] = await stands(desk)

    late = desk.shop.hook("product/update", first)
    stranger = first | {"id": 555, "status": "public", "updated_at": "2026-03-02 09:00:00 +0900"}
    await desk.told([late, desk.shop.hook("product/update", stranger), says(desk, "admin_suspended")])

    [old, new] = await stands(desk)
    assert new == before
    assert (old["state"], old["market_id"]) == ("BLOCKED", "100")
    words = await desk.rows("select state, listing_id from webhook_inbox where note <> '' order by id")
    assert [(one["state"], one["listing_id"]) for one in words][-3:] == [
        ("STALE", old["id"]),
        ("CONFLICT", old["id"]),
        ("APPLIED", old["id"]),
    ]


async def test_what_somebody_puts_back_on_sale_is_closed_again(db: Database) -> None:
    desk = await listed(db)
    await retired(desk)
    await closed(desk)
    await desk.told()

    await desk.told([says(desk, "public")])
    assert await db.transact(lambda tx: closing.open_again(tx, [1])) == 0
    [waits] = await desk.plan(PLAIN)
    assert isinstance(waits.decision, Postponed)
    assert await closed(desk) == 1
    await desk.told()

    assert await states(desk) == [("SUSPENDED", True), ("NEW", False)]


async def test_a_sender_that_dies_in_between_loses_nothing(db: Database, clock: ManualClock) -> None:
    """It died before its closing was sent; then the answer was lost, and the word of the market."""
    desk = await listed(db)
    await retired(desk)
    [id] = [row["id"] for row in await stands(desk)]
    planned = await db.transact(lambda tx: desk.register.plan_limits(tx, desk.account, closing.BY_PERSON, [id], {}))
    assert [one.listing_id for one in planned if one.outgoing is not None] == [id]

    clock.advance(hours=1)
    desk.shop.mood = Mood.MUTE
    await desk.recover()
    desk.shop.mood = Mood.FINE
    desk.shop.work()
    assert isinstance((await desk.plan(PLAIN))[0].decision, Idle)
    clock.advance(hours=1)
    await desk.recover()
    await desk.told()
    await desk.go(PLAIN)
    await desk.told()

    assert await states(desk) == [("SUSPENDED", True), ("LIVE", False)]
    assert [one["reference_number"] for one in desk.shop.calls].count(desk.shop.products[101]["reference_number"]) == 1


async def test_one_that_the_market_has_not_answered_yet_is_waited_for(db: Database, clock: ManualClock) -> None:
    desk = await Desk.opened(db)
    await desk.go(WANTED)
    was = await retired(desk)
    assert was is not None
    assert became(await desk.plan(PLAIN)) == ["Postponed"]
    assert await closed(desk) == 0

    await desk.told()
    assert became(await desk.plan(PLAIN)) == ["Postponed"]
    assert await closed(desk) == 1
    await desk.told()
    await desk.go(PLAIN)
    await desk.told()

    assert await states(desk) == [("SUSPENDED", True), ("LIVE", False)]


async def test_one_that_is_never_answered_waits_for_a_person(db: Database, clock: ManualClock) -> None:
    desk = await Desk.opened(db)
    desk.shop.mood = Mood.DEAF
    await desk.go(WANTED)
    was = await retired(desk)
    assert was is not None
    for _ in range(ACCOUNT.policy.sends):
        clock.advance(hours=1)
        await desk.recover()
    desk.shop.mood = Mood.FINE
    why = in_the_way(f"{was.reference} was sent and not answered")
    assert (await desk.plan(PLAIN))[0].decision == Idle(why, is_refused=True)

    async with db.read() as tx:
        [hold] = await holds.pick(tx, desk.account.id)
    assert hold.guard is Guard.UNANSWERED
    await db.transact(lambda tx: desk.register.decide_hold(tx, hold.id, approve=True, who="kim"))
    await desk.go(PLAIN)
    await desk.told()

    assert (await states(desk))[1] == ("LIVE", False)
    assert list(desk.shop.products) == [100]


async def test_what_the_market_suspended_is_not_listed_beside_itself(db: Database, clock: ManualClock) -> None:
    desk = await listed(db)
    await desk.told([says(desk, "admin_suspended")])
    await retired(desk)
    clock.advance(hours=1)

    assert became(await desk.plan(PLAIN)) == [in_the_way("100 is BLOCKED at the market")]
    await desk.told([says(desk, "admin_deleted")])
    assert became(await desk.plan(PLAIN)) == ["CREATE"]


async def test_what_was_never_sent_is_not_retired_and_what_a_person_closed_stays_closed(db: Database) -> None:
    desk = await Desk.opened(db)
    await db.transact(lambda tx: listings.wanted(tx, desk.account.id, {WANTED.product_id: WANTED.sku}))
    assert await retired(desk) is None
    await desk.go(WANTED)
    await desk.told()
    [id] = [row["id"] for row in await stands(desk)]
    await db.transact(lambda tx: closing.close(tx, [id], who="lee", why="a letter"))

    assert await retired(desk) is not None
    await closed(desk)
    await desk.told()

    old, new = await stands(desk)
    assert (old["closed_by"], old["closed_why"], old["state"]) == ("kim", "by colour now", "SUSPENDED")
    assert (new["closed_by"], new["closed_why"], new["retired"]) == ("lee", "a letter", 0)
    assert (await desk.plan(PLAIN))[0].decision == Idle(WORDS[Limit.CLOSED])
    assert await db.transact(lambda tx: closing.open_again(tx, [old["id"], new["id"]])) == 1
    assert became(await desk.plan(PLAIN)) == ["CREATE"]


async def test_two_that_retire_at_once_retire_once(db: Database) -> None:
    desk = await listed(db)

    found = await asyncio.gather(retired(desk), retired(desk))

    assert sorted(one is not None for one in found) == [False, True]
    assert await states(desk) == [("LIVE", True)]


async def test_a_retired_listing_and_the_present_one_are_closed_together(db: Database) -> None:
    """A person puts the old one back on sale at the market, and another closes the product."""
    desk = await listed(db)
    await retired(desk)
    await closed(desk)
    await desk.told()
    await desk.go(PLAIN)
    await desk.told()
    await desk.told([says(desk, "public")])
    ids = [row["id"] for row in await stands(desk)]
    await db.transact(lambda tx: closing.close(tx, ids, who="lee", why="a letter"))

    assert await closed(desk) == 2
    await desk.told()

    assert await states(desk) == [("SUSPENDED", True), ("SUSPENDED", False)]


async def test_goods_of_another_mall_wait_for_what_is_retired_too(db: Database) -> None:
    desk = await Desk.opened(db)
    assert await gone(desk, OURS) == ["CREATE"]
    await db.transact(lambda tx: retiring.retire(tx, desk.account, OURS.product_id, OURS.sku, who="kim", why="new"))

    assert became(await desk.plan(THEIRS)) == ["same goods as okmall-1 of okmall"]
    await closed(desk)
    await desk.told()
    assert became(await desk.plan(THEIRS)) == ["CREATE"]


async def test_the_catalog_shows_the_listing_that_is_for_sale(db: Database) -> None:
    desk = await Desk.opened(db)
    _, written = await collect(db, reading("A1", price=1))
    coat = replace(WANTED, product_id=written.ids[0])
    await gone(desk, coat)
    await db.transact(lambda tx: retiring.retire(tx, desk.account, coat.product_id, coat.sku, who="kim", why="new"))
    await closed(desk)
    await desk.told()

    async def told() -> list[tuple[Any, Any]]:
        async with db.read() as tx:
            found = await markets.by_market(tx, "buyma")
        return [(one.info["status"], one.info["listing_id"]) for one in found]

    assert await told() == [("suspended", "100")]
    await gone(desk, replace(PLAIN, product_id=coat.product_id))
    assert await told() == [("active", "101")]
    await desk.told([says(desk, "buyer_suspended")])
    await gone(desk, replace(PLAIN, product_id=coat.product_id, variants=OUT))
    assert await told() == [("suspended", "101")]
