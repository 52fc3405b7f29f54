"""Every rule of a product, told in BUYMA's own words; each is a refusal that a real shop met."""

from __future__ import annotations

import copy
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bobusang.sandbox.buyma import rules
from bobusang.sandbox.buyma.grid import HOLE
from bobusang.sandbox.buyma.rules import Counter, judged, judged_stock
from bobusang.sandbox.buyma.text import is_free, is_refused, width

COUNTER = Counter(date(2026, 11, 16), frozenset({888}))
BODY: dict[str, Any] = {
    "control": "publish",
    "reference_number": "REF-0001",
    "name": "NIKE ハーフジップ",
    "comments": "丁寧に発送します。",
    "brand_id": 203,
    "category_id": 3064,
    "price": 22500,
    "available_until": "2026/12/31",
    "buying_area_id": "2002003000",
    "shipping_area_id": "2002003000",
    "shipping_methods": [{"shipping_method_id": 888}],
    "images": [{"path": "https://example.org/1.jpg", "position": 1}],
    "options": [
        {"type": "size", "value": "S", "position": 1, "master_id": 2},
        {"type": "size", "value": "M", "position": 2, "master_id": 3},
        {"type": "color", "value": "White", "position": 1, "master_id": 1},
    ],
    "variants": [
        {
            "options": [{"type": "size", "value": size}, {"type": "color", "value": "White"}],
            "stock_type": "purchase_for_order",
        }
        for size in ("S", "M")
    ],
    "order_quantity": 3,
}
GAP = "表示位置番号は歯抜けができないように1から連番で入力してください。"
NO_STYLE = "品番はブランドを指定した場合に設定できます。"
OUT = [{**variant, "stock_type": "out_of_stock"} for variant in BODY["variants"]]

OUT_BODY = {"variants": OUT, "order_quantity": 0}


def told(**changes: Any) -> dict[str, Any]:
    return judged({**copy.deepcopy(BODY), **changes}, COUNTER)


def sizes(*values: str) -> dict[str, Any]:
    """Options and variants of these sizes in white."""
    options = [
        {"type": "size", "value": value, "position": place, "master_id": 99} for place, value in enumerate(values, 1)
    ]
    variants = [
        {
            "options": [{"type": "size", "value": value}, {"type": "color", "value": "White"}],
            "stock_type": "out_of_stock",
        }
        for value in values
    ]
    return {"options": [*options, BODY["options"][2]], "variants": variants, "order_quantity": 0}


def detailed(key: str) -> list[dict[str, Any]]:
    return [{**BODY["options"][0], "details": [{"key": key, "value": "50"}]}, *BODY["options"][1:]]


def test_the_example_of_the_specification_is_taken() -> None:
    assert told() == {}


@pytest.mark.parametrize("name", rules.REQUIRED)
def test_no_required_field_may_be_left_out(name: str) -> None:
    found = judged({key: value for key, value in BODY.items() if key != name}, COUNTER)

    assert found[name][0] == f"{rules.LABELS[name]}を入力してください。"


@pytest.mark.parametrize(
    ("changes", "errors"),
    [
        ({"reference_number": None}, {"identity_requirements": ["商品IDまたは商品管理番号を入力してください。"]}),
        ({"reference_number": None, "id": 5}, {}),
        ({"control": "hide"}, {"control": ["コントロールは不正な値です。"]}),
        ({"name": "あ" * 30 + " "}, {}),
        ({"name": "あ" * 30 + "a"}, {"name": ["商品名は半角60文字以内で入力してください。"]}),
        ({"name": "나이키 NIKE"}, {"name": ["商品名に使用できない文字が含まれています。"]}),
        ({"comments": "a\u00a0b"}, {"comments": ["商品コメントに使用できない文字が含まれています。"]}),
        ({"comments": "a" * 3001}, {"comments": ["商品コメントは3000文字以内で入力してください。"]}),
        ({"comments": "<b>新作</b>"}, {"comments": ["商品コメントにHTMLタグは使用できません。"]}),
        (
            {"colorsize_comments": "색상"},
            {"colorsize_comments": ["色・サイズ補足情報に使用できない文字が含まれています。"]},
        ),
        (
            {"buying_shop_name": "あ" * 16},
            {"buying_shop_name": ["買付先ショップ名は半角30文字以内で入力してください。"]},
        ),
        ({"category_id": 0}, {"category_id": ["カテゴリIDは存在しないカテゴリIDです。"]}),
        ({"brand_id": 1}, {"brand_id": ["ブランドIDは存在しないブランドIDです。"]}),
        ({"brand_id": 245}, {"brand_id": ["ブランドIDは出品が制限されているブランドです。"]}),
        ({"brand_id": 0}, {"brand_name": ["ブランド名を入力してください。"]}),
        ({"brand_id": 0, "brand_name": "SALOMON"}, {}),
        ({"brand_name": "NIKE"}, {"brand_name": ["ブランド名はブランドを指定しない場合に設定できます。"]}),
        ({"price": "22500"}, {"price": ["商品価格は数値で入力してください。"]}),
        ({"reference_price": 22500}, {"reference_price": ["参考価格は商品価格より高い金額を入力してください。"]}),
        ({"reference_price": 22501}, {}),
        ({"available_until": "2027/02/14"}, {}),
        ({"available_until": "2027/02/15"}, {"available_until": ["購入期限は本日から90日以内で入力してください。"]}),
        ({"available_until": "2026/11/15"}, {"available_until": ["購入期限は本日から90日以内で入力してください。"]}),
        ({"available_until": "2026-12-31"}, {"available_until": ["購入期限はYYYY/MM/DDの形式で入力してください。"]}),
        ({"duty": "paid"}, {"duty": ["関税は不正な値です。"]}),
        (
            {"images": [{"path": "https://a/1", "position": 1}, {"path": "https://a/2", "position": 3}]},
            {"images": [GAP]},
        ),
        (
            {"images": [{"path": "https://a/1", "position": n} for n in range(1, 22)]},
            {"images": ["画像は20件以内で入力してください。"]},
        ),
        (
            {"style_numbers": [{"number": "A" * 41}]},
            {"style_numbers": {"0": {"number": ["品番は40文字以内で入力してください。"]}}},
        ),
        (
            {"brand_id": 0, "brand_name": "X", "style_numbers": [{"number": "A1"}]},
            {"style_numbers": {"0": {"number": [NO_STYLE]}}},
        ),
        ({"shop_urls": [{"url": "https://a"}] * 16}, {"shop_urls": ["買付先は15件以内で入力してください。"]}),
        (
            {"shop_urls": [{"url": "https://a"}, {"url": "https://a"}, {"url": "https://a", "description": "a" * 201}]},
            {"shop_urls": {"2": {"description": ["買付先の説明は200文字以内で入力してください。"]}}},
        ),
        (
            {"shipping_methods": [{"shipping_method_id": 1}]},
            {"shipping_methods": {"0": {"shipping_method_id": ["配送方法IDは不正な値です。"]}}},
        ),
        ({"variants": BODY["variants"][:1]}, {"variants": [HOLE]}),
        ({"options": detailed("肩幅")}, {}),
        (
            {"options": detailed("ヒールの高さ")},
            {"options": {"0": {"details": ["項目に指定できない項目(ヒールの高さ)が入力されています。"]}}},
        ),
        ({"options": detailed("重さ")}, {"options": {"0": {"details": ["項目の「重さ」は不正です。"]}}}),
        (sizes("FREE"), {}),
        (sizes("FREE", "S"), {"options": ["FREEと他のサイズは同時に指定できません。"]}),
        (sizes("あ" * 13), {}),
        (sizes("あ" * 14), {"options": {"0": {"value": ["名称は半角26文字以内で入力してください。"]}}}),
        ({"order_quantity": None}, {"order_quantity": ["買付可数量を入力してください。"]}),
        ({"variants": OUT}, {"order_quantity": ["在庫がない場合、買付可数量は0を入力してください。"]}),
        ({"variants": OUT, "order_quantity": 0}, {}),
    ],
)
def test_a_product_is_judged_field_by_field(changes: dict[str, Any], errors: dict[str, Any]) -> None:
    assert told(**changes) == errors


def test_deleting_needs_only_the_wish_and_who_is_meant() -> None:
    assert judged({"control": "delete", "id": 5}, COUNTER) == {}
    assert judged({"control": "delete", "id": [5]}, COUNTER) == {"id": ["idは数値で入力してください。"]}
    assert judged({"control": "suspend", "id": 5}, Counter(COUNTER.today, COUNTER.methods, False))["control"]


def test_a_stock_call_needs_variants_and_a_quantity_that_fits_them() -> None:
    assert judged_stock({"reference_number": "R", "variants": OUT, "order_quantity": 0}) == {}
    assert judged_stock({"variants": OUT, "order_quantity": 1}) == {
        "identity_requirements": ["商品IDまたは商品管理番号を入力してください。"],
        "order_quantity": ["在庫がない場合、買付可数量は0を入力してください。"],
    }
    in_hand = {**OUT[0], "stock_type": "stock_in_hand"}
    assert judged_stock({"id": 1, "variants": [in_hand, {**OUT[1], "stocks": 2}]}) == {
        "variants": {
            "0": {"stocks": ["手元に在庫ありの場合、在庫数を入力してください。"]},
            "1": {"stocks": ["在庫数は手元に在庫ありの場合に入力できます。"]},
        }
    }


scalars = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
anything = st.recursive(
    scalars,
    lambda more: (
        st.lists(more, max_size=2)
        | st.dictionaries(st.sampled_from(["type", "value", "options", "details", "position", "tag_id"]), more)
    ),
)


@given(st.sampled_from([*rules.ENTRIES, *rules.TEXTS, *rules.NUMBERS, "control"]), anything)
def test_no_value_whatever_breaks_the_judge(name: str, value: object) -> None:
    found = judged({**BODY, name: value}, COUNTER) | judged_stock({"id": 1, **OUT_BODY, name: value})

    assert all(isinstance(texts, list | dict) for texts in found.values())


@given(st.text(st.characters(max_codepoint=0x7F)), st.text(st.sampled_from("あ漢ア！")), st.text(st.sampled_from("ｱｲﾞ")))
def test_full_width_counts_twice(ascii: str, full: str, kana: str) -> None:
    assert width(ascii + full + kana) == len(ascii) + 2 * len(full) + len(kana)


def test_every_way_to_write_hangul_and_one_size() -> None:
    assert [is_refused(text) for text in ("가", "ㄱ", "\u1100", "a\u00a0", "アA１ é")] == [
        True,
        True,
        True,
        True,
        False,
    ]
    assert [is_free(text) for text in ("FREE", "one size", "Free Size", "フリー", "F", "S", "38")] == [True] * 5 + [
        False
    ] * 2
