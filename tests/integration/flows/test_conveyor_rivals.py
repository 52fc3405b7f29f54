"""What others ask, end to end: our own offers are nobody's rivals, and what a buyer pays in all is compared."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from bobusang.catalog import products
from bobusang.flows.conveyor.model import Mode, Stage
from bobusang.kit import json
from bobusang.kit.sql import Statement
from bobusang.sandbox.buyma.account import Behaviour
from bobusang.sandbox.world import World
from bobusang.stages.register import accounts
from bobusang.testing.shop import NAME, Shop
from tests.integration.flows.selling import OKMALL

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from bobusang.kit.db import Tx
    from bobusang.stages.register.model import Account

SANDBOX = {"behaviour": Behaviour(delay=0, retry_seconds=0.05)}
SHOWN, OTHER = "Seoul Concierge ★", "ソウル直送"
"""Whom buyers see: neither is the name of an account here."""
MODELS = Statement("select id, model from products where model is not null")
AGAIN = Statement("update competitor_prices set due_at = '2026-01-01T00:00:00.000000Z'")


def models(world: World) -> list[str]:
    mall = world.mall("okmall")
    return sorted({mall.product(no).model for brand in mall.brands for no in mall.numbers(0, brand)} - {""})


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Shop]:
    """Working, with nothing listed; nobody else sells anything, and buyers see us under another name than our own."""
    world = World(seed=5, size=6, brands=1, pictures=1)
    async with Shop.opened(tmp_path, world=world, sandbox=SANDBOX) as found, found.yard.working():
        await found.door.account(seller_name=SHOWN)
        for model in models(world):
            await found.door.rivals(model, [])
        await titled(found)
        yield found


async def titled(shop: Shop) -> None:
    """Our titles tell the model number, written otherwise than the mall tells it, or it would not stand there twice:
    a search finds us by it."""
    assert await shop.run(Mode.FULL, [OKMALL], stages=[Stage.COLLECT]) == "COMPLETED"

    async def work(tx: Tx) -> None:
        for row in await tx.fetch(MODELS):
            await products.edit(tx, row["id"], {"name": f"Sneakers {row['model'].replace('-', ' ')}"})

    await shop.yard.db.transact(work)


async def second(shop: Shop, folder: Path) -> None:
    """Another account of ours."""
    for name in ("token", "secret"):
        (folder / name).write_text(f"second-{name}")
    told = {"token": "second-token", "secret": "second-secret", "seller_id": 7, "seller_name": OTHER}
    await shop.door.account(**told, webhook_url=f"{shop.url}/webhooks/buyma/second")
    token, secret = (f"file:{folder / name}" for name in ("token", "secret"))

    async def work(tx: Tx) -> None:
        first = await accounts.named(tx, "buyma", NAME)
        await accounts.add(tx, replace(first, name="second", token_ref=token, secret_ref=secret))

    await shop.yard.db.transact(work)


async def change(shop: Shop, changed: Callable[[Account], Account]) -> None:
    async def work(tx: Tx) -> None:
        await accounts.change(tx, changed(await accounts.named(tx, "buyma", NAME)))

    await shop.yard.db.transact(work)


async def run_full(shop: Shop) -> None:
    """A FULL that searches every model anew."""
    await shop.yard.db.transact(lambda tx: tx.execute(AGAIN))
    assert await shop.run(Mode.FULL, [OKMALL]) == "COMPLETED"


async def asked(shop: Shop) -> dict[str, list[int]]:
    """What the market's own shelves say that we ask, by model."""
    found: dict[str, list[int]] = {}
    for one in (await shop.door.market())["listings"]:
        found.setdefault(one["model"], []).append(one["price"])
    found.pop("", None)  # nobody can search for it
    return found


async def searched(shop: Shop, model: str) -> tuple[str, int | None, str, dict[str, Any]]:
    """How the last search for a model ended, the lowest offer, whose it was, and what was left out."""
    key = model.replace("-", "")
    [row] = await shop.yard.rows(
        "select search, total, seller, excluded from competitor_prices where model = :model", model=key
    )
    return row["search"], row["total"], row["seller"], json.loads(row["excluded"])


@pytest.mark.timeout(180)
async def test_our_own_listings_are_nobodys_rivals_whatever_they_are_called(shop: Shop, tmp_path: Path) -> None:
    """Two accounts under names that only the market knows: without the numbers of our listings each search would find
    us, and go five yen below."""
    await second(shop, tmp_path)
    await run_full(shop)
    before = await asked(shop)
    assert before
    assert {len(prices) for prices in before.values()} == {2}

    await run_full(shop)
    await switched(shop, enabled=False)  # what was listed is still offered
    await run_full(shop)

    assert await asked(shop) == before
    assert {model: await searched(shop, model) for model in before} == {
        model: ("EMPTY", None, "", {"own": 2}) for model in before
    }


async def switched(shop: Shop, *, enabled: bool) -> None:
    async def work(tx: Tx) -> None:
        await accounts.switch(tx, await accounts.named(tx, "buyma", "second"), enabled=enabled, why="a rest")

    await shop.yard.db.transact(work)


@pytest.mark.timeout(180)
async def test_an_offer_that_we_have_no_listing_of_is_known_by_the_name_that_buyers_are_shown(shop: Shop) -> None:
    """Listed by hand, or its webhook was lost."""
    await run_full(shop)
    model, [price] = next(iter(sorted((await asked(shop)).items())))
    await shop.door.rivals(model, [{"price": price - 500, "seller_name": SHOWN, "id": 4711}])
    await run_full(shop)
    taken = await searched(shop, model)

    await change(shop, lambda one: replace(one, seller_name=SHOWN))
    await run_full(shop)

    assert taken == ("FOUND", price - 500, SHOWN, {"own": 1})
    assert await searched(shop, model) == ("EMPTY", None, "", {"own": 2})


# --- shipping --------------------------------------------------------------------------------------------------------

PAID, CHARGE = (889,), 1_500
"""A shipping method of the sandbox's market, and what buyers pay for it."""


async def rivalled(shop: Shop) -> tuple[str, int]:
    """A rival, with shipping for nothing, whom we can undercut as the cost is: the model, and what he asks."""
    stages = [stage for stage in Stage if stage is not Stage.REGISTER]
    assert await shop.run(Mode.FULL, [OKMALL], stages=stages) == "COMPLETED"
    dearest = """
        select p.model, q.price from price_quotes q join products p on p.id = q.product_id
        where p.model is not null order by q.price desc"""
    row = (await shop.yard.rows(dearest))[0]
    model, total = row["model"], row["price"] + CHARGE
    await shop.door.rivals(model, [{"price": total, "id": 4712}])
    return model, total


async def shelf(shop: Shop, model: str) -> tuple[int, int]:
    """What we ask for a model on the market: the price, and with shipping."""
    [one] = [one for one in (await shop.door.market())["listings"] if one["model"] == model]
    return one["price"], one["list_price"]


@pytest.mark.timeout(180)
async def test_a_first_price_undercuts_with_the_shipping_that_the_account_tells(shop: Shop) -> None:
    await change(shop, lambda one: replace(one, shipping_methods=PAID, shipping_charge=CHARGE))
    model, total = await rivalled(shop)

    await run_full(shop)

    assert await shelf(shop, model) == (total - 5 - CHARGE, total - 5)


@pytest.mark.timeout(180)
async def test_shipping_that_nobody_told_is_read_back_from_the_market_and_then_counted(shop: Shop) -> None:
    """The account says nothing: the first price is too high by what buyers pay for shipping, the next is not."""
    await change(shop, lambda one: replace(one, shipping_methods=PAID))
    model, total = await rivalled(shop)

    await run_full(shop)
    first, waited = await shelf(shop, model), await interval(shop, model)
    await run_full(shop)

    assert first == (total - 5, total - 5 + CHARGE)
    assert await shelf(shop, model) == (total - 5 - CHARGE, total - 5)
    assert await interval(shop, model) == waited // 2  # our place was lost: by the price alone we had kept it


async def interval(shop: Shop, model: str) -> int:
    """After how many seconds a model is searched again."""
    [row] = await shop.yard.rows(
        "select interval_seconds from competitor_prices where model = :model", model=model.replace("-", "")
    )
    return int(row["interval_seconds"])
