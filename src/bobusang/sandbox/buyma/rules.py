"""Which products BUYMA takes: every rule of its fields that can be judged without looking at what is stored."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from bobusang.sandbox.buyma import grid, text
from bobusang.sandbox.buyma.masters import Masters, masters
from bobusang.sandbox.buyma.problem import Problems, Told

if TYPE_CHECKING:
    from collections.abc import Mapping

    Fields = Mapping[str, Any]

DAYS = 90
MOST_IMAGES, MOST_SHOPS = 20, 15
LOCKED = (
    *("name", "brand_id", "brand_name", "category_id"),
    *("buying_area_id", "buying_shop_name", "shipping_area_id"),
)
"""What cannot be changed once a product was public."""
LABELS = {
    "control": "コントロール",
    "name": "商品名",
    "comments": "商品コメント",
    "brand_id": "ブランドID",
    "brand_name": "ブランド名",
    "category_id": "カテゴリID",
    "price": "商品価格",
    "available_until": "購入期限",
    "buying_area_id": "買付地",
    "buying_shop_name": "買付先ショップ名",
    "shipping_area_id": "発送地",
    "images": "画像",
    "shipping_methods": "配送方法",
    "options": "色・サイズ",
    "variants": "販売可否/在庫",
    "colorsize_comments": "色・サイズ補足情報",
}
REQUIRED = (
    *("name", "comments", "brand_id", "category_id", "price", "available_until", "buying_area_id"),
    *("shipping_area_id", "images", "shipping_methods", "options", "variants"),
)
ENTRIES = ("images", "shipping_methods", "style_numbers", "options", "variants", "shop_urls", "tags")
TEXTS = (
    *("reference_number", "name", "comments", "brand_name", "available_until", "buying_area_id", "buying_shop_name"),
    *("shipping_area_id", "buyer_notes", "duty", "size_unit", "colorsize_comments"),
)
NUMBERS = (
    *("id", "brand_id", "model_id", "category_id", "theme_id", "season_id", "price"),
    *("regular_price", "reference_price", "order_quantity"),
)


class Control(StrEnum):
    """What a request wants."""

    PUBLISH = "publish"
    DRAFT = "draft"
    SUSPEND = "suspend"
    DELETE = "delete"


@dataclass(frozen=True, slots=True)
class Counter:
    """What a request is judged by besides its own fields."""

    today: date
    methods: frozenset[int]
    """The seller's own shipping methods."""
    suspends: bool = True
    """Whether `suspend` is taken at all: one seller's account refused it."""


def judged(product: Fields, counter: Counter) -> Told:
    """What is wrong with a product; nothing when it is accepted."""
    found = Problems()
    _identity(product, found)
    control = product.get("control")
    if control not in tuple(Control) or (control == Control.SUSPEND and not counter.suspends):
        found.add("control", "コントロールは不正な値です。")
    if not _shaped(product, found) or control == Control.DELETE:
        return found.told()
    _required(product, found)
    for rule in (_texts, _brand, _category, _money, _lists, _images, _styles, _shops):
        rule(product, masters(), found)
    _until(product, counter, found)
    _methods(product, counter, found)
    grid.judge(product, masters(), found)
    return found.told()


def judged_stock(product: Fields) -> Told:
    """What is wrong with a call that only tells stock."""
    found = Problems()
    _identity(product, found)
    if _shaped(product, found):
        if not product.get("variants"):
            found.add("variants", "販売可否/在庫を入力してください。")
        grid.judge_stock(product, found)
    return found.told()


def _identity(product: Fields, found: Problems) -> None:
    if product.get("id") is None and not product.get("reference_number"):
        found.add("identity_requirements", "商品IDまたは商品管理番号を入力してください。")


def _shaped(product: Fields, found: Problems) -> bool:
    """Whether everything is of its type, so that the rules need not ask."""
    wrong = {name: "文字列で入力してください。" for name in TEXTS if not isinstance(product.get(name), str | None)}
    wrong |= {name: "数値で入力してください。" for name in NUMBERS if not _is_number(product.get(name))}
    wrong |= {name: "不正な値です。" for name in ENTRIES if not _is_list(product.get(name))}
    for name, why in wrong.items():
        found.add(name, f"{_label(name)}は{why}")
    return not wrong


def _is_number(value: object) -> bool:
    return value is None or (isinstance(value, int) and not isinstance(value, bool))


def _is_list(value: object) -> bool:
    return value is None or (isinstance(value, list) and all(_is_entry(one) for one in value))


def _is_entry(value: object) -> bool:
    """Whether it is an object of plain values, but for the lists that `grid` reads itself."""
    return isinstance(value, dict) and not any(
        isinstance(part, dict | list) for name, part in value.items() if name not in ("options", "details")
    )


def _required(product: Fields, found: Problems) -> None:
    for name in REQUIRED:
        if product.get(name) in (None, "", []):
            found.add(name, f"{_label(name)}を入力してください。")


def _texts(product: Fields, lists: Masters, found: Problems) -> None:
    for name in ("name", "comments", "colorsize_comments", "brand_name"):
        if text.is_refused(product.get(name) or ""):
            found.add(name, f"{_label(name)}に使用できない文字が含まれています。")
    for name, most in (("name", 60), ("buying_shop_name", 30)):
        if text.width((product.get(name) or "").rstrip()) > most:
            found.add(name, f"{_label(name)}は半角{most}文字以内で入力してください。")
    for name, most in (("comments", 3000), ("colorsize_comments", 1000)):
        if len(product.get(name) or "") > most:
            found.add(name, f"{_label(name)}は{most}文字以内で入力してください。")
    if text.has_markup(product.get("comments") or ""):
        found.add("comments", "商品コメントにHTMLタグは使用できません。")


def _brand(product: Fields, lists: Masters, found: Problems) -> None:
    brand, name = product.get("brand_id"), product.get("brand_name")
    if brand is None:
        return
    if brand == 0:
        if not name:
            found.add("brand_name", "ブランド名を入力してください。")
    elif brand not in lists.brands:
        found.add("brand_id", "ブランドIDは存在しないブランドIDです。")
    elif lists.brands[brand][1]:
        found.add("brand_id", "ブランドIDは出品が制限されているブランドです。")
    if brand and name:
        found.add("brand_name", "ブランド名はブランドを指定しない場合に設定できます。")
    model = product.get("model_id")
    if model is not None and lists.models.get(model, (None,))[0] != brand:
        found.add("model_id", "モデルIDは不正な値です。")


def _category(product: Fields, lists: Masters, found: Problems) -> None:
    category = product.get("category_id")
    if category is None:
        return
    if category not in lists.categories:
        found.add("category_id", "カテゴリIDは存在しないカテゴリIDです。")
    elif lists.categories[category].limited:
        found.add("category_id", "カテゴリIDは出品が制限されているカテゴリです。")


def _money(product: Fields, lists: Masters, found: Problems) -> None:
    price, reference = product.get("price"), product.get("reference_price")
    if price is not None and not 0 < price < 100_000_000:
        found.add("price", "商品価格は不正な値です。")
    if price is not None and reference is not None and reference <= price:
        found.add("reference_price", "参考価格は商品価格より高い金額を入力してください。")


def _lists(product: Fields, lists: Masters, found: Problems) -> None:
    for name, known in (("theme_id", lists.themes), ("season_id", lists.seasons)):
        value = product.get(name)
        if value is not None and value not in known:
            found.add(name, f"{_label(name)}は不正な値です。")
    for name in ("buying_area_id", "shipping_area_id"):
        if product.get(name) and product[name] not in lists.areas:
            found.add(name, f"{_label(name)}は不正な値です。")
    if product.get("duty") not in (None, "none", "included", "refundable"):
        found.add("duty", "関税は不正な値です。")
    if product.get("size_unit") not in (None, *lists.units):
        found.add("size_unit", "サイズの単位は不正な値です。")
    for index, tag in enumerate(product.get("tags") or ()):
        if lists.tags.get(tag.get("tag_id"), ("", None))[1] != product.get("category_id"):
            found.at("tags", index, "tag_id", "タグIDは不正な値です。")


def _images(product: Fields, lists: Masters, found: Problems) -> None:
    images = product.get("images") or ()
    if len(images) > MOST_IMAGES:
        found.add("images", f"画像は{MOST_IMAGES}件以内で入力してください。")
    positions = [image.get("position") for image in images]
    if set(positions) != set(range(1, len(images) + 1)):
        found.add("images", "表示位置番号は歯抜けができないように1から連番で入力してください。")
    for index, image in enumerate(images):
        if not _is_address(image.get("path")):
            found.at("images", index, "path", "画像のURLは不正な値です。")


def _styles(product: Fields, lists: Masters, found: Problems) -> None:
    for index, style in enumerate(product.get("style_numbers") or ()):
        number = style.get("number")
        if product.get("brand_id") == 0:
            found.at("style_numbers", index, "number", "品番はブランドを指定した場合に設定できます。")
        if not isinstance(number, str) or not number:
            found.at("style_numbers", index, "number", "品番を入力してください。")
        elif len(number) > 40:
            found.at("style_numbers", index, "number", "品番は40文字以内で入力してください。")


def _shops(product: Fields, lists: Masters, found: Problems) -> None:
    shops = product.get("shop_urls") or ()
    if len(shops) > MOST_SHOPS:
        found.add("shop_urls", "買付先は15件以内で入力してください。")
    for index, shop in enumerate(shops):
        if not _is_address(shop.get("url")):
            found.at("shop_urls", index, "url", "買付先URLは不正な値です。")
        if len(str(shop.get("description") or "")) > 200:
            found.at("shop_urls", index, "description", "買付先の説明は200文字以内で入力してください。")


def _until(product: Fields, counter: Counter, found: Problems) -> None:
    given = product.get("available_until")
    if not given:
        return
    day = until(given)
    if day is None:
        found.add("available_until", "購入期限はYYYY/MM/DDの形式で入力してください。")
    elif not counter.today <= day <= counter.today + timedelta(days=DAYS):
        found.add("available_until", f"購入期限は本日から{DAYS}日以内で入力してください。")


def until(given: str) -> date | None:
    """The last day of an offer, as the specification writes it; None when it is written otherwise."""
    try:
        return datetime.strptime(given, "%Y/%m/%d").date()  # noqa: DTZ007 - a day of Tokyo's calendar
    except ValueError:
        return None


def _methods(product: Fields, counter: Counter, found: Problems) -> None:
    for index, method in enumerate(product.get("shipping_methods") or ()):
        if method.get("shipping_method_id") not in counter.methods:
            found.at("shipping_methods", index, "shipping_method_id", "配送方法IDは不正な値です。")


def _is_address(value: object) -> bool:
    return isinstance(value, str) and value.startswith(("http://", "https://")) and len(value) < 2000


def _label(name: str) -> str:
    return LABELS.get(name, name)
