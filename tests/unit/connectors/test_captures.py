"""The captured pages of the real malls, where they are at hand: read whole, no key field unknown."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from bobusang.stages.collect.source import Ask, Extent, Page, Reads, Snapshot, Target
from tests.unit.connectors.reading import shipped, wholly

ROOT = Path(__file__).parents[3]
CAPTURES = Path(os.environ.get("BOBUSANG_CAPTURES") or ROOT.parent / "shared" / "captures")

pytestmark = pytest.mark.skipif(not CAPTURES.is_dir(), reason="the captured pages are not here")

PICTURES = "https://image.mustit.co.kr/lib/upload/product/dmont/2025/11"
OKMALL, MUSTIT = shipped("okmall"), shipped("mustit")


def read_html(name: str, ask: Ask) -> list[Reads]:
    body = (CAPTURES / name).read_bytes()
    return list(OKMALL.read(Page(ask, body, url=ask.url, text=body.decode())))


def read_json(name: str, ask: Ask) -> list[Reads]:
    return list(MUSTIT.read(Page(ask, (CAPTURES / name).read_bytes(), url=ask.url)))


def seed(shop: Any, kind: str, key: str, at: int = 0) -> Ask:
    ask: Ask = list(shop.seeds(Target(kind, key)))[at]
    return ask


@pytest.fixture(scope="module")
def okmall_list() -> list[Reads]:
    return read_html("okmall-list.html", seed(OKMALL, "brand", "나이키(NIKE)"))


def test_the_list_has_80_products_of_619_and_asks_for_7_pages_more(okmall_list: list[Reads]) -> None:
    extent = okmall_list[0]
    asks = [each for each in okmall_list if isinstance(each, Ask)]

    assert isinstance(extent, Extent)
    assert (len(set(extent.keys)), extent.total, extent.page, extent.last) == (80, 619, 1, False)
    assert [ask.given["page"] for ask in asks if not ask.item] == [2, 3, 4, 5, 6, 7, 8]
    assert [ask.item for ask in asks if ask.item] == list(extent.keys)


def test_no_field_of_any_product_is_unknown(okmall_list: list[Reads]) -> None:
    snapshots = [each for each in okmall_list if isinstance(each, Snapshot)]

    assert [each.unknown for each in snapshots] == [()] * 80
    assert all(each.fields["price"] >= 10_000 and each.fields["name"] and each.fields["brand"] for each in snapshots)
    assert all(each.fields["list_price"] >= each.fields["price"] for each in snapshots)
    assert all("1dot" not in each.fields["thumbnail"] for each in snapshots)


def test_a_product_of_the_list_is_whole(okmall_list: list[Reads]) -> None:
    assert okmall_list[1] == Snapshot(
        "okmall",
        "753625",
        {
            "name": "남성 나이키 드라이 핏 페이서 하프 짚 (FQ2494-010)",
            "brand": "NIKE",
            "season": "25FW",
            "price": 56_000,
            "list_price": 79_000,
            "gender": "men",
            "thumbnail": "https://okimg.okmall.com/753500/img753625_middle6.JPG?t=1751260768",
            "sizes": ["95", "100", "105"],
            "shipping_fee": 4_000,
            "currency": "KRW",
        },
    )


def test_a_product_page_is_whole() -> None:
    [found] = read_html("okmall-product.html", seed(OKMALL, "item", "753625"))

    assert isinstance(found, Snapshot)
    assert (found.key, found.unknown, found.options_complete) == ("753625", (), True)
    long = {name: found.fields.pop(name) for name in ("images", "measurements", "notice")}
    assert found.fields == {
        "name": "남성 나이키 드라이 핏 페이서 하프 짚 (FQ2494-010)",
        "season": "25FW",
        "brand": "NIKE",
        "brand_ko": "나이키",
        "model": "FQ2494-010",
        "price": 56_000,
        "list_price": 79_000,
        "sold_out": False,
        "category": ["ACTIVITY·LIFE", "액티비티", "러닝", "상의"],
        "gender": "men",
        "materials": {"겉감": "폴리에스테르(100%)"},
        "origin": "미국(인도네시아, 스리랑카, 중국)",
        "recommended_season": "봄, 가을 사용가능",
        "rating": "4.6",
        "url": "https://www.okmall.com/products/view?no=753625",
        "gone": False,
        "currency": "KRW",
        "options": [
            *(
                {
                    "code": code,
                    "color": "Black",
                    "size": size,
                    "real_size": f"{real} 전후",
                    "price": 56_000,
                    "available": True,
                }
                for code, size, real in (("2234429", "S", 95), ("2234430", "M", 100), ("2234431", "L", 105))
            ),
            {"code": "2234432", "price": 56_000, "available": False},
            {"code": "2234433", "price": 56_000, "available": False},
        ],
    }
    assert len(long["images"]) == 10
    assert [(each["size"], each["real_size"], len(each["values"])) for each in long["measurements"]] == [
        ("S", "95", 8),
        ("M", "100", 8),
        ("L", "105", 8),
        ("XL", "110", 8),
    ]
    assert long["notice"]["제조국"] == "Made in Indonesia, Sri Lanka, China"


def test_a_seller_s_list_is_whole() -> None:
    found = read_json("mustit-list.json", seed(MUSTIT, "seller", "dmont"))
    extent, first = found[0], found[1]

    assert isinstance(extent, Extent)
    assert (len(extent.keys), extent.total, extent.last) == (20, 3464, False)
    assert [each.unknown for each in found if isinstance(each, Snapshot)] == [()] * 20
    assert first == Snapshot(
        "mustit",
        "117757690",
        {
            "name": "디몬트 스톤 남성 와펜 패치 램스울 반집업 니트(네이비) K2S15 5100040 S00A3 V0020",
            "brand": "STONE ISLAND",
            "price": 545_600,
            "list_price": 1_075_000,
            "thumbnail": f"{PICTURES}/0b4a3d68db951ad18b1e5e8b9b10211d.jpeg/_dims_/resize/300x300/extent/300x400",
            "url": "https://m.web.mustit.co.kr/v2/m/product/product_detail/117757690",
            "currency": "KRW",
        },
    )


def test_a_detail_is_whole() -> None:
    [found] = read_json("mustit-detail.json", seed(MUSTIT, "item", "118005032"))

    assert isinstance(found, Snapshot)
    assert found.fields.pop("description").startswith("<p align=")
    assert found == Snapshot(
        "mustit",
        "118005032",
        {
            "name": "디몬트 비비안웨스트우드 여성 ORB 하이랜드 백팩(블랙) 43010072U W019E N403",
            "brand": "Vivienne Westwood",
            "brand_ko": "비비안웨스트우드",
            "seller": "dmont",
            "price": 565_100,
            "list_price": 1_083_000,
            "selling_price": 621_000,
            "sold_out": False,
            "stock": 3,
            "images": [f"{PICTURES}/0bec6de328e8d100303d138c1ffad0e4.jpeg/_dims_/resize/500x500/extent/500x500"],
            "category": ["여성", "가방", "백팩"],
            "gender": "women",
            "shipping_fee": 0,
            "origin": "케냐",
            "condition": "새상품",
            "currency": "KRW",
        },
    )


def test_options_are_whole() -> None:
    [found] = read_json("mustit-options.json", seed(MUSTIT, "item", "117005038", 1))
    rows = json.loads((CAPTURES / "mustit-options.json").read_bytes())

    assert found == Snapshot(
        "mustit",
        "117005038",
        {
            "options": [
                {
                    "code": str(row["optionNo"]),
                    "size": row["size"],
                    "stock": row["stock"],
                    "available": row["stock"] > 0,
                }
                for row in rows
            ]
        },
    )


@pytest.mark.parametrize(
    ("name", "kind", "key"),
    [("okmall-list.html", "brand", "나이키(NIKE)"), ("okmall-product.html", "item", "753625")],
)
def test_the_parts_of_a_page_say_the_same_as_the_whole(name: str, kind: str, key: str) -> None:
    body = (CAPTURES / name).read_bytes()
    whole = Page(seed(OKMALL, kind, key), body, text=body.decode())

    assert OKMALL.read(whole) == wholly(OKMALL).read(whole)
