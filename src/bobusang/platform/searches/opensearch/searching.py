"""A query as one question to the server, and its answer as the contract has it."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any

from bobusang.kit.errors import Invalid
from bobusang.platform.search import COUNTED, MOST, MOST_FACETS, Count, Found, Hit, Sort
from bobusang.platform.searches.opensearch.asking import as_typed, enough, is_enough, loosely
from bobusang.platform.searches.opensearch.clauses import LARGEST, SMALLEST, SUREST, between, every, one_of, ranked
from bobusang.platform.searches.opensearch.schema import read
from bobusang.platform.searches.words import compact, folded

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bobusang.platform.search import Query
    from bobusang.platform.searches.opensearch.asking import Asked
    from bobusang.platform.searches.opensearch.clauses import Clause
    from bobusang.platform.searches.opensearch.reading import Reading

FACETS = ("brand", "mall", "category", "in_stock")
AGGREGATIONS: Mapping[str, Any] = {
    **{name: {"terms": {"field": name, "size": MOST_FACETS}} for name in FACETS},
    "prices": {"stats": {"field": "price"}},
}
ORDERS: Mapping[Sort, Mapping[str, Any]] = {
    Sort.RELEVANCE: {"_score": "desc"},
    Sort.CHEAPEST: {"price": {"order": "asc", "missing": "_last"}},
    Sort.DEAREST: {"price": {"order": "desc", "missing": "_last"}},
    Sort.NEWEST: {"changed": "desc"},
}


async def search(reading: Reading, query: Query) -> Found:
    """Ask as it was typed and, in the same call, whether that is enough; hardly ever is it not."""
    strict = as_typed(query.keyword)
    *told, answer = await reading.many([*enough(strict), _body(query, strict)])
    if is_enough(query.keyword, told):
        return _found(query, strict, answer)
    loose = await loosely(reading, query.keyword, strict)
    return _found(query, loose, await reading.one(_body(query, loose)))


def _body(query: Query, asked: Asked) -> dict[str, Any]:
    body: dict[str, Any] = {
        "query": {"bool": {"must": [ranked(asked.tiers)], "filter": _filters(query)}},
        "size": _limit(query) + 1,
        "sort": [ORDERS[query.sort], {"id": "asc"}],
        "track_scores": True,
        "track_total_hits": COUNTED + 1,
    }
    if query.facets:
        body["aggs"] = AGGREGATIONS
    if query.after:
        body["search_after"] = _after(query)
    return body


def _limit(query: Query) -> int:
    return min(max(query.limit, 1), MOST)


def _after(query: Query) -> list[float | int]:
    after = list(query.after)
    if len(after) != 2 or not all(isfinite(one) and SMALLEST <= one <= LARGEST for one in after):
        raise Invalid("the cursor is not one of ours", hint="take `next` of the answer before", field="cursor")
    return after if query.sort is Sort.RELEVANCE else [int(one) for one in after]


def _filters(query: Query) -> list[Clause]:
    filters = []
    if query.min_price or query.max_price:
        filters.append(between("price", query.min_price, query.max_price or LARGEST))
    if query.brands:
        filters.append(one_of("called", [compact(folded(brand)) for brand in query.brands]))
    if query.malls:
        filters.append(one_of("mall", query.malls))
    if query.in_stock is not None:
        filters.append({"term": {"in_stock": query.in_stock}})
    return [every(filters)] if filters else []


def _found(query: Query, asked: Asked, answer: Mapping[str, Any]) -> Found:
    limit, hits = _limit(query), answer["hits"]["hits"]
    total = int(answer["hits"]["total"]["value"])
    counts = answer.get("aggregations", {})
    prices = counts.get("prices", {})
    return Found(
        tuple(_hit(hit, asked) for hit in hits[:limit]),
        min(total, COUNTED),
        more=total > COUNTED,
        facets={name: tuple(map(_count, counts[name]["buckets"])) for name in FACETS if name in counts},
        prices=(int(prices["min"]), int(prices["max"])) if prices.get("count") else None,
        next=tuple(hits[limit - 1]["sort"]) if len(hits) > limit else (),
        loose=asked.loose,
    )


def _hit(hit: Mapping[str, Any], asked: Asked) -> Hit:
    document = read(hit["_source"])
    return Hit(document, 1 / (1 + SUREST - hit["_score"]), asked.marker.marked(document))


def _count(bucket: Mapping[str, Any]) -> Count:
    return Count(str(bucket.get("key_as_string", bucket["key"])), int(bucket["doc_count"]))
