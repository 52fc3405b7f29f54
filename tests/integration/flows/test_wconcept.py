"""W Concept end to end over the sandbox: by brand, category and keyword, FULL and PARTIAL, with a key that changes."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from bobusang.kit.sql import Statement
from bobusang.sandbox.wconcept import goods
from bobusang.sandbox.words import BRANDS
from bobusang.sandbox.world import World
from bobusang.testing.yard import PATIENCE, Yard

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

MALL = "wconcept"
NIKE = goods.brand_code(BRANDS[0])


@pytest.fixture
def world() -> World:
    return World(seed=5, size=90, brands=3)


@pytest.fixture
async def yard(tmp_path: Path, world: World) -> AsyncIterator[Yard]:
    async with Yard.opened(tmp_path, world=world) as found, found.working():
        yield found


def told(fields: dict[str, Any]) -> dict[str, Any]:
    """What truth tells of a product, of what was collected."""
    names = ("brand", "brand_ko", "price", "list_price", "sold_out")
    return {name: fields[name] for name in names} | {
        "title": fields["name"],
        "options": [
            (option["code"], option["size"], option["stock"], option["available"])
            for option in fields.get("options") or ()
        ],
    }


def true(one: dict[str, Any]) -> dict[str, Any]:
    return {name: one[name] for name in ("title", "brand", "brand_ko", "price", "list_price", "sold_out")} | {
        "options": [
            (option["code"], option["size"], option["stock"], option["available"]) for option in one["options"]
        ],
    }


async def truth(yard: Yard, *brands: str) -> dict[str, dict[str, Any]]:
    items = [one for brand in brands for one in (await yard.door.truth(MALL, brand=brand))["items"]]
    return {one["key"]: one for one in items if one["listed"]}


async def test_a_brand_is_collected_as_it_is_and_refreshed(tmp_path: Path) -> None:
    """More than two pages of sixty: what is asked for beyond them is not given, and nothing is lost."""
    world = World(seed=5, size=140, brands=1)
    async with Yard.opened(tmp_path, world=world) as yard, yard.working():
        await _collected_and_refreshed(yard)


async def _collected_and_refreshed(yard: Yard) -> None:
    run = await yard.collect(MALL, "brand", NIKE)
    before = await truth(yard, "NIKE")
    records = await yard.records(MALL)

    assert len(before) > 120
    assert (run["state"], run["listed"], run["total"], run["held"]) == ("PROVED", len(before), len(before), 0)
    assert {key: told(fields) for key, fields in records.items()} == {key: true(one) for key, one in before.items()}

    sold, cheaper = sorted(key for key, one in before.items() if one["options"])[:2]
    await yard.door.override(MALL, sold, sold_out=True)
    await yard.door.override(MALL, cheaper, price=before[cheaper]["price"] * 9 // 10)
    partial = await yard.collect(MALL, "brand", NIKE, partial=True)
    await yard.collect(MALL, "item", sold)
    refreshed = await yard.records(MALL)

    assert (partial["state"], partial["mode"], partial["new"], partial["missed"]) == ("PROVED", "PARTIAL", 0, 1)
    assert refreshed[cheaper]["price"] == before[cheaper]["price"] * 9 // 10
    assert (refreshed[sold]["sold_out"], {one["stock"] for one in refreshed[sold]["options"]}) == (True, {0})


async def test_a_category_and_a_keyword_are_collected(yard: Yard, world: World) -> None:
    every = await truth(yard, "NIKE", "ADIDAS", "STONE ISLAND")
    products = {key: world.mall(MALL).product(int(key)) for key in every}
    category = await yard.collect(MALL, "category", "M33439436/003")
    shoes = set(await yard.records(MALL))
    keyword = await yard.collect(MALL, "keyword", "아디다스 팬츠")

    assert (category["state"], keyword["state"]) == ("PROVED", "PROVED")
    assert (
        shoes
        == {key for key, one in products.items() if one.kind.sizes == "shoes" and one.gender in ("F", "U")}
        != set()
    )
    assert set(await yard.records(MALL)) - shoes == {
        key for key, one in every.items() if one["brand"] == "ADIDAS" and "팬츠" in one["title"]
    }


async def test_what_is_recommended_is_not_taken(yard: Yard) -> None:
    found = await truth(yard, "NIKE")
    one = next(one for one in found.values() if one["model"] and one["options"])
    same = {key for key, other in found.items() if other["model"] == one["model"]}
    hit = await yard.collect(MALL, "keyword", one["model"])
    nothing = await yard.collect(MALL, "keyword", "없는말")

    assert (hit["state"], nothing["state"], nothing["listed"], nothing["total"]) == ("PROVED", "PROVED", 0, 0)
    assert set(await yard.records(MALL)) == same


async def test_a_key_that_was_changed_is_read_anew_without_an_attempt(yard: Yard) -> None:
    first = await yard.collect(MALL, "brand", NIKE)
    await yard.door.rotate()
    second = await yard.collect(MALL, "brand", goods.brand_code(BRANDS[1]))
    refused = [one for one in await yard.door.log(mall=MALL, endpoint="brand") if one["status"] == 401]
    retried = await yard.rows("select retry_count from tasks where retry_count > 0")

    assert (first["state"], second["state"]) == ("PROVED", "PROVED")
    assert refused
    assert retried == []


async def test_a_choice_with_a_second_one_behind_it_is_not_known(yard: Yard, world: World) -> None:
    """Such a product has options that no page tells, so it must not be taken for one without a choice."""
    await yard.collect(MALL, "brand", NIKE)
    records = await yard.records(MALL)
    depths = {key: goods.depth(world.mall(MALL).product(int(key))) for key in records}

    assert (
        {key for key, fields in records.items() if "options" not in fields}
        == {key for key, depth in depths.items() if depth == 2}
        != set()
    )
    assert {key for key, fields in records.items() if fields.get("options") == []} == {
        key for key, depth in depths.items() if depth == 0
    }
    assert yard.app.collector.source(MALL).in_parts is True


async def test_pictures_have_a_scheme_and_the_seller_is_told(yard: Yard, world: World) -> None:
    await yard.collect(MALL, "brand", goods.brand_code(BRANDS[2]))
    records = await yard.records(MALL)
    products = {key: world.mall(MALL).product(int(key)) for key in records}
    host = yard.door.host_port

    assert {key: fields["images"] for key, fields in records.items()} == {
        key: [f"http:{goods.picture(host, one.no, place)}" for place in range(one.pictures)]
        for key, one in products.items()
    }
    vendors = {key: goods.vendor(one.seller) for key, one in products.items()}
    names = ("seller", "seller_company", "seller_contact", "seller_email")
    assert {key: tuple(fields[name] for name in names) for key, fields in records.items()} == {
        key: (one.code, one.company, one.phone, one.email) for key, one in vendors.items()
    }
    assert {key: fields["url"] for key, fields in records.items()} == {
        key: f"{yard.door.url}/wconcept/Product/{key}" for key in records
    }


async def test_who_is_taken_for_no_browser_halts(tmp_path: Path, world: World) -> None:
    halted = Statement("select reason from source_gates where source = 'wconcept' and endpoint = ''")
    async with Yard.opened(tmp_path, world=world, user_agent="crawler") as yard, yard.working():
        await yard.start(MALL, "brand", NIKE)
        async with asyncio.timeout(PATIENCE):
            while True:
                gate = await yard.one(halted)
                if gate is not None and gate["reason"]:
                    break
                await asyncio.sleep(0.02)

    assert gate["reason"] == "W Concept takes us for no browser"
