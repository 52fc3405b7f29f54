"""How many of what was found have which brand, mall, category and stock, between which prices; in one pass."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bobusang.platform.search import MOST_FACETS, Count

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tantivy import Query, Searcher

FACETS = ("brand", "mall", "category", "in_stock")
COUNT = {"count": {"value_count": {"field": "id"}}}
ALL = {
    **{name: {"terms": {"field": name, "size": MOST_FACETS, "order": {"_count": "desc"}}} for name in FACETS},
    "prices": {"stats": {"field": "price"}},
}


@dataclass(frozen=True, slots=True)
class Counted:
    """What is known of all that was found."""

    total: int
    facets: Mapping[str, tuple[Count, ...]] = field(default_factory=dict)
    prices: tuple[int, int] | None = None


def counted(searcher: Searcher, query: Query, *, facets: bool) -> Counted:
    """Count everything that a query finds."""
    if not facets:
        return Counted(int(searcher.aggregate(query, COUNT)["count"]["value"]))
    found = searcher.aggregate(query, ALL)
    prices = found["prices"]
    return Counted(
        _every_one(found["mall"]),
        {name: _counts(found[name]["buckets"]) for name in FACETS},
        (int(prices["min"]), int(prices["max"])) if prices["count"] else None,
    )


def _every_one(malls: Mapping[str, Any]) -> int:
    """Every product is of one mall, so they need not be counted once more."""
    return int(malls["sum_other_doc_count"]) + sum(int(one["doc_count"]) for one in malls["buckets"])


def _counts(buckets: Iterable[Mapping[str, Any]]) -> tuple[Count, ...]:
    counts = [Count(str(one.get("key_as_string", one["key"])), int(one["doc_count"])) for one in buckets]
    return tuple(sorted(counts, key=lambda count: (-count.count, count.value)))
