"""What a person says of pictures reaches the market: by the next FULL what is blocked, by any run what is ordered."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from bobusang.catalog.tables.images import Rights
from bobusang.flows.conveyor import choosing, marks
from bobusang.flows.conveyor.model import Mode
from bobusang.sandbox.buyma.account import Behaviour
from bobusang.sandbox.reviewed import mapping
from bobusang.sandbox.world import World
from bobusang.stages.collect import decisions
from bobusang.stages.convert import mastering, reviewing
from bobusang.stages.image import deciding, revisits
from bobusang.testing.shop import Shop
from bobusang.views import pictures
from tests.integration.flows.selling import shelves

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from pathlib import Path

    from bobusang.flows.conveyor.model import Brand
    from bobusang.kit.db import Tx
    from bobusang.views.pictures import PictureLine

MALL = "musinsa"
CONTENT = re.compile(r"[0-9a-f]{64}")


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Shop]:
    """Working, a brand listed, each product with two pictures."""
    said: dict[str, Any] = {
        "world": World(seed=5, size=12, brands=1, pictures=2),
        "sandbox": {"behaviour": Behaviour(delay=0, retry_seconds=0.05)},
    }
    async with Shop.opened(tmp_path, **said) as shop, shop.yard.working():
        await shop.yard.db.transact(
            lambda tx: decisions.decide(tx, MALL, enabled=True, why="an agreement", by="kim", rights=Rights.SUPPLIER)
        )
        await ran(shop, Mode.FULL)
        yield shop


async def brands(shop: Shop) -> list[Brand]:
    async def work(tx: Tx) -> list[Brand]:
        await reviewing.imported(tx, reviewing.parsed(mapping(1, (MALL,)), await mastering.current(tx, "buyma")))
        return await choosing.chosen(tx, shop.yard.app.collector, [MALL])

    return await shop.yard.db.transact(work)


async def ran(shop: Shop, mode: Mode, **more: Any) -> None:
    assert await shop.run(mode, await brands(shop), **more) == "COMPLETED"


async def shown(shop: Shop, sku: str) -> list[str]:
    """The originals of what the market shows, in order."""
    rows = await shop.yard.rows("select made_from, sha256 from image_files where recipe <> 'original'")
    originals = {row["sha256"]: row["made_from"] for row in rows}
    urls = (await shelves(shop))[sku]["images"]
    return [originals[CONTENT.findall(url)[-1]] for url in urls]


async def product(shop: Shop, sku: str) -> int:
    [row] = await shop.yard.rows(f"select product_id from listings where sku = '{sku}'")
    found: int = row["product_id"]
    return found


async def listed(shop: Shop, id: int) -> Sequence[PictureLine]:
    async with shop.yard.db.read() as tx:
        return await pictures.of_product(tx, id)


@pytest.mark.timeout(300)
async def test_what_a_person_says_of_pictures_reaches_the_market(shop: Shop) -> None:
    db = shop.yard.db
    sku = next(sku for sku, one in (await shelves(shop)).items() if len(one["images"]) == 2)
    id = await product(shop, sku)
    first, second = [one.sha256 or "" for one in await listed(shop, id)]
    assert await shown(shop, sku) == [first, second]
    assert {(one.rights, one.rights_source) for one in await listed(shop, id)} == {(Rights.SUPPLIER, MALL)}

    async def order(tx: Tx) -> None:
        await deciding.order(tx, id, [2, 1])
        await marks.forget(tx, "buyma", [id])

    await db.transact(order)
    await ran(shop, Mode.PARTIAL)
    assert await shown(shop, sku) == [second, first]

    look = await db.transact(lambda tx: deciding.block(tx, second, "a banner", by="kim"))
    assert await revisits.like(db, look) >= 1
    await ran(shop, Mode.PARTIAL)  # which has no pictures, and leaves to FULL what was asked
    assert await shown(shop, sku) == [second, first]
    await ran(shop, Mode.FULL)
    assert await shown(shop, sku) == [first]
    assert [(one.state, one.reason) for one in await listed(shop, id)][1] == ("REFUSED", "a banner")

    [(gone, _)] = await db.transact(lambda tx: deciding.unblock(tx, second))
    await revisits.like(db, gone)
    await ran(shop, Mode.FULL)
    assert await shown(shop, sku) == [first, second]
