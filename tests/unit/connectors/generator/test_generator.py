"""A page becomes a shop: what is recognised, what it reads, and a check that passes; or a clear answer why not."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from bobusang.connectors.sources.declared.fixture import expected
from bobusang.connectors.sources.declared.scaffold import check
from bobusang.connectors.sources.declared.shop import load_shop
from bobusang.connectors.sources.generator import recognise
from bobusang.connectors.sources.generator.making import make, name_of
from bobusang.connectors.sources.generator.sample import Request, Sample
from bobusang.kit.errors import Blocked, BobusangError, Conflict, Drifted, Invalid
from bobusang.sandbox import cafe24, plain, shopify
from bobusang.sandbox.okmall import item, listing
from bobusang.sandbox.okmall.listing import Wanted
from bobusang.sandbox.scene import Scene
from bobusang.sandbox.world import World
from bobusang.stages.collect.source import Extent, Snapshot, Target
from tests.unit.connectors.generator import pages
from tests.unit.connectors.reading import page

if TYPE_CHECKING:
    from pathlib import Path

    from bobusang.connectors.sources.generator.making import Made

HOST = "127.0.0.1:8600"
HOME = f"http://{HOST}"
WORLD = World(seed=1, size=240, brands=6)
SCENE = Scene(WORLD, HOST)


def made(root: Path, sample: Sample, name: str = "corner", **more: Any) -> Made:
    found = make(root, name, sample, recognise.propose(sample, recognise.base_of(sample.request.url, HOME)), **more)
    assert found.problems == ()
    assert check(found.folder) == ()
    return found


def test_a_json_list_is_read_with_keys_names_and_exact_prices(tmp_path: Path) -> None:
    answer = {"data": {"total": 333, "items": pages.GOODS}, "banners": [{"id": 1, "title": "배너"}]}

    found = made(tmp_path, pages.sample("https://api.acme.co.kr/v1/goods?brand=acme&page=1&size=20", answer))

    assert (found.records, found.unknown, found.example) == (
        20,
        (),
        {
            "key": "1000",
            "name": "울 코트 0",
            "price": 129_000,
            "list_price": 150_000,
            "brand": "ACME",
            "thumbnail": "https://api.acme.co.kr/img/0.jpg",
            "sold_out": True,
            "currency": "KRW",
        },
    )
    first = expected(found.fixture)
    assert first[0]["extent"] == {"keys": [str(1000 + at) for at in range(20)], "total": 333, "page": 1, "last": False}
    asks = [one["ask"]["url"] for one in first if "ask" in one]
    assert asks[0] == "https://api.acme.co.kr/v1/goods?brand=acme&page=2&size=20"
    assert len(asks) == 16
    text = (found.folder / "shop.yaml").read_text("utf-8")
    assert "key: 'goodsNo'   # sure: unique in 20 records, as 1000" in text
    assert "price: 'salePrice | won'   # likely: whole numbers, taken for won, as 129000" in text


@pytest.mark.parametrize(
    ("answer", "paging"),
    [
        ({"next": "/v1/goods?after=9", "items": pages.GOODS}, "by: next"),
        ({"paging": {"next_cursor": "abc9"}, "items": pages.GOODS}, "by: cursor"),
        ({"items": pages.GOODS, "count": 90}, "by: page"),
        (pages.GOODS, ""),
    ],
)
def test_how_a_json_list_goes_on(tmp_path: Path, answer: Any, paging: str) -> None:
    found = made(tmp_path, pages.sample("https://api.acme.co.kr/v1/goods", answer))

    text = (found.folder / "shop.yaml").read_text("utf-8")
    assert (paging in text) if paging else ("pages:" not in text)


def test_a_post_whose_body_has_the_page(tmp_path: Path) -> None:
    request = Request("https://api.acme.co.kr/list", "POST", {"X-From": "web"}, '{"brand": "a", "pageNo": 1}')
    sample = Sample(request, pages.sample("", {"total": 60, "list": pages.GOODS}).content)

    found = made(tmp_path, sample)

    assert '{"brand":"a","pageNo":"{page}"}' in (found.folder / "shop.yaml").read_text("utf-8")
    assert expected(found.fixture)[0]["extent"]["total"] == 60


@pytest.mark.parametrize(
    ("text", "records"),
    [
        (pages.NEXT, "script:__NEXT_DATA__.props.pageProps.list.goods[*]"),
        (pages.STATE, "script:__STATE__.shop.items[*]"),
    ],
)
def test_goods_in_a_script_are_found_where_they_are(tmp_path: Path, text: str, records: str) -> None:
    found = made(tmp_path, pages.sample("https://shop.acme.co.kr/category/1?pageNo=1", text))

    assert f"records: '{records}'" in (found.folder / "shop.yaml").read_text("utf-8")
    assert (found.records, found.example["key"], found.example["price"]) == (20, "1000", 129_000)


NESTED = [
    {"id": at, "title": f"코트 {at}", "price": "129,000", "inStock": at != 1, "brand": {"id": 7, "name": "ACME"}}
    for at in range(1, 4)
]


@pytest.mark.parametrize(
    ("url", "content"),
    [
        ("https://api.acme.co.kr/v1/goods?page=1", {"items": NESTED}),
        (
            "https://shop.acme.co.kr/category/1?page=1",
            pages.NEXT.replace(json.dumps(pages.GOODS), json.dumps(NESTED)),
        ),
    ],
)
def test_a_brand_that_is_an_object_and_what_is_in_stock_are_read(tmp_path: Path, url: str, content: Any) -> None:
    found = made(tmp_path, pages.sample(url, content))

    assert (found.records, found.unknown, found.example) == (
        3,
        (),
        {"key": "1", "name": "코트 1", "price": 129_000, "brand": "ACME", "sold_out": True, "currency": "KRW"},
    )


def test_a_brand_in_a_list_of_json_ld_is_read(tmp_path: Path) -> None:
    items = json.loads(json.dumps(pages.ITEM_LIST))
    for one in items["itemListElement"]:
        one["item"]["brand"] = {"@type": "Brand", "name": "ACME"}

    found = made(tmp_path, pages.sample("https://www.acme.com/c/coats", pages.linked(items)))

    assert found.example["brand"] == "ACME"


def test_goods_in_json_ld_are_read_in_their_currency(tmp_path: Path) -> None:
    found = made(tmp_path, pages.sample("https://www.acme.com/c/coats", pages.linked(pages.ITEM_LIST)))

    assert (found.records, found.example) == (
        8,
        {
            "key": "1001",
            "name": "Wool coat 1",
            "price": 10_150,
            "thumbnail": "https://www.acme.com/i.jpg",
            "url": "https://www.acme.com/p/coat-1/1001",
            "sold_out": False,
            "currency": "USD",
        },
    )


def test_one_product_in_json_ld_is_asked_for_by_its_key(tmp_path: Path) -> None:
    page = pages.sample("https://acme.co.kr/goods/A-77?from=list", pages.linked(pages.PRODUCT, pages.CRUMBS))

    found = made(tmp_path, page)

    source = load_shop(found.folder)
    assert source.target_kinds == ("product",)
    assert found.example == {
        "key": "A-77",
        "name": "울 코트 & 벨트",
        "price": 129_000,
        "sold_out": True,
        "images": ["https://acme.co.kr/1.jpg", "https://acme.co.kr/2.jpg"],
        "brand": "ACME",
        "category": ["의류", "코트"],
        "currency": "KRW",
    }


OWN = {
    "goodsNo": 5501,
    "goodsNm": "울 코트",
    "salePrice": 129_000,
    "normalPrice": 150_000,
    "brand": {"id": 7, "name": "ACME"},
    "images": ["/1.jpg", "/2.jpg"],
    "isSoldOut": False,
}
ABROAD = {"id": "wool-coat", "title": "Wool coat", "price": "129.50", "currency": "USD"}


@pytest.mark.parametrize(
    ("url", "content", "records", "example"),
    [
        (
            "https://shop.acme.co.kr/goods/5501?from=list",
            pages.scripted({"props": {"pageProps": {"goods": OWN, "others": pages.GOODS}}}),
            "script:__NEXT_DATA__.props.pageProps.goods",
            {
                "key": "5501",
                "name": "울 코트",
                "price": 129_000,
                "list_price": 150_000,
                "brand": "ACME",
                "images": ["https://shop.acme.co.kr/1.jpg", "https://shop.acme.co.kr/2.jpg"],
                "sold_out": False,
                "currency": "KRW",
            },
        ),
        (
            "https://www.acme.com/p/wool-coat",
            pages.scripted({"product": ABROAD}),
            "script:__NEXT_DATA__.product",
            {"key": "wool-coat", "name": "Wool coat", "price": 12_950, "currency": "USD"},
        ),
        (
            "https://api.acme.com/v2/products/wool-coat",
            {"data": ABROAD, "related": pages.GOODS},
            "data",
            {"key": "wool-coat", "name": "Wool coat", "price": 12_950, "currency": "USD"},
        ),
        (
            "https://api.acme.com/product?id=wool-coat",
            ABROAD,
            "$",
            {"key": "wool-coat", "name": "Wool coat", "price": 12_950, "currency": "USD"},
        ),
    ],
    ids=["beside others", "in its currency", "json", "nothing but it"],
)
def test_one_product_whose_key_stands_in_the_address_is_asked_for_by_it(
    tmp_path: Path, url: str, content: Any, records: str, example: dict[str, Any]
) -> None:
    found = made(tmp_path, pages.sample(url, content))

    source = load_shop(found.folder)
    [ask] = source.seeds(Target("product", "another-one"))
    assert (source.target_kinds, found.records, found.example) == (("product",), 1, example)
    assert f"records: '{records}'" in (found.folder / "shop.yaml").read_text("utf-8")
    assert ask.url == url.replace(str(example["key"]), "another-one")


def test_a_page_of_one_product_reads_the_page_of_another(tmp_path: Path) -> None:
    found = made(tmp_path, pages.sample("https://acme.co.kr/goods/wool-coat-5501", pages.scripted({"goods": OWN})))
    source = load_shop(found.folder)
    [ask] = source.seeds(Target("product", "7702"))

    other = {**OWN, "goodsNo": 7702, "goodsNm": "패딩", "salePrice": "99,000", "isSoldOut": True}
    [_, read] = source.read(page(ask, pages.scripted({"goods": other})))

    assert isinstance(read, Snapshot)
    assert (read.key, read.fields["name"], read.fields["price"], read.fields["sold_out"]) == (
        "7702",
        "패딩",
        99_000,
        True,
    )


def test_a_category_is_no_product_though_its_number_stands_in_the_address(tmp_path: Path) -> None:
    category = {"id": 240, "name": "코트", "minPrice": 10_000}
    data = {"category": category, "goods": pages.GOODS}

    found = made(tmp_path, pages.sample("https://acme.co.kr/category/240?page=1", pages.scripted(data)))

    assert (found.records, found.example["key"]) == (20, "1000")


def test_a_product_with_several_offers_is_sold_out_when_all_of_them_are(tmp_path: Path) -> None:
    """A page of OKmall that is sold out for a while has no lowest price; its offers say the rest."""
    world = World(5, 500)
    mall = world.mall("okmall")
    every = [one for no in mall.numbers(0, mall.brands[0]) if (one := world.standing("okmall", no)) is not None]
    there, out = (
        next(one for one in every if one.sold_out is gone and not one.product.single) for gone in (False, True)
    )
    scene = Scene(world, HOST)

    found = made(
        tmp_path, pages.sample(f"{HOME}/okmall/products/view?no={there.product.no}", item.render(scene, there))
    )
    source = load_shop(found.folder)
    [ask] = source.seeds(Target("product", str(out.product.no)))
    [extent, read] = source.read(page(ask, item.render(scene, out)))

    assert isinstance(read, Snapshot)
    assert (found.example["price"], found.example["sold_out"]) == (there.price, False)
    assert (read.key, read.fields["price"], read.fields["sold_out"]) == (str(out.product.no), out.price, True)
    assert (extent, read.unknown) == (Extent((str(out.product.no),), last=True), ())


def test_boxes_with_a_brand_in_the_heading_and_pictures_that_come_late(tmp_path: Path) -> None:
    scene = Scene(World(5, 500), HOST)
    text = listing.render(scene, Wanted("나이키(NIKE)"))

    found = made(tmp_path, pages.sample(f"{HOME}/okmall/products/list?brand=나이키(NIKE)&page=1", text))

    source = load_shop(found.folder)
    [ask] = source.seeds(Target("list", "all"))
    read = [one for one in source.read(page(ask, text)) if isinstance(one, Snapshot)]
    products = {one.key: scene.world.mall("okmall").product(int(one.key)) for one in read}
    assert {one.key: (one.fields["name"], one.fields["brand"]) for one in read} == {
        key: (one.title + one.more, "NIKE") for key, one in products.items()
    }
    assert [one.fields["thumbnail"] for one in read if f"img{one.key}_" not in one.fields["thumbnail"]] == []


def test_boxes_of_a_plain_page_are_recognised(tmp_path: Path) -> None:
    found = made(tmp_path, pages.sample(f"{HOME}/plain/list?page=1", plain.list_page(SCENE, 1, 20)))

    assert (found.records, found.example) == (
        20,
        {"key": "1", "name": "라이트 다운 조거 팬츠 와인 00001", "price": 116_100, "currency": "KRW"},
    )
    assert expected(found.fixture)[0]["extent"]["total"] == 240


def test_a_cafe24_shop_is_five_lines(tmp_path: Path) -> None:
    page = pages.sample(f"{HOME}/cafe24/product/list.html?cate_no=24", cafe24.list_page(SCENE, 24, 1))

    found = made(tmp_path, page)

    lines = [line for line in (found.folder / "shop.yaml").read_text("utf-8").splitlines() if not line.startswith("#")]
    assert [line for line in lines if not line.startswith("description")] == [
        "shop: corner",
        "extends: platform/cafe24",
        'intake: {base: "http://127.0.0.1:8600/cafe24"}',
    ]
    assert found.records == min(cafe24.BOXES, len(WORLD.of_brand("cafe24", WORLD.malls["cafe24"].brands[0])))


def test_a_page_of_a_cafe24_product_is_its_fixture(tmp_path: Path) -> None:
    no = WORLD.of_brand("cafe24", WORLD.malls["cafe24"].brands[0])[0]
    standing = SCENE.standing("cafe24", no)
    assert standing is not None
    url = f"{HOME}/cafe24/product/coat/{no}/category/24/display/1/"

    found = made(tmp_path, pages.sample(url, cafe24.item_page(SCENE, standing)))

    assert (found.fixture.name, found.example["key"], found.example["price"]) == ("item-first", str(no), standing.price)


def test_a_shopify_shop_leads_from_its_front_page_to_its_list(tmp_path: Path) -> None:
    numbers = shopify.numbers(WORLD)
    assert numbers is not None
    front = pages.sample(f"{HOME}/shopify/", shopify.front_page(SCENE, numbers))
    listed = pages.sample(f"{HOME}/shopify/products.json?limit=20", shopify.page(SCENE, numbers, 1, 20))

    assert recognise.follow(front, f"{HOME}/shopify") == f"{HOME}/shopify/products.json?limit=20"
    assert recognise.follow(listed, f"{HOME}/shopify") == ""
    assert made(tmp_path, listed).records == 20


def test_a_shopify_shop_in_dollars_reads_cents(tmp_path: Path) -> None:
    variants = [{"id": 1, "title": "M", "price": "129.50", "compare_at_price": "150.00", "available": True}]
    answer = {"products": [{"id": 7, "title": "Coat", "handle": "coat", "variants": variants, "images": []}]}

    found = made(tmp_path, pages.sample("https://www.acme.com/products.json", answer))

    assert (found.example["price"], found.example["list_price"], found.example["currency"]) == (12_950, 15_000, "USD")


UNREADABLE: list[tuple[Any, dict[str, Any], type[BobusangError], str]] = [
    (pages.html('<div id="root"></div><script src="/a.js"></script>'), {}, Drifted, "drawn by scripts"),
    (
        pages.html(
            f'<script id="__NEXT_DATA__" type="application/json">{json.dumps({"meta": pages.GOODS[0]})}</script>'
        ),
        {},
        Drifted,
        "no list of goods is in its scripts",
    ),
    (pages.html("Checking", "<title>Just a moment...</title>"), {}, Drifted, "a wall against robots"),
    (pages.html('<form><input type="password"></form>' + "글 " * 300), {}, Drifted, "asks for a login"),
    (pages.html("<p>" + "회사 소개 " * 100 + "</p>"), {}, Drifted, "no list of goods was recognised"),
    ({"ok": True, "ids": [1, 2, 3]}, {}, Drifted, "no list in it looks like goods"),
    ({"banners": [{"id": 1, "title": "배너"}, {"id": 2, "title": "둘"}]}, {}, Drifted, "no list in it looks like good"),
    ("[" * 100_000, {}, Drifted, "no list in it looks like goods"),
    ("  ", {}, Drifted, "the page is empty"),
    ("x", {"status": 401}, Blocked, "asks who we are"),
    ("x", {"status": 403}, Blocked, "refuses us"),
    ("x", {"status": 404}, Invalid, "no such page"),
    ("x", {"status": 500}, Invalid, "status 500"),
]


@pytest.mark.parametrize(("content", "more", "error", "message"), UNREADABLE, ids=[one[3] for one in UNREADABLE])
def test_what_cannot_be_read_gets_a_clear_answer(
    content: Any, more: dict[str, Any], error: type[BobusangError], message: str
) -> None:
    with pytest.raises(error, match=message) as raised:
        recognise.propose(pages.sample("https://acme.co.kr/", content, **more), "https://acme.co.kr")

    assert raised.value.hint


def test_nothing_is_written_where_a_proposal_reads_nothing(tmp_path: Path) -> None:
    text = cafe24.list_page(SCENE, 24, 1).replace("xans-product-listnormal", "xans-product-mylist")
    sample = pages.sample(f"{HOME}/cafe24/product/list.html?cate_no=24", text)

    with pytest.raises(Drifted, match="a shop on Cafe24 was recognised, and its page cannot be read"):
        made(tmp_path, sample)

    assert list(tmp_path.iterdir()) == []


def test_a_shop_that_is_there_is_replaced_only_by_force_and_its_file_is_kept(tmp_path: Path) -> None:
    sample = pages.sample("https://api.acme.co.kr/goods", pages.GOODS)
    shop = made(tmp_path, sample).folder
    (shop / "shop.yaml").write_text("mine", "utf-8")
    (shop / "hooks.txt").write_text("mine", "utf-8")

    with pytest.raises(Conflict):
        made(tmp_path, sample)
    assert (shop / "shop.yaml").read_text("utf-8") == "mine"

    made(tmp_path, sample, force=True)
    assert ((shop / "shop.yaml.old").read_text("utf-8"), (shop / "hooks.txt").read_text("utf-8")) == ("mine", "mine")


def test_fixtures_hold_nothing_of_a_person(tmp_path: Path) -> None:
    answer = {"items": pages.GOODS, "contact": "kim@acme.co.kr", "tel": "010-1234-5678", "accessToken": "abcdefgh12345"}

    found = made(tmp_path, pages.sample("https://api.acme.co.kr/goods", answer))

    text = (found.fixture / "page.json").read_text("utf-8")
    assert ("kim@" in text, "1234-5678" in text, "abcdefgh" in text) == (False, False, False)
    assert found.redacted == {"token": 1, "e-mail address": 1, "phone number": 1}


@pytest.mark.parametrize(
    ("base", "name"),
    [
        ("https://www.acme.co.kr", "acme"),
        ("https://m.shop.acme.com", "acme"),
        ("http://127.0.0.1:8600/plain", "plain"),
        ("http://127.0.0.1:8600", "shop"),
        ("https://29cm.co.kr", "shop29cm"),
    ],
)
def test_a_shop_is_named_after_its_address(base: str, name: str) -> None:
    assert name_of(base) == name
