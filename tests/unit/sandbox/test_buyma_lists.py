"""The master lists fit the malls' goods, and the search shows rivals as they are met: used, absurd, our own."""

from __future__ import annotations

import csv
import io
from statistics import median

import pytest
from selectolax.lexbor import LexborHTMLParser

from bobusang.sandbox.buyma import search
from bobusang.sandbox.buyma.account import Account
from bobusang.sandbox.buyma.downloads import NAMES, download
from bobusang.sandbox.buyma.market import Market
from bobusang.sandbox.buyma.masters import FREE_SIZE, LIMITED, MISSING, masters
from bobusang.sandbox.buyma.rivals import Rival, Rivals
from bobusang.sandbox.fault import Faults
from bobusang.sandbox.words import BRANDS, KINDS
from bobusang.sandbox.world import World

OWN = Account(seller_name="Seoul Concierge")


def models(world: World) -> list[str]:
    mall = world.mall("okmall")
    found = (mall.product(no).model for brand in mall.brands for no in mall.numbers(0, brand))
    return [model for model in found if model]


def rows(name: str) -> list[dict[str, str]]:
    raw = download(name)
    assert raw is not None
    return list(csv.DictReader(io.StringIO(raw.decode("utf-8-sig"))))


@pytest.mark.parametrize("name", NAMES)
def test_a_file_has_a_mark_at_its_beginning_and_quotes_everything(name: str) -> None:
    raw = download(name)

    assert raw is not None
    assert raw.startswith(b'\xef\xbb\xbf"')
    lines = raw.decode("utf-8-sig").removesuffix("\r\n").split("\r\n")
    assert len(lines) > 1
    assert all(line.startswith('"') and line.endswith('"') for line in lines)


def test_there_is_no_other_file() -> None:
    assert download("secrets") is None


def test_some_brands_are_missing_and_some_are_limited() -> None:
    found = rows("brands")

    assert {brand.en for brand in BRANDS} - {row["brand_name"] for row in found} == MISSING
    assert {row["brand_name"] for row in found if row["limited"] == "1"} == LIMITED
    assert found[0] == {"id": "203", "brand_name": "NIKE", "limited": "0"}


def test_every_kind_of_goods_has_a_category_for_women_and_for_men() -> None:
    assert len([row for row in rows("categories") if row["limited"] == "0"]) == 2 * len(KINDS)
    assert masters().categories[3064].sizes == {
        1: "XS",
        2: "S",
        3: "M",
        4: "L",
        5: "XL",
        6: "XXL",
        90: "FREE",
        99: "その他",
    }
    assert all(FREE_SIZE in one.sizes for one in masters().categories.values())
    assert {"name": "肩幅", "group_name": "サイズ詳細", "category_id": "3064"} in rows("size_details")


def test_many_models_have_rivals_and_some_have_none() -> None:
    world = World(5, 1000)
    rivals = Rivals(world)
    found = {model: rivals.of(model, OWN) for model in models(world)}
    every = [one for offers in found.values() for one in offers]
    share = sum(1 for offers in found.values() if not offers) / len(found)

    assert 0.25 < share < 0.45
    assert 0.08 < sum(one.used for one in every) / len(every) < 0.16
    ours = {(one.seller_id, one.seller_name) for one in every if one.seller_id == OWN.seller_id}
    assert 0 < sum(one.seller_id == OWN.seller_id for one in every) / len(every) < 0.1
    assert ours == {(OWN.seller_id, "Seoul Concierge")}
    assert any(one.name for one in every)
    assert any(one.shipping for one in every)
    prices = [one.price for one in every]
    assert (min(prices) < median(prices) / 20, max(prices) > median(prices) * 10) == (True, True)


def test_rivals_are_the_same_for_the_same_seed_and_move_with_the_clock() -> None:
    one, other = World(5, 300), World(5, 300)
    wanted = models(one)
    before = [Rivals(one).of(model, OWN) for model in wanted]
    again = [Rivals(other).of(model, OWN) for model in wanted]
    one.advance(48)
    after = [Rivals(one).of(model, OWN) for model in wanted]

    assert before == again
    assert before != after
    moves = [
        abs(now.price - then.price) / then.price
        for old, new in zip(before, after, strict=True)
        for then, now in zip(old, new, strict=True)
        if then.price > 10_000
    ]
    assert max(moves) < 0.06


def test_a_model_is_found_however_it_is_written_and_an_unknown_one_is_not() -> None:
    rivals = Rivals(World(5, 300))
    product = next(rivals.product(model) for model in models(World(5, 300)) if "-" in model)
    assert product is not None

    assert rivals.product(product.model.replace("-", " ").lower()) == product
    assert (rivals.product("ZZ0000-000"), rivals.of("ZZ0000-000", OWN)) == (None, ())


def test_a_page_shows_every_offer_cheapest_first() -> None:
    market = Market(World(5, 300), Faults())
    market.put_account(Account())
    market.rivals.told["AB1234567"] = (
        Rival(30_000, 1500, False, 7, "hana<k>", "", 1),
        Rival(9_000, 0, True, 8, "used", "NIKE 中古 AB1234-567", 2),
    )
    page = LexborHTMLParser(search.page(market, "AB1234-567"))
    found = [
        (
            box.css("span.Price_Txt")[0].text(),
            box.css("span.product_shipping")[0].text(),
            box.css_first("span.product_used_tag") is not None,
            box.css(".product_Buyer a")[0].attributes["href"],
            box.css(".product_Buyer a")[0].text(),
            box.css(".product_name a")[0].text(),
        )
        for box in page.css("li.product")
    ]

    assert found == [
        ("¥9,000", "送料込", True, "/buyer/8.html", "used", "NIKE 中古 AB1234-567"),
        ("¥30,000", "送料 ¥1,500", False, "/buyer/7.html", "hana<k>", "関税送料込 AB1234-567 正規品"),
    ]
    assert page.css("#totalitem_num")[0].text() == "2"


def test_a_page_without_offers_says_so() -> None:
    market = Market(World(5, 300), Faults())
    market.put_account(Account())
    page = LexborHTMLParser(search.page(market, "ZZ0000-000"))

    assert (page.css("li.product"), page.css("p.notfound")[0].text(), page.css("#totalitem_num")[0].text()) == (
        [],
        "該当する商品は見つかりませんでした。",
        "0",
    )
