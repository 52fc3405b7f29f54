"""The options of a product and its whole colour × size grid, as BUYMA demands them."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any

from bobusang.sandbox.buyma import text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bobusang.sandbox.buyma.masters import Masters
    from bobusang.sandbox.buyma.problem import Problems

    Fields = Mapping[str, Any]

TYPES = ("color", "size")
MOST_WIDTH = 26
HOLE = "販売可否/在庫に必要なすべての選択がありません。"
Cell = tuple[str, str]
"""Colour and size."""


class StockType(StrEnum):
    """Whether and how a variant is sold."""

    IN_HAND = "stock_in_hand"
    FOR_ORDER = "purchase_for_order"
    OUT = "out_of_stock"


def judge(product: Fields, lists: Masters, found: Problems) -> None:
    """What is wrong with options, variants and order quantity."""
    options = product.get("options") or ()
    for index, option in enumerate(options):
        _option(index, option, product.get("category_id"), lists, found)
    for kind in TYPES:
        _kind(kind, [one for one in options if one.get("type") == kind], found)
    cells = _cells(product.get("variants") or (), found)
    if options and sorted(cells) != sorted(wanted(options)):
        found.add("variants", HOLE)
    judge_stock(product, found)


def judge_stock(product: Fields, found: Problems) -> None:
    """What is wrong with the stock of the variants and the order quantity."""
    variants, quantity = product.get("variants") or (), product.get("order_quantity")
    for index, variant in enumerate(variants):
        _stock(index, variant, found)
    kinds = {variant.get("stock_type") for variant in variants}
    if kinds == {StockType.OUT}:
        if quantity != 0:
            found.add("order_quantity", "在庫がない場合、買付可数量は0を入力してください。")
    elif StockType.FOR_ORDER in kinds and not quantity:
        found.add("order_quantity", "買付可数量を入力してください。")
    if quantity is not None and quantity < 0:
        found.add("order_quantity", "買付可数量は0以上で入力してください。")


def wanted(options: Sequence[Fields]) -> list[Cell]:
    """Every cell of the grid."""
    values = {kind: [str(one.get("value")) for one in options if one.get("type") == kind] for kind in TYPES}
    return [(color, size) for color in values["color"] for size in values["size"]]


def cell(variant: Fields) -> Cell:
    """Which cell a variant is; blank where it does not say."""
    options = variant.get("options")
    told = [one for one in options if isinstance(one, dict)] if isinstance(options, list) else []
    chosen = {str(one.get("type")): str(one.get("value")) for one in told}
    return chosen.get("color", ""), chosen.get("size", "")


def is_out(variants: Sequence[Fields]) -> bool:
    """Whether nothing of it can be bought."""
    return all(variant.get("stock_type") == StockType.OUT for variant in variants)


def _option(index: int, option: Fields, category_id: object, lists: Masters, found: Problems) -> None:
    value, kind, master = option.get("value"), option.get("type"), option.get("master_id")
    if kind not in TYPES:
        found.at("options", index, "type", "種類は不正な値です。")
    if not isinstance(value, str) or not value:
        found.at("options", index, "value", "名称を入力してください。")
    elif text.width(value) > MOST_WIDTH:
        found.at("options", index, "value", f"名称は半角{MOST_WIDTH}文字以内で入力してください。")
    elif text.is_refused(value):
        found.at("options", index, "value", "名称に使用できない文字が含まれています。")
    category = lists.categories.get(category_id) if isinstance(category_id, int) else None
    if category is None:
        return  # the category is wrong, and that is said already
    if master not in (lists.colors if kind == "color" else category.sizes):
        found.at("options", index, "master_id", "マスタIDは不正な値です。")
    _details(index, option.get("details") or (), category.measures, lists, found)


def _details(index: int, details: object, allowed: Sequence[str], lists: Masters, found: Problems) -> None:
    if not isinstance(details, list | tuple) or not all(isinstance(one, dict) for one in details):
        found.at("options", index, "details", "サイズ詳細は不正な値です。")
        return
    for detail in details:
        key = str(detail.get("key"))
        if key in allowed:
            continue
        if key in lists.measures:
            found.at("options", index, "details", f"項目に指定できない項目({key})が入力されています。")
        else:
            found.at("options", index, "details", f"項目の「{key}」は不正です。")


def _kind(kind: str, options: Sequence[Fields], found: Problems) -> None:
    positions = [one.get("position") for one in options]
    values = [one.get("value") for one in options]
    if sorted(str(one) for one in positions) != sorted(str(n) for n in range(1, len(options) + 1)):
        found.add("options", "表示位置番号は歯抜けができないように種類ごとに1から連番で入力してください。")
    if len(set(map(str, values))) != len(values):
        found.add("options", "名称が重複しています。")
    free = [value for value in values if isinstance(value, str) and kind == "size" and text.is_free(value)]
    if free and len(values) > 1:
        found.add("options", "FREEと他のサイズは同時に指定できません。")


def _cells(variants: Sequence[Fields], found: Problems) -> list[Cell]:
    cells = [cell(variant) for variant in variants]
    if len(set(cells)) != len(cells):
        found.add("variants", "販売可否/在庫が重複しています。")
    return cells


def _stock(index: int, variant: Fields, found: Problems) -> None:
    kind, stocks = variant.get("stock_type"), variant.get("stocks")
    if kind not in set(StockType):
        found.at("variants", index, "stock_type", "在庫タイプは不正な値です。")
    elif kind == StockType.IN_HAND:
        if not isinstance(stocks, int) or isinstance(stocks, bool) or stocks < 0:
            found.at("variants", index, "stocks", "手元に在庫ありの場合、在庫数を入力してください。")
    elif stocks is not None:
        found.at("variants", index, "stocks", "在庫数は手元に在庫ありの場合に入力できます。")
