"""What Musinsa's answers share: brands as slugs, categories, relative pictures, and the companies that sell."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from bobusang.sandbox.chance import drawn
from bobusang.sandbox.words import SELLER_TITLES, SELLERS

if TYPE_CHECKING:
    from bobusang.sandbox.product import Option, Product, Standing
    from bobusang.sandbox.words import Brand, Kind

CATEGORIES = {"상의": "001", "아우터": "002", "하의": "003", "가방": "004", "소품": "101", "신발": "103"}
GENDERS = {"M": ("남성", "M"), "F": ("여성", "W"), "U": ("공용", "A")}
COUPON, COVER = 70, 71
"""What a number is drawn for."""


def slug(brand: Brand) -> str:
    """A brand as addresses write it."""
    return re.sub(r"[^a-z0-9]", "", brand.en.lower())


def depths(kind: Kind) -> tuple[tuple[str, str], tuple[str, str]]:
    """Two levels: code and name of each."""
    words = {"top": "상의", "bottom": "하의", "shoes": "신발"}
    outer = kind.path[1] in ("아우터", "아웃도어")
    name = "아우터" if outer else words.get(kind.sizes) or ("가방" if kind.path[1] == "가방" else "소품")
    code = CATEGORIES[name]
    return (code, name), (f"{code}{kind.leaf % 1000:03}", kind.ko)


def cover(product: Product) -> str:
    """The picture of the list, without a host; no other picture of the product is the same."""
    return f"/images/goods_img/20260101/{product.no}/{product.no}_{product.no * 7919 % 10**17:017}_500.jpg"


def gallery(product: Product) -> list[str]:
    """The other pictures."""
    folder = f"/images/prd_img/20260101/{product.no}"
    return [f"{folder}/detail_{product.no}_{n}_500.jpg" for n in range(1, product.pictures)]


def final(one: Standing) -> int:
    """What who has the coupon pays."""
    percent = 95 if drawn(one.product.seed, COUPON) % 3 == 0 else 100
    return one.price * percent // 100 // 10 * 10


def rate(one: Standing) -> int:
    """By how many per cent it is cheaper than it was."""
    return 100 * (one.product.list_price - one.price) // one.product.list_price


def surcharge(product: Product, option: Option) -> int:
    """What an option costs beyond the product's price: the largest of some."""
    dear = product.seed % 6 == 0 and len(product.options) > 2
    return 5000 if dear and option == product.options[-1] else 0


def company(seller: str) -> dict[str, Any]:
    """Who sells it, as the law wants it told."""
    place = SELLERS.index(seller)
    return {
        "name": f"(주){SELLER_TITLES.get(seller, seller)}",
        "ceoName": f"대표{place}",
        "businessNumber": f"{100 + place}-81-{10_000 + place * 37}",
        "mailOrderReportNumber": f"2020-서울성동-{1000 + place:05}",
        "phoneNumber": f"02-5550-{1000 + place}",
        "email": f"cs@{seller.lower().replace('_', '-')}.example",
        "address": "서울 성동구 아차산로",
        "detailAddress": f"{place + 1}층",
    }
