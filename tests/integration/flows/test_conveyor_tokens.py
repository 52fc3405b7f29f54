"""A process that does not have an account's token: nothing is promised that nobody can send, and the run says why."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from bobusang.flows.conveyor import retrying
from bobusang.flows.conveyor.model import Mode, Stage
from bobusang.flows.market.resending import resent
from bobusang.kit.sql import Statement
from bobusang.sandbox.buyma.account import Behaviour
from bobusang.sandbox.world import World
from bobusang.stages.register import accounts
from bobusang.stages.register.model import Policy
from bobusang.testing.crawl import Visiting, visit
from bobusang.testing.shop import ENDLESS, NAME, Shop
from tests.integration.flows.selling import OKMALL, shelves

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from bobusang.stages.register.model import Account

UNSENT = (
    Statement("update market_calls set state = 'INTENT', open_key = listing_id, due_at = :now where id = :id"),
    Statement("update listings set open_call = :id where id = (select listing_id from market_calls where id = :id)"),
)
NAMED = Statement("update market_accounts set token_ref = 'env:BOBUSANG_TEST_TOKEN'")
WHY = (
    "buyma/bobusang cannot send: the secret env:BOBUSANG_TEST_TOKEN is not there (set the variable BOBUSANG_TEST_TOKEN "
    "where the program runs)"
)


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Shop]:
    """A brand on sale, by an account whose token is in the environment, or is not."""
    said: dict[str, Any] = {
        "world": World(seed=5, size=8, brands=1, pictures=1),
        "sandbox": {"behaviour": Behaviour(delay=0, retry_seconds=0.05)},
        "call_seconds": 2.0,
    }
    policy = Policy(budget=ENDLESS, patience=timedelta(seconds=1))
    async with Shop.opened(tmp_path, policy=policy, **said) as found, found.yard.working():
        visit(found.yard.app, {"okmall": Visiting(rate=200.0, burst=16.0, concurrency=8)})
        assert await found.run(Mode.FULL, [OKMALL]) == "COMPLETED"
        await found.yard.db.transact(lambda tx: tx.execute(NAMED))
        yield found


async def account(shop: Shop) -> Account:
    async with shop.yard.db.read() as tx:
        return await accounts.named(tx, "buyma", NAME)


async def calls(shop: Shop) -> int:
    [row] = await shop.yard.rows("select count(*) as calls from market_calls")
    return int(row["calls"])


async def partials(shop: Shop, count: int) -> str:
    """The mall's list shows at first what has sold out; how the last ended."""
    return [await shop.run(Mode.PARTIAL, [OKMALL]) for _ in range(count)][-1]


async def test_without_its_token_a_run_plans_nothing_and_fails_with_why_until_it_is_there(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    live = [sku for sku, one in (await shelves(shop)).items() if one["status"] == "public"]
    before = await calls(shop)
    await shop.door.override("okmall", live[0].removeprefix("okmall-"), sold_out=True)

    assert await partials(shop, 2) == "FAILED"
    [row] = await shop.yard.rows(f"""
        select batch_id, status, error_msg from pipeline_control where stage = '{Stage.REGISTER}'
        order by id desc limit 1""")
    assert (row["status"], row["error_msg"], await calls(shop)) == ("ERROR", WHY, before)
    told = await shop.yard.rows(
        "select text from alerts where resolved_at is null and alert_key like 'conveyor.stage%'"
    )
    assert [WHY in one["text"] for one in told] == [True]

    monkeypatch.setenv("BOBUSANG_TEST_TOKEN", "sandbox-token")
    batch, engine = row["batch_id"], shop.yard.app.engine
    await shop.yard.db.transact(lambda tx: retrying.retry(tx, engine, batch))
    assert await shop.ended(batch) == "COMPLETED"
    assert (await shelves(shop))[live[0]]["status"] == "buyer_suspended"


async def test_an_intent_that_nobody_could_send_keeps_no_run_and_goes_with_the_token(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    [left] = await shop.yard.rows(
        "select c.id, l.sku from market_calls c join listings l on l.id = c.listing_id order by c.id limit 1"
    )
    for text in UNSENT:
        await shop.yard.db.transact(lambda tx, text=text: tx.execute(text, id=left["id"], now=tx.now))  # type: ignore[misc]
    await shop.door.override("okmall", left["sku"].removeprefix("okmall-"), sold_out=True)

    assert await partials(shop, 2) == "FAILED"
    monkeypatch.setenv("BOBUSANG_TEST_TOKEN", "sandbox-token")
    await resent(shop.yard.db, shop.yard.app.belt.register, await account(shop))
    assert await shop.run(Mode.PARTIAL, [OKMALL]) == "COMPLETED"
    assert (await shelves(shop))[left["sku"]]["status"] == "buyer_suspended"
    assert await shop.yard.rows("select id from market_calls where state not in ('CONFIRMED', 'SUPERSEDED')") == []
