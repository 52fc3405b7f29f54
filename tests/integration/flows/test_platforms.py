"""Shops of five lines on a platform, collected from the sandbox: what is stored is what they show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from bobusang.testing.yard import Yard

BRAND = "나이키(NIKE)"


def shown(truth: dict[str, Any], first: int = 0) -> dict[str, tuple[Any, ...]]:
    """What the mall shows, options with whether they can be bought."""
    return {
        str(first + int(item["key"])): (
            item["price"],
            item["sold_out"],
            [option["available"] for option in item["options"]] if len(item["options"]) > 1 else [],
        )
        for item in truth["items"]
        if item["listed"]
    }


def stored(records: dict[str, dict[str, Any]]) -> dict[str, tuple[Any, ...]]:
    found = {}
    for key, fields in records.items():
        options = [option["available"] for option in fields.get("options", [])]
        found[key] = (fields["price"], fields["sold_out"], options if len(options) > 1 else [])
    return found


async def test_a_category_of_a_cafe24_shop_is_stored_as_it_is_shown(yard: Yard) -> None:
    run = await yard.collect("cafe24", "category", "24")

    truth = shown(await yard.door.truth("cafe24", brand=BRAND))
    assert stored(await yard.records("cafe24")) == truth
    assert (run["state"], run["listed"], run["total"]) == ("PROVED", len(truth), len(truth))


async def test_a_whole_shopify_shop_is_stored_as_it_is_shown(yard: Yard) -> None:
    run = await yard.collect("shopify", "list", "all")

    brands = (await yard.door.world())["malls"]["shopify"]
    truth: dict[str, tuple[Any, ...]] = {}
    for brand in brands:
        truth |= shown(await yard.door.truth("shopify", brand=brand), 7_000_000_000_000)
    assert stored(await yard.records("shopify")) == truth
    assert (run["state"], run["listed"], run["total"]) == ("PROVED", len(truth), None)


@pytest.mark.parametrize(("source", "kind", "key"), [("cafe24", "category", "24"), ("shopify", "list", "all")])
async def test_another_layout_stores_nothing_and_takes_nothing_away(
    yard: Yard, source: str, kind: str, key: str
) -> None:
    await yard.collect(source, kind, key)
    before = await yard.records(source)
    await yard.door.drift(0)

    run = await yard.collect(source, kind, key)

    assert await yard.records(source) == before
    assert run["state"] != "PROVED"
