"""Calls that nobody answered, and verdicts that never came, over real HTTP."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from bobusang.flows.market.inbox import apply
from bobusang.flows.market.resending import resend
from bobusang.stages.register import accounts
from bobusang.stages.register.model import Policy
from tests.integration.market.stall import Stall, selling

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

CALLS = "select state, sends, count(*) as n from market_calls group by state, sends order by state, sends"


@pytest.fixture
async def stall(url: str, tmp_path: Path) -> AsyncIterator[Stall]:
    async with selling(url, tmp_path) as found:
        yield found


@pytest.fixture
async def small(empty_sqlite: str, tmp_path: Path) -> AsyncIterator[Stall]:
    async with selling(empty_sqlite, tmp_path) as found:
        yield found


async def test_lost_answers_and_lost_webhooks_are_made_good(stall: Stall) -> None:
    await stall.door.fault("buyma", "products", "reset_after", count=1)
    await stall.door.fault("buyma", "webhook", "lost", count=2)
    settled = await stall.go(*stall.coats(4))
    await stall.waiting(*(one.key for one in settled))
    await stall.door.settle()
    await apply(stall.shop.db, stall.register).run()
    early = len(await stall.woken())
    await resend(stall.shop.db, stall.register).run()
    await stall.door.settle()
    await apply(stall.shop.db, stall.register).run()
    market = await stall.door.market()

    assert (early, len(await stall.woken())) == (2, 4)
    assert await stall.rows(CALLS) == [
        {"state": "CONFIRMED", "sends": 1, "n": 2},
        {"state": "CONFIRMED", "sends": 2, "n": 2},
    ]
    assert (len(market["listings"]), market["made_again"], market["same_reference"]) == (4, {}, [])


async def test_a_refusal_to_a_resend_wakes_who_waits(small: Stall) -> None:
    await small.door.fault("buyma", "products", "http_500", count=1)
    [settled] = await small.go(*small.coats(1))
    await small.waiting(settled.key)
    await small.door.fault("buyma", "products", "http_400")
    await resend(small.shop.db, small.register).run()

    assert await small.woken() == [settled.key]
    assert await small.rows(CALLS) == [{"state": "REJECTED", "sends": 2, "n": 1}]


async def test_a_verdict_in_the_inbox_spares_the_call(small: Stall) -> None:
    await small.go(*small.coats(2))
    await small.door.settle()
    await resend(small.shop.db, small.register).run()

    assert await small.rows(CALLS) == [{"state": "CONFIRMED", "sends": 1, "n": 2}]
    assert (await small.door.market())["outcomes"] == {"created": 2}


async def test_while_nothing_is_overdue_the_inbox_is_left_to_those_who_apply_it(
    empty_sqlite: str, tmp_path: Path
) -> None:
    async with selling(empty_sqlite, tmp_path, Policy()) as patient:
        await patient.go(*patient.coats(2))
        await patient.door.settle()
        count = await resend(patient.shop.db, patient.register).run()

        assert count == 0
        assert await patient.rows("select distinct state from webhook_inbox") == [{"state": "RECEIVED"}]


async def test_an_account_without_its_token_uses_up_no_sends_and_hinders_no_other(small: Stall) -> None:
    await small.door.fault("buyma", "products", "http_500", count=1)
    await small.go(*small.coats(1))
    lost = replace(small.account, name="first", token_ref="env:BOBUSANG_NO_SUCH_SECRET")
    await small.shop.do(lambda tx: accounts.add(tx, lost))
    count = await resend(small.shop.db, small.register).run()

    assert count == 1
    await small.shop.do(lambda tx: accounts.change(tx, replace(lost, id=small.account.id, name="main")))
    assert await resend(small.shop.db, small.register).run() == 0
    assert [row["sends"] for row in await small.rows(CALLS)] == [2]
