"""A record becomes a product in the market's words, or is held with every reason."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from bobusang.catalog.brands import MallBrand
from bobusang.catalog.categories import MallCategory
from bobusang.catalog.model import Review
from bobusang.catalog.tables.variants import Axis, StockKind
from bobusang.catalog.variants import Goods, Option, Stock, Variant
from bobusang.stages.convert import converting, gates
from bobusang.stages.convert.mapping import Mapped
from bobusang.stages.convert.masters import Kind, Masters
from bobusang.stages.convert.model import Converted, Held, Reason, Why
from bobusang.stages.convert.stock import IN, OUT, UNKNOWN

DAY = date(2026, 11, 16)
YES = Review.ACCEPTED
MAPPED = Mapped(
    [
        MallBrand(1, "okmall", "아크메(ACME)", "아크메", "ACME", None, YES, 203, "ACME"),
        MallBrand(2, "okmall", "무명(NONAME)", "무명", "NONAME", None, YES, 0, "NO NAME"),
        MallBrand(3, "okmall", "새것(FRESH)", "새것", "FRESH", None, Review.PROPOSED, 5, None),
        MallBrand(4, "okmall", "옛것(OLD)", "옛것", "OLD", None, YES, 404, None),
    ],
    [MallCategory(1, "okmall", "남성 의류 > 울 코트", None, None, None, YES, 3306)],
)
MASTERS = Masters(
    {
        Kind.BRANDS: [{"id": "203", "brand_name": "ACME"}],
        Kind.CATEGORIES: [{"id": "3306", "name": "コート"}],
        Kind.COLORS: [{"id": "2", "name": "ブラック(黒)"}],
        Kind.SIZES: [
            {"id": id, "name": name, "category_id": "3306"} for id, name in (("11", "S"), ("12", "M"), ("99", "その他"))
        ],
        Kind.SIZE_DETAILS: [{"name": "肩幅", "category_id": "3306"}],
        Kind.SEASONS: [{"id": "23", "name": "25AW"}],
    }
)
WORDS = {
    "남성 울 코트": "メンズ ウールコート",
    "블랙": "ブラック",
    "겉감": "表地",
    "울": "ウール",
    "나일론": "ナイロン",
    "미국": "アメリカ",
}
FIELDS: dict[str, Any] = {
    "name": "남성 아크메 울 코트 (AC1234-010)",
    "brand": "ACME",
    "brand_ko": "아크메",
    "model": "AC1234-010 25FW",
    "season": "25FW",
    "category": ["남성 의류", "울 코트"],
    "measurements": [{"size": "S", "values": {"어깨 너비": "42cm 전후", "무게": "300g"}}],
    "materials": {"겉감": "울(90%), 나일론(10%)"},
    "origin": "미국",
    "sold_out": False,
    "options": [
        {"code": "7001", "color": "블랙", "size": "S", "available": True, "stock": 2},
        {"code": "7002", "color": "블랙", "size": "M", "available": False},
    ],
}


def convert(before: Converted | None = None, words: dict[str, str] | None = None, **changed: Any) -> Converted | Held:
    texts = (WORDS if words is None else words).get
    # The mall's name of the brand stands in the name of the product and is left out only if it is its brand.
    fields = FIELDS | ({"name": "남성 울 코트"} if "brand" in changed else {}) | changed
    return converting.convert(
        converting.read(fields), MAPPED, MASTERS, texts, gate=gates.buyma(), on=DAY, before=before
    )


def ready(**changed: Any) -> Converted:
    found = convert(**changed)
    assert isinstance(found, Converted), found
    return found


def held(before: Converted | None = None, words: dict[str, str] | None = None, **changed: Any) -> list[Why]:
    found = convert(before, words, **changed)
    assert isinstance(found, Held), found
    return [reason.why for reason in found.reasons]


def test_a_record_becomes_a_product_in_the_markets_words() -> None:
    assert convert() == Converted(
        name="ACME メンズ ウールコート",
        comments="ACME メンズ ウールコート\n\n■ブランド：ACME\n■品番：AC1234-010\n"
        "■素材：表地 ウール90%・ナイロン10%\n■原産国：アメリカ",
        brand_id=203,
        brand_name="",
        category_id=3306,
        axes=("color", "size"),
        goods=Goods(
            (
                Option(Axis.COLOR, "블랙", "7001", "블랙", "ブラック", 1, 2),
                Option(Axis.SIZE, "S", "7001", "S", "S", 1, 11, ({"key": "肩幅", "value": "42"},)),
                Option(Axis.SIZE, "M", "7002", "M", "M", 2, 12),
            ),
            (
                Variant("7001", ("7001",), "블랙 / S", "블랙", "S", Stock(StockKind.COUNT, 2)),
                Variant("7002", ("7002",), "블랙 / M", "블랙", "M", OUT),
            ),
        ),
        model="AC1234-010",
        style_number="AC1234-010",
        season_id=23,
        size_unit="cm",
        materials=(
            {
                "name": "겉감",
                "shares": (
                    {"word": "울", "fibre": "wool", "percent": "90"},
                    {"word": "나일론", "fibre": "nylon", "percent": "10"},
                ),
            },
        ),
        construction="woven",
        notes=(Reason(Why.MEASURE_DROPPED, "not told to the market: 무게", "measurements"),),
    )


def test_all_that_must_be_translated_is_known_before() -> None:
    assert sorted(converting.read(FIELDS).wanted) == sorted(WORDS)


def test_a_brand_that_the_market_lacks_is_told_by_name_and_without_a_model_number() -> None:
    found = ready(brand="NONAME", brand_ko="무명")

    assert (found.brand_id, found.brand_name, found.style_number, found.model) == (0, "NO NAME", "", "AC1234-010")
    assert "品番" not in found.comments


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"brand": "FRESH", "brand_ko": None}, [Why.BRAND_UNREVIEWED]),
        ({"brand": "OLD", "brand_ko": None}, [Why.MASTER_VANISHED]),
        ({"category": ["가방"]}, [Why.CATEGORY_UNKNOWN]),
        ({"brand": "FRESH", "brand_ko": None, "category": None}, [Why.BRAND_UNREVIEWED, Why.CATEGORY_UNKNOWN]),
        ({"name": " "}, [Why.NAME_MISSING]),
        ({"name": "새로운 이름"}, [Why.TEXT_UNTRANSLATED]),
        ({"options": [{"code": "1", "size": "S"}, {"code": "2", "size": "FREE"}]}, [Why.FREE_MIXED]),
        ({"options": [{"code": "1", "size": "S"}, {"code": "2", "color": "블랙"}]}, [Why.OPTIONS_UNKNOWN]),
        ({"options": [{"color": f"Black {n}", "size": f"{n}"} for n in range(1, 999)]}, [Why.OPTIONS_MANY]),
    ],
)
def test_every_reason_to_hold_is_told(changed: dict[str, Any], why: list[Why]) -> None:
    assert held(**changed) == why


def test_what_a_wholesaler_does_not_allow_is_held_with_why() -> None:
    ruled = convert(minimum_order=10, images_usable=False)

    assert ruled == Held(
        (
            Reason(Why.BULK_ONLY, "it is sold from 10 pieces on, and we buy one", "minimum_order"),
            Reason(Why.IMAGES_UNUSABLE, "its supplier does not let us use its pictures", "images"),
        )
    )
    assert convert(minimum_order=1, images_usable=True) == convert()


def test_korean_that_a_translation_left_is_refused_before_the_market_does() -> None:
    assert held(words=WORDS | {"블랙": "블랙 ブラック"}) == [Why.TEXT_REFUSED]


def test_another_number_of_axes_is_a_new_product_and_says_so() -> None:
    before = ready()
    only_sizes = [{"code": "7001", "size": "S", "available": True}]

    found = convert(before, options=only_sizes)

    text = "its options were a choice of color and size and are one of size: that is a new product"
    assert found == Held((Reason(Why.AXES_CHANGED, text, "options"),))
    assert held(before, options=[]) == [Why.AXES_CHANGED]


@pytest.mark.parametrize(("sold_out", "stock"), [(False, IN), (True, OUT), (None, UNKNOWN)])
def test_a_thing_without_options_is_one_thing(sold_out: bool | None, stock: Stock) -> None:
    found = ready(options=[], sold_out=sold_out, measurements=None, name="남성 울 코트 (블랙)")

    assert found.axes == ()
    assert [(one.market_text, one.master_id) for one in found.goods.options] == [("ブラック", 2), ("FREE", 99)]
    assert [one.stock for one in found.goods.variants] == [stock]


def test_a_colour_that_the_market_has_no_name_for_is_held_unless_a_policy_says_what_it_is() -> None:
    fields = FIELDS | {"options": [], "measurements": None}

    found = converting.convert(
        converting.read(fields), MAPPED, MASTERS, WORDS.get, gate=gates.buyma(), on=DAY, unknown_color=7
    )

    assert held(options=[], measurements=None) == [Why.COLOR_UNMAPPED]
    assert isinstance(found, Converted)
    assert [(one.market_text, one.master_id) for one in found.goods.options] == [("画像参照", 7), ("FREE", 99)]


def test_materials_that_do_not_add_up_are_noted() -> None:
    found = ready(materials={"겉감": "울(90%)"}, measurements=None)

    assert found.notes == (Reason(Why.MATERIAL_UNCLEAR, "the shares of 겉감 do not make 100 %", "materials"),)


def test_converting_again_changes_nothing() -> None:
    before = ready()

    assert convert(before) == before


def test_an_option_that_costs_more_than_the_product_has_a_price_of_its_own() -> None:
    options = [{"code": "S", "size": "S", "extra_price": 0}, {"code": "XL", "size": "XL", "extra_price": 5000}]

    def prices(fields: dict[str, Any]) -> list[int | None]:
        return [one.price for one in converting.read_options(fields).sources]

    assert prices({"price": 30_000, "options": options}) == [30_000, 35_000]
    assert prices({"options": options}) == [None, None], "without a price nobody knows what more than it is"
