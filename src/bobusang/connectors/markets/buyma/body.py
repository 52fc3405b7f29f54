"""A draft as BUYMA's JSON: every required field each time, the full grid, options in the order of their positions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bobusang.kit import json
from bobusang.stages.register.market import Family, Request
from bobusang.stages.register.model import Axis, Stock

if TYPE_CHECKING:
    from bobusang.stages.register.market import Key
    from bobusang.stages.register.model import Draft, Option, Variant

PRODUCTS = "/api/v1/products.json"
VARIANTS = "/api/v1/products/variants.json"
STOCK_TYPES = {
    Stock.IN_HAND: "stock_in_hand",
    Stock.TO_ORDER: "purchase_for_order",
    Stock.OUT: "out_of_stock",
}
Fields = dict[str, Any]


def put(draft: Draft, key: Key) -> Request:
    """Create or edit: BUYMA knows no partial edit."""
    return _request(Family.PRODUCT, PRODUCTS, {"control": "publish"} | identity(key) | product(draft))


def stock(draft: Draft, key: Key) -> Request:
    """The stock of every variant."""
    told = {"variants": variants(draft), "order_quantity": draft.order_quantity}
    return _request(Family.STOCK, VARIANTS, identity(key) | told)


def withdraw(key: Key) -> Request:
    """Delete."""
    return _request(Family.PRODUCT, PRODUCTS, {"control": "delete"} | identity(key))


def _request(family: Family, path: str, told: Fields) -> Request:
    return Request(family, path, json.dumps({"product": told}))


def identity(key: Key) -> Fields:
    """Our reference always; with an id it overwrites the stored one, so it must be the one we issued."""
    found: Fields = {"id": int(key.market_id)} if key.market_id else {}
    return found | {"reference_number": key.reference}


def product(draft: Draft) -> Fields:
    """All fields of a product. `brand_name` belongs to brand 0 alone, style numbers to every other."""
    told: Fields = {
        "name": draft.name,
        "comments": draft.comments,
        "brand_id": draft.brand_id,
        "category_id": draft.category_id,
        "price": draft.price,
        "available_until": f"{draft.available_until:%Y/%m/%d}",
        "buying_area_id": draft.buying_area,
        "shipping_area_id": draft.shipping_area,
        "shipping_methods": [{"shipping_method_id": method} for method in draft.shipping_methods],
        "images": [{"path": path, "position": place} for place, path in enumerate(draft.images, start=1)],
        "options": options(draft),
        "variants": variants(draft),
        "order_quantity": draft.order_quantity,
    }
    if draft.brand_id == 0:
        told["brand_name"] = draft.brand_name
    elif draft.style_numbers:
        told["style_numbers"] = [{"number": number, "memo": ""} for number in draft.style_numbers]
    optional = {
        "buying_shop_name": draft.shop_name,
        "duty": draft.duty,
        "size_unit": draft.size_unit,
        "colorsize_comments": draft.notes,
    }
    return told | {name: value for name, value in optional.items() if value}


def options(draft: Draft) -> list[Fields]:
    """Positions begin at 1 for each axis and have no gap."""
    return [
        _option(option, place)
        for axis in Axis
        for place, option in enumerate((o for o in draft.options if o.axis is axis), start=1)
    ]


def _option(option: Option, place: int) -> Fields:
    told: Fields = {
        "type": option.axis.value,
        "value": option.market_text,
        "position": place,
        "master_id": option.master_id,
    }
    if option.details:
        told["details"] = [{"key": detail.key, "value": detail.value} for detail in option.details]
    return told


def variants(draft: Draft) -> list[Fields]:
    """Every cell, in the registered spelling."""
    names = {(option.axis, option.key): option.market_text for option in draft.options}
    return [_variant(variant, names) for variant in draft.variants]


def _variant(variant: Variant, names: dict[tuple[Axis, str], str]) -> Fields:
    keys = ((Axis.COLOR, variant.color), (Axis.SIZE, variant.size))
    chosen = [{"type": axis.value, "value": names[axis, key]} for axis, key in keys if (axis, key) in names]
    told: Fields = {"options": chosen, "stock_type": STOCK_TYPES[variant.stock]}
    return told | ({"stocks": variant.count or 0} if variant.stock is Stock.IN_HAND else {})
