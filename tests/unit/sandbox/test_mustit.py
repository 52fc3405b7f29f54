"""MustIt's answers say what is true, in the structure that was captured."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bobusang.sandbox import feed, news
from bobusang.sandbox.fault import Fault, Hit
from bobusang.sandbox.mustit import detail, listing
from bobusang.sandbox.mustit.listing import Search
from bobusang.sandbox.scene import Scene
from bobusang.sandbox.truth import truth
from bobusang.sandbox.world import World

CAPTURES = Path(__file__).parents[4] / "shared" / "captures"
WORLD = World(5, 2000)
SCENE = Scene(WORLD, "127.0.0.1:8600")


def searched(keyword: str, **more: str) -> list[int]:
    """All item numbers, following the addresses of next pages as a visitor would."""
    found: list[int] = []
    page = 1
    while True:
        answer = listing.search(SCENE, Search(keyword, page=page, **more))
        found += [module["data"]["itemNo"] for module in answer["moduleList"] if module["type"] == "SearchItemV2"]
        if not answer["nextApiUrl"]:
            assert answer["moduleList"] == []
            return found
        assert f"pageNo={page + 1}&beforeItemType=Normal" in answer["nextApiUrl"]
        page += 1


def test_a_shop_shows_every_product_of_its_seller_once() -> None:
    wanted = truth(WORLD, "mustit", seller="dmont")["items"]
    pages = [listing.mini_shop(SCENE, "dmont", page, 100) for page in range(1, 8)]
    items = [item for page in pages for item in page["items"]]

    assert {page["count"] for page in pages} == {len(wanted)}
    assert [(str(item["itemNo"]), item["name"], item["price"], item["normalPrice"]) for item in items] == [
        (one["key"], one["title"], f"{one['price']:,}", f"{one['list_price']:,}") for one in wanted
    ]
    groups = pages[0]["groupResult"]["brandGroupResult"]
    assert {group["brandName"]: group["brandCount"] for group in groups} == {
        brand: sum(one["brand"] == brand for one in wanted) for brand in {one["brand"] for one in wanted}
    }


def test_a_search_by_brand_leads_through_all_of_it_past_other_modules() -> None:
    wanted = [int(one["key"]) for one in truth(WORLD, "mustit", brand="NIKE")["items"]]
    kinds = {module["type"] for module in listing.search(SCENE, Search("NIKE"))["moduleList"]}

    assert sorted(searched("나이키")) == sorted(searched("NIKE", sort="LATEST")) == sorted(wanted)
    assert kinds == {"SearchItemV2", "SearchBannerModule", "VerticalMargin"}
    assert len(searched("NIKE", filter="us:NEW,lwp:Y")) < len(wanted) / 2
    assert searched("없는 말") == []


def test_a_detail_has_whole_numbers_and_the_final_price() -> None:
    for no in WORLD.of_seller("dmont")[:50]:
        one = WORLD.standing("mustit", no)
        assert one is not None
        modules = {module["type"]: module["data"] for module in detail.top(SCENE, one)["moduleList"]}
        info = modules["ProductInfoModule"]

        assert (info["discountPrice"], info["normalPrice"], info["isSoldOut"], info["stock"], info["sellerId"]) == (
            one.price,
            one.product.list_price,
            one.sold_out,
            one.stock,
            "dmont",
        )
        assert info["discountPrice"] <= info["sellingPrice"] <= info["normalPrice"]
        assert [(option["optionNo"], option["stock"]) for option in detail.options(one)] == [
            (int(option.code), left) for option, left in zip(one.options, one.stocks, strict=True)
        ]


def test_brands_are_listed_by_letter() -> None:
    english = listing.brands(SCENE)["english"]

    assert english["N"] == [
        {"brandNo": 227, "brandNameEng": "NEW BALANCE", "brandNameKor": "뉴발란스", "keyword": "NEW BALANCE,뉴발란스"},
        {"brandNo": 101, "brandNameEng": "NIKE", "brandNameKor": "나이키", "keyword": "NIKE,나이키"},
    ]


def test_after_the_change_the_price_has_another_name() -> None:
    scene = replace(SCENE, world=World(5, 100, drift_at=0))
    item = listing.mini_shop(scene, "dmont", 1, 1)["items"][0]
    one = scene.world.standing("mustit", item["itemNo"])
    assert one is not None

    assert ("price" in item, "salePrice" in item) == (False, True)
    assert "ProductInfoModule" not in {module["type"] for module in detail.top(scene, one)["moduleList"]}


def test_news_come_are_corrected_and_withdrawn() -> None:
    world = World(7, 28)
    before = {one.id: one.title for one in news.articles(world)}
    world.advance(100)
    after = {one.id: one.title for one in news.articles(world)}
    withdrawn = before.keys() - after.keys()

    assert len(after.keys() - before.keys()) > 40
    assert any(after[id] == f"[정정] {title}" for id, title in before.items() if id in after)
    assert withdrawn
    assert [news.article(world, id) for id in withdrawn] == [None] * len(withdrawn)


@pytest.mark.parametrize("by", ["cursor", "page"])
def test_a_feed_is_read_to_its_end_by_cursor_or_page(by: str) -> None:
    found: list[str] = []
    cursor: str | None = ""
    number = 1
    while cursor is not None:
        given = cursor if by == "cursor" else ""
        answer = feed.page(SCENE, number=number, cursor=given, size=50)
        found += [entry["id"] for entry in answer["items"]]
        cursor, number = answer["next_cursor"], number + 1

    assert found == [entry["id"] for entry in feed.entries(WORLD)]


def test_a_total_wobbles_on_demand() -> None:
    totals = {
        listing.mini_shop(replace(SCENE, hit=Hit(Fault(kind="wobble"), turn)), "dmont", 1, 1)["count"]
        for turn in (1, 2, 3)
    }

    assert len(totals) == 3


def captured(name: str) -> Any:
    return json.loads((CAPTURES / f"mustit-{name}.json").read_text("utf-8"))


@pytest.mark.skipif(not CAPTURES.is_dir(), reason="the captured answers are not here")
def test_what_a_captured_answer_has_ours_has_too() -> None:
    one = next(one for no in WORLD.of_seller("dmont") if (one := WORLD.standing("mustit", no)))
    ours, real = listing.mini_shop(SCENE, "dmont", 1, 20), captured("list")
    modules = {module["type"]: module["data"] for module in detail.top(SCENE, one)["moduleList"]}
    known = {module["type"]: module["data"] for module in captured("detail")["moduleList"]}

    assert kinds(ours) == kinds(real)
    assert kinds(ours["items"][0]) == kinds(real["items"][0])
    assert ours["groupResult"].keys() == real["groupResult"].keys()
    assert kinds(detail.options(one)[0]) == kinds(captured("options")[0])
    assert modules.keys() == known.keys()
    assert kinds(known["ProductInfoModule"]).items() <= kinds(modules["ProductInfoModule"]).items()
    for name in ("ProductBannersModule", "ShippingModule", "ProductDetailInfoModule"):
        assert kinds(modules[name]) == kinds(known[name])


def kinds(value: dict[str, Any]) -> dict[str, str]:
    return {name: type(inner).__name__ for name, inner in value.items()}
