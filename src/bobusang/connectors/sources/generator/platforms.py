"""Platforms that are known by their marks: a shop on one is a few lines that extend it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

from bobusang.connectors.sources.generator.proposal import NAME, Proposal, one_line, quoted
from bobusang.kit.money import CURRENCIES
from bobusang.stages.collect.source import Target

if TYPE_CHECKING:
    from bobusang.connectors.sources.generator.sample import Sample


@dataclass(frozen=True, slots=True)
class Recognised:
    """A platform, by which marks, and the list to look at where the page itself is none."""

    platform: str
    marks: tuple[str, ...]
    proposal: Proposal | None = None
    follow: str = ""
    """An address that shows its list."""


CAFE24 = {
    "boxes anchorBoxId_": re.compile(r"id=[\"']anchorBoxId_[0-9]"),
    "classes xans-product": re.compile(r"class=[\"'][^\"']{0,200}\bxans-product"),
    "prices ec-data-price": re.compile(r"\bec-data-price="),
    "scripts of echosting.cafe24.com": re.compile(r"echosting\.cafe24\.com|cafe24img\.com"),
    "the script /ind-script/": re.compile(r"/ind-script/"),
    "meta path_role": re.compile(r"<meta[^>]{0,50}name=[\"']path_role[\"']"),
}
SHOPIFY = {
    "pictures of cdn.shopify.com": re.compile(r"cdn\.shopify\.com"),
    "the name Shopify.shop": re.compile(r"Shopify\.shop\b"),
    "a name of myshopify.com": re.compile(r"\.myshopify\.com"),
}
OTHERS = {
    "MakeShop": re.compile(r"makeshop\.co\.kr|/shopimages/"),
    "Godomall": re.compile(r"godomall|godohosting|/goods/goods_view\.php"),
    "imweb": re.compile(r"imweb\.me|vendor-cdn\.imweb"),
    "Naver Smart Store": re.compile(r"smartstore\.naver\.com|shop-phinf\.pstatic"),
    "Sixshop": re.compile(r"sixshop\.com"),
    "WooCommerce": re.compile(r"/wp-content/plugins/woocommerce|class=[\"'][^\"']{0,200}\bwoocommerce"),
}
"""Known by name only: there is no platform to extend yet."""


def recognised(sample: Sample, base: str) -> Recognised | None:
    """The platform of a page that we can extend."""
    return _cafe24(sample, base) or _shopify(sample, base)


def named(sample: Sample) -> str:
    """A platform that is known by name alone."""
    return next((name for name, mark in OTHERS.items() if mark.search(sample.text)), "")


def _marks(sample: Sample, marks: dict[str, re.Pattern[str]]) -> tuple[str, ...]:
    text = sample.text
    return tuple(name for name, mark in marks.items() if mark.search(text))


def _text(sample: Sample, base: str, platform: str, marks: tuple[str, ...], more: tuple[str, ...] = ()) -> str:
    return "\n".join(
        (
            f"# {NAME}: proposed by `bobusang source new` from {one_line(sample.request.url)}",
            f"# sure: it has {one_line(', '.join(marks), 300)}.",
            f"# What platform/{platform} says can be written over here.",
            f"shop: {NAME}",
            f"extends: platform/{platform}",
            f"description: {quoted('Proposed from ' + urlsplit(base).netloc + '; say here what this shop is.')}",
            f'intake: {{base: "{base}"}}',
            *more,
            "",
        )
    )


def _cafe24(sample: Sample, base: str) -> Recognised | None:
    marks = _marks(sample, CAFE24)
    if len(marks) < 2:
        return None
    text = _text(sample, base, "cafe24", marks)
    path, query = urlsplit(sample.request.url).path, parse_qs(urlsplit(sample.request.url).query)
    no = re.search(r"/product/[^/]{1,300}/([0-9]{1,12})(?:/|$)", path)
    product = query.get("product_no", [no[1] if no else ""])[0]
    category = re.search(r"/category/[^/]{1,300}/([0-9]{1,8})(?:/|$)", path) if not product else None
    cate_no = query.get("cate_no", [category[1] if category else ""])[0]
    what = "a shop on Cafe24"
    if product:
        found = (f"the page of product {product}", "lists are by category: the cate_no of their address")
        return Recognised("cafe24", marks, Proposal(what, text, "detail", Target("item", product), found))
    if cate_no:
        return Recognised(
            "cafe24",
            marks,
            Proposal(what, text, "list", Target("category", cate_no), (f"the list of category {cate_no}",)),
        )
    link = re.search(r"/product/list\.html\?cate_no=([0-9]{1,8})|/category/[^/\"']{1,300}/([0-9]{1,8})/", sample.text)
    follow = f"{base}/product/list.html?cate_no={link[1] or link[2]}" if link else ""
    return Recognised("cafe24", marks, None, follow)


def _shopify(sample: Sample, base: str) -> Recognised | None:
    data = sample.data() if sample.is_json else None
    goods = data.get("products") if isinstance(data, dict) else None
    is_list = isinstance(goods, list) and bool(goods) and all(
        isinstance(one, dict) and isinstance(one.get("variants"), list) and "handle" in one for one in goods
    )  # fmt: skip
    marks = ("products with handles and variants",) if is_list else _marks(sample, SHOPIFY)
    if not is_list and len(marks) < 2:
        return None
    if not is_list:
        return Recognised("shopify", marks, None, f"{base}/products.json?limit=20")
    assert isinstance(goods, list)
    prices = [str(each.get("price")) for one in goods for each in one["variants"]]
    whole = all(re.fullmatch(r"[0-9]+(?:\.00?)?", price) for price in prices)
    missing = (
        ["the currency: won is a guess, the list does not say it"] if whole else ["the currency: dollars are a guess"]
    )
    more = () if whole else _in("USD")
    found = (f"{len(goods)} products with {len(prices)} options in /products.json",)
    return Recognised(
        "shopify",
        marks,
        Proposal(
            "a shop on Shopify",
            _text(sample, base, "shopify", marks, more),
            "list",
            Target("list", "all"),
            found,
            tuple(missing),
        ),
    )


def _in(currency: str) -> tuple[str, ...]:
    """Its lines about money, in another currency than won."""
    assert currency in CURRENCIES
    return (
        f"contract: {{price: {{currency: {currency}}}}}   # a guess: prices have part of a unit",
        "streams:",
        "  list:",
        "    fields:",
        f"      price: 'variants[*].price | money{{{currency}}} | least'",
        f"      list_price?: 'variants[0].compare_at_price | re{{^([1-9][0-9.]{{0,15}})$}} | money{{{currency}}}'",
        "    variants:",
        f"      fields: {{price: 'price | money{{{currency}}}'}}",
    )
