"""A mapping such as a person would have reviewed: what the sandbox's brands and categories are at its BUYMA."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from bobusang.sandbox.buyma.masters import MISSING, brand_id
from bobusang.sandbox.mustit.goods import HEADER, category
from bobusang.sandbox.words import BRANDS, KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bobusang.sandbox.words import Kind

COLUMNS = ("kind", "mall", "key", "name_ko", "name_en", "market_id", "market_name", "review")
MALLS = ("okmall", "mustit")
SEPARATOR = " > "
FIRST = 3300
"""The market's first category of men's fashion; the kinds of goods follow in their order."""
UNREVIEWED_KINDS = frozenset({"볼캡"})
"""Nobody has looked at these yet, so that held products are seen."""


def mapping(brands: int = len(BRANDS)) -> str:
    """The file, for the first so many brands."""
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    table.writerow(COLUMNS)
    table.writerows(_brands(brands))
    table.writerows(_categories())
    return out.getvalue()


def _brands(count: int) -> Iterator[tuple[object, ...]]:
    for mall in MALLS:
        for brand in BRANDS[:count]:
            key = brand.name if mall == "okmall" else brand.en
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
    yield "okmall", SEPARATOR.join(kind.path)
    at_mustit = category(kind)
    steps = [name for _, name in (at_mustit.large, at_mustit.medium, at_mustit.small)]
    for _, header in sorted(set(HEADER.values())):
        yield "mustit", SEPARATOR.join([header, *steps])
