"""What is kept of the market: only what changed since the last time, and all changes together are the whole."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from functools import reduce
from typing import Any

import msgspec
import pytest

from bobusang.sandbox.buyma.account import Account, Behaviour
from bobusang.sandbox.buyma.kept import Changes, fold
from bobusang.sandbox.buyma.listing import Status
from bobusang.sandbox.buyma.market import Market
from bobusang.sandbox.buyma.memory import Memory, recall
from bobusang.sandbox.fault import Faults
from bobusang.sandbox.world import World

AT = datetime(2026, 11, 16, tzinfo=UTC)
WORLD = World(5, 60)


def product(reference: str, **changes: Any) -> dict[str, Any]:
    cell = {"options": [], "stock_type": "purchase_for_order"}
    fields = {
        "name": f"coat {reference}",
        "price": 100,
        "images": [],
        "shipping_methods": [{"shipping_method_id": 888}],
    }
    more = {"available_until": "2026/12/31", "options": [], "variants": [cell]}
    return {"control": "publish", "reference_number": reference, **fields, **more, **changes}


def market(**account: Any) -> Market:
    found = Market(WORLD, Faults())
    found.behaviour = Behaviour(delay=0, retries=0, now=AT)
    found.put_account(Account(**account))
    return found


async def accept(market: Market, *products: dict[str, Any]) -> None:
    account = market.accounts["sandbox-token"]
    for one in products:
        market.admit(account)
        market.accept(account, one, stock=False)
    await market.settled()


async def test_only_what_changed_is_told() -> None:
    shop = market()
    memory = Memory(shop)
    await shop.open()
    await accept(shop, *(product(f"REF-{n}") for n in range(50)))
    first = memory.changes()
    nothing = memory.changes()
    await accept(shop, product("REF-7", price=90))
    more = memory.changes()
    await shop.close()

    (id,) = more.listings
    assert (first.anew, len(first.listings), len(first.requests), nothing) == (True, 50, 50, Changes())
    assert (id, more.listings[id].fields["price"], more.listings[id].edits) == (90_000_008, 90, 1)
    assert (more.found, more.numbers, more.webhooks) == (
        {"sandbox-token": {"REF-7": id}},
        (51, 51),
        {"no receiver": 51},
    )
    assert [(one.outcome, one.product) for one in more.requests.values()] == [("edited", {})]
    assert (more.anew, more.accounts, len(more.budgets["sandbox-token"].calls)) == (False, None, 1)


async def test_changes_one_after_another_are_the_whole() -> None:
    shop = market(webhook_url="http://127.0.0.1:9/")
    memory, told = Memory(shop), list[bytes]()
    await shop.open()
    for step in ([product("A"), product("B")], [product("A", id=90_000_002, name="coat B")], [product("A", price=90)]):
        await accept(shop, *step)
        told.append(msgspec.json.encode(memory.changes()))
    shop.decide(90_000_001, Status.NOT_APPROVED)
    told.append(msgspec.json.encode(memory.changes()))
    await shop.close()
    again = market()
    recall(again, reduce(fold, (msgspec.json.decode(raw, type=Changes) for raw in told), Changes()))

    assert again.accounts == shop.accounts
    assert again.listings == shop.listings
    assert again.requests == shop.requests
    assert (again.found, again.made, again.number) == (shop.found, shop.made, shop.number)
    assert list(again.post.under_way.values()) == list(shop.post.under_way.values())
    assert (again.found, again.made) == (
        {("sandbox-token", "A"): 90_000_002},
        Counter({("sandbox-token", "A"): 1, ("sandbox-token", "B"): 1}),
    )


async def test_after_a_reset_nothing_of_before_is_left() -> None:
    shop = market(webhook_url="http://127.0.0.1:9/kept")
    memory = Memory(shop)
    await shop.open()
    await accept(shop, product("A"))
    before = memory.changes()
    shop.clear()
    after = memory.changes()
    await shop.close()

    assert after == Changes(anew=True)
    assert fold(before, after) == Changes(accounts=[Account(webhook_url="http://127.0.0.1:9/kept")])


@pytest.mark.parametrize(("given", "url"), [("", "http://kept.test/"), ("http://given.test/", "http://given.test/")])
def test_what_is_told_at_the_start_holds_against_what_was_kept(given: str, url: str) -> None:
    shop = market(webhook_url=given)
    recall(shop, Changes(accounts=[Account(webhook_url="http://kept.test/", seller_id=7)]))

    assert shop.accounts == {"sandbox-token": Account(webhook_url=url, seller_id=7)}
