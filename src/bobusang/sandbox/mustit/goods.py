"""What MustIt's answers share: prices as text and as numbers, categories, pictures."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bobusang.sandbox.product import Product, Standing
    from bobusang.sandbox.words import Kind

LARGE = {"top": ("15", "의류"), "bottom": ("15", "의류"), "shoes": ("17", "신발"), "one": ("16", "가방")}
HEADER = {"M": ("M", "남성"), "F": ("W", "여성"), "U": ("M", "남성")}


@dataclass(frozen=True, slots=True)
class Category:
    """Three levels: code and name of each."""

    large: tuple[str, str]
    medium: tuple[str, str]
    small: tuple[str, str]


def category(kind: Kind) -> Category:
    """Where a kind of goods stands."""
    large = LARGE[kind.sizes]
    medium = f"{large[0]}r{kind.leaf % 20 + 1:02}"
    return Category(large, (medium, kind.path[1]), (f"{medium}r01", kind.path[-1]))


def pictures(host: str, product: Product, shape: str) -> list[str]:
    """The addresses of a product's pictures in one shape."""
    folder = f"http://{host}/mustit-image/lib/upload/product/{product.seller}/2025/11"
    names = [blake2b(f"{product.no}-{n}".encode(), digest_size=16).hexdigest() for n in range(product.pictures)]
    return [f"{folder}/{name}.jpeg/_dims_/{shape}" for name in names]


def landing(host: str, no: int) -> str:
    """The page that people see."""
    return f"http://{host}/mustit/v2/m/product/product_detail/{no}"


def rate(one: Standing) -> int:
    """By how many per cent it is cheaper than it was."""
    return 100 * (one.product.list_price - one.price) // one.product.list_price


def selling(one: Standing) -> int:
    """The price before the last discount."""
    return min(one.product.list_price, one.price * 110 // 100 // 100 * 100)
