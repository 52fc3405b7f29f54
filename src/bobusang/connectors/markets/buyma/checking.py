"""What BUYMA would refuse, found before it costs a call; each rule here was once a refusal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bobusang.stages.convert.text import HANGUL, width
from bobusang.stages.register.drafting import grid
from bobusang.stages.register.market import Cause, Problem
from bobusang.stages.register.model import Axis, Stock

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date

    from bobusang.stages.register.model import Draft, Option

LONGEST_DAYS = 90
MOST_IMAGES = 20
INVISIBLE = frozenset("\u00a0\u200b\u200c\u200e\u200f\u2060\ufeff\u00ad")
FREE = frozenset({"free", "one size", "onesize", "フリー", "フリーサイズ", "ワンサイズ"})
WIDEST = {"name": 60, "shop_name": 30}
LONGEST = {"comments": 3000, "notes": 1000}
WRITTEN = ("name", "comments", "notes", "brand_name", "shop_name")


def problems(draft: Draft, day: date) -> Iterator[Problem]:
    """Every reason why BUYMA would not take it."""
    yield from _texts(draft)
    yield from _mapping(draft)
    yield from _options(draft)
    yield from _stock(draft)
    if not 1 <= len(draft.images) <= MOST_IMAGES:
        yield _data("images", f"{len(draft.images)} pictures: 1 to {MOST_IMAGES} are taken")
    if not 0 <= (draft.available_until - day).days <= LONGEST_DAYS:
        yield _data("available_until", f"{draft.available_until} is not within {LONGEST_DAYS} days")
    if draft.price <= 0:
        yield _data("price", "there is no price")
    if any(len(number) > 40 for number in draft.style_numbers):
        yield _data("style_numbers", "a style number has more than 40 characters")


def _texts(draft: Draft) -> Iterator[Problem]:
    for name in WRITTEN:
        text = getattr(draft, name)
        if HANGUL.search(text) or INVISIBLE & set(text):
            yield _data(name, "Hangul or an invisible character is left in it")
    for name, most in WIDEST.items():
        if (wide := width(getattr(draft, name))) > most:
            yield _data(name, f"{wide} half-width signs, at most {most} are taken")
    for name, most in LONGEST.items():
        if len(getattr(draft, name)) > most:
            yield _data(name, f"more than {most:,} characters")
    for name in ("name", "comments"):
        if not getattr(draft, name).strip():
            yield _data(name, "it is empty")
    if draft.name != draft.name.strip():
        yield _data("name", "a blank at its end is cut off, and then no edit fits any more")


def _mapping(draft: Draft) -> Iterator[Problem]:
    """Brand 0 means "not in the list" and needs a name; category 0 is always wrong."""
    if draft.brand_id < 0 or (draft.brand_id == 0 and not draft.brand_name):
        yield Problem("brand_id", "", Cause.MAPPING, "no brand: map it, or give brand 0 a name")
    if draft.category_id <= 0:
        yield Problem("category_id", "", Cause.MAPPING, "no category: map it")
    if not draft.shipping_methods:
        yield Problem("shipping_methods", "", Cause.MAPPING, "the account has no shipping method")


def _options(draft: Draft) -> Iterator[Problem]:
    for axis in Axis:
        found = [option for option in draft.options if option.axis is axis]
        yield from _axis(axis, found)
        if not found:
            yield _data("options", f"there is no {axis}: BUYMA wants both, such as FREE")
    cells = [(variant.color, variant.size) for variant in draft.variants]
    if sorted(cells) != sorted((variant.color, variant.size) for variant in grid(draft.options, ())):
        yield _data("variants", "not every colour with every size is there exactly once")


def _axis(axis: Axis, options: list[Option]) -> Iterator[Problem]:
    texts = [option.market_text for option in options]
    if len(set(texts)) != len(texts):
        yield _data("options", f"two options of {axis} have the same text")
    for text in texts:
        if not text.strip() or width(text) > 26 or HANGUL.search(text) or INVISIBLE & set(text):
            yield _data("options", f"'{text}' is empty, wider than 26, or has a character that is not taken")
    if axis is Axis.SIZE and len(texts) > 1 and any(text.casefold() in FREE for text in texts):
        yield _data("options", "FREE stands beside other sizes")


def _stock(draft: Draft) -> Iterator[Problem]:
    stocks = {variant.stock for variant in draft.variants}
    if Stock.UNKNOWN in stocks:
        yield _data("variants", "the stock of a variant is not known")
    if stocks == {Stock.OUT} and draft.order_quantity:
        yield _data("order_quantity", "it must be 0 when all is sold out")
    if Stock.TO_ORDER in stocks and draft.order_quantity < 1:
        yield _data("order_quantity", "it must be told when anything is bought to order")


def _data(field: str, words: str) -> Problem:
    return Problem(field, "", Cause.DATA, words)
