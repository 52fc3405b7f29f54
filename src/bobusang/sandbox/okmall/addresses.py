"""Where OKmall's pages and pictures are, on the host that was asked."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from bobusang.sandbox.words import category

if TYPE_CHECKING:
    from bobusang.sandbox.product import Product

STAMP = 1_751_260_768


def picture(host: str, no: int, name: str, folder: str = "") -> str:
    """A picture, without a scheme, as the mall writes it."""
    return f"//{host}/okimg/{folder}{no // 500 * 500}/img{no}_{name}.JPG?t={STAMP + no}"


def pictures(host: str, product: Product) -> list[str]:
    """All large pictures of a product."""
    others = max(0, product.pictures - 2)
    found = [picture(host, product.no, "big"), picture(host, product.no, "big_1")]
    found += [picture(host, product.no, f"other{n}_big", "other") for n in range(others)]
    return [f"http:{address}/okresize/resize/590" for address in found[: product.pictures]]


def view(product: Product) -> str:
    """A product's page as a list links to it."""
    cate, uni = category(product.kind.path), "F" if product.gender == "F" else "M"
    return f"/okmall/products/view?no={product.no}&item_type=&cate={cate}&uni={uni}"


def brand_list(name: str) -> str:
    """A brand's list."""
    return f"/okmall/products/list?brand={quote(name, safe='')}"
