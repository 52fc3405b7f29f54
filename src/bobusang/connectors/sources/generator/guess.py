"""What the records of a list say, guessed from names and values, each with how sure that is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from bobusang.connectors.sources.declared.known import UNCLEAR
from bobusang.connectors.sources.declared.scalars import decimal
from bobusang.kit.won import won_text

if TYPE_CHECKING:
    from collections.abc import Callable

DEEPEST = 3
MOST = 200
SHARE = 0.9


class Sure(StrEnum):
    """How sure a guess is."""

    SURE = "sure"
    LIKELY = "likely"
    GUESS = "a guess"


@dataclass(frozen=True, slots=True)
class Guess:
    """One field: its expression, and why it is taken for that."""

    name: str
    expression: str
    sure: Sure
    why: str
    optional: bool = False
    otherwise: str = ""
    """Read instead where the expression finds nothing."""


@dataclass(frozen=True, slots=True)
class Column:
    """What all records say under one path."""

    path: str
    values: tuple[Any, ...]
    count: int
    """Of so many records."""

    @property
    def name(self) -> str:
        """Its last name, small and without signs: `product_no`, `productNo` and `PRODUCT-NO` are one."""
        bare = re.sub(r"\[[^\]]*\]", "", self.path).rpartition(".")[2]
        return re.sub(r"[^a-z0-9]", "", bare.lower())

    @property
    def filled(self) -> bool:
        return len(self.values) >= SHARE * self.count

    @property
    def unique(self) -> bool:
        return len(self.values) == self.count == len({str(value) for value in self.values})

    def all(self, test: Callable[[Any], bool]) -> bool:
        return bool(self.values) and sum(map(test, self.values)) >= SHARE * len(self.values)

    def example(self) -> str:
        return str(self.values[0])[:40]


_KEY = re.compile(r"(?:id|no|key|code|sku|seq|idx|num|number|uid|uuid|asin|slug|handle)$")
_OWN_KEY = re.compile(
    r"(?:item|product|goods|good|prd|prod|pdt|gds|offer|sale|article|model)?(?:id|no|key|code|sku|seq|idx|num|number|cd)$"
)
_NAME = re.compile(
    r"(?:item|product|goods|good|prd|prod|pdt|gds|display|full|main|kor)?(?:name|nm|title|subject|nameko|namekr|titleko)$"
)
_NOT_NAME = re.compile(r"brand|seller|shop|store|categor|option|vendor|maker|color|size|user|badge|label|tag")
_SALE = re.compile(r"sale|sell|final|current|discounted|special|dc|member|app|best|pay|net|low|min")
_LIST = re.compile(
    r"normal|origin|list|regular|consumer|retail|msrp|compare|market|before|tag|cust|max|high|was|old|strike|base"
)
_PRICE = re.compile(r"price|amount|amt|cost|krw|won$")
_NOT_PRICE = re.compile(
    r"rate|percent|ratio|count|unit|type|text|currency|point|mileage|fee|shipping|deliver|coupon|off$|save|benefit|id$|no$"
)
_IMAGE = re.compile(r"image|img|thumb|picture|photo|pic")
_URL = re.compile(r"url|link|href|landing|path")
_BRAND = re.compile(r"(?:brand|vendor|maker|manufacturer)(?:name|nm|en|eng|ko|kor|kr)?$")
_OF_BRAND = re.compile(r"(?:^|\.)(?:brand|brandinfo|vendor|maker|manufacturer)\.(?:brand)?(?:name|nm|title)(?:en|ko)?$")
_SOLD = re.compile(r"(?:is)?(?:soldout|outofstock|soldoutyn|issold)$")
_TO_BE_HAD = re.compile(r"(?:is)?(?:instock|available|instockyn|buyable|purchasable)$")
_STOCK = re.compile(r"(?:stock|inventory|quantity|qty|stockcount|stockqty)$")


def columns(records: list[Any]) -> list[Column]:
    """The records as columns: scalars and lists of addresses, by path."""
    found: dict[str, list[Any]] = {}
    sample = records[:MOST]
    for record in sample:
        for path, value in _flat(record, "", 0):
            found.setdefault(path, []).append(value)
    return [Column(path, tuple(values), len(sample)) for path, values in found.items()]


def _flat(value: Any, path: str, depth: int) -> list[tuple[str, Any]]:
    if value is None or value == "":
        return []
    if isinstance(value, dict) and depth <= DEEPEST:
        return [
            one
            for name, each in value.items()
            if re.fullmatch(r"[^.\[\]\s|{}][^.\[\]|{}]{0,60}", name)
            for one in _flat(each, f"{path}.{name}" if path else name, depth + 1)
        ]
    if isinstance(value, list):
        if value and all(isinstance(each, str) for each in value):
            return [(f"{path}[*]", value)]
        if value and all(isinstance(each, dict) for each in value) and depth <= DEEPEST:
            names = [name for name, each in value[0].items() if isinstance(each, str)]
            return [
                (f"{path}[*].{name}", [each[name] for each in value])
                for name in names
                if all(isinstance(each.get(name), str) for each in value)
            ]
        return []
    return [(path, value)]


def guesses(records: list[Any], *, currency: str = "") -> dict[str, Guess]:
    """The fields of records by name; without `key` and `name` they are no goods."""
    every = columns(records)
    single = [column for column in every if not isinstance(column.values[0], list)]
    found: dict[str, Guess] = {}
    for guess in (_key(single), _name(single), *_prices(single, currency), *_rest(every)):
        if guess is not None:
            found.setdefault(guess.name, guess)
    return found


def _key(single: list[Column]) -> Guess | None:
    fit = [column for column in single if column.unique and column.all(is_key)]
    own = [column for column in fit if _OWN_KEY.fullmatch(column.name)]
    named = own or [column for column in fit if _KEY.search(column.name)]
    if not named:
        return None
    best = min(named, key=lambda column: (column.path.count("."), _rank(column.name), len(column.path)))
    sure = Sure.SURE if own and len(best.values) > 1 else Sure.LIKELY
    return Guess("key", best.path, sure, f"unique in {best.count} records, as {best.example()}")


def _rank(name: str) -> int:
    """`id` and `itemNo` before `sku` before `code`: what stands in addresses is the key."""
    for place, ending in enumerate(("id", "no", "seq", "num", "number", "idx", "key", "sku", "code", "cd")):
        if name.endswith(ending):
            return place
    return 99


def is_key(value: Any) -> bool:
    """Whether it could name a product."""
    return type(value) in (int, str) and 1 <= len(str(value)) <= 100 and "://" not in str(value)


def _name(single: list[Column]) -> Guess | None:
    fit = [
        column
        for column in single
        if column.filled and column.all(lambda value: isinstance(value, str) and len(value) > 1 and "://" not in value)
    ]
    own = [column for column in fit if _NAME.fullmatch(column.name) and not _NOT_NAME.search(column.path.lower())]
    if not own:
        return None
    best = min(own, key=lambda column: (column.path.count("."), "name" not in column.name, len(column.path)))
    sure = Sure.SURE if len(own) == 1 else Sure.LIKELY
    return Guess(
        "name", f"{best.path} | strip", sure, f"{len(best.values)} of {best.count} records, as {best.example()}"
    )


def _prices(single: list[Column], currency: str) -> list[Guess]:
    """The selling price, and what it was: never what is more than the other."""
    fit = [column for column in single if _PRICE.search(column.name) and not _NOT_PRICE.search(column.name)]
    fit = [column for column in fit if column.all(lambda value: amount(value) is not None)]
    if not fit:
        return []
    fit.sort(key=lambda column: (not column.filled, column.path.count("."), _standing(column.name), len(column.path)))
    best = fit[0]
    others = [column for column in fit[1:] if _LIST.search(column.name) and len(column.values) == len(best.values)]
    before = next((column for column in others if _never_less(column, best)), None)
    text, sure, why = money(best, currency)
    said = [Guess("price", f"{best.path} | {text}", sure if len(fit) <= 2 else min(sure, Sure.LIKELY, key=_doubt), why)]
    if before is not None:
        why = f"never less than the price, as {before.example()}"
        said.append(Guess("list_price", f"{before.path} | {text}", Sure.LIKELY, why, optional=True))
    return said


def _doubt(sure: Sure) -> int:
    return -list(Sure).index(sure)


def _standing(name: str) -> int:
    return 2 if _LIST.search(name) else 0 if name == "price" or _SALE.search(name) else 1


def _never_less(before: Column, now: Column) -> bool:
    return all((amount(one) or 0) >= (amount(other) or 0) for one, other in zip(before.values, now.values, strict=True))


def amount(value: Any) -> float | None:
    """A number that could be money."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    text = decimal(value, None)  # type: ignore[arg-type]
    if text is not UNCLEAR:
        return float(text)
    return won_text(value) if isinstance(value, str) else None


def money(column: Column, currency: str = "") -> tuple[str, Sure, str]:
    """The filter that reads it exactly, how sure, and why."""
    texts = [str(value) for value in column.values]
    example = f"as {column.example()}"
    if any("원" in text or "₩" in text for text in texts) or currency == "KRW":
        return "won", Sure.SURE, f"won, {example}"
    if currency:
        return f"money{{{currency}}}", Sure.SURE, f"{currency}, {example}"
    if all((amount(value) or 0.5) % 1 == 0 for value in column.values):
        if all("." not in text for text in texts) and min(amount(value) or 0 for value in column.values) >= 100:
            return "won", Sure.LIKELY, f"whole numbers, taken for won, {example}"
        return "money{KRW}", Sure.GUESS, f"taken for won: say the right currency, {example}"
    return "money{USD}", Sure.GUESS, f"part of a unit, taken for dollars: say the right currency, {example}"


def _rest(every: list[Column]) -> list[Guess | None]:
    return [
        _first(every, "brand", lambda one: _is_brand(one) and one.all(_is_text), ""),
        _images(every),
        _first(every, "sold_out", lambda one: _SOLD.fullmatch(one.name) is not None and one.all(_is_truth), " | bool"),
        _first(every, "sold_out", lambda one: _TO_BE_HAD.fullmatch(one.name) is not None and one.all(_is_truth),
               " | bool | not"),
        _first(every, "stock", lambda one: _STOCK.fullmatch(one.name) is not None and one.all(_is_count), " | int"),
        _first(every, "url", lambda one: _URL.search(one.name) is not None and not _IMAGE.search(one.path.lower())
               and one.all(_is_address), " | abs_url"),
    ]  # fmt: skip


def _is_brand(one: Column) -> bool:
    """By its own name, or as the name of an object that is called so."""
    return bool(_BRAND.fullmatch(one.name) or _OF_BRAND.search(re.sub(r"[_-]", "", one.path.lower())))


def _first(every: list[Column], name: str, fits: Callable[[Column], bool], filters: str) -> Guess | None:
    found = sorted((one for one in every if fits(one)), key=lambda one: (one.path.count("."), len(one.path)))
    if not found:
        return None
    best = found[0]
    why = f"{len(best.values)} of {best.count} records, as {best.example()}"
    return Guess(name, f"{best.path}{filters}", Sure.LIKELY, why, optional=True)


def _images(every: list[Column]) -> Guess | None:
    found = [one for one in every if _IMAGE.search(one.path.lower()) and one.all(_are_pictures)]
    if not found:
        return None
    best = min(found, key=lambda one: (not isinstance(one.values[0], list), one.path.count("."), len(one.path)))
    name = "images" if isinstance(best.values[0], list) else "thumbnail"
    return Guess(name, f"{best.path} | abs_url", Sure.LIKELY, f"addresses, as {best.example()}", optional=True)


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and "://" not in value


def _is_truth(value: Any) -> bool:
    return isinstance(value, bool) or str(value).lower() in ("y", "n", "true", "false", "0", "1")


def _is_count(value: Any) -> bool:
    return type(value) is int or (isinstance(value, str) and value.isdigit())


def _is_address(value: Any) -> bool:
    return isinstance(value, str) and re.match(r"(?:https?:)?//|/", value) is not None


def _are_pictures(value: Any) -> bool:
    values = value if isinstance(value, list) else [value]
    return all(_is_address(each) for each in values)
