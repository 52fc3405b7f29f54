"""A mall that writes its options otherwise, from its pages to the market's shelves."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from bobusang.flows.conveyor.model import Mode
from bobusang.flows.conveyor.previewing import Line, of_product
from bobusang.flows.conveyor.registering import DOUBTED
from bobusang.sandbox.buyma.account import Behaviour
from bobusang.sandbox.words import COLOURS
from bobusang.sandbox.world import World
from bobusang.stages.register.model import Caution, Policy
from bobusang.testing.crawl import Visiting, visit
from bobusang.testing.shop import ENDLESS, Shop
from tests.integration.flows.selling import OKMALL, shelves

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

POLICY = Policy(caution=Caution(changed=10), budget=ENDLESS, patience=timedelta(seconds=1))
KOREAN = dict(COLOURS)
OTHERS = {name: COLOURS[(place + 1) % len(COLOURS)][1] for place, (name, _) in enumerate(COLOURS)}
"""Each colour by the name of another."""


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Shop]:
    """With a brand listed."""
    said: dict[str, Any] = {
        "world": World(seed=5, size=16, brands=1, pictures=1),
        "sandbox": {"behaviour": Behaviour(delay=0, retry_seconds=0.05)},
        "call_seconds": 2.0,
    }
    async with Shop.opened(tmp_path, policy=POLICY, **said) as found, found.yard.working():
        visit(found.yard.app, {"okmall": Visiting(rate=200.0, burst=16.0, concurrency=8)})
        assert await found.run(Mode.FULL, [OKMALL]) == "COMPLETED"
        yield found


async def spell(shop: Shop, words: dict[str, str]) -> list[str]:
    """Have the mall write all its colours so, and ask ten won more, for which its pages are read again; the products
    that are on sale."""
    keys = [sku.removeprefix("okmall-") for sku in await shelves(shop)]
    prices = {one["key"]: one["price"] for one in (await shop.door.truth("okmall", brand=OKMALL.name))["items"]}
    for key in keys:
        await shop.door.override("okmall", key, price=prices[key] + 10, spelled=words)
    return keys


async def states(shop: Shop) -> Counter[str]:
    return Counter(str(one["status"]) for one in (await shelves(shop)).values())


async def test_colours_that_a_mall_spells_anew_are_the_same_colours_at_the_market(shop: Shop) -> None:
    before = {sku: (one["status"], one["variants"]) for sku, one in (await shelves(shop)).items()}
    keys = await spell(shop, KOREAN)

    assert [await shop.run(mode, [OKMALL]) for mode in (Mode.FULL, Mode.PARTIAL)] == ["COMPLETED"] * 2

    assert len(keys) > POLICY.caution.few
    assert {sku: (one["status"], one["variants"]) for sku, one in (await shelves(shop)).items()} == before
    assert {row["kind"] for row in await shop.yard.rows("select kind from market_calls")} <= {"CREATE", "EDIT"}
    rows = await shop.yard.rows("select source_text, gone from product_options where axis = 'color'")
    assert {row["source_text"] for row in rows} <= set(KOREAN.values())
    assert not any(row["gone"] for row in rows)


async def test_codes_that_name_other_colours_all_at_once_suspend_nothing(shop: Shop) -> None:
    """No code is believed, so every listing would get new colours beside its old ones, which are out."""
    keys = await spell(shop, OTHERS)

    assert [await shop.run(mode, [OKMALL]) for mode in (Mode.FULL, Mode.PARTIAL, Mode.FULL)] == ["COMPLETED"] * 3

    assert await states(shop) == {"public": len(keys)}
    rows = await shop.yard.rows("select kind from market_calls where kind <> 'CREATE'")
    held = await shop.yard.rows("select guard from listing_holds where state = 'HELD'")
    assert {row["kind"] for row in rows} <= {"EDIT"}
    assert Counter(row["guard"] for row in held) == {"changed": len(keys) - len(rows)}


async def test_partial_believes_no_code_that_names_another_colour(shop: Shop) -> None:
    """By their codes alone, colours that were sold out would have been sold again as others that are not."""
    keys = [sku.removeprefix("okmall-") for sku in await shelves(shop)]
    items = {one["key"]: one for one in (await shop.door.truth("okmall", brand=OKMALL.name))["items"]}

    async def partial(more: int, words: dict[str, str], first: int) -> None:
        for key in keys:
            codes = [option["code"] for option in items[key]["options"]]
            stocks = dict.fromkeys(codes, 5) | {codes[0]: first}
            await shop.door.override(
                "okmall", key, price=items[key]["price"] + more, spelled=words, stocks=stocks, sold_out=False
            )
        assert await shop.run(Mode.PARTIAL, [OKMALL]) == "COMPLETED"

    await partial(10, {}, 0)
    before = {sku: (one["status"], one["variants"]) for sku, one in (await shelves(shop)).items()}
    await partial(20, OTHERS, 5)

    assert {sku: (one["status"], one["variants"]) for sku, one in (await shelves(shop)).items()} == before
    rows = await shop.yard.rows("select error_message from tasks where outcome = 'SKIPPED'")
    assert f"as confirmed, but {DOUBTED}" in {row["error_message"] for row in rows}
    for line in [line for key in keys for line in await previewed(shop, key)]:
        assert line.doubts.startswith("option codes name something else than was converted: ")
        assert "variants" not in line.changes


async def previewed(shop: Shop, key: str) -> list[Line]:
    async with shop.yard.db.read() as tx:
        return await of_product(shop.yard.app.belt, tx, "okmall", key)
