"""Shops and sandbox agree: what is read of a rendered page is what is true in its world."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from bobusang.connectors.sources.declared.extending import SHIPPED
from bobusang.connectors.sources.declared.shop import load_shop
from bobusang.kit.errors import BobusangError, Drifted, Unavailable
from bobusang.sandbox import feed, news
from bobusang.sandbox.fault import Fault, Hit
from bobusang.sandbox.musinsa.listing import Wanted as Cards
from bobusang.sandbox.musinsa.listing import goods_list
from bobusang.sandbox.mustit import detail, listing
from bobusang.sandbox.okmall import index, item
from bobusang.sandbox.okmall import listing as boxes
from bobusang.sandbox.okmall.listing import Wanted
from bobusang.sandbox.scene import Scene
from bobusang.sandbox.truth import truth
from bobusang.sandbox.world import World
from bobusang.stages.collect.source import Ask, Brand, Extent, Kind, Snapshot, Source, Target
from tests.unit.connectors.reading import page

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

HOST = "127.0.0.1:8600"
NIKE = "나이키(NIKE)"
WORLD = World(5, 500, brands=4)
SCENE = Scene(WORLD, HOST)


def shop(name: str) -> Source:
    return load_shop(SHIPPED / name, base=f"http://{HOST}/{name}")


def spoilt(kind: str) -> Scene:
    return replace(SCENE, hit=Hit(Fault(kind=kind), 1))


def crawl(source: Source, target: Target, answer: Callable[[Ask], Any], *, lists_only: bool = False) -> list[Any]:
    """All that a source finds, asking until it asks no more."""
    waiting, found, asked = list(source.seeds(target)), [], set()
    while waiting:
        ask = waiting.pop()
        if ask.name in asked or (ask.item and lists_only):
            continue
        asked.add(ask.name)
        for each in source.read(page(ask, answer(ask))):
            if isinstance(each, Ask):
                waiting.append(each)
            else:
                found.append(each)
    return found


def merged(found: Iterable[Any]) -> dict[str, dict[str, Any]]:
    """The snapshots of each key, one over the other."""
    fields: dict[str, dict[str, Any]] = {}
    for each in found:
        if isinstance(each, Snapshot):
            assert each.unknown == (), each
            fields.setdefault(each.key, {}).update(each.fields)
    return fields


def okmall(ask: Ask, scene: Scene = SCENE) -> str:
    if ask.kind is Kind.LIST:
        return boxes.render(scene, Wanted(brand=ask.given["brand"], page=ask.given["page"]))
    one = scene.standing("okmall", int(ask.item))
    return item.deleted(scene) if one is None else item.render(scene, one)


def mustit(ask: Ask, scene: Scene = SCENE) -> Any:
    given = ask.given
    if ask.stream == "list":
        return listing.mini_shop(scene, given["seller"], given["page"], 500)
    if ask.stream == "search":
        return listing.search(scene, listing.Search(given["brand"], "LATEST", page=given["page"]))
    one = scene.standing("mustit", int(ask.item))
    assert one is not None
    return detail.top(scene, one) if ask.stream == "detail" else detail.options(one)


def told(fields: dict[str, Any], *, stock: bool) -> dict[str, Any]:
    """What truth tells of a product, of what was read."""
    names = ("code", "color", "size", "stock", "available") if stock else ("code", "available")
    return {name: fields.get(name) for name in ("brand", "price", "list_price", "sold_out")} | {
        "title": fields["name"],
        "options": [{name: option.get(name, "") for name in names} for option in fields.get("options", [])],
    }


def true(one: dict[str, Any], *, stock: bool) -> dict[str, Any]:
    names = ("code", "color", "size", "stock", "available") if stock else ("code", "available")
    options = sorted(
        ({name: option[name] for name in names} for option in one["options"]), key=lambda each: each["code"]
    )
    return {name: one[name] for name in ("brand", "price", "list_price", "sold_out", "title")} | {"options": options}


def compared(found: dict[str, dict[str, Any]], items: list[dict[str, Any]], *, stock: bool) -> None:
    read = {key: told(fields, stock=stock) for key, fields in found.items()}
    for each in read.values():
        each["options"].sort(key=lambda option: option["code"])

    assert read == {one["key"]: true(one, stock=stock) for one in items}


def test_okmall_by_brand_is_what_is_true() -> None:
    items = [one for one in truth(WORLD, "okmall", brand=NIKE)["items"] if one["listed"]]
    found = crawl(shop("okmall"), Target("brand", NIKE), okmall)
    pages = [each for each in found if isinstance(each, Extent)]

    compared(merged(found), items, stock=False)
    assert [each.last for each in sorted(pages, key=lambda each: each.page)][-1] is True
    assert {each.total for each in pages} == {len(items)}


def test_damaged_goods_between_the_boxes_of_okmall_are_not_taken() -> None:
    source, scene = shop("okmall"), Scene(World(2, 60, brands=1), HOST)
    [ask] = source.seeds(Target("brand", NIKE))
    text = okmall(ask, scene)
    listed = {one["key"] for one in truth(scene.world, "okmall", brand=NIKE)["items"] if one["listed"]}
    extent, *found = source.read(page(ask, text))

    assert text.count('class="item_scratch "') == 1
    assert isinstance(extent, Extent)
    assert set(extent.keys) == {each.key for each in found if isinstance(each, Snapshot)} == listed


def test_a_page_of_okmall_without_a_path_tells_its_categories_all_the_same() -> None:
    source, mall = shop("okmall"), WORLD.mall("okmall")
    listed = [one["key"] for one in truth(WORLD, "okmall", brand=NIKE)["items"] if one["listed"]]
    asks = {key: next(iter(source.seeds(Target("item", key)))) for key in listed}
    found = merged(each for ask in asks.values() for each in source.read(page(ask, okmall(ask))))

    assert {mall.product(int(key)).has_path for key in listed} == {True, False}
    assert {key: fields["category"] for key, fields in found.items()} == {
        key: list(mall.product(int(key)).kind.path) for key in listed
    }


def test_mustit_by_seller_is_what_is_true() -> None:
    items = truth(WORLD, "mustit", seller="dmont")["items"]
    found = crawl(shop("mustit"), Target("seller", "dmont"), mustit)

    compared(merged(found), items, stock=True)


def test_mustit_by_brand_follows_the_search_to_its_end() -> None:
    items = truth(WORLD, "mustit", brand=NIKE)["items"]
    found = crawl(shop("mustit"), Target("brand", "NIKE"), mustit)

    compared(merged(found), items, stock=True)
    assert [each.last for each in found if isinstance(each, Extent)][-1] is True


def test_prices_of_mustit_are_texts_in_lists_and_whole_numbers_in_details() -> None:
    source = shop("mustit")
    [ask] = source.seeds(Target("seller", "dmont"))
    listed = mustit(ask)
    items = truth(WORLD, "mustit", seller="dmont")["items"]
    detailed = [next(iter(source.seeds(Target("item", one["key"])))) for one in items]
    found = merged(source.read(page(ask, listed)))
    asked = merged(each for ask in detailed for each in source.read(page(ask, mustit(ask))))

    assert (listed["count"], [one["price"] for one in listed["items"]]) == (
        len(items),
        [f"{one['price']:,}" for one in items],
    )
    wanted = {one["key"]: (one["price"], one["list_price"]) for one in items}
    assert all("," in one["price"] for one in listed["items"])
    assert [{key: (one["price"], one["list_price"]) for key, one in each.items()} for each in (found, asked)] == [
        wanted,
        wanted,
    ]


MUSINSA = {"brand": "nike", "category": "001", "keyword": "나이키"}


@pytest.mark.parametrize("kind", MUSINSA)
def test_pages_of_musinsa_are_turned_by_the_names_that_turn_them(kind: str) -> None:
    """More than two pages of a hundred; `pageNumber` and `pageSize` would show the first thirty again and again."""
    scene = Scene(World(5, 500, brands=1, pace=0), HOST)
    source = shop("musinsa")

    def answer(ask: Ask) -> Any:
        given = dict(parse_qsl(urlsplit(ask.url).query))
        wanted: dict[str, Any] = {name: int(given[name]) for name in ("page", "size") if name in given}
        return goods_list(scene, Cards(**wanted | {kind: given[kind]}))

    found = crawl(source, Target(kind, MUSINSA[kind]), answer, lists_only=True)
    whole: dict[str, Any] = {kind: MUSINSA[kind], "size": 1000}
    every = goods_list(scene, Cards(**whole))["data"]
    keys = {str(one["goodsNo"]) for one in every["list"]}

    assert len(keys) == every["pagination"]["totalCount"] > (200 if kind != "category" else 100)
    assert set(merged(found)) == keys
    assert sum(len(each.keys) for each in found if isinstance(each, Extent)) == len(keys)


def test_a_product_sold_out_for_now_says_so_and_keeps_its_options() -> None:
    source = shop("okmall")
    sold_out = next(one for one in truth(WORLD, "okmall", brand=NIKE)["items"] if not one["listed"] and one["options"])
    [ask] = source.seeds(Target("item", sold_out["key"]))
    [found] = source.read(page(ask, okmall(ask)))

    assert isinstance(found, Snapshot)
    assert (found.fields["sold_out"], found.fields["price"]) == (True, sold_out["price"])
    assert found.options_complete is False
    assert {option["available"] for option in found.fields["options"]} == {False}


def test_a_number_that_okmall_does_not_know_is_gone() -> None:
    source = shop("okmall")
    [ask] = source.items(Target("brand", NIKE), ["999999999"])

    assert source.read(page(ask, okmall(ask))) == [
        Snapshot("okmall", "999999999", {"gone": True}, options_complete=False)
    ]


def test_the_brands_of_both_malls() -> None:
    ok, must = shop("okmall"), shop("mustit")
    [first], [second] = ok.seeds(Target("index", "all")), must.seeds(Target("index", "all"))
    names = {brand.name: (brand.ko, brand.en) for brand in WORLD.mall("okmall").brands}
    found = [each for each in ok.read(page(first, index.brands(SCENE))) if isinstance(each, Brand)]

    assert {each.key: (each.name_ko, each.name_en) for each in found} == names
    assert {
        each.key: each.name_ko for each in must.read(page(second, listing.brands(SCENE))) if isinstance(each, Brand)
    } == {brand.en: brand.ko for brand in WORLD.mall("mustit").brands}


def test_news_and_feed_are_what_is_true() -> None:
    def desk(ask: Ask) -> str:
        if ask.kind is Kind.LIST:
            return news.list_page(SCENE, ask.given["page"])
        one = news.article(WORLD, int(ask.item))
        assert one is not None
        return news.article_page(one)

    articles = merged(crawl(shop("news"), Target("list", "all"), desk))
    entries = merged(
        crawl(
            shop("feed"),
            Target("list", "all"),
            lambda ask: feed.page(SCENE, number=1, cursor=_cursor(ask), size=100),
        )
    )

    assert {key: (one["title"], one["body"]) for key, one in articles.items()} == {
        one["key"]: (one["title"], one["body"]) for one in truth(WORLD, "news")["items"]
    }
    assert {key: (one["title"], one["final"]) for key, one in entries.items()} == {
        one["key"]: (one["title"], one["final"]) for one in truth(WORLD, "feed")["items"]
    }


def _cursor(ask: Ask) -> str:
    return ask.url.partition("cursor=")[2].partition("&")[0]


def read_spoilt(kind: str, *, mall: str = "okmall", stream: str = "list") -> Any:
    source, scene = shop(mall), spoilt(kind)
    answer = okmall if mall == "okmall" else mustit
    if stream == "list":
        ask = next(iter(source.seeds(Target("brand", NIKE) if mall == "okmall" else Target("seller", "dmont"))))
    else:
        key = next(
            one["key"]
            for one in truth(WORLD, mall, brand=NIKE)["items"]
            if len(one["options"]) > 1 and not one["sold_out"]
        )
        ask = next(each for each in source.seeds(Target("item", key)) if each.stream == stream)
    try:
        return list(source.read(page(ask, answer(ask, scene))))
    except BobusangError as error:
        return type(error)


@pytest.mark.parametrize("mall", ["okmall", "mustit"])
def test_an_empty_list_that_announces_products_is_not_believed(mall: str) -> None:
    assert read_spoilt("empty_list", mall=mall) is Unavailable


@pytest.mark.parametrize("mall", ["okmall", "mustit"])
def test_a_product_that_is_listed_twice_with_two_prices_has_none(mall: str) -> None:
    found = read_spoilt("duplicate_items", mall=mall)

    assert isinstance(found[0], Extent)
    assert len(set(found[0].keys)) == len(found[0].keys)
    assert [each.unknown for each in found if isinstance(each, Snapshot)][:2] == [("price",), ()]


@pytest.mark.parametrize(("mall", "stream"), [("okmall", "detail"), ("mustit", "options")])
@pytest.mark.parametrize("kind", ["duplicate_items", "many_options"])
def test_options_that_contradict_themselves_or_are_beyond_belief_are_unknown(mall: str, stream: str, kind: str) -> None:
    [found] = read_spoilt(kind, mall=mall, stream=stream)

    assert found.unknown == ("options",)
    assert "options" not in found.fields


def test_markup_in_a_name_is_text() -> None:
    [found] = read_spoilt("script_names", stream="detail")

    assert found.fields["name"].startswith("<script>alert('보부상')</script>")


@pytest.mark.parametrize("mall", ["okmall", "mustit"])
def test_a_repeated_last_page_ends_the_list(mall: str) -> None:
    scene = spoilt("repeat_last")
    target = Target("brand", NIKE) if mall == "okmall" else Target("seller", "dmont")
    answer = okmall if mall == "okmall" else mustit
    found = crawl(shop(mall), target, lambda ask: answer(ask, scene), lists_only=True)
    pages = sorted((each for each in found if isinstance(each, Extent)), key=lambda each: each.page)

    assert [each.last for each in pages] == [False] * (len(pages) - 1) + [True]
    assert pages[-1].keys == pages[-2].keys


@pytest.mark.parametrize("cut", [0.1, 0.5, 0.9])
def test_half_a_page_is_no_page(cut: float) -> None:
    ok, must = shop("okmall"), shop("mustit")
    [first], [second] = ok.seeds(Target("brand", NIKE)), must.seeds(Target("seller", "dmont"))
    text = okmall(first)
    body = page(second, mustit(second)).body

    with pytest.raises(Unavailable, match="cut off"):
        ok.read(page(first, text[: int(len(text) * cut)]))
    with pytest.raises((Unavailable, Drifted)):
        must.read(page(second, body[: int(len(body) * cut)]))


def test_another_layout_has_drifted() -> None:
    world = World(5, 500, brands=4, drift_at=0.0)
    scene = Scene(world, HOST)
    ok, must = shop("okmall"), shop("mustit")
    [ask] = ok.seeds(Target("brand", NIKE))
    key = truth(WORLD, "mustit", brand=NIKE)["items"][0]["key"]
    detailed = next(iter(must.seeds(Target("item", key))))

    with pytest.raises(Drifted):
        ok.read(page(ask, okmall(ask, scene)))
    with pytest.raises(Drifted):
        must.read(page(detailed, mustit(detailed, scene)))
