"""The page of one product: each product is asked for by its key, which stands in the page's address."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from bobusang.connectors.sources.generator.guess import Guess, Sure, columns, guesses, is_key
from bobusang.connectors.sources.generator.listing import DEEPEST, fits, is_other
from bobusang.connectors.sources.generator.proposal import Further, Proposal, asking, said, shop
from bobusang.stages.collect.source import Target

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bobusang.connectors.sources.generator.sample import Sample

SCORE = 6.0
OWN_SCORE = 20.0
"""Of a product whose key stands in the address: the page is its own, whatever lists of others stand beside it."""
MOST = 2000
SHORTEST = 2

_CURRENCY = re.compile(r"[A-Z]{3}")


@dataclass(frozen=True, slots=True)
class One:
    """A product that was found in JSON."""

    path: str
    fields: dict[str, Guess]
    key: str
    currency: str


def stands_in(key: str, url: str) -> bool:
    """Whether an address names it: as a part of its own, or as the number at the end of one."""
    parts = re.split(r"[/?&=#]", unquote(url.partition("://")[2].partition("/")[2]))
    number = key.isdigit() and len(key) > SHORTEST
    return len(key) >= SHORTEST and any(
        part in (key, f"{key}.html") or (number and re.search(rf"[^0-9]{key}(?:\.html)?$", part)) for part in parts
    )


def found_in(data: Any, url: str) -> One | None:
    """The product with a name and a price whose key stands in the address; the one that says most of itself."""
    best: tuple[int, int, One] | None = None
    for path, record in _objects(data, "", 0):
        one = None if is_other(path) else _product(path, record, url)
        if one is not None:
            rank = (len(one.fields), -path.count("."), one)
            best = rank if best is None or rank[:2] > best[:2] else best
    return best[2] if best else None


def proposal(
    sample: Sample, base: str, what: str, records: str, fields: dict[str, Guess], key: str, *, currency: str
) -> Proposal:
    """The shop of which this is the page of one product."""
    url = sample.request.url
    named = key in url and len(key) >= SHORTEST
    asked = asking(sample.request, base, Further(records=1), variable=(key, "id") if named else ("", ""))
    told, lacking = said(fields)
    text = shop(
        sample.request,
        base,
        "json" if sample.is_json else "html",
        asked,
        records,
        fields,
        why="sure: the page is of one product",
        currency=currency,
        for_each="id: {from: inputs.products}" if named else "",
    )
    return Proposal(
        what,
        text,
        target=Target("product", key) if named else Target("list", "all"),
        found=tuple(told),
        missing=(*lacking, "which products there are: give the address of a list, too, or collect them by key"),
        score=OWN_SCORE if stands_in(key, url) else SCORE,
    )


def _objects(value: Any, path: str, depth: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every object that does not stand in a list."""
    if not isinstance(value, dict) or depth > DEEPEST:
        return
    yield path, value
    for name, each in list(value.items())[:MOST]:
        if fits(name):
            yield from _objects(each, f"{path}.{name}" if path else name, depth + 1)


def _product(path: str, record: dict[str, Any], url: str) -> One | None:
    single = [one for one in columns([record]) if "." not in one.path and is_key(one.values[0])]
    keys = [one for one in single if stands_in(str(one.values[0]), url)]
    if not keys:
        return None
    codes = {
        str(one.values[0])
        for one in columns([record])
        if "currency" in one.name and _CURRENCY.fullmatch(str(one.values[0]))
    }
    currency = codes.pop() if len(codes) == 1 else ""
    fields = guesses([record], currency=currency)
    if not {"name", "price"} <= set(fields):
        return None
    key = min(keys, key=lambda one: len(one.path))
    value = str(key.values[0])
    fields = {"key": Guess("key", key.path, Sure.SURE, f"it stands in the address, as {value}")} | {
        name: replace(one, why=one.why.replace("1 of 1 records, ", "")) for name, one in fields.items() if name != "key"
    }
    return One(path, fields, value, currency)
