"""What W Concept's answers share: codes of brands and categories, pictures without a scheme, who sells."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING

from bobusang.sandbox.chance import drawn
from bobusang.sandbox.words import SELLER_TITLES, SELLERS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bobusang.sandbox.product import Option, Product, Standing
    from bobusang.sandbox.words import Brand, Kind

MEDIUMS = {"M33439436": ("F", "여성"), "M65439436": ("M", "남성")}
"""The code of a gender's department: the letter of its goods, and its name. Goods for all stand in both."""
LARGE = {"top": ("001", "의류"), "bottom": ("001", "의류"), "shoes": ("003", "신발"), "one": ("002", "가방")}
ON_SALE, SOLD_OUT = "01", "04"
COUPON = 70
FOLDERS = 100


@dataclass(frozen=True, slots=True)
class Vendor:
    """Who sells it, as the law wants it told."""

    code: str
    company: str
    boss: str
    place: str
    number: str
    phone: str
    email: str


def brand_code(brand: Brand) -> str:
    """A brand as lists are asked for it."""
    return str(100_001 + brand.index * 13)


def department(product: Product) -> tuple[str, str]:
    """Code and name of the department that its page names."""
    return next((code, name) for code, (letter, name) in MEDIUMS.items() if product.gender in (letter, "U"))


def depths(kind: Kind) -> tuple[str, ...]:
    """The names of its categories below the department."""
    return (LARGE[kind.sizes][1], kind.path[-1])


def picture(host: str, no: int, place: int, shape: int = 9) -> str:
    """A picture, without a scheme: shape 9 is the large one, 0 the middle one."""
    name = blake2b(f"{no}-{place}".encode(), digest_size=3).hexdigest().upper()
    return f"//{host}/wconcept/image/productimg/image/img{shape}/{no % FOLDERS:02}/{no}_{name}{place}.jpg"


def final(one: Standing) -> int:
    """The price with the coupon that everybody is shown."""
    percent = 90 if drawn(one.product.seed, COUPON) % 3 == 0 else 100
    return one.price * percent // 100 // 10 * 10


def rate(one: Standing) -> int:
    """By how many per cent it is cheaper than it was."""
    return 100 * (one.product.list_price - one.price) // one.product.list_price


def depth(product: Product) -> int:
    """How many choices follow each other: none, a size, or a colour and then a size."""
    if product.single:
        return 0
    return 1 if len({option.color for option in product.options}) == 1 else 2


def first_choices(product: Product, options: Sequence[Option]) -> list[tuple[str, str]]:
    """Number and name of what is chosen first."""
    if depth(product) == 1:
        return [(option.code, option.size) for option in options]
    colors = dict.fromkeys(option.color for option in options)
    return [(f"{place:02}", color) for place, color in enumerate(colors, 1)]


def vendor(seller: str) -> Vendor:
    """The company behind a seller."""
    place = SELLERS.index(seller)
    return Vendor(
        f"V{10_000 + place}",
        f"주식회사 {SELLER_TITLES.get(seller, seller)}",
        f"대표{place}",
        f"서울 강남구 테헤란로 {place + 1}",
        f"{200 + place}-86-{20_000 + place * 41}",
        f"02-6660-{2000 + place}",
        f"help@{seller.lower().replace('_', '-')}.example",
    )
