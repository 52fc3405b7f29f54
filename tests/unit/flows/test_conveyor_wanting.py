"""What PRICE and REGISTER are asked: mapped from the mall's words and the market's, and nothing made up."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from bobusang.catalog.tables.variants import Axis, StockKind
from bobusang.catalog.variants import Goods, Option, Stock, Variant
from bobusang.flows.conveyor import wanting
from bobusang.flows.conveyor.goods import Known, Told
from bobusang.kit.money import Money
from bobusang.stages.convert.model import Converted
from bobusang.stages.register import model as register
from tests.unit.register.making import ACCOUNT, draft, listing

NOW = datetime(2026, 11, 16, 3, tzinfo=UTC)
GOODS = Goods(
    (
        Option(Axis.COLOR, "", None, "네이비", "ネイビー", 1, 8),
        Option(Axis.SIZE, "S", "11", "S", "S", 1, 2),
        Option(Axis.SIZE, "M", "12", "M", "M", 2, 3),
    ),
    (
        Variant("11", ("11",), "네이비 / S", "", "S", Stock(StockKind.COUNT, 7), 52_000),
        Variant("12", ("12",), "네이비 / M", "", "M", Stock(StockKind.OUT)),
    ),
)
MADE = Converted("NIKE シャツ", "本文", 203, "", 3305, ("size",), GOODS, model="AB1234-567", style_number="AB1234-567")
FIELDS: dict[str, Any] = {
    "price": 50_000,
    "sold_out": False,
    "images": ["http://mall/1.jpg"],
    "options": [
        {"code": "11", "size": "S", "stock": 7, "available": True},
        {"code": "12", "size": "M", "stock": 0, "available": False},
    ],
    "category": ["MEN & WOMEN", "상의", "셔츠"],
}
KNOWN = Known(7, "okmall", "500001", 3, Told(FIELDS), NOW)


def told(**more: Any) -> dict[str, Any]:
    return {"price": 11_000, "floor": 9_000, "ceiling": 20_000, "currency": "JPY", "reason": "undercut", **more}


def registered(known: Known = KNOWN, **more: Any) -> register.Wanted:
    goods = wanting.stocked(known, MADE).goods
    return wanting.registered(known, MADE, goods, ["http://us/a"], told(**more), cap=3, seen_at=None, decided_at=NOW)


def with_fields(**changed: Any) -> Known:
    return replace(KNOWN, told=Told({**FIELDS, **changed}))


def test_what_the_market_has_no_number_of_is_not_there() -> None:
    assert [wanting.is_there(one) for one in (None, listing(market_id=""), listing())] == [False, False, True]


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        (["SHOES & BAG", "신발", "스니커즈"], "shoes"),
        (["SHOES & BAG", "가방", "백팩"], "bags"),
        (["ACTIVITY·LIFE", "액티비티", "러닝", "신발"], "shoes"),
        ("여성 > 가방 > 지갑", "bags"),
        (["MEN & WOMEN", "상의", "셔츠"], ""),
        (None, ""),
    ],
)
def test_the_kind_of_goods_is_told_by_the_last_step_that_tells_one(path: Any, kind: str) -> None:
    assert wanting.kind_of({"category": path}) == kind


def test_the_dearest_option_that_can_be_had_is_what_we_may_have_to_pay() -> None:
    assert wanting.purchase(KNOWN, GOODS) == Money(52_000, "KRW")
    assert wanting.purchase(with_fields(price=60_000), GOODS) == Money(60_000, "KRW")
    assert wanting.purchase(with_fields(price=None), Goods(GOODS.options, GOODS.variants[1:])) is None


def test_a_listing_is_asked_for_with_every_option_and_never_more_than_the_cap() -> None:
    found = registered()

    assert found.options == (
        register.Option(register.Axis.COLOR, wanting.ONLY, "네이비", "ネイビー", 8),
        register.Option(register.Axis.SIZE, "S", "S", "S", 2),
        register.Option(register.Axis.SIZE, "M", "M", "M", 3),
    )
    assert found.variants == (
        register.Variant(wanting.ONLY, "S", register.Stock.TO_ORDER, 3),
        register.Variant(wanting.ONLY, "M", register.Stock.OUT),
    )
    assert (found.sku, found.price, found.floor) == ("okmall-500001", Money(11_000, "JPY"), Money(9_000, "JPY"))
    assert (found.style_numbers, found.quote) == (("AB1234-567",), "undercut")


@pytest.mark.parametrize("gone", [{"gone": True}, {"listed": False}])
def test_what_the_mall_has_no_more_is_out_everywhere(gone: dict[str, bool]) -> None:
    assert {one.stock for one in registered(with_fields(**gone)).variants} == {register.Stock.OUT}


def test_a_sold_out_page_is_out_everywhere_whatever_its_options_say() -> None:
    assert {one.stock for one in registered(with_fields(sold_out=True)).variants} == {register.Stock.OUT}


def test_an_option_that_is_not_told_any_more_is_unknown_and_not_sold_out() -> None:
    known = with_fields(options=FIELDS["options"][:1])
    assert registered(known).variants == (
        register.Variant(wanting.ONLY, "S", register.Stock.TO_ORDER, 3),
        register.Variant(wanting.ONLY, "M", register.Stock.UNKNOWN),
    )


def test_a_held_price_is_asked_for_with_no_floor_so_that_no_guard_lets_it_out() -> None:
    found = registered(price=None, floor=None, ceiling=None)
    assert (found.price, found.floor, found.ceiling) == (None, None, None)


@pytest.mark.parametrize(
    ("fields", "in_parts", "in_one"),
    [
        ({}, True, True),
        ({"options": None}, False, True),
        ({"images": None}, False, False),
        ({"sold_out": None}, False, True),
        ({"sold_out": None, "options": None}, False, False),
    ],
)
def test_a_product_is_converted_when_all_its_pages_are_read(
    fields: dict[str, Any], in_parts: bool, in_one: bool
) -> None:
    """Where one page tells all of it, no options are no choice, and options say what there is of each."""
    known = with_fields(**fields)

    assert (known.is_whole(in_parts=True), known.is_whole(in_parts=False)) == (in_parts, in_one)


@pytest.mark.parametrize(
    ("changed", "goods"),
    [
        ({}, "203 AB1234567"),
        ({"model": "ab 1234/567"}, "203 AB1234567"),
        ({"brand_id": 0, "brand_name": "Acme Studio"}, "acme studio AB1234567"),
        ({"brand_id": 0, "brand_name": "A" * 400}, f"{'a' * 300} AB1234567"),
        ({"brand_id": 0}, ""),
        ({"model": ""}, ""),
    ],
)
def test_the_same_goods_are_known_by_brand_and_model_number(changed: dict[str, Any], goods: str) -> None:
    made = msgspec.structs.replace(MADE, **changed)

    assert wanting.goods_of(made) == goods


@pytest.mark.parametrize(
    ("word", "included"), [("included", True), ("refundable", True), ("none", False), ("", None), ("other", None)]
)
def test_price_is_told_what_buyers_are_told_of_duty(word: str, included: bool | None) -> None:
    asked = wanting.priced(KNOWN, MADE, GOODS, replace(ACCOUNT, duty=word), None, currency="JPY", may_raise=True)

    assert asked.duty_included is included


@pytest.mark.parametrize(
    ("said", "told", "methods", "charge"),
    [
        (None, None, (888,), None),
        (1_500, None, (888,), 1_500),
        (None, 800, (888,), 800),
        (1_500, 800, (888,), 800),  # the market's own word
        (1_500, 800, (101,), 1_500),  # the account sends otherwise by now
        (None, 800, (101,), 800),
        (1_500, 0, (888,), 0),
    ],
)
def test_what_buyers_pay_for_shipping_is_the_markets_word_or_else_the_accounts(
    said: int | None, told: int | None, methods: tuple[int, ...], charge: int | None
) -> None:
    account = replace(ACCOUNT, shipping_charge=said)
    there = listing(draft(shipping_methods=methods, price=11_000), shipping_charge=told)

    asked = wanting.priced(KNOWN, MADE, GOODS, account, there, currency="JPY", may_raise=True)

    assert asked.shipping == (None if charge is None else Money(charge, "JPY"))
    assert wanting.asked_total(account, there, "JPY") == Money(11_000 + (charge or 0), "JPY")


@pytest.mark.parametrize(
    ("said", "floor"),
    [
        ({"minimum_resale_price": 84_150}, Money(84_150, "KRW")),
        ({"minimum_resale_price": 99, "currency": "USD"}, Money(99, "USD")),
        ({"minimum_resale_price": 0}, None),
        ({"minimum_resale_price": None}, None),
        ({"minimum_resale_price": "84,150"}, None),
        ({}, None),
    ],
)
def test_price_is_told_the_least_price_that_the_supplier_allows(said: dict[str, Any], floor: Money | None) -> None:
    asked = wanting.priced(with_fields(**said), MADE, GOODS, ACCOUNT, None, currency="JPY", may_raise=True)

    assert asked.resale_floor == floor
