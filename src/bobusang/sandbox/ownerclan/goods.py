"""Ownerclan's items: every name of its types, with timestamps in milliseconds and metadata as an object or a text."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

from bobusang.kit import json
from bobusang.sandbox.words import SELLERS

if TYPE_CHECKING:
    from datetime import datetime

    from bobusang.sandbox.ledger import Entry
    from bobusang.sandbox.product import Option, Product, Standing
    from bobusang.sandbox.scene import Scene

LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
KEY_LENGTH = 6
NO_CHOICE = 9999
"""The quantity of what is sold without a choice."""
UNSELLABLE, FIXED, HALTED, OTHERWISE, PROHIBITED = 11, 7, 53, 5, 13
"""One of so many may not be sold on open markets, has a fixed price, is unavailable, calls its colour 종류, may not be
sold any more."""
SHIPPING = ("all", "inAdvance", "uponArrival", "free")


def key_of(no: int) -> str:
    """An item's key: W and six signs."""
    signs = ""
    while no:
        no, rest = divmod(no, len(LETTERS))
        signs = LETTERS[rest] + signs
    return f"W{signs.rjust(KEY_LENGTH, '0')}"


def number_of(key: str) -> int | None:
    """The number of a key; None where it is none."""
    signs = key[1:]
    if len(key) != KEY_LENGTH + 1 or key[0] != "W" or any(sign not in LETTERS for sign in signs):
        return None
    return int(signs, len(LETTERS))


def milliseconds(moment: datetime) -> int:
    """A Timestamp."""
    return int(moment.timestamp() * 1000)


def sellable(product: Product) -> bool:
    """Whether it may be sold on open markets."""
    return product.seed % UNSELLABLE != 0


def prohibited(product: Product) -> bool:
    """Whether selling it has to stop at once; whether it may be sold on open markets says nothing of that."""
    return product.seed % PROHIBITED == 0


def status(product: Product, one: Standing | None) -> str:
    """An ItemStatus."""
    if one is None:
        return "discontinued"
    if product.seed % HALTED == 0:
        return "unavailable"
    return "soldout" if one.sold_out else "available"


def vendor(product: Product) -> str:
    """Who delivers it."""
    return str(7000 + SELLERS.index(product.seller))


def shipping_type(product: Product) -> str:
    """One of those that the manual names, or `all`, which it does not."""
    return "free" if not product.shipping_fee else SHIPPING[product.seed % 3]


def category(product: Product) -> dict[str, Any]:
    path = product.kind.path
    return {
        "__typename": "Category",
        "key": str(product.kind.leaf),
        "name": path[-1],
        "fullName": " > ".join(path),
        "attributes": [],
    }


def item(scene: Scene, entry: Entry) -> dict[str, Any]:
    """An item with every name of its type."""
    product = scene.world.mall("ownerclan").product(entry.no)
    one = scene.standing("ownerclan", entry.no)
    key, price = key_of(entry.no), one.price if one else product.base_price
    is_fixed = product.seed % FIXED == 0
    found: dict[str, Any] = {
        "__typename": "Item",
        "id": "Item," + base64.b64encode(key.encode()).decode(),
        "key": key,
        "createdAt": milliseconds(entry.created),
        "updatedAt": milliseconds(entry.updated),
        "name": one.product.title if one else product.title,
        "model": product.model or None,
        "production": product.brand.en,
        "origin": product.origin[0],
        "isUsed": False,
        "wholessalePrice": price,
        "wholesale": price,
        "price": float(price),
        "pricePolicy": "fixed" if is_fixed else "free",
        "fixedPrice": float(product.list_price) if is_fixed else None,
        "searchKeywords": [product.brand.ko, product.kind.ko],
        "category": category(product),
        "content": f"<center><img src='{pictures(scene.host, product)[0]}'></center><p>{product.name}</p>",
        "shippingFee": product.shipping_fee,
        "shippingType": shipping_type(product),
        "images": pictures(scene.host, product),
        "status": status(product, one),
        "options": options(product, one),
        "isPublic": True,
        "taxFree": False,
        "adultOnly": False,
        "returnable": True,
        "noReturnReason": None,
        "guaranteedShippingPeriod": 2,
        "openmarketSellable": sellable(product),
        "boxQuantity": 1 + product.seed % 5,
        "attributes": ["OPENMARKET"] * sellable(product) + ["PROHIBIT"] * prohibited(product),
        "closingTime": "15:00:00",
        "returnCriteria": None,
        "metadata": metadata(product),
    }
    if scene.world.drifted:
        found["salePrice"] = found.pop("price")
    return found


def options(product: Product, one: Standing | None) -> list[dict[str, Any]]:
    """Its options; without a choice one of the key 0 without attributes."""
    if one is None:
        return []
    if product.single:
        left = 0 if one.sold_out else NO_CHOICE
        return [_option("0", left, one.price, ())]
    pairs = zip(one.options, one.stocks, strict=True)
    return [_option(option.code, left, one.price, attributes(product, option)) for option, left in pairs]


def attributes(product: Product, option: Option) -> tuple[tuple[str, str], ...]:
    """What an option says of itself, under names that the vendor chose."""
    named = (("색상" if product.seed % OTHERWISE else "종류", option.color), ("사이즈", option.size))
    return tuple((name, value) for name, value in named if value)


def _option(key: str, left: int, price: int, attributes: tuple[tuple[str, str], ...]) -> dict[str, Any]:
    return {
        "__typename": "ItemOption",
        "key": key,
        "quantity": left,
        "status": "available" if left else "soldout",
        "optionAttributes": [
            {"__typename": "OptionAttribute", "name": name, "value": value} for name, value in attributes
        ],
        "price": float(price),
        "fixedPrice": None,
        "metadata": {},
    }


def metadata(product: Product) -> Any:
    """An object, or for every third the same as a text."""
    found = {
        "vendorKey": int(vendor(product)),
        "vendorNotice": "",
        "returnAddressCode": f"R{vendor(product)}",
        "smartstoreCategoryCode": str(50_000_000 + product.kind.leaf % 10_000),
        "productNotificationInformation": {"code": "35", "categorySpecific": [], "common": []},
        "certificateInformation": [],
        "returnShippingFee": 3000,
        "grade": str(product.seed % 10),
    }
    return json.dumps(found) if product.seed % 3 == 0 else found


def pictures(host: str, product: Product) -> list[str]:
    """Where its pictures are."""
    return [f"http://{host}/ownerclan/image/product/{key_of(product.no)}_{n}.jpg" for n in range(product.pictures)]
