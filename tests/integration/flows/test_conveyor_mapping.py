"""What people say of brands, categories, words and texts reaches products that were converted before, and no others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from bobusang.catalog import assigning, categories, products
from bobusang.catalog.assigning import Assigned
from bobusang.catalog.model import Review
from bobusang.flows.conveyor.model import Mode
from bobusang.kit import json
from bobusang.sandbox.buyma.account import Behaviour
from bobusang.sandbox.world import World
from bobusang.stages.convert import memory
from bobusang.stages.convert.glossary import Term
from bobusang.testing.shop import Shop
from tests.integration.flows.selling import OKMALL

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

SANDBOX = {"behaviour": Behaviour(delay=0, retry_seconds=0.05)}


@pytest.fixture
async def shop(tmp_path: Path, database_url: str) -> AsyncIterator[Shop]:
    """On each database, working, a brand listed."""
    world = World(seed=5, size=6, brands=1, pictures=1)
    said: dict[str, Any] = {"world": world, "sandbox": SANDBOX, "database_url": database_url}
    async with Shop.opened(tmp_path, **said) as shop, shop.yard.working():
        assert await shop.run(Mode.FULL, [OKMALL]) == "COMPLETED"
        yield shop


async def converted(shop: Shop) -> int:
    """Run a FULL, and tell how many products it made anew or tried to."""
    assert await shop.run(Mode.FULL, [OKMALL]) == "COMPLETED"
    [row] = await shop.yard.rows("""
        select s.created from job_steps s join workflow_steps w on w.id = s.step_id
        where w.step_name = 'convert' and s.job_id = (select max(id) from crawling_jobs)""")
    return int(row["created"])


async def made(shop: Shop) -> dict[str, tuple[str, str, int]]:
    """By key, each product's category at the mall, its state, and the market's category that it was made for."""
    rows = await shop.yard.rows("""
        select p.product_id, p.category, c.state, c.data from conversions c join products p on p.id = c.product_id""")
    return {
        row["product_id"]: (row["category"], row["state"], json.loads(row["data"] or "{}").get("category_id", 0))
        for row in rows
    }


async def review(shop: Shop, path: str, market_id: int, review: Review = Review.ACCEPTED) -> None:
    """What a person says of a category."""

    async def work(tx: Any) -> None:
        [row] = [one for one in await categories.listed(tx, OKMALL.mall, limit=1000) if one.full_path == path]
        await assigning.review_categories(tx, [Assigned(row.id, market_id, review=review)])

    await shop.yard.db.transact(work)


@pytest.mark.timeout(300)
async def test_a_mapping_that_is_changed_makes_its_products_anew(shop: Shop) -> None:
    before = await made(shop)
    held = {key for key, (_, state, _) in before.items() if state == "HELD"}
    path, _, category_id = next(one for one in before.values() if one[1] == "READY")
    mine = {key for key, one in before.items() if one[0] == path}
    other = next(id for _, state, id in before.values() if state == "READY" and id != category_id)
    assert 0 < len(mine) < len(before) - len(held)
    assert await converted(shop) == len(held)  # what is held is tried again, nothing else

    await review(shop, path, other)
    assert await converted(shop) == len(mine) + len(held)
    assert await made(shop) == before | dict.fromkeys(mine, (path, "READY", other))

    await review(shop, path, other, Review.BLOCKED)
    assert await converted(shop) == len(mine) + len(held)
    assert await made(shop) == before | dict.fromkeys(mine, (path, "HELD", other))

    await review(shop, path, category_id)
    assert await converted(shop) == len(mine) + len(held)
    assert await made(shop) == before

    [row] = await shop.yard.rows("select id from products where product_id = :key", key=min(mine))
    await shop.yard.db.transact(lambda tx: products.edit(tx, row["id"], {"name": "나이키 니트"}))
    assert await converted(shop) == 1 + len(held)

    await shop.yard.db.transact(lambda tx: memory.put_terms(tx, [Term("없는말", "ない言葉", "word")]))
    assert await converted(shop) == len(before)
    assert await converted(shop) == len(held)

    for word in ("保布商", "褓負商"):  # said once, then said anew
        await shop.yard.db.transact(lambda tx, word=word: memory.correct(tx, "보부상", word))  # type: ignore[misc]
        assert await converted(shop) == len(before)
        assert await converted(shop) == len(held)

    await shop.yard.db.transact(lambda tx: memory.correct(tx, "보부상", "褓負商"))
    assert await converted(shop) == len(held)
