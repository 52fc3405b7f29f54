"""A brand that was blocked while it is on sale: its stock and price are kept true, and nothing of it comes back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from bobusang.catalog import brands
from bobusang.catalog.model import Review
from bobusang.flows.conveyor import choosing
from bobusang.flows.conveyor.model import Brand, Mode
from bobusang.kit.errors import Conflict
from bobusang.sandbox.buyma.account import Behaviour
from bobusang.sandbox.reviewed import mapping
from bobusang.sandbox.world import World
from bobusang.stages.convert import mastering, reviewing
from bobusang.testing.shop import Shop
from tests.integration.flows.selling import shelves

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from bobusang.kit.db import Tx

MALL = "musinsa"


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Shop]:
    """Working, a brand listed and then blocked."""
    said: dict[str, Any] = {
        "world": World(seed=5, size=12, brands=1, pictures=1),
        "sandbox": {"behaviour": Behaviour(delay=0, retry_seconds=0.05)},
    }
    async with Shop.opened(tmp_path, **said) as shop, shop.yard.working():
        assert await shop.run(Mode.FULL, await shop.yard.db.transact(lambda tx: accepted(tx, shop))) == "COMPLETED"
        await shop.yard.db.transact(lambda tx: review(tx, Review.BLOCKED))
        yield shop


async def accepted(tx: Tx, shop: Shop) -> list[Brand]:
    known = await mastering.current(tx, "buyma")
    await reviewing.imported(tx, reviewing.parsed(mapping(1, (MALL,)), known))
    return await choosing.chosen(tx, shop.yard.app.collector, [MALL])


async def review(tx: Tx, verdict: Review) -> None:
    await brands.review(tx, [one.id for one in await brands.listed(tx, MALL)], verdict)


async def chosen(shop: Shop, mode: Mode, *names: str) -> list[Brand]:
    collector = shop.yard.app.collector
    return await shop.yard.db.transact(lambda tx: choosing.chosen(tx, collector, [MALL], names, mode=mode))


async def status(shop: Shop) -> dict[str, str]:
    return {sku: one["status"] for sku, one in (await shelves(shop)).items()}


@pytest.mark.timeout(300)
async def test_what_is_blocked_and_on_sale_is_kept_true_and_does_not_come_back(shop: Shop) -> None:
    live = await status(shop)
    out = min(live)
    key = out.removeprefix(f"{MALL}-")
    with pytest.raises(Conflict, match="is accepted"):
        await chosen(shop, Mode.FULL)
    [brand] = await chosen(shop, Mode.PARTIAL)
    assert await chosen(shop, Mode.PARTIAL, brand.name) == [brand]

    await shop.door.override(MALL, key, sold_out=True)
    assert await shop.run(Mode.PARTIAL, [brand]) == "COMPLETED"
    assert await status(shop) == live | {out: "buyer_suspended"}

    await shop.door.override(MALL, key, sold_out=False)
    assert await shop.run(Mode.PARTIAL, [brand]) == "COMPLETED"
    assert await status(shop) == live | {out: "buyer_suspended"}

    await shop.yard.db.transact(lambda tx: review(tx, Review.ACCEPTED))
    assert await shop.run(Mode.PARTIAL, [brand]) == "COMPLETED"
    assert await status(shop) == live
