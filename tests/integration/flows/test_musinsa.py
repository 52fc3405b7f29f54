"""Musinsa end to end over the sandbox: by brand, category and keyword, FULL and PARTIAL, each record as it is true."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from bobusang.sandbox.musinsa import goods
from bobusang.sandbox.world import World
from bobusang.testing.yard import Yard

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

MALL = "musinsa"


@pytest.fixture
def world() -> World:
    return World(seed=5, size=90, brands=3)


@pytest.fixture
async def yard(tmp_path: Path, world: World) -> AsyncIterator[Yard]:
    async with Yard.opened(tmp_path, world=world) as found, found.working():
        yield found


def told(fields: dict[str, Any]) -> dict[str, Any]:
    """What truth tells of a product, of what was collected."""
    names = ("brand", "brand_ko", "model", "price", "list_price", "sold_out", "seller")
    return {name: fields[name] for name in names} | {
        "title": fields["name"],
        "options": {
            option["code"]: (option["groups"], option["extra_price"], option["stock"], option["available"])
            for option in fields["options"]
            if not option.get("gone")
        },
    }


def true(world: World, one: dict[str, Any]) -> dict[str, Any]:
    """The same of the truth: a colour is only a choice where there are several, and ten left are plenty."""
    product = world.mall(MALL).product(int(one["key"]))
    extras = {option.code: goods.surcharge(product, option) for option in product.options}
    colors = len({option["color"] for option in one["options"]})

    def groups(option: dict[str, Any]) -> dict[str, str]:
        return ({"컬러": option["color"]} if colors > 1 else {}) | {"사이즈": option["size"]}

    def left(option: dict[str, Any]) -> int | None:
        return option["stock"] if option["stock"] <= 10 else None

    names = ("title", "brand", "brand_ko", "price", "list_price", "sold_out", "seller")
    return {name: one[name] for name in names} | {
        "model": one["model"] or None,
        "options": {
            option["code"]: (groups(option), extras[option["code"]], left(option), option["available"])
            for option in one["options"]
        },
    }


async def truth(yard: Yard, *brands: str) -> dict[str, dict[str, Any]]:
    items = [one for brand in brands for one in (await yard.door.truth(MALL, brand=brand))["items"]]
    return {one["key"]: one for one in items}


async def test_a_brand_is_collected_as_it_is_and_refreshed(yard: Yard, world: World) -> None:
    run = await yard.collect(MALL, "brand", "nike")
    before = await truth(yard, "NIKE")
    records = await yard.records(MALL)

    assert (run["state"], run["listed"], run["total"], run["held"]) == ("PROVED", len(before), len(before), 0)
    assert {key: told(fields) for key, fields in records.items()} == {
        key: true(world, one) for key, one in before.items()
    }

    keys = sorted(before)
    sold, cheaper, gone = keys[0], keys[1], keys[2]
    await yard.door.override(MALL, sold, sold_out=True)
    await yard.door.override(MALL, cheaper, price=before[cheaper]["price"] * 9 // 10)
    await yard.door.override(MALL, gone, gone=True)
    partial = await yard.collect(MALL, "brand", "nike", partial=True)
    after = await truth(yard, "NIKE")
    refreshed = await yard.records(MALL)

    assert (partial["state"], partial["mode"], partial["new"]) == ("PROVED", "PARTIAL", 0)
    assert "gone" not in refreshed[gone], "one list without it is no proof"
    assert {key: told(refreshed[key])["price"] for key in after} == {key: one["price"] for key, one in after.items()}
    assert told(refreshed[sold]) == true(world, after[sold])

    await yard.collect(MALL, "item", gone)
    assert (await yard.records(MALL))[gone]["gone"] is True, "its own page is 404"


async def test_a_category_and_a_keyword_are_collected(yard: Yard, world: World) -> None:
    every = await truth(yard, "NIKE", "ADIDAS", "STONE ISLAND")
    mall = world.mall(MALL)
    kinds = {key: mall.product(int(key)).kind for key in every}
    category = await yard.collect(MALL, "category", "103")
    shoes = set(await yard.records(MALL))
    keyword = await yard.collect(MALL, "keyword", "아디다스 팬츠")

    assert (category["state"], keyword["state"]) == ("PROVED", "PROVED")
    assert shoes == {key for key, kind in kinds.items() if goods.depths(kind)[0][0] == "103"} != set()
    assert set(await yard.records(MALL)) - shoes == {
        key for key, one in every.items() if one["brand"] == "ADIDAS" and "팬츠" in one["title"]
    }


async def test_pictures_begin_with_the_cover_and_the_seller_is_told(yard: Yard, world: World) -> None:
    await yard.collect(MALL, "brand", "nike")
    records = await yard.records(MALL)
    base = f"{yard.door.url}/musinsa/image"
    products = {key: world.mall(MALL).product(int(key)) for key in records}

    assert {key: fields["images"] for key, fields in records.items()} == {
        key: [f"{base}{path}" for path in (goods.cover(one), *goods.gallery(one))] for key, one in products.items()
    }
    companies = {key: goods.company(one.seller) for key, one in products.items()}
    assert {
        key: (fields["seller_company"], fields["seller_contact"], fields["seller_email"])
        for key, fields in records.items()
    } == {key: (one["name"], one["phoneNumber"], one["email"]) for key, one in companies.items()}


async def test_what_was_measured_is_known_and_of_the_rest_nothing_is(yard: Yard, world: World) -> None:
    await yard.collect(MALL, "brand", "nike")
    records = await yard.records(MALL)
    measured = {key for key in records if world.mall(MALL).product(int(key)).seed % 3}
    sized = next(fields["measurements"] for fields in records.values() if fields.get("measurements"))

    assert {key for key, fields in records.items() if fields.get("size_chart")} == measured
    assert {fields["measured"] for fields in records.values()} == {True}, "that nothing was measured is an answer too"
    assert all(value.endswith("cm") for row in sized for value in row["values"].values())
    assert {fields["origin"] for fields in records.values()} <= {
        world.mall(MALL).product(int(key)).origin[1] for key in records
    }


async def test_an_error_inside_a_good_answer_is_no_empty_list(yard: Yard) -> None:
    """A keyword of blanks alone is none to the shop: its envelope says FAIL, with HTTP 200."""
    run = await yard.collect(MALL, "keyword", " ")

    told = await yard.rows("select reason_class, error from dead_letters")
    assert (run["state"], run["listed"]) == ("UNPROVED", 0)
    assert told == [{"reason_class": "TRANSPORT", "error": "Musinsa says that it failed"}], (
        "no other layout, so no halt"
    )
    assert await yard.records(MALL) == {}
