"""OKmall's pages say what is true, in the structure that was captured."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import pytest
from selectolax.lexbor import LexborHTMLParser, LexborNode

from bobusang.sandbox.fault import Fault, Hit
from bobusang.sandbox.filler import PageSize
from bobusang.sandbox.mall import Override
from bobusang.sandbox.okmall import index, item, listing
from bobusang.sandbox.okmall.listing import Wanted
from bobusang.sandbox.scene import Scene
from bobusang.sandbox.truth import told, truth
from bobusang.sandbox.world import World

if TYPE_CHECKING:
    from collections.abc import Callable

    from bobusang.sandbox.product import Standing

CAPTURES = Path(__file__).parents[4] / "shared" / "captures"
NIKE = "나이키(NIKE)"
WORLD = World(5, 2500)
SCENE = Scene(WORLD, "127.0.0.1:8600")


def spoilt(kind: str, turn: int = 1) -> Scene:
    return replace(SCENE, hit=Hit(Fault(kind=kind), turn))


def read(scene: Scene, wanted: Wanted) -> LexborHTMLParser:
    return LexborHTMLParser(listing.render(scene, wanted))


def first(node: LexborHTMLParser | LexborNode, selector: str) -> LexborNode:
    found = node.css_first(selector)
    assert found is not None, selector
    return found


def box(node: LexborNode) -> dict[str, Any]:
    image = first(node, "img.pImg").attributes
    return {
        "key": node.attributes["data-productno"],
        "name": first(node, ".prName_PrName").text(),
        "brand": first(node, ".prName_Brand").text().strip(),
        "price": int(first(node, ".okmall_price").attributes["val"] or 0),
        "list_price": int(first(node, ".orgin_price").text().strip().replace(",", "")),
        "fee": first(node, ".delivery_fee em").text(),
        "image": image.get("data-original") or image["src"],
    }


def expected(one: Standing) -> dict[str, Any]:
    product = one.product
    picture = f"{product.no // 500 * 500}/img{product.no}_middle6.JPG?t={1_751_260_768 + product.no}"
    return {
        "key": str(product.no),
        "name": product.title + product.more,
        "brand": product.brand.en,
        "price": one.price,
        "list_price": product.list_price,
        "fee": f"{product.shipping_fee:,}",
        "image": f"//127.0.0.1:8600/okimg/{picture}",
    }


def keys(page: LexborHTMLParser) -> list[str]:
    return [str(node.attributes["data-productno"]) for node in page.css("div.item_box[data-productno]")]


def ld(html: str) -> list[Any]:
    scripts = LexborHTMLParser(html).css('script[type="application/ld+json"]')
    return [json.loads(script.text()) for script in scripts]


def some(wanted: str) -> Standing:
    """A product of the kind that a test is about."""
    world = WORLD
    mall = world.mall("okmall")
    every = (world.standing("okmall", no) for brand in mall.brands for no in mall.numbers(0, brand))
    tests: dict[str, Callable[[Standing], object]] = {
        "some options": lambda one: 0 in one.stocks and not one.sold_out and not one.product.single,
        "single": lambda one: one.product.single and not one.sold_out,
        "sold out": lambda one: one.sold_out and not one.product.single,
        "no path": lambda one: not one.product.has_path,
        "nearly": lambda one: {1, 2} & set(one.stocks) and not one.product.single,
        "ampersand": lambda one: one.product.has_path and "&" in one.product.kind.path[0],
    }
    return next(one for one in every if one is not None and tests[wanted](one))


def test_a_list_shows_every_product_once_on_pages_of_80_and_then_nothing() -> None:
    brand = WORLD.mall("okmall").brands[0]
    pages = [read(SCENE, Wanted(NIKE, page=page)) for page in range(1, 5)]
    shown = [key for page in pages for key in keys(page)]
    wanted = truth(WORLD, "okmall", brand=NIKE)["items"]

    assert [len(keys(page)) for page in pages] == [80, 80, len(shown) - 160, 0]
    assert sorted(shown) == sorted(one["key"] for one in wanted if one["listed"])
    assert {first(page, "input[name=total_count]").attributes["value"] for page in pages} == {str(len(shown))}
    assert len(shown) == len(set(shown)) == len(WORLD.of_brand("okmall", brand))


def test_a_box_says_what_is_true() -> None:
    page = read(SCENE, Wanted(NIKE))
    stands = [WORLD.standing("okmall", int(key)) for key in keys(page)]

    assert [box(node) for node in page.css("div.item_box[data-productno]")] == [expected(one) for one in stands if one]


def test_the_traps_of_a_list_are_there() -> None:
    large = replace(SCENE, world=World(5, 6500))
    raw = listing.render(large, Wanted(NIKE))
    page = LexborHTMLParser(raw)
    scratch = [key for n in range(1, 9) for key in read(large, Wanted(NIKE, page=n)).css("div.item_scratch")]

    assert 'data-ProductNo="' in raw
    assert [(link.text(), str(link.attributes["href"])[-7:]) for link in page.css(".page a")[:1]] == [("2", "&page=6")]
    assert scratch
    assert first(page.css("div.item_box")[79], "img.pImg").attributes["data-original"]


def test_a_list_is_of_a_category_too_and_sorted_as_asked() -> None:
    leaf = some("some options").product.kind.leaf
    kinds = {WORLD.mall("okmall").product(int(key)).kind.leaf for key in keys(read(SCENE, Wanted(cate=leaf)))}
    prices = [box(node)["price"] for node in read(SCENE, Wanted(NIKE, sort="UP")).css("div.item_box")]

    assert kinds == {leaf}
    assert prices == sorted(prices, reverse=True)
    assert keys(read(SCENE, Wanted("없는 상표"))) == []


def test_a_page_with_options_tells_sold_out_ones_only_in_its_json() -> None:
    one = some("some options")
    html = item.render(SCENE, one)
    rows = LexborHTMLParser(html).css("#ProductOPTList table.shoes_size tbody tr[name=selectOption]")
    offers = ld(html)[0]["offers"]
    pairs = list(zip(one.options, one.stocks, strict=True))

    assert [(str(row.attributes["sinfo"]).rpartition("|")[2], row.attributes["sprice"]) for row in rows] == [
        (option.code, str(one.price)) for option, left in pairs if left
    ]
    assert [(o["sku"], o["price"], o["availability"]) for o in offers["offers"]] == [
        (option.code, one.price, f"https://schema.org/{'InStock' if left else 'OutOfStock'}") for option, left in pairs
    ]
    assert (offers["@type"], offers["offerCount"], offers["lowPrice"]) == ("AggregateOffer", len(rows), one.price)


def test_a_single_product_has_one_offer_without_a_code() -> None:
    one = some("single")
    offers = ld(item.render(SCENE, one))[0]["offers"]

    assert (offers["@type"], offers["price"], "sku" in offers) == ("Offer", one.price, False)
    assert told("okmall", one)["options"] == []


def test_a_page_that_is_sold_out_for_a_while_has_no_table_and_no_low_price() -> None:
    html = item.render(SCENE, some("sold out"))
    offers = ld(html)[0]["offers"]

    assert LexborHTMLParser(html).css("#ProductOPTList") == []
    assert (offers["offerCount"], offers["lowPrice"], offers["highPrice"]) == (0, None, None)
    assert {offer["availability"] for offer in offers["offers"]} == {"https://schema.org/OutOfStock"}


def test_other_quirks_of_a_page() -> None:
    assert [block["@type"] for block in ld(item.render(SCENE, some("no path")))] == ["Product"]
    assert "품절 임박" in first(LexborHTMLParser(item.render(SCENE, some("nearly"))), ".size_notice").text()
    assert "&amp;" in ld(item.render(SCENE, some("ampersand")))[1]["itemListElement"][0]["name"]
    assert ld(item.deleted(SCENE)) == []


def test_sizes_of_pages_are_those_that_were_agreed() -> None:
    real = replace(SCENE, size=PageSize.REAL)
    one = some("some options")
    sizes = [
        len(text.encode())
        for scene in (SCENE, real)
        for text in (item.render(scene, one), listing.render(scene, Wanted(NIKE)))
    ]

    assert sizes == [
        pytest.approx(120_000, rel=0.1),
        pytest.approx(300_000, rel=0.1),
        pytest.approx(460_000, rel=0.1),
        pytest.approx(1_330_000, rel=0.1),
    ]


def test_the_index_names_all_brands() -> None:
    links = LexborHTMLParser(index.brands(SCENE)).css("div.language_brand.eng ul.br_lst > li > a")
    found = {(first(link, "span.t_nm").text(), first(link, "span.t_blck").text()) for link in links}

    assert found == {(brand.en, brand.ko) for brand in WORLD.mall("okmall").brands}
    assert {unquote(str(link.attributes["href"])) for link in links} == {
        f"/okmall/products/list?brand={brand.name}" for brand in WORLD.mall("okmall").brands
    }


def test_after_the_layout_changed_nothing_known_is_found() -> None:
    world = World(5, 500, drift_at=10)
    scene = replace(SCENE, world=world)
    one = next(
        one for no in world.of_brand("okmall", world.mall("okmall").brands[0]) if (one := world.standing("okmall", no))
    )
    known = (len(keys(read(scene, Wanted(NIKE)))) > 0, ld(item.render(scene, one))[0]["@type"])
    world.advance(10)
    page = read(scene, Wanted(NIKE))

    assert known == (True, "Product")
    assert (keys(page), page.css(".okmall_price"), page.css("input[name=total_count]")) == ([], [], [])
    assert ld(item.render(scene, one))[0]["@type"] == "ProductGroup"


def test_content_goes_wrong_on_demand() -> None:
    count = len(WORLD.of_brand("okmall", WORLD.mall("okmall").brands[0]))
    last = keys(read(SCENE, Wanted(NIKE, page=3)))
    totals = {
        first(read(spoilt("wobble", turn), Wanted(NIKE)), "input[name=total_count]").attributes["value"]
        for turn in range(4)
    }
    scripted = listing.render(spoilt("script_names"), Wanted(NIKE))
    doubled = keys(read(spoilt("duplicate_items"), Wanted(NIKE)))
    empty = read(spoilt("empty_list"), Wanted(NIKE))
    one = spoilt("many_options").standing("okmall", int(last[0]))

    assert keys(read(spoilt("repeat_last"), Wanted(NIKE, page=9))) == last
    assert len(totals) > 1
    assert str(count) not in totals
    assert (keys(empty), first(empty, "input[name=total_count]").attributes["value"]) == ([], str(count))
    assert "<script>alert(" not in scripted
    assert first(LexborHTMLParser(scripted), ".prName_PrName").text().startswith("<script>alert(")
    assert doubled[0] == doubled[1]
    assert one is not None
    assert len(ld(item.render(SCENE, one))[0]["offers"]["offers"]) == 10_000


def test_a_hostile_name_does_not_end_the_json_of_a_page() -> None:
    one = spoilt("script_names").standing("okmall", WORLD.of_brand("okmall", WORLD.mall("okmall").brands[0])[0])
    assert one is not None

    assert ld(item.render(SCENE, one))[0]["name"] == f"[NIKE]{one.product.title}"


def test_an_override_is_on_the_page() -> None:
    world = World(5, 100)
    no = world.of_brand("okmall", world.mall("okmall").brands[0])[0]
    world.override("okmall", no, Override(price=12_300))
    one = world.standing("okmall", no)
    assert one is not None

    assert "12,300원" in first(LexborHTMLParser(item.render(SCENE, one)), ".last_price .price").text()


LIST_SELECTORS = (
    *("div.item_box[data-productno]", "input[name=total_count]", "img.pImg[src]", "img.pImg[data-original]"),
    *("p[name=shortProductName] .prName_Brand", ".prName_Season", ".prName_PrName", "span.t_size", ".ic_coupon .icon"),
    *(".delivery_fee em", ".orgin_price", ".okmall_price[val]", ".num_score", ".num_zzim", "em.ic_man, em.ic_woman"),
    *(".page strong", ".page a", ".next a.nextPage", "select#selectSort option[value=POINT][selected]"),
    *("div.item_box.first", 'a[href*="products/view?no="]', 'meta[name="csrf_token"]'),
)
ITEM_SELECTORS = (
    *("h3#ProductNameArea .prd_name_season", "h3#ProductNameArea .prd_name", ".prd_name_more", "span.brand_tit"),
    *(
        ".last_price .price",
        ".value_price .price",
        "#ProductOPTList table.shoes_size tbody tr[name=selectOption][sinfo]",
    ),
    *("tr[name=selectOption][sprice] td", "div.item_size_detail#realSizeInfo_detail2 > ul > li > a", ".prd_cd1 span"),
    *("#realSizeInfo_detail2 > ul > li > p", "#realSizeInfo_detail2 tbody tr[name=realSize_list] th", ".prd_cd2 span"),
    *("#realSizeInfo_detail2 > ul[style]", "#realSizeInfo_material td strong", 'meta[property="og:image"]'),
    *('link[rel="canonical"]', "li[name=smallImg] img", "th[scope=row]"),
)


@pytest.mark.skipif(not CAPTURES.is_dir(), reason="the captured pages are not here")
def test_what_a_captured_page_has_ours_has_too() -> None:
    world = World(5, 6500)
    scene = replace(SCENE, world=world)
    full = next(
        one
        for no in world.of_brand("okmall", world.mall("okmall").brands[0])
        if (one := world.standing("okmall", no))
        and one.product.season
        and not one.product.single
        and one.product.has_path
    )
    ours = {
        "list": LexborHTMLParser(listing.render(scene, Wanted(NIKE))),
        "product": LexborHTMLParser(item.render(scene, full)),
    }
    real = {name: LexborHTMLParser((CAPTURES / f"okmall-{name}.html").read_text("utf-8")) for name in ours}
    missing = [
        (name, selector, whose)
        for name, selectors in (("list", LIST_SELECTORS), ("product", ITEM_SELECTORS))
        for selector in selectors
        for whose, page in (("captured", real[name]), ("ours", ours[name]))
        if page.css_first(selector) is None
    ]

    assert missing == []
    assert shape(ld(ours["product"].html or "")[0]) == shape(ld(real["product"].html or "")[0])


def shape(value: Any) -> Any:
    """The names and kinds inside a JSON value, of lists the first element's; a rating may be absent."""
    if isinstance(value, dict):
        return {name: shape(inner) for name, inner in value.items() if name != "aggregateRating"}
    return [shape(value[0])] if isinstance(value, list) else type(value).__name__
