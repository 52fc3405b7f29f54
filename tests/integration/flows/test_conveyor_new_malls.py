"""A new mall needs only a source: the conveyor takes Musinsa and W Concept to the market as it takes any other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from bobusang.flows.conveyor import choosing
from bobusang.flows.conveyor.model import Mode
from bobusang.sandbox.buyma.account import Behaviour
from bobusang.sandbox.reviewed import mapping
from bobusang.sandbox.wconcept.goods import depth
from bobusang.sandbox.world import World
from bobusang.stages.convert import mastering, reviewing
from bobusang.testing.shop import Shop
from tests.integration.flows.selling import NO_DOUBLES, doubles, shelves

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from bobusang.kit.db import Tx

SANDBOX = {"behaviour": Behaviour(delay=0, retry_seconds=0.05)}


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Shop]:
    world = World(seed=5, size=20, brands=1, pictures=2)
    async with Shop.opened(tmp_path, world=world, sandbox=SANDBOX) as found, found.yard.working():
        yield found


async def ran(shop: Shop, mall: str, mode: Mode = Mode.FULL) -> str:
    """What `bobusang run full --mall MALL` does, once a person has said what the mall's brands and categories are."""

    async def work(tx: Tx) -> Any:
        known = await mastering.current(tx, "buyma")
        await reviewing.imported(tx, reviewing.parsed(mapping(1, (mall,)), known))
        return await choosing.chosen(tx, shop.yard.app.collector, [mall])

    return await shop.run(mode, await shop.yard.db.transact(work))


async def held(shop: Shop) -> dict[str, str]:
    rows = await shop.yard.rows("""
        select p.mall, p.product_id, c.reasons from conversions c join products p on p.id = c.product_id
        where c.state = 'HELD'""")
    return {f"{row['mall']}-{row['product_id']}": str(row["reasons"]) for row in rows}


async def sold(shop: Shop, mall: str) -> dict[str, dict[str, Any]]:
    items = (await shop.door.truth(mall, brand="NIKE"))["items"]
    return {f"{mall}-{one['key']}": one for one in items if one["listed"] and not one["sold_out"]}


async def test_what_a_new_mall_calls_its_categories_is_asked_of_people_in_the_markets_words(shop: Shop) -> None:
    """A category that nobody has reviewed holds its products; what it probably is stands beside it at once."""
    brands_alone = "".join(line for line in mapping(1, ("wconcept",)).splitlines(True) if "category," not in line)

    async def work(tx: Tx) -> Any:
        known = await mastering.current(tx, "buyma")
        await reviewing.imported(tx, reviewing.parsed(brands_alone, known))
        return await choosing.chosen(tx, shop.yard.app.collector, ["wconcept"])

    assert await shop.run(Mode.FULL, await shop.yard.db.transact(work)) == "COMPLETED"

    rows = await shop.yard.rows("""
        select full_path, buyma_category_id as id, is_active as review from mall_categories
        where mall_name = 'wconcept'""")
    assert len(rows) == len({row["full_path"] for row in rows}) > 1
    assert {row["review"] for row in rows} == {None}
    assert {row["full_path"]: row["id"] for row in rows if row["id"]} == {
        "남성 > 가방 > 반지갑": 3316,
        "남성 > 의류 > 셔츠": 3305,
        "여성 > 신발 > 스니커즈": 3072,
        "여성 > 의류 > 셔츠": 3065,
    }


def offered(shown: dict[str, Any]) -> int:
    return sum(one["stock_type"] != "out_of_stock" for one in shown["variants"])


async def test_musinsa_is_listed_with_its_pictures_and_the_stock_of_each_option(shop: Shop) -> None:
    assert await ran(shop, "musinsa") == "COMPLETED"
    there, wanted = await sold(shop, "musinsa"), await shelves(shop)

    assert len(wanted) > 10
    assert wanted.keys() == there.keys() - (await held(shop)).keys()
    assert {sku: offered(shown) for sku, shown in wanted.items()} == {
        sku: sum(one["available"] for one in there[sku]["options"]) for sku in wanted
    }
    assert {len(shown["images"]) for shown in wanted.values()} == {2}
    assert await doubles(shop.door) == NO_DOUBLES

    out = min(wanted)
    await shop.door.override("musinsa", there[out]["key"], sold_out=True)
    assert await ran(shop, "musinsa", Mode.PARTIAL) == "COMPLETED"
    assert {sku for sku, one in (await shelves(shop)).items() if one["status"] != "public"} == {out}


async def test_w_concept_is_listed_but_for_what_has_a_second_choice(shop: Shop) -> None:
    assert await ran(shop, "wconcept") == "COMPLETED"
    there, wanted = await sold(shop, "wconcept"), await shelves(shop)
    mall = World(seed=5, size=20, brands=1, pictures=2).mall("wconcept")
    clear = {sku for sku, one in there.items() if depth(mall.product(int(one["key"]))) < 2}

    assert len(wanted) > 5
    assert wanted.keys() == clear - (await held(shop)).keys()
    assert {sku: offered(shown) for sku, shown in wanted.items()} == {
        sku: sum(one["available"] for one in there[sku]["options"]) or 1 for sku in wanted
    }
