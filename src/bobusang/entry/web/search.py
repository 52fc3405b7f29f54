"""Search: one box as people type, answered while they do, with facets, marks and suggestions; and straight to whatever
has exactly this name: a run, a product by its number, SKU or address, a listing by the market's number."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

from bobusang.entry.api import search as api
from bobusang.entry.api.selling import MARKETS
from bobusang.entry.web import listing_words, pictures
from bobusang.entry.web.languages import N_
from bobusang.entry.web.listing_detail import BATCH
from bobusang.entry.web.pages import Entry, Pages
from bobusang.entry.web.visit import UI
from bobusang.flows.conveyor import watching
from bobusang.kit import json
from bobusang.kit.errors import Missing, Unavailable
from bobusang.platform.search import LONGEST_KEYWORD, Sort
from bobusang.views import jobs, product_shelf, products, skus

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.responses import Response

    from bobusang.entry.web.forms import Fields
    from bobusang.entry.web.visit import Visit
    from bobusang.kit.db import Tx

ENTRY = "/search"
pages = Pages(Entry(ENTRY, N_("Search"), "search", 70))

LIMIT = 30
SUGGESTED = 6
CATEGORIES = 12
NUMBER = re.compile(r"#(\d{1,18})")
MARKET_NUMBER = re.compile(r"\d{4,18}")
HINTS = ("ㄴㅇㅋ", "나이키 패딩", "나이기", "skdlzl", "CW2288")
"""How people type: initials, words, a typo, the wrong keyboard, a part of a model number."""
SORTS = {
    Sort.RELEVANCE: N_("best match"),
    Sort.CHEAPEST: N_("cheapest first"),
    Sort.DEAREST: N_("dearest first"),
    Sort.NEWEST: N_("newest first"),
}
KINDS = {"brand": N_("brand"), "model": N_("model number"), "name": N_("product")}
ONE = ("q", "sort", "min_price", "max_price", "in_stock")
MANY = ("brand", "mall")


@dataclass(frozen=True, slots=True)
class Asked:
    """What the address asks for."""

    one: dict[str, str]
    many: dict[str, list[str]]
    cursor: str

    @property
    def typed(self) -> str:
        return self.one.get("q", "")

    @property
    def is_empty(self) -> bool:
        return not self.typed and not any(self.many.values()) and not self.one.keys() - {"sort"}

    @property
    def narrowed(self) -> bool:
        """Whether more than the words are given."""
        return any(self.many.values()) or bool(self.one.keys() - {"q", "sort"})

    def query(self) -> api.SearchQuery:
        """The same as the API takes it."""
        given: dict[str, Any] = {**self.one, **self.many, "limit": LIMIT, "cursor": self.cursor or None}
        return api.SearchQuery.model_validate(given)

    def address(self, name: str = "", value: str = "", cursor: str = "") -> str:
        """This search with one thing more, or with it taken away where it was there; from the beginning."""
        one, many = dict(self.one), {key: list(values) for key, values in self.many.items()}
        if name in many:
            many[name] = [old for old in many[name] if old != value] if value in many[name] else [*many[name], value]
        elif name and (value == one.get(name) or not value):
            one.pop(name, None)
        elif name:
            one[name] = value
        pairs = [*one.items(), *((key, value) for key, values in many.items() for value in values)]
        return f"{UI}{ENTRY}?{urlencode([*pairs, *([('cursor', cursor)] if cursor else []), ('go', '0')])}"


@pages.get(ENTRY)
async def search(visit: Visit) -> Response:
    """What was found; a name that only one thing has leads straight to it."""
    visit.entry = ENTRY
    asked = _asked(visit.query)
    straight = await _straight(visit, asked.typed)
    if straight and set(visit.request.query_params) == {"q"}:
        return visit.to(straight)
    given: dict[str, Any] = {
        "asked": asked,
        "straight": straight,
        "hints": HINTS,
        "kinds": KINDS,
        "most": LONGEST_KEYWORD,
    }
    given["sorts"] = [(sort.value, visit.say(label)) for sort, label in SORTS.items()]
    given |= {"found": None, "suggested": (), "trouble": "", "facets": [], "sheet": pictures.sheet_of(()), "shown": {}}
    if asked.is_empty:
        return visit.page("search.html", **given)
    searching = visit.site.app.finder.searching
    try:
        found = json.loads((await searching.find(asked.query().asked())).body)
        if asked.typed and not asked.cursor:
            given["suggested"] = await searching.suggest(asked.typed, SUGGESTED)
    except Unavailable as error:
        return visit.page("search.html", **given | {"trouble": error.message})
    async with visit.desk.read() as tx:
        shown = await product_shelf.pictures(tx, [item["id"] for item in found["items"]], MARKETS[0])
    given |= {"found": found, "facets": _facets(visit, asked, found["facets"]), "shown": shown}
    given |= {"sheet": pictures.sheet_of(shown.values()), "next": found["next"], "worth": listing_words.worth}
    return visit.page("search.html", **given, marked=marked, is_web=listing_words.is_web)


def marked(item: dict[str, Any], name: str) -> list[tuple[bool, str]]:
    """A text of a product in parts, each with whether it is what was looked for. A mall's own « stays what it is: the
    parts together are always the text itself."""
    text, told = str(item.get(name) or ""), item["marked"].get(name)
    if not told:
        return [(False, text)] if text else []
    parts: list[tuple[bool, str]] = []
    on, place, part = False, 0, ""
    for letter in told:
        if place < len(text) and letter == text[place]:
            part, place = part + letter, place + 1
            continue
        parts, part = [*parts, (on, part)], ""
        on = letter == "«"
    parts.append((on, part))
    if place != len(text):  # not what was marked
        return [(False, text)]
    return [(is_on, one) for is_on, one in parts if one]


def _asked(query: Fields) -> Asked:
    one = {name: value for name in ONE if (value := query.get(name))}
    if len(one.get("q", "")) > LONGEST_KEYWORD:
        one["q"] = one["q"][:LONGEST_KEYWORD]
    for name in ("min_price", "max_price"):
        if not re.fullmatch(r"[0-9]{1,15}", one.get(name, "0")) or int(one.get(name, "0")) == 0:
            one.pop(name, None)
    if "min_price" in one and "max_price" in one and int(one["max_price"]) < int(one["min_price"]):
        one["min_price"], one["max_price"] = one["max_price"], one["min_price"]
    if one.get("sort") not in set(Sort) - {Sort.RELEVANCE}:
        one.pop("sort", None)
    if one.get("in_stock") not in ("true", "false"):
        one.pop("in_stock", None)
    many = {name: [value for value in dict.fromkeys(query.all(name)) if len(value) <= 200][:20] for name in MANY}
    return Asked(one, many, query.get("cursor")[:200])


async def _straight(visit: Visit, typed: str) -> str:
    """The page of what is called exactly so; empty: nothing is."""
    async with visit.desk.read() as tx:
        if BATCH.fullmatch(typed):
            return f"/runs/{typed}" if await _is_batch(tx, typed) else ""
        if number := NUMBER.fullmatch(typed):
            return await _numbered(tx, int(number[1]))
        if listing_words.is_web(typed):
            known = await skus.of_url(tx, typed)
            return f"/products/{known.id}" if known else ""
        if MARKET_NUMBER.fullmatch(typed):
            sku = await skus.of_number(tx, typed)
            return f"/listings/{quote(sku, safe='')}" if sku else ""
        if "-" in typed and " " not in typed:
            known = await skus.of_sku(tx, typed)
            return f"/products/{known.id}" if known else ""
    return ""


async def _is_batch(tx: Tx, typed: str) -> bool:
    try:
        return bool(await watching.one(tx, typed))
    except Missing:
        return False


async def _numbered(tx: Tx, number: int) -> str:
    """A product, or else a job."""
    try:
        return f"/products/{(await products.one(tx, number)).id}"
    except Missing:
        found = await jobs.listed(tx, jobs.JobFilter(ids=[number]), None, 1)
        return f"/jobs/{number}" if found else ""


def _facets(visit: Visit, asked: Asked, found: dict[str, Any]) -> list[tuple[str, list[tuple[str, int, str, bool]]]]:
    """What can be narrowed: title, and for each value its name, how many there are, the address, whether it is set."""
    say = visit.say
    stock = {"true": say(N_("in stock")), "false": say(N_("sold out"))}
    rows: list[tuple[str, list[tuple[str, int, str, bool]]]] = []
    for name, title in (("brand", N_("Brand")), ("mall", N_("Mall")), ("in_stock", N_("Stock"))):
        chosen: Sequence[str] = asked.many.get(name) or [asked.one.get(name, "")]
        values = [(one["value"], one["count"]) for one in found.get(name, ()) if one["value"]]
        values += [(value, 0) for value in chosen if value and value not in dict(values)]
        rows.append(
            (
                say(title),
                [
                    (
                        stock.get(value, value) if name == "in_stock" else value,
                        count,
                        asked.address(name, value),
                        value in chosen,
                    )
                    for value, count in values
                ],
            )
        )
    kinds = Counter[str]()
    for one in found.get("category", ()):
        kinds[one["value"].rpartition(" > ")[2]] += one["count"]
    narrower = [
        (word, count, asked.address("q", f"{asked.typed} {word}".strip()[:LONGEST_KEYWORD]), False)
        for word, count in kinds.most_common(CATEGORIES)
        if word and word not in asked.typed
    ]
    rows.append((say(N_("Category")), narrower))
    return [(title, values) for title, values in rows if values]
