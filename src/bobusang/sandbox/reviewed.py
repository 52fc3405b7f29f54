"""A mapping such as a person would have reviewed: what the sandbox's brands and categories are at its BUYMA."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from bobusang.sandbox.buyma.masters import MISSING, brand_id
from bobusang.sandbox.musinsa import goods as musinsa
from bobusang.sandbox.mustit.goods import HEADER, category
from bobusang.sandbox.wconcept import goods as wconcept
from bobusang.sandbox.words import BRANDS, KINDS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from bobusang.sandbox.words import Brand, Kind

COLUMNS = ("kind", "mall", "key", "name_ko", "name_en", "market_id", "market_name", "review")
MALLS = ("okmall", "mustit")
SEPARATOR = " > "
FIRST = 3300
"""The market's first category of men's fashion; the kinds of goods follow in their order."""
KEYS: dict[str, Callable[[Brand], str]] = {
    "okmall": lambda brand: brand.name,
    "mustit": lambda brand: brand.en,
    "acme": lambda brand: brand.en,
    "musinsa": musinsa.slug,
    "wconcept": wconcept.brand_code,
    "ownerclan": lambda brand: brand.en,
    "domeggook": lambda brand: brand.en,
}
"""What each mall finds a brand by."""
UNREVIEWED_KINDS = frozenset({"볼캡"})
"""Nobody has looked at these yet, so that held products are seen."""


def mapping(brands: int = len(BRANDS), malls: Collection[str] = MALLS) -> str:
    """The file, for the first so many brands of these malls."""
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    table.writerow(COLUMNS)
    table.writerows(_brands(brands, malls))
    table.writerows(row for row in _categories() if row[1] in malls)
    return out.getvalue()


def _brands(count: int, malls: Collection[str]) -> Iterator[tuple[object, ...]]:
    for mall in malls:
        for brand in BRANDS[:count]:
            key = KEYS[mall](brand)
            market_id = 0 if brand.en in MISSING else brand_id(brand.index)
            yield ("brand", mall, key, brand.ko, brand.en, market_id, brand.en, "accepted")


def _categories() -> Iterator[tuple[object, ...]]:
    seen: set[tuple[str, str]] = set()
    for place, kind in enumerate(KINDS):
        told = ("", "proposed") if kind.ko in UNREVIEWED_KINDS else (FIRST + place, "accepted")
        for mall, path in _paths(kind):
            if (mall, path) not in seen:  # two kinds may stand in one category of a mall: the first decides
                seen.add((mall, path))
                yield ("category", mall, path, "", "", told[0], "", told[1])


def _paths(kind: Kind) -> Iterator[tuple[str, str]]:
    for mall in ("okmall", "acme", "ownerclan", "domeggook"):
        yield mall, SEPARATOR.join(kind.path)
    at_mustit = category(kind)
    steps = [name for _, name in (at_mustit.large, at_mustit.medium, at_mustit.small)]
    for _, header in sorted(set(HEADER.values())):
        yield "mustit", SEPARATOR.join([header, *steps])
    yield "musinsa", SEPARATOR.join(name for _, name in musinsa.depths(kind))
    for _, department in wconcept.MEDIUMS.values():
        yield "wconcept", SEPARATOR.join([department, *wconcept.depths(kind)])
