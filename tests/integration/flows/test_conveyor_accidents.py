"""What emptied, closed or gave away whole shops elsewhere, end to end: nothing is sent that nobody meant."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from bobusang.flows.conveyor import marks, retrying
from bobusang.flows.conveyor.model import Mode
from bobusang.flows.market import exchange
from bobusang.sandbox.buyma.account import Behaviour
from bobusang.sandbox.world import World
from bobusang.stages.price import policies
from bobusang.stages.price import policy as pricing
from bobusang.stages.register import accounts, holds
from bobusang.stages.register.model import Policy
from bobusang.testing.crawl import Visiting, visit
from bobusang.testing.shop import ENDLESS, NAME, Shop
from tests.integration.flows.selling import BRANDS, NO_DOUBLES, OKMALL, calls, doubles, outcomes, shelves

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from bobusang.kit.db import Tx

CALM = {name: Visiting(rate=200.0, burst=16.0, concurrency=8) for name in ("okmall", "mustit")}
HURRY = Policy(budget=ENDLESS, patience=timedelta(seconds=1))
RATE = "/fx/latest.json"


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Shop]:
    """Working, with nothing listed."""
    said: dict[str, Any] = {
        "world": World(seed=5, size=16, brands=1, pictures=1),
        "sandbox": {"behaviour": Behaviour(delay=0, retry_seconds=0.05)},
        "call_seconds": 2.0,
    }
    async with Shop.opened(tmp_path, policy=HURRY, **said) as found, found.yard.working():
        visit(found.yard.app, CALM)
        yield found


@pytest.fixture
async def listed(shop: Shop) -> Shop:
    """With its brands listed."""
    assert await shop.run(Mode.FULL, BRANDS) == "COMPLETED"
    return shop


async def written(shop: Shop) -> Counter[str]:
    """How often something was written at the market."""
    found = await calls(shop.door)
    return Counter({name: found[name] for name in ("products", "variants")})


async def alerts(shop: Shop) -> dict[str, tuple[str, str]]:
    rows = await shop.yard.rows("select alert_key, level, text from alerts where resolved_at is null")
    return {row["alert_key"]: (row["level"], row["text"]) for row in rows}


async def switch(shop: Shop, *, enabled: bool) -> None:
    async def work(tx: Tx) -> None:
        await accounts.switch(tx, await accounts.named(tx, "buyma", NAME), enabled=enabled, why="stop")

    await shop.yard.db.transact(work)


async def quoted(shop: Shop) -> Counter[tuple[str, str]]:
    """How often which decision was made for which reason, by the last quote of each product."""
    rows = await shop.yard.rows("""
        select decision, reason from price_quotes q
        where id = (select max(id) from price_quotes o where o.sku = q.sku)""")
    return Counter((row["decision"], row["reason"]) for row in rows)


async def test_all_sources_answer_500_and_nothing_is_closed(listed: Shop) -> None:
    before = await shelves(listed), await written(listed)
    # Sessions of MustIt can still be had; test_conveyor_silent.py has what becomes of it when they cannot.
    for mall, endpoint in (("okmall", "*"), ("mustit", "search"), ("mustit", "detail"), ("mustit", "options")):
        await listed.door.fault(mall, endpoint, "http_500")

    batch = await listed.start(Mode.FULL, BRANDS)
    assert await listed.ended(batch) == "FAILED"

    assert (await shelves(listed), await written(listed)) == before
    rows = await listed.yard.rows(
        """
        select mall_name, stage, error_msg from pipeline_control where batch_id = :id and status = 'ERROR'
        order by id""",
        id=batch,
    )
    causes = {(row["mall_name"], row["error_msg"]) for row in rows if row["stage"] == "COLLECT"}
    assert causes == {("okmall", "HTTP 500: their fault"), ("mustit", "HTTP 500: their fault")}
    level, text = (await alerts(listed))["conveyor.batch:FULL"]
    assert (level, "COLLECT: HTTP 500: their fault" in text) == ("WARNING", True)


async def test_nine_of_ten_sold_out_at_once_are_held_and_one_that_is_approved_is_closed(listed: Shop) -> None:
    live = [sku for sku in await shelves(listed) if sku.startswith("okmall")]
    for sku in live[: len(live) * 9 // 10]:
        await listed.door.override("okmall", sku.removeprefix("okmall-"), sold_out=True)

    # The first list lacks them, which may mean anything; the second run asks for their own pages.
    for _ in range(2):
        assert await listed.run(Mode.PARTIAL, [OKMALL]) == "COMPLETED"
    closed = await suspended(listed)
    waiting = await held(listed)

    assert len(closed) <= HURRY.caution.few
    assert (len(closed) + len(waiting), {one.guard.value for one in waiting}) == (len(live) * 9 // 10, {"closed"})

    register = listed.yard.app.belt.register
    await listed.yard.db.transact(lambda tx: register.decide_hold(tx, waiting[0].id, approve=True, who="owner"))
    assert await listed.run(Mode.PARTIAL, [OKMALL]) == "COMPLETED"
    [row] = await listed.yard.rows("select sku from listings where id = :id", id=waiting[0].listing_id)
    assert await suspended(listed) == closed | {row["sku"]}


async def test_what_vanished_is_closed_though_it_has_no_mark(listed: Shop) -> None:
    """It vanished while the account was switched off, and a person has asked for another look: there is no mark."""
    sku = next(sku for sku in await shelves(listed) if sku.startswith("okmall"))
    [row] = await listed.yard.rows("select product_id from listings where sku = :sku", sku=sku)
    await switch(listed, enabled=False)
    await listed.door.override("okmall", sku.removeprefix("okmall-"), gone=True)
    ended = [await listed.run(Mode.PARTIAL, [OKMALL]) for _ in range(3)]
    await listed.yard.db.transact(lambda tx: marks.forget(tx, "buyma", [row["product_id"]]))
    await switch(listed, enabled=True)
    before = await suspended(listed)

    ended.append(await listed.run(Mode.PARTIAL, [OKMALL]))

    assert ended == [*["FAILED"] * 3, "COMPLETED"]  # a batch whose only account is off is not well
    assert (before, await suspended(listed)) == (set(), {sku})


async def suspended(shop: Shop) -> set[str]:
    return {sku for sku, one in (await shelves(shop)).items() if one["status"] == "buyer_suspended"}


async def held(shop: Shop) -> list[Any]:
    async with shop.yard.db.read() as tx:
        account = await accounts.named(tx, "buyma", NAME)
        return await holds.pick(tx, account.id)


async def test_a_rate_of_exchange_ten_times_as_high_moves_no_price(listed: Shop) -> None:
    before = await shelves(listed), await written(listed)
    await listed.door.fault("exchange", "latest", "tenfold")
    place = exchange.place_of(f"{listed.door.url}{RATE}", "0.01")
    rates = await exchange.fetched(listed.yard.app.collector.transport, place)
    await listed.yard.db.transact(lambda tx: exchange.recorded(tx, rates))

    assert [await listed.run(mode, BRANDS) for mode in (Mode.PARTIAL, Mode.FULL)] == ["COMPLETED"] * 2

    assert (await shelves(listed), await written(listed)) == before
    assert set(await quoted(listed)) == {("HOLD", "fx_jump")}
    assert (await alerts(listed))["fx_held"][0] == "CRITICAL"


@pytest.mark.parametrize("margin", [None, Decimal("-0.05"), Decimal("NaN")])
async def test_without_a_floor_nothing_is_sent(shop: Shop, margin: Decimal | None) -> None:
    rules = pricing.Policy(least_margin=margin)
    await shop.yard.db.transact(lambda tx: policies.put(tx, "buyma", "", rules, who="owner"))

    assert await shop.run(Mode.FULL, BRANDS) == "COMPLETED"

    assert (await written(shop), await shelves(shop)) == (Counter(products=0, variants=0), {})
    assert set(await quoted(shop)) == {("HOLD", "no_floor")}


async def test_a_floor_that_is_taken_away_freezes_what_is_listed(listed: Shop) -> None:
    before = await shelves(listed), await written(listed)
    await listed.yard.db.transact(
        lambda tx: policies.put(tx, "buyma", "", pricing.Policy(least_margin=None), who="owner")
    )

    assert await listed.run(Mode.FULL, BRANDS) == "COMPLETED"

    assert (await shelves(listed), await written(listed)) == before


async def test_duty_that_is_told_otherwise_than_priced_freezes_what_is_listed(listed: Shop) -> None:
    before = await shelves(listed), await written(listed)
    rules = pricing.Policy(pays_duty=False)
    await listed.yard.db.transact(lambda tx: policies.put(tx, "buyma", "", rules, who="owner"))

    assert await listed.run(Mode.FULL, BRANDS) == "COMPLETED"

    assert (await shelves(listed), await written(listed)) == before
    assert set(await quoted(listed)) == {("HOLD", "duty_unclear")}

    async def told(tx: Tx) -> None:
        account = await accounts.named(tx, "buyma", NAME)
        await accounts.change(tx, replace(account, duty="none"))

    await listed.yard.db.transact(told)
    assert await listed.run(Mode.FULL, BRANDS) == "COMPLETED"
    assert "HOLD" not in {decision for decision, _ in await quoted(listed)}


async def test_a_forged_webhook_is_refused_and_changes_nothing(listed: Shop) -> None:
    before = await state(listed)
    [one, *_] = (await listed.door.market())["listings"]
    body = {"id": one["id"], "reference_number": one["reference"], "status": "buyer_deleted", "price": 1}

    await listed.door.webhook("product/update", body)
    await listed.door.settle()

    assert [letter["status"] for letter in await listed.door.webhooks(one["reference"]) if letter["forged"]] == [401]
    assert await state(listed) == before
    assert await listed.yard.rows("select state from webhook_inbox where genuine = false") == [{"state": "FORGED"}]


async def state(shop: Shop) -> list[dict[str, Any]]:
    return await shop.yard.rows("select sku, state, confirmed, market_updated, open_call from listings order by sku")


@pytest.mark.timeout(300)
@pytest.mark.parametrize("mishap", ["http_503", "error_after", "reset_after"])
async def test_a_market_that_fails_is_sent_the_same_again_and_makes_nothing_twice(shop: Shop, mishap: str) -> None:
    """Whether the call had its effect before it failed nobody knows: it is sent again under the same reference."""
    await shop.door.fault("buyma", "products", mishap, count=5)

    assert await shop.run(Mode.FULL, BRANDS) == "COMPLETED"

    wanted, sent = await shelves(shop), await shop.yard.rows("select sends, state from market_calls")
    assert len(wanted) == len(sent) > 20
    assert {row["state"] for row in sent} == {"CONFIRMED"}
    assert sum(row["sends"] > 1 for row in sent) >= (5 if mishap == "http_503" else 0)
    done = await outcomes(shop.door)
    assert (done["created"], done.keys() <= {"created", "unchanged"}) == (len(wanted), True)
    assert await doubles(shop.door) == NO_DOUBLES


async def test_the_switch_of_an_account_stops_sending_at_once(shop: Shop) -> None:
    visit(shop.yard.app, {name: Visiting(rate=20.0, burst=2.0, concurrency=2) for name in ("okmall", "mustit")})
    batch = await shop.start(Mode.FULL, BRANDS)
    await until(shop, "select count(*) as n from listings where state = 'LIVE'", least=1)
    await switch(shop, enabled=False)
    await until(shop, "select 1 - count(*) as n from market_calls where state = 'INTENT'", least=1)
    sent = await written(shop)

    assert await shop.ended(batch) == "FAILED"
    some = await shelves(shop)
    assert (await written(shop), len(some)) == (sent, sent["products"])
    rows = await shop.yard.rows("select stage, status, error_msg from pipeline_control where status = 'ERROR'")
    assert {row["stage"] for row in rows} == {"PRICE", "REGISTER"}
    assert all("is switched off" in row["error_msg"] for row in rows)

    visit(shop.yard.app, CALM)
    await switch(shop, enabled=True)
    engine = shop.yard.app.engine
    await shop.yard.db.transact(lambda tx: retrying.retry(tx, engine, batch))
    assert await shop.ended(batch) == "COMPLETED"
    every = await shelves(shop)
    assert every.keys() > some.keys()
    assert ((await outcomes(shop.door))["created"], await doubles(shop.door)) == (len(every), NO_DOUBLES)


async def until(shop: Shop, text: str, *, least: int) -> None:
    async with asyncio.timeout(60):
        while (await shop.yard.rows(text))[0]["n"] < least:  # noqa: ASYNC110  (a table tells nobody)
            await asyncio.sleep(0.005)
