"""Pricing in batches: what is news is written with its steps, and what must not be priced is held and told."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import select

from bobusang.kit import json
from bobusang.kit.db import Tx
from bobusang.kit.errors import Missing
from bobusang.kit.money import won, yen
from bobusang.platform.tables import outbox
from bobusang.stages.price import fxbook, policies, quotes, ratebook, sheets, watch
from bobusang.stages.price.explain import ExplainRow, explain
from bobusang.stages.price.model import FxQuote, Hold, Keep, Offer, Quote, Reason, Wanted
from bobusang.stages.price.rivals import Own
from bobusang.stages.price.service import Pricing
from bobusang.testing.clock import NOON
from tests.unit.price.stall import LEAN, RATES, TODAY, WANTED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bobusang.kit.db import Database, Row
    from bobusang.kit.sql import Bulk
    from bobusang.stages.price.quotes import Quoted
    from bobusang.testing.clock import ManualClock

BUYMA = watch.Market("buyma", "JPY", Own(("Bobusang Tokyo", "Bobusang Osaka")))
COAT = replace(WANTED, model="")
FLOOR, TARGET = 38_257, 45_959


@pytest.fixture
async def shop(db: Database) -> Database:
    """A database with rates, a rate of exchange and a policy."""
    async with db.begin() as tx:
        await ratebook.put(tx, sheets.FEES, RATES.fees)
        await ratebook.put(tx, sheets.FREIGHTS, RATES.freights)
        await policies.put(tx, "buyma", "", LEAN, "owner")
        await fxbook.record(tx, [FxQuote("JPY", "KRW", "9.2", "bank", NOON)])
    return db


def told(found: Sequence[Quoted]) -> list[tuple[Any, ...]]:
    return [(one.wanted.product_id, *_told(one), one.is_news) for one in found]


def _told(one: Quoted) -> tuple[Any, ...]:
    price = None if isinstance(one.result, Hold) else one.result.price.amount_minor
    return type(one.result), one.result.reason, price


async def price(db: Database, *wanted: Wanted) -> list[tuple[Any, ...]]:
    async with db.begin() as tx:
        return told(await Pricing().quote(tx, wanted, TODAY))


async def written(tx: Tx) -> int:
    return len(await quotes.history(tx, COAT.sku, limit=100))


async def test_a_quote_is_kept_with_all_its_steps(shop: Database) -> None:
    async with shop.begin() as tx:
        [one] = await Pricing().quote(tx, [COAT], TODAY)
        found = await quotes.latest(tx, "sku-1", market="buyma", account="main")

    assert isinstance(one.result, Quote)
    assert (one.result.price, one.result.floor) == (yen(TARGET), yen(FLOOR))
    assert (found.result, found.confirmed, found.rival) == (one.result, None, one.rival)
    assert found.fx_quote_id == one.fx_quote_id is not None
    rows = explain(found.result)
    assert rows[0] == ExplainRow("rate JPY/KRW", "", "", "9.2, spread 0 %", "bank", "2026-01-27 12:00")
    assert rows[1] == ExplainRow("purchase", "₩300,000", "¥32,609", "source price", "source", "")
    assert rows[-1] == ExplainRow("margin", "", "", "20.0% of revenue", "", "")
    assert rows[-2].local == "¥45,959"


async def test_only_news_is_written(shop: Database, clock: ManualClock) -> None:
    assert await price(shop, COAT) == [(1, Quote, Reason.NO_RIVAL, TARGET, True)]
    assert await price(shop, COAT) == [(1, Quote, Reason.NO_RIVAL, TARGET, False)]
    listed = replace(COAT, current=yen(TARGET))
    assert await price(shop, listed) == [(1, Keep, Reason.IN_BAND, TARGET, True)]
    clock.advance(hours=1)
    async with shop.begin() as tx:
        await fxbook.record(tx, [FxQuote("JPY", "KRW", "9.21", "bank", tx.now)])
    assert await price(shop, listed) == [(1, Keep, Reason.IN_BAND, TARGET, False)]
    async with shop.read() as tx:
        assert await written(tx) == 2
        found = await Pricing().look(tx, [replace(listed, purchase=won(900_000))], TODAY)
        assert told(found)[0][2] is Reason.FLOOR_TOO_FAR
        assert await written(tx) == 2


async def test_a_hold_that_turns_below_its_floor_is_news_though_its_reason_is_the_same(shop: Database) -> None:
    """The alert counts what was written down."""
    held = replace(COAT, resale_floor=won(10_000_000))
    above, below = replace(held, current=yen(2_000_000)), replace(held, current=yen(TARGET))

    assert [news for one in (above, below, below, above) for *_, news in await price(shop, one)] == [
        *(True, True, False, True),
    ]
    async with shop.read() as tx:
        found = [one.result for one in await quotes.history(tx, COAT.sku)]
    assert [(one.reason, isinstance(one, Hold) and one.is_below_floor) for one in found] == [
        (Reason.FLOOR_ABOVE_CEILING, False),
        (Reason.FLOOR_ABOVE_CEILING, True),
        (Reason.FLOOR_ABOVE_CEILING, False),
    ]


class Counting(Tx):
    """A transaction that counts what goes through it."""

    def __init__(self, tx: Tx) -> None:
        super().__init__(tx.now, tx.sequences)
        self.dialect = tx.dialect
        self.statements = 0
        self._tx = tx

    async def _fetch(self, text: str, arguments: Sequence[Any]) -> Sequence[Row]:
        self.statements += 1
        return await self._tx._fetch(text, arguments)

    async def _insert(self, bulk: Bulk, rows: Sequence[Sequence[Any]]) -> int:
        self.statements += 1
        return await self._tx._insert(bulk, rows)


async def test_a_batch_costs_as_many_statements_as_one(shop: Database) -> None:
    """Four tables of rates, policies, the exchange, the rivals, the last decisions, the day, the quotes, an event."""
    many = [replace(WANTED, product_id=number, sku=str(number), model=f"M{number}") for number in range(1, 300)]
    async with shop.begin() as tx:
        one, rest = Counting(tx), Counting(tx)
        await Pricing().quote(one, many[:1], TODAY)
        await Pricing().quote(rest, many[1:], TODAY)

    assert (one.statements, rest.statements) == (11, 11)


async def test_ten_times_the_rate_holds_and_is_told_once(shop: Database, clock: ManualClock) -> None:
    listed = [replace(COAT, product_id=number, sku=str(number), current=yen(TARGET)) for number in (1, 2)]
    clock.advance(hours=1)
    async with shop.begin() as tx:
        await fxbook.record(tx, [FxQuote("JPY", "KRW", "92", "bank", tx.now)])
        found = await Pricing().quote(tx, listed, TODAY)
        await Pricing().quote(tx, listed, TODAY)
        rows = await tx.fetch(select(outbox.c.payload).where(outbox.c.topic == "price.held"))

    assert told(found) == [(1, Hold, Reason.FX_JUMP, None, True), (2, Hold, Reason.FX_JUMP, None, True)]
    assert [json.loads(row["payload"]) for row in rows] == [
        {
            "market": "buyma",
            "account": "main",
            "reason": "fx_jump",
            "count": 2,
            "detail": "the rate KRW/JPY jumped to 92 of bank: a person must agree",
            "skus": ["1", "2"],
        }
    ]


async def test_a_dead_feed_freezes_the_way_down(shop: Database, clock: ManualClock) -> None:
    clock.advance(days=3)
    listed = replace(COAT, current=yen(60_000))

    assert await price(shop, listed) == [(1, Keep, Reason.FX_STALE, 60_000, True)]


async def test_no_rows_no_price(db: Database) -> None:
    async with db.begin() as tx:
        await fxbook.record(tx, [FxQuote("JPY", "KRW", "9.2", "bank", NOON)])

    assert await price(db, COAT, replace(COAT, product_id=2, purchase=None)) == [
        (1, Hold, Reason.NO_RATE, None, True),
        (2, Hold, Reason.NO_COST, None, True),
    ]


async def test_the_rows_that_come_with_the_program_price_a_coat(db: Database) -> None:
    async with db.begin() as tx:
        await ratebook.install(tx)
        await fxbook.record(tx, [FxQuote("JPY", "KRW", "9.2", "bank", NOON, "0.0175")])
        [one] = await Pricing().quote(tx, [replace(COAT, tier="", material="wool", construction="woven")], TODAY)

    assert isinstance(one.result, Quote)
    assert one.result.reason is Reason.NO_RIVAL
    assert {step.name for step in one.result.steps} >= {"duty", "consumption tax", "clearance", "payout fee, fixed"}


async def test_a_day_has_its_limit_over_many_steps(shop: Database, clock: ManualClock) -> None:
    """Ten per cent an hour is all of it by the evening."""
    current, seen = 60_000, []
    for _ in range(5):
        async with shop.begin() as tx:
            offers = (Offer(yen(40_000), None, "other", model="AB123"),)
            await watch.record(tx, BUYMA, [watch.Searched("AB-123", offers)])
            [one] = await Pricing().quote(tx, [replace(WANTED, current=yen(current))], TODAY)
        if isinstance(one.result, Quote):
            current = one.result.price.amount_minor
        seen.append(current)
        clock.advance(hours=1)
    assert seen == [54_000, 48_600, 48_000, 48_000, 48_000]

    clock.advance(hours=30)
    async with shop.begin() as tx:
        await fxbook.record(tx, [FxQuote("JPY", "KRW", "9.2", "bank", tx.now - timedelta(minutes=1))])
    assert await price(shop, replace(WANTED, current=yen(current))) == [(1, Quote, Reason.STEP, 43_200, True)]


async def test_two_shops_of_ours_do_not_undercut_each_other(shop: Database) -> None:
    """Each sees only strangers, however low the other one is."""
    offers = (
        Offer(yen(50_000), None, "stranger", model="AB-123"),
        Offer(yen(49_995), None, "bobusang tokyo", model="AB-123"),
        Offer(yen(45_000), None, "BOBUSANG OSAKA", model="AB-123"),
    )
    tokyo, osaka = replace(WANTED, account="tokyo"), replace(WANTED, account="osaka")
    async with shop.begin() as tx:
        await watch.record(tx, BUYMA, [watch.Searched("AB-123", offers)])

    assert await price(shop, tokyo, osaka) == [(1, Quote, Reason.UNDERCUT, 49_995, True)] * 2
    again = [replace(one, current=yen(49_995)) for one in (tokyo, osaka)]
    assert await price(shop, *again) == [(1, Keep, Reason.IN_BAND, 49_995, True)] * 2


async def test_what_was_never_priced_is_missing(shop: Database) -> None:
    async with shop.read() as tx:
        with pytest.raises(Missing, match="nothing has been decided"):
            await quotes.latest(tx, "nothing")


async def test_nothing_wanted_nothing_done(shop: Database) -> None:
    assert await price(shop) == []
