"""A listing's life: sent once, confirmed by the market alone, and right after every accident."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from bobusang.kit.errors import Conflict
from bobusang.kit.money import yen
from bobusang.stages.register import accounts, holds, inbox, listings
from bobusang.stages.register.budget import SLOT, slot
from bobusang.stages.register.deciding import Chosen, Stopped, Waiting
from bobusang.stages.register.diffing import Idle, Kind
from bobusang.stages.register.guards import Guard
from bobusang.stages.register.market import Family
from bobusang.stages.register.model import Budget, Policy, State, Stock, Variant
from bobusang.stages.register.planning import Postponed
from bobusang.stages.register.tables import CallState, InboxState
from tests.integration.register.desk import Desk
from tests.integration.register.shop import Mood
from tests.unit.register.making import ACCOUNT, COLORS, WANTED, XL, stocks

if TYPE_CHECKING:
    from bobusang.kit.db import Database
    from bobusang.stages.register.model import Wanted
    from bobusang.stages.register.planning import Planned
    from bobusang.testing.clock import ManualClock
    from tests.integration.register.shop import Hook

SOLD_OUT = replace(WANTED, variants=stocks(Stock.OUT))
PATIENCE = Policy().patience + timedelta(minutes=2)


def coats(count: int, of: Wanted = WANTED) -> list[Wanted]:
    return [replace(of, product_id=id, sku=f"okmall/{id}") for id in range(1, count + 1)]


async def listed(db: Database, count: int = 1, policy: Policy | None = None) -> Desk:
    """So many coats, live."""
    desk = await Desk.opened(db, policy)
    await desk.go(*coats(count))
    await desk.told()
    desk.shop.calls.clear()
    return desk


async def test_a_listing_is_live_only_when_the_market_says_so(db: Database) -> None:
    desk = await Desk.opened(db)

    (settled,) = await desk.go(WANTED)
    before = await desk.rows("select state, market_id, reference from listings")
    (moved,) = await desk.told()

    assert settled.state is CallState.ACCEPTED
    assert [(row["state"], row["market_id"]) for row in before] == [("SENT", None)]
    assert (moved.state, moved.market_id, moved.price, moved.keys) == (State.LIVE, "100", 22_500, (settled.key,))
    assert desk.shop.calls[0]["reference_number"] == before[0]["reference"]
    (planned,) = await desk.plan(WANTED)
    assert (planned.decision, planned.outgoing) == (Idle("as confirmed"), None)


async def test_sold_out_suspends_and_stock_revives_under_the_same_id(db: Database) -> None:
    desk = await listed(db)
    coat, gone = coats(1)[0], coats(1, SOLD_OUT)[0]

    await desk.go(gone)
    (closed,) = await desk.told()
    await desk.go(coat)
    (revived,) = await desk.told()

    assert [(call.get("control"), call["id"]) for call in desk.shop.calls] == [(None, 100), ("publish", 100)]
    assert [(one.state, one.market_id) for one in (closed, revived)] == [(State.SUSPENDED, "100"), (State.LIVE, "100")]


@pytest.mark.parametrize("mood", [Mood.DEAF, Mood.MUTE])
async def test_no_answer_is_waited_for_and_sent_again_under_the_same_reference(
    db: Database, clock: ManualClock, mood: Mood
) -> None:
    """89 rows of a peer stayed "pending" although the market had the product."""
    desk = await Desk.opened(db)
    desk.shop.mood = mood

    (settled,) = await desk.go(WANTED)
    assert settled.state is CallState.UNKNOWN
    assert [type(one.decision) for one in await desk.plan(WANTED)] == [Waiting]
    assert await desk.recover() == []
    clock.advance(seconds=PATIENCE.total_seconds())
    desk.shop.mood = Mood.FINE
    (again,) = await desk.recover()
    moved = await desk.told()

    assert again.state is CallState.ACCEPTED
    assert len(desk.shop.products) == 1
    assert len({call["reference_number"] for call in desk.shop.calls}) == 1
    assert moved[-1].state is State.LIVE


async def test_the_webhook_may_come_before_the_answer_is_written(db: Database) -> None:
    desk = await Desk.opened(db)
    (planned,) = await desk.plan(WANTED)
    assert planned.outgoing is not None
    sents = await desk.register.send(desk.account, [planned.outgoing])

    await desk.told()
    (settled,) = await db.transact(lambda tx: desk.register.settle(tx, desk.account, sents))

    assert settled.state is CallState.CONFIRMED
    rows = await desk.rows("select state, request_uid from market_calls")
    assert rows == [{"state": "CONFIRMED", "request_uid": "u1"}]


async def test_a_sender_that_was_thought_dead_changes_nothing(db: Database, clock: ManualClock) -> None:
    desk = await Desk.opened(db)
    (planned,) = await desk.plan(WANTED)
    assert planned.outgoing is not None
    sents = await desk.register.send(desk.account, [planned.outgoing])
    clock.advance(seconds=PATIENCE.total_seconds())
    again = await db.transact(lambda tx: desk.register.recover(tx, desk.account))

    late = await db.transact(lambda tx: desk.register.settle(tx, desk.account, sents))

    assert [(one.call_id, one.token) for one in again] == [(planned.outgoing.call_id, 2)]
    assert late == []
    clock.advance(seconds=120)
    assert await desk.register.send(desk.account, again) == []  # its right has run out too


async def test_a_failure_is_believed_only_of_the_call_it_can_be_about(db: Database, clock: ManualClock) -> None:
    """The answers to an edit and to the stock-out that overtook it were lost, and a failure names a request."""
    desk = await listed(db)
    (coat,) = coats(1)
    desk.shop.mood = Mood.MUTE
    await desk.go(replace(coat, price=yen(21_500)))
    await desk.go(replace(coat, variants=stocks(Stock.OUT)))
    reference = desk.shop.calls[0]["reference_number"]

    def failure(uid: str) -> Hook:
        told = {"request_uid": uid, "reference_number": reference, "errors": {"name": ["変更できません。"]}}
        return desk.shop.hook("product/fail_to_update", told)

    await desk.told([failure("u1"), failure("u2")])
    clock.advance(seconds=PATIENCE.total_seconds())
    desk.shop.mood = Mood.FINE
    (again,) = await desk.recover()
    before = await desk.rows("select id, state, request_uid from market_calls order by id")
    await desk.told([failure("u3")])

    assert again.state is CallState.ACCEPTED
    first, edit, stock = (row["id"] for row in before)
    assert [(row["state"], row["request_uid"]) for row in before] == [
        ("CONFIRMED", "u1"),
        ("SUPERSEDED", None),
        ("ACCEPTED", "u3"),
    ]
    inbox = await desk.rows("select state, note from webhook_inbox where call_id is not null order by id desc limit 3")
    assert inbox == [
        {"state": "APPLIED", "note": "name: the field is frozen once published: send it as registered"},
        {"state": "STALE", "note": f"it may be about call {edit}: call {stock} stays open, and is sent again"},
        {"state": "STALE", "note": f"it is about the request u1 of call {first}"},
    ]
    assert await desk.rows(f"select state from market_calls where id = {stock}") == [{"state": "REJECTED"}]


UNFETCHED = {"images": ["画像を取得できませんでした"]}


async def outage(desk: Desk, *wanteds: Wanted) -> list[Planned]:
    """Send these, have the market fail to fetch their pictures, and plan them again."""
    before = len(desk.shop.calls)
    await desk.go(*wanteds)
    desk.shop.queue.clear()
    sent = enumerate(desk.shop.calls[before:], start=before + 1)
    references = [(f"u{number}", call["reference_number"]) for number, call in sent]
    await desk.told(
        [
            desk.shop.hook(
                "product/fail_to_create", {"request_uid": uid, "reference_number": reference, "errors": UNFETCHED}
            )
            for uid, reference in references
        ]
    )
    return await desk.plan(*wanteds)


async def test_an_outage_is_tried_again_soon_and_then_ever_later(db: Database, clock: ManualClock) -> None:
    desk = await Desk.opened(db)
    rests = []
    for _ in range(7):
        (planned,) = await outage(desk, WANTED)
        assert isinstance(planned.decision, Idle)
        assert planned.decision.until is not None
        rests.append((planned.decision.until - clock.now()) / timedelta(minutes=1))
        clock.advance(seconds=(planned.decision.until - clock.now()).total_seconds())
    await desk.go(WANTED)
    (moved,) = await desk.told()
    (again,) = await outage(desk, replace(WANTED, price=yen(21_500)))

    assert rests == [1, 2, 4, 8, 16, 30, 30]
    assert moved.state is State.LIVE
    assert isinstance(again.decision, Idle)
    assert again.decision.until == clock.now() + timedelta(minutes=1)


async def test_an_outage_that_hits_many_does_not_use_up_the_calls(db: Database, clock: ManualClock) -> None:
    desk = await Desk.opened(db)
    few, more = coats(30)[:20], coats(30)[20:]

    decisions = [one.decision for wanteds in (few, more) for one in await outage(desk, *wanteds)]

    rests = [
        (one.until - clock.now()) / timedelta(minutes=1) for one in decisions if isinstance(one, Idle) and one.until
    ]
    assert rests == [1] * 20 + [30] * 10


async def test_what_the_market_sold_is_not_topped_up_before_the_mall_was_looked_at_again(
    db: Database, clock: ManualClock
) -> None:
    desk = await Desk.opened(db)
    coat = replace(WANTED, seen_at=clock.now())
    clock.advance(minutes=1)
    await desk.go(coat)
    await desk.told()
    desk.shop.products[100]["order_quantity"] -= 1
    desk.shop.ticks += 1
    await desk.told([desk.shop.hook("product/update", desk.shop.said(100))])
    desk.shop.calls.clear()
    (idle,) = await desk.plan(coat)
    await desk.go(replace(coat, price=yen(21_500)))  # an edit tells the quantity too
    await desk.told()
    clock.advance(minutes=1)
    await desk.go(replace(coat, price=yen(21_500), seen_at=clock.now()))
    await desk.told()

    most = ACCOUNT.policy.most
    assert idle.decision == Idle("as confirmed")
    assert [(call.get("price"), call["order_quantity"]) for call in desk.shop.calls] == [
        (21_500, most - 1),
        (None, most),
    ]


async def test_what_is_never_answered_is_shown_and_let_go_by_a_person(db: Database, clock: ManualClock) -> None:
    desk = await Desk.opened(db, Policy(sends=2))
    desk.shop.mood = Mood.DEAF
    await desk.go(WANTED)
    for _ in range(3):
        clock.advance(seconds=PATIENCE.total_seconds())
        await desk.recover()

    async with db.read() as tx:
        (hold,) = await holds.pick(tx, desk.account.id)
    await db.transact(lambda tx: desk.register.decide_hold(tx, hold.id, approve=True, who="owner"))

    assert hold.guard is Guard.UNANSWERED
    reference = (await desk.rows("select reference from listings"))[0]["reference"]
    (planned,) = await desk.plan(WANTED)
    assert isinstance(planned.decision, Chosen)
    assert (await desk.rows("select reference from listings"))[0]["reference"] == reference


async def test_a_forged_webhook_changes_nothing_and_hides_nothing(db: Database) -> None:
    desk = await Desk.opened(db)
    await desk.go(WANTED)
    (real,) = desk.shop.work()
    forged = ({**real[0], "X-Buyma-Hmac-Sha256": "x"}, real[1])

    assert await desk.receive([forged]) == [False]
    assert await desk.apply() == []
    assert await desk.receive([real, real]) == [True, True]
    assert [one.state for one in await desk.apply()] == [State.LIVE]
    states = await desk.rows("select state, times from webhook_inbox order by id")
    assert states == [{"state": "FORGED", "times": 1}, {"state": "APPLIED", "times": 2}]


async def test_a_flood_of_forged_webhooks_is_counted_and_not_kept(db: Database, clock: ManualClock) -> None:
    """The address can be guessed: 17 million a day would be kept for a month."""
    desk = await listed(db)
    other = await Desk.opened(db, name="second")
    signed = {"X-Buyma-Event": "product/update", "X-Buyma-Hmac-Sha256": "x"}
    forged = [({**signed, f"X-{'n' * 5000}": "x", "X-Note": "x"}, b"%d" % number) for number in range(30)]
    (coat,) = coats(1)
    await desk.go(replace(coat, price=yen(23_000)))

    answers = await desk.receive([*forged, *forged, *desk.shop.work()])
    (moved,) = await desk.apply()
    await other.receive(forged[:1])

    assert (answers, moved.price) == ([False] * 60 + [True], 23_000)
    flood = "select times, note, headers from webhook_inbox where state = 'FORGED' order by id"
    rows = await desk.rows(flood)
    assert [(row["times"], row["note"]) for row in rows] == [*[(1, "")] * 20, (40, inbox.NOT_KEPT), (1, "")]
    assert max(len(row["headers"]) for row in rows) < inbox.LARGEST_FORGED
    clock.advance(hours=2)
    assert await desk.receive(forged[20:]) == [False] * 10
    assert [row["times"] for row in await desk.rows(flood)] == [*[1] * 20, 40, *[1] * 11]


async def test_an_older_word_never_wins(db: Database) -> None:
    desk = await listed(db)
    old = desk.shop.hook("product/update", desk.shop.said(100) | {"price": 1})
    (coat,) = coats(1)
    await desk.go(replace(coat, price=yen(23_000)))
    (moved,) = await desk.told()

    assert moved.price == 23_000
    assert await desk.told([old]) == []
    async with db.read() as tx:
        assert len(await inbox.pick(tx, desk.account.id, InboxState.STALE)) == 1


async def test_what_nobody_knows_is_kept_and_can_be_applied_again(db: Database) -> None:
    desk = await listed(db)
    stranger = desk.shop.hook("product/update", desk.shop.said(100) | {"id": 7, "reference_number": "?"})
    second = desk.shop.hook("product/create", desk.shop.said(100) | {"id": 101})

    assert await desk.told([stranger, second]) == []
    async with db.read() as tx:
        (kept,) = await inbox.pick(tx, desk.account.id, InboxState.UNMATCHED)
        (hold,) = await holds.pick(tx, desk.account.id)
    assert (kept.body, hold.guard) == (stranger[1], Guard.TWO_PRODUCTS)
    assert await db.transact(lambda tx: inbox.replay(tx, desk.account.id, [kept.id])) == 1


async def test_a_second_product_that_is_told_of_twice_at_once_is_held_once(db: Database) -> None:
    desk = await listed(db)
    twice = [
        desk.shop.hook("product/create", desk.shop.said(100) | {"id": 101, "price": price}) for price in (1_000, 2_000)
    ]

    await desk.told(twice)

    async with db.read() as tx:
        (hold,) = await holds.pick(tx, desk.account.id)
    assert hold.guard is Guard.TWO_PRODUCTS


async def test_a_refusal_is_not_repeated_until_its_cause_changes(db: Database) -> None:
    desk = await Desk.opened(db)
    await desk.go(WANTED)
    reference = desk.shop.calls[0]["reference_number"]
    told = {"request_uid": "u1", "reference_number": reference, "errors": {"category_id": ["存在しない"]}}
    desk.shop.queue.clear()

    (moved,) = await desk.told([desk.shop.hook("product/fail_to_create", told)])

    assert moved.state is State.REJECTED
    (same,) = await desk.plan(replace(WANTED, price=yen(23_000)))
    assert isinstance(same.decision, Idle)
    (mended,) = await desk.plan(replace(WANTED, category_id=3065))
    assert isinstance(mended.decision, Chosen)
    await desk.send([mended.outgoing])
    assert desk.shop.calls[1]["reference_number"] == reference


async def test_a_stock_out_overtakes_a_verdict_that_is_not_there_yet(db: Database) -> None:
    desk = await listed(db)
    coat, gone = coats(1)[0], coats(1, SOLD_OUT)[0]
    await desk.go(replace(coat, price=yen(23_000)))

    (settled,) = await desk.go(gone)
    moved = await desk.told()

    assert settled.state is CallState.ACCEPTED
    assert [(one.state, one.keys) for one in moved] == [(State.SUSPENDED, (settled.key,))]
    assert await desk.rows("select kind, state from market_calls where kind <> 'CREATE' order by id") == [
        {"kind": "EDIT", "state": "SUPERSEDED"},
        {"kind": "CLOSE", "state": "CONFIRMED"},
    ]


def larger(coat: Wanted) -> Wanted:
    """The coat in one size more."""
    cells = tuple(Variant(color.key, XL.key, Stock.TO_ORDER) for color in COLORS)
    return replace(coat, options=(*coat.options, XL), variants=(*stocks(), *cells))


async def test_what_sells_out_while_a_size_is_added_is_closed_whichever_grid_the_market_has(db: Database) -> None:
    """A stock call over the old sizes is refused by a market that has the new one already."""
    desk = await listed(db)
    (coat,) = coats(1)
    grown = larger(coat)
    await desk.go(grown)

    (closing,) = await desk.plan(replace(grown, variants=stocks(Stock.OUT)))
    await desk.send([closing.outgoing])
    moved = await desk.told()

    assert isinstance(closing.decision, Chosen)
    assert (closing.decision.step.kind, closing.decision.family) == (Kind.CLOSE, Family.PRODUCT)
    assert [one.state for one in moved] == [State.SUSPENDED]
    async with db.read() as tx:
        (known,) = (await listings.known(tx, desk.account.id, [1])).values()
    assert known.confirmed is not None
    assert [option.key for option in known.confirmed.options] == ["c1", "c2", "s1", "s2", "L", "s9"]


async def test_what_sells_out_in_part_while_a_size_is_added_waits_for_the_verdict_and_then_goes(db: Database) -> None:
    desk = await listed(db)
    grown = larger(coats(1)[0])
    less = replace(grown, variants=(*stocks(c1_s1=Stock.OUT), *grown.variants[6:]))
    await desk.go(grown)

    (waits,) = await desk.plan(less)
    await desk.told()
    (goes,) = await desk.plan(less)

    assert isinstance(waits.decision, Waiting)
    assert isinstance(goes.decision, Chosen)
    assert goes.decision.step.kind is Kind.STOCK


async def test_what_replaces_its_options_is_not_closed_while_the_market_judges_it(db: Database) -> None:
    """Until the word comes only the old options are known here, and all of them are out."""
    desk = await listed(db)
    only = (Variant(COLORS[0].key, XL.key, Stock.TO_ORDER),)
    wish = replace(coats(1)[0], options=(*COLORS, XL), variants=only)
    await desk.go(wish)

    (again,) = await desk.plan(wish)

    assert isinstance(again.decision, Waiting)


async def test_what_the_market_did_though_it_was_overtaken_is_known(db: Database) -> None:
    desk = await listed(db)
    (coat,) = coats(1)
    reworded = replace(coat, comments="新しい説明です。")
    await desk.go(reworded)
    wish = replace(reworded, variants=stocks(c1_s1=Stock.OUT))
    (overtaking,) = await desk.plan(wish)
    await desk.send([overtaking.outgoing])
    for hook in desk.shop.work():
        await desk.told([hook])

    (after,) = await desk.plan(wish)

    assert isinstance(overtaking.decision, Chosen)
    assert overtaking.decision.supersedes is not None
    assert after.decision == Idle("as confirmed")


def ordered(desk: Desk, quantity: int, **changes: object) -> Hook:
    """The word that an order brings, while what was asked of the market last is not done yet."""
    desk.shop.products[100] |= {"order_quantity": quantity, **changes}
    desk.shop.ticks += 1
    return desk.shop.hook("product/update", desk.shop.said(100))


def failed(desk: Desk) -> Hook:
    """What was asked of the market last has come to nothing."""
    uid, _, product = desk.shop.queue.pop()
    errors = {"comments": ["使用できない文字が含まれています"]}
    return desk.shop.hook("product/fail_to_update", desk.shop._failure(uid, product["reference_number"], errors))


REWORDED: dict[str, Any] = {"comments": "新しい説明です。"}


@pytest.mark.parametrize(("changes", "days", "kind"), [({}, 80, Kind.EXTEND), (REWORDED, 1, Kind.EDIT)])
async def test_a_word_that_an_order_brings_confirms_nothing_that_it_has_as_it_was(
    db: Database, clock: ManualClock, changes: dict[str, Any], days: int, kind: Kind
) -> None:
    desk = await listed(db)
    clock.advance(days=days)
    wish = replace(coats(1)[0], **changes)
    before = await desk.rows("select available_until from listings")
    await desk.go(wish)

    (word,) = await desk.told([ordered(desk, 2)])
    assert (word.keys, await desk.rows("select available_until from listings")) == ((), before)
    (refused,) = await desk.told([failed(desk)])

    calls = await desk.rows("select kind, state from market_calls where kind <> 'CREATE'")
    assert calls == [{"kind": kind, "state": CallState.REJECTED}]
    assert refused.keys
    assert await desk.rows("select refusal_cause from listings") == [{"refusal_cause": "data"}]


async def test_a_text_that_the_market_writes_its_own_way_is_a_verdict(db: Database) -> None:
    desk = await listed(db)
    await desk.go(replace(coats(1)[0], **REWORDED))

    (word,) = await desk.told([ordered(desk, 2, comments="新しい 説明です。")])

    assert word.keys
    assert await desk.rows("select state from market_calls where kind = 'EDIT'") == [{"state": CallState.CONFIRMED}]


async def test_an_overtaken_edit_is_not_believed_by_a_word_that_has_its_text_as_it_was(db: Database) -> None:
    desk = await listed(db)
    reworded = replace(coats(1)[0], **REWORDED)
    await desk.go(reworded)
    await desk.go(replace(reworded, variants=stocks(c1_s1=Stock.OUT)))
    await desk.told([ordered(desk, 2)])
    desk.shop.queue = desk.shop.queue[1:]
    await desk.told()

    (after,) = await desk.plan(replace(reworded, variants=stocks(c1_s1=Stock.OUT)))

    assert isinstance(after.decision, Chosen)
    assert (after.decision.step.kind, after.decision.step.changed) == (Kind.EDIT, ("comments",))


async def test_a_closing_that_is_refused_goes_as_a_whole_and_then_to_a_person(db: Database) -> None:
    """What is gone must not stay for sale because the market's grid is another than ours."""
    desk = await listed(db, 2)
    _another_grid(desk)
    desk.shop.products[101]["name"] = "?"
    gone = coats(2, SOLD_OUT)

    told = await _ways(desk, 3, *gone)

    assert told == [["stock", "stock"], ["product", "product"], ["idle", "unclosed"]]
    async with db.read() as tx:
        (hold,) = await holds.pick(tx, desk.account.id)
    assert (hold.guard, hold.guard.can_be_approved) == (Guard.UNCLOSED, False)
    desk.shop.products[101]["variants"] = [
        one | {"stock_type": "out_of_stock"} for one in desk.shop.products[101]["variants"]
    ]
    desk.shop.ticks += 1
    await desk.told([desk.shop.hook("product/update", desk.shop.said(101))])
    await desk.plan(*gone)
    async with db.read() as tx:
        assert await holds.pick(tx, desk.account.id) == []


SIZE_OUT = replace(WANTED, variants=stocks(c1_s1=Stock.OUT))


async def _ways(desk: Desk, times: int, *wishes: Wanted) -> list[list[str]]:
    """What is planned so many times in a row, each sent and judged."""
    told = []
    for _ in range(times):
        planned = await desk.plan(*wishes)
        told.append([_way(one) for one in planned])
        await desk.send([one.outgoing for one in planned if one.outgoing is not None])
        await desk.told()
    return told


def _another_grid(desk: Desk) -> None:
    """By hand, at the market, and its word was lost: every stock call is refused."""
    for product in desk.shop.products.values():
        product["variants"] = [*product["variants"], {"options": ["?"], "stock_type": "purchase_for_order"}]


async def test_a_size_that_is_out_and_refused_goes_as_a_whole_and_then_to_a_person(db: Database) -> None:
    desk = await listed(db, 2)
    _another_grid(desk)
    desk.shop.products[101]["name"] = "?"

    told = await _ways(desk, 4, *coats(2, SIZE_OUT))

    assert told == [["stock", "stock"], ["product", "product"], ["idle", "unclosed"], ["idle", "unclosed"]]
    whole = desk.shop.calls[-2]
    assert (whole["price"], whole["comments"]) == (22_500, WANTED.comments)
    assert [one["stock_type"] for one in whole["variants"]] == ["out_of_stock", *["purchase_for_order"] * 5]
    async with db.read() as tx:
        (hold,) = await holds.pick(tx, desk.account.id)
    assert hold.reason.startswith("some of it must not be sold, and the market refuses to close it: ")


async def test_ways_that_are_all_refused_are_each_tried_once(db: Database) -> None:
    """Each refusal took the place of the one before, so that edit and stock were sent in turn until the day's calls
    were used up."""
    desk = await listed(db)
    _another_grid(desk)
    desk.shop.products[100]["name"] = "?"
    (coat,) = coats(1, SIZE_OUT)

    told = await _ways(desk, 6, replace(coat, price=yen(23_000)))

    assert told == [["product"], ["stock"], ["product"], *[["unclosed"]] * 3]
    assert [(one.get("price"), len(one["variants"])) for one in desk.shop.calls] == [
        (23_000, 6),
        (None, 6),
        (22_500, 6),
    ]


async def test_stock_of_what_the_market_does_not_have_is_a_persons_matter_at_once(db: Database) -> None:
    """It may be suspended there: as a whole product it would be put back on sale."""
    desk = await listed(db)
    del desk.shop.products[100]

    assert await _ways(desk, 3, *coats(1, SIZE_OUT)) == [["stock"], ["unclosed"], ["unclosed"]]


@pytest.mark.parametrize(("floor", "then"), [(20_000, ["product"]), (22_501, ["idle"])])
async def test_more_stock_that_is_refused_goes_as_a_whole_unless_its_price_would_be_a_loss(
    db: Database, floor: int, then: list[str]
) -> None:
    desk = await listed(db)
    await _ways(desk, 1, *coats(1, SIZE_OUT))
    _another_grid(desk)
    desk.shop.products[100]["name"] = "?"
    (coat,) = coats(1)

    told = await _ways(desk, 4, replace(coat, floor=yen(floor)))

    assert told == [["stock"], then, ["idle"], ["idle"]]
    async with db.read() as tx:
        assert await holds.pick(tx, desk.account.id) == []


def _way(planned: Planned) -> str:
    match planned.decision:
        case Chosen() as chosen:
            return chosen.family.value
        case Stopped(trip, _):
            return trip.guard.value
        case _:
            return type(planned.decision).__name__.lower()


async def test_most_of_the_stock_gone_at_once_holds_the_run(db: Database) -> None:
    """An upstream bug that sets all stock to 0 must not close the shop."""
    desk = await listed(db, 60)

    planned = await desk.plan(*coats(54, SOLD_OUT), run="r2")
    single = await desk.plan(coats(60, SOLD_OUT)[59], run="r2")

    assert {type(one.decision) for one in planned + single} == {Stopped}
    assert desk.shop.calls == []
    async with db.read() as tx:
        found = await holds.pick(tx, desk.account.id)
    assert {hold.guard for hold in found} == {Guard.CLOSED}
    await db.transact(lambda tx: desk.register.decide_hold(tx, found[0].id, approve=True, who="owner"))
    (agreed,) = await desk.plan(coats(60, SOLD_OUT)[59], run="r2")
    assert isinstance(agreed.decision, Chosen)
    assert agreed.decision.step.kind is Kind.CLOSE


def without(*cells: str) -> tuple[Variant, ...]:
    """All to be had but these."""
    return stocks(**dict.fromkeys(cells, Stock.OUT))


async def _short(db: Database) -> Desk:
    """Ten coats live, each without a size in one colour."""
    desk = await listed(db, 10)
    await desk.go(*coats(10, replace(WANTED, variants=without("c1_s1"))))
    await desk.told()
    desk.shop.calls.clear()
    return desk


async def test_a_source_that_says_all_in_stock_opens_no_more_than_a_runs_share(db: Database, other: Database) -> None:
    """Batch by batch, whichever process goes on with the run: 60 % of what is live."""
    desk = await _short(db)
    back = coats(10)

    first = [one for coat in back[:3] for one in await desk.plan(coat, run="r2")]
    desk.db = other
    rest = [one for coat in back[3:] for one in await desk.plan(coat, run="r2")]
    async with db.read() as tx:
        found = await holds.pick(tx, desk.account.id)
    (again,) = await desk.plan(back[9], run="r3")

    assert [type(one.decision) for one in first + rest] == [Chosen] * 6 + [Stopped] * 4
    assert [hold.guard for hold in found] == [Guard.CHANGED] * 4
    assert isinstance(again.decision, Chosen)  # of another run it is the first
    assert again.decision.step.kind is Kind.STOCK


async def test_a_run_that_opens_too_much_still_tells_what_has_sold_out(db: Database) -> None:
    desk = await _short(db)
    await desk.go(*coats(7), run="r2")
    wishes = [
        without("c1_s1", "c1_s2"),  # less alone
        without("c1_s2"),  # less here, more there
        stocks(Stock.OUT, c1_s1=Stock.TO_ORDER),  # of which the less would close it
    ]
    less, mixed, swapped = await desk.plan(
        *(replace(coat, variants=wish) for coat, wish in zip(coats(10)[7:], wishes, strict=True)), run="r2"
    )

    for one in (less, mixed):
        assert isinstance(one.decision, Chosen)
        assert (one.decision.step.kind, one.decision.step.target.variants) == (Kind.STOCK, wishes[0])
    assert isinstance(swapped.decision, Stopped)


async def test_who_approves_what_came_back_agrees_to_exactly_that(db: Database) -> None:
    desk = await listed(db, 7)
    await desk.go(*coats(7, replace(WANTED, variants=without("c1_s1", "c1_s2"))))
    await desk.told()
    await desk.go(*coats(7, replace(WANTED, variants=without("c1_s1"))), run="r2")
    async with db.read() as tx:
        last, *_ = await holds.pick(tx, desk.account.id)
    await db.transact(lambda tx: desk.register.decide_hold(tx, last.id, approve=True, who="owner"))
    agreed = coats(7)[6]

    (more,) = await desk.plan(agreed, run="r2")
    (same,) = await desk.plan(replace(agreed, variants=without("c1_s1")), run="r2")

    assert [type(one.decision) for one in (more, same)] == [Stopped, Chosen]


async def test_a_price_jump_is_held_while_the_sold_out_size_still_goes(db: Database) -> None:
    desk = await listed(db)
    (coat,) = coats(1)
    jump = replace(coat, price=yen(39_000))

    (held,) = await desk.plan(jump)
    (stock,) = await desk.plan(replace(jump, variants=stocks(c1_s1=Stock.OUT)))

    assert isinstance(held.decision, Stopped)
    assert held.decision.trip.guard is Guard.STEP
    assert isinstance(stock.decision, Chosen)
    assert stock.decision.step.kind is Kind.STOCK


async def test_who_approves_agrees_to_the_price_that_was_read_and_to_no_other(db: Database) -> None:
    """While a person reads that 39,000 is held, a run comes by that would send 12,000."""
    desk = await listed(db)
    (coat,) = coats(1)
    low = replace(coat, floor=yen(1_000), price=yen(12_000))

    async def held() -> list[tuple[int, str, int]]:
        async with db.read() as tx:
            return [
                (hold.id, hold.reason.split(" is ")[0], hold.times) for hold in await holds.pick(tx, desk.account.id)
            ]

    for wish in (replace(coat, price=yen(39_000)), replace(coat, price=yen(39_000))):
        await desk.plan(wish)
    [(read, *first)] = await held()
    await desk.plan(low)
    [(now, *second)] = await held()

    assert (first, second) == (["22,500 → 39,000", 2], ["22,500 → 12,000", 1])
    with pytest.raises(Conflict, match=f"hold {read} is SUPERSEDED already"):
        await db.transact(lambda tx: desk.register.decide_hold(tx, read, approve=True, who="owner"))
    (still,) = await desk.plan(low)
    assert isinstance(still.decision, Stopped)
    await db.transact(lambda tx: desk.register.decide_hold(tx, now, approve=True, who="owner"))
    (agreed,) = await desk.plan(low)
    assert isinstance(agreed.decision, Chosen)


async def test_a_loss_cannot_be_approved(db: Database) -> None:
    desk = await Desk.opened(db)
    await desk.plan(replace(WANTED, floor=None))
    async with db.read() as tx:
        (hold,) = await holds.pick(tx, desk.account.id)

    assert hold.guard is Guard.NO_FLOOR
    with pytest.raises(Conflict, match="no_floor cannot be approved"):
        await db.transact(lambda tx: desk.register.decide_hold(tx, hold.id, approve=True, who="owner"))


async def test_the_switch_stops_everything_and_a_closed_door_switches_off(db: Database) -> None:
    desk = await Desk.opened(db)
    desk.shop.mood = Mood.SHUT

    await desk.go(WANTED)
    (after,) = await desk.plan(WANTED)

    assert isinstance(after.decision, Stopped)
    assert after.decision.trip.guard is Guard.SWITCH
    await db.transact(lambda tx: accounts.switch(tx, desk.account, enabled=True, why=""))
    (again,) = await desk.plan(WANTED)
    assert isinstance(again.decision, Chosen)


async def test_429_rests_the_account_and_the_budget_keeps_calls_for_what_is_urgent(db: Database) -> None:
    policy = Policy(budget=Budget(hour=10, day=10, shares=(100, 90, 80, 70, 60)))
    desk = await Desk.opened(db, policy)

    planned = await desk.plan(*coats(8))
    assert [type(one.decision) for one in planned] == [Chosen] * 6 + [Postponed] * 2
    desk.shop.mood = Mood.BUSY
    await desk.send([one.outgoing for one in planned if one.outgoing])
    (rest,) = await desk.plan(coats(1)[0])
    assert rest.decision == Postponed(db.clock.now() + timedelta(minutes=5), "the market asked for a rest")


async def test_a_call_that_is_sent_when_its_slot_is_over_counts_for_an_hour_from_then(
    db: Database, clock: ManualClock
) -> None:
    """It is booked with its intent, and may be sent as long as its lease lasts."""
    desk = await Desk.opened(db, Policy(budget=Budget(hour=2, day=100, shares=(100,) * 5)))
    clock.set(slot(clock.now()) + SLOT - timedelta(seconds=1))
    planned = await desk.plan(*coats(2))
    clock.advance(seconds=28)
    sent = await desk.send([one.outgoing for one in planned if one.outgoing])

    clock.advance(minutes=60, seconds=-27)
    (other,) = await desk.plan(coats(3)[2])
    assert [one.state for one in sent] == [CallState.ACCEPTED] * 2
    assert isinstance(other.decision, Postponed)
    clock.set(other.decision.until)
    assert [type(one.decision) for one in await desk.plan(coats(3)[2])] == [Chosen]


async def test_a_preview_shows_the_exact_call_and_writes_nothing(db: Database) -> None:
    desk = await listed(db)
    (coat,) = coats(1)
    before = await desk.rows("select count(*) as calls from market_calls")

    async with db.read() as tx:
        (preview,) = await desk.register.preview(tx, desk.account, [replace(coat, price=yen(23_000))])

    assert preview.changes == {"price": (22_500, 23_000)}
    assert preview.request is not None
    assert '"price":23000' in preview.request.body
    assert await desk.rows("select count(*) as calls from market_calls") == before
