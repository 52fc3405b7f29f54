"""Two accounts sell the same goods: what stops one of them neither stops the other nor is forgotten."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from bobusang.flows.conveyor.model import Mode
from bobusang.sandbox.buyma.account import Behaviour
from bobusang.sandbox.world import World
from bobusang.stages.register import accounts, holds, listings
from bobusang.stages.register.model import Caution, Policy
from bobusang.testing.crawl import Visiting, visit
from bobusang.testing.shop import ENDLESS, NAME, Shop, seller
from tests.integration.flows.selling import NO_DOUBLES, OKMALL, doubles

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from bobusang.kit.db import Tx
    from bobusang.stages.register.holds import Hold

FREE = Policy(caution=Caution(few=1000), budget=ENDLESS, patience=timedelta(seconds=1))
CAREFUL = Policy(caution=Caution(few=0, closed=0), budget=ENDLESS, patience=timedelta(seconds=1))
CAUTIOUS = Policy(caution=Caution(few=0, changed=0), budget=ENDLESS, patience=timedelta(seconds=1))
SECOND = "second"


@pytest.fixture
async def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Shop]:
    """A brand that is on sale by both accounts; the second closes nothing that nobody has agreed to."""
    said: dict[str, Any] = {
        "world": World(seed=5, size=10, brands=1, pictures=1),
        "sandbox": {"behaviour": Behaviour(delay=0, retry_seconds=0.05)},
        "call_seconds": 2.0,
    }
    monkeypatch.setenv("SECOND_TOKEN", "second-token")
    monkeypatch.setenv("SECOND_SECRET", "second-secret")
    refs: dict[str, Any] = {"token_ref": "env:SECOND_TOKEN", "secret_ref": "env:SECOND_SECRET"}
    async with Shop.opened(tmp_path, policy=FREE, **said) as found:
        hook = f"{found.url}/webhooks/buyma/{SECOND}"
        who = {"token": "second-token", "secret": "second-secret", "seller_id": 7_654_321, "seller_name": SECOND}
        await found.door.account(**who, webhook_url=hook)
        other = replace(seller(CAREFUL), name=SECOND, **refs)
        await found.yard.db.transact(lambda tx: accounts.add(tx, other))
        async with found.yard.working():
            visit(found.yard.app, {"okmall": Visiting(rate=200.0, burst=16.0, concurrency=8)})
            assert await found.run(Mode.FULL, [OKMALL]) == "COMPLETED"
            yield found


async def there(shop: Shop) -> dict[tuple[str, str], dict[str, Any]]:
    """By account and product, what the market itself has of it."""
    rows = await shop.yard.rows("""
        select m.name, l.sku, l.reference from listings l join market_accounts m on m.id = l.account_id
        where l.reference is not null""")
    found = {one["reference"]: one for one in (await shop.door.market())["listings"]}
    return {(row["name"], row["sku"]): found[row["reference"]] for row in rows}


async def shelves(shop: Shop) -> dict[tuple[str, str], str]:
    """How it is shown."""
    return {place: str(one["status"]) for place, one in (await there(shop)).items()}


async def priced(shop: Shop) -> dict[tuple[str, str], int]:
    """What is asked for it."""
    return {place: int(one["price"]) for place, one in (await there(shop)).items()}


async def closed(shop: Shop, account: str) -> set[str]:
    return {sku for (name, sku), status in (await shelves(shop)).items() if name == account and status != "public"}


async def held(shop: Shop) -> list[Hold]:
    async with shop.yard.db.read() as tx:
        return await holds.pick(tx, (await accounts.named(tx, "buyma", SECOND)).id)


async def agree(shop: Shop, id: int, tx: Tx) -> None:
    await shop.yard.app.belt.register.decide_hold(tx, id, approve=True, who="owner")


async def switch(shop: Shop, enabled: bool, tx: Tx) -> None:
    await accounts.switch(tx, await accounts.named(tx, "buyma", SECOND), enabled=enabled, why="stop")


async def careful(policy: Policy, tx: Tx) -> None:
    await accounts.change(tx, replace(await accounts.named(tx, "buyma", SECOND), policy=policy))


async def partials(shop: Shop, count: int) -> set[str]:
    return {await shop.run(Mode.PARTIAL, [OKMALL]) for _ in range(count)}


async def test_what_one_account_holds_the_other_does_and_it_follows_when_a_person_agrees(shop: Shop) -> None:
    skus = sorted({sku for _, sku in await shelves(shop)})
    gone = skus[:2]
    for sku in gone:
        await shop.door.override("okmall", sku.removeprefix("okmall-"), sold_out=True)

    ended = await partials(shop, 3)
    waiting = await held(shop)
    first, second = await closed(shop, NAME), await closed(shop, SECOND)
    for one in waiting:
        await shop.yard.db.transact(partial(agree, shop, one.id))
    ended |= await partials(shop, 2)

    assert (first, second) == (set(gone), set())
    assert [one.guard.value for one in waiting] == ["closed"] * 2
    assert (ended, await closed(shop, NAME), await closed(shop, SECOND)) == ({"COMPLETED"}, set(gone), set(gone))
    assert await doubles(shop.door) == NO_DOUBLES
    assert len(await shelves(shop)) == 2 * len(skus)


@pytest.mark.parametrize("fate", ["gone", "sold_out"])
async def test_what_ended_while_an_account_was_switched_off_is_closed_there_too(shop: Shop, fate: str) -> None:
    sku = min(sku for _, sku in await shelves(shop))
    await shop.yard.db.transact(partial(switch, shop, False))
    await shop.door.override("okmall", sku.removeprefix("okmall-"), **{fate: True})
    ended = await partials(shop, 4)
    first, second = await closed(shop, NAME), await closed(shop, SECOND)

    await shop.yard.db.transact(partial(switch, shop, True))
    ended |= await partials(shop, 2)
    for one in await held(shop):
        await shop.yard.db.transact(partial(agree, shop, one.id))
    ended |= await partials(shop, 2)

    assert (first, second) == ({sku}, set())
    assert (ended, await closed(shop, NAME), await closed(shop, SECOND)) == ({"COMPLETED"}, {sku}, {sku})


async def test_an_account_without_its_token_stops_no_other_and_follows_when_it_has_one(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    await shop.yard.db.transact(partial(careful, FREE))
    monkeypatch.delenv("SECOND_TOKEN")
    sku = min(sku for _, sku in await shelves(shop))
    await shop.door.override("okmall", sku.removeprefix("okmall-"), sold_out=True)

    ended = await partials(shop, 2)
    first, second = await closed(shop, NAME), await closed(shop, SECOND)
    monkeypatch.setenv("SECOND_TOKEN", "second-token")

    assert (ended, first, second) == ({"FAILED"}, {sku}, set())
    assert (await partials(shop, 1), await closed(shop, SECOND)) == ({"COMPLETED"}, {sku})


@pytest.mark.parametrize("is_planned", [False, True])
async def test_partial_offers_nothing_by_an_account_that_does_not_have_it_yet(shop: Shop, *, is_planned: bool) -> None:
    """Not either where FULL has planned it there, and something held it."""
    before = await shelves(shop)
    third = replace(seller(FREE), name="third", token_ref="env:SECOND_TOKEN", secret_ref="env:SECOND_SECRET")
    added = await shop.yard.db.transact(lambda tx: accounts.add(tx, third))
    if is_planned:
        rows = await shop.yard.rows("select distinct product_id, sku from listings")
        known = {row["product_id"]: row["sku"] for row in rows}
        await shop.yard.db.transact(lambda tx: listings.wanted(tx, added.id, known))
    sku = min(sku for _, sku in before)
    await shop.door.override("okmall", sku.removeprefix("okmall-"), stocks={"none": 0}, options=1)

    assert await partials(shop, 2) == {"COMPLETED"}
    assert (await shelves(shop)).keys() == before.keys()


async def test_what_one_account_holds_is_not_forgotten_when_the_other_is_confirmed(shop: Shop) -> None:
    """The verdict on one account's call says nothing of the other's price, which waits for a person."""
    await shop.yard.db.transact(partial(careful, CAUTIOUS))
    before = await priced(shop)
    for product in await shop.yard.rows("select product_id, price from products where mall = 'okmall'"):
        await shop.door.override("okmall", product["product_id"], price=product["price"] * 9 // 10)

    ended = await partials(shop, 2)
    between = await priced(shop)
    changed = {sku for name, sku in before if between[NAME, sku] != before[NAME, sku]}
    waiting = await held(shop)
    for one in waiting:
        await shop.yard.db.transact(partial(agree, shop, one.id))
    ended |= await partials(shop, 1)
    after = await priced(shop)

    assert ended == {"COMPLETED"}
    assert changed
    assert [one.guard.value for one in waiting] == ["changed"] * len(changed)
    assert {sku for _, sku in before if between[SECOND, sku] != before[SECOND, sku]} == set()
    assert {sku: after[SECOND, sku] for sku in changed} == {sku: after[NAME, sku] for sku in changed}
