"""Completions of what is being typed: brands by jamo and initials, model numbers, then names of products."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bobusang.platform.search import LONGEST_KEYWORD, Suggestion
from bobusang.platform.searches.opensearch.asking import ask
from bobusang.platform.searches.opensearch.clauses import begun, every, ranked
from bobusang.platform.searches.opensearch.schema import BETWEEN, read
from bobusang.platform.searches.readings import turned
from bobusang.platform.searches.tokens import wanted
from bobusang.platform.searches.words import compact, folded, jamo

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from bobusang.platform.searches.opensearch.clauses import Clause
    from bobusang.platform.searches.opensearch.reading import Reading

SHORTEST_MODEL = 3
"""Fewer letters begin too many model numbers to be of help."""
READ = 60
"""Products whose names are read to find different ones."""


async def suggest(reading: Reading, typed: str, limit: int) -> tuple[Suggestion, ...]:
    """The likeliest first: frequent brands, then model numbers, then names."""
    typed = typed[:LONGEST_KEYWORD]
    if not compact(folded(typed)) or limit < 1:
        return ()
    found: dict[str, Suggestion] = {}
    async for suggestion in _all(reading, typed, limit):
        found.setdefault(folded(suggestion.text), suggestion)
        if len(found) == limit:
            break
    return tuple(found.values())


async def _all(reading: Reading, typed: str, limit: int) -> AsyncIterator[Suggestion]:
    whole = compact(folded(typed))
    brands = await _begun(reading, "brands", jamo(whole), "brand", limit)
    for other in turned(typed) if not brands else ():
        brands += await _begun(reading, "brands", jamo(compact(folded(other))), "brand", limit)
    for brand in brands:
        yield brand
    if len(whole) >= SHORTEST_MODEL:
        for model in await _begun(reading, "models", whole, "model", limit):
            yield model
    for name in await _names(reading, typed):
        yield name


async def _begun(reading: Reading, field: str, begin: str, kind: str, limit: int) -> list[Suggestion]:
    """Values that begin so: letters and digits alone, which mean themselves where the server wants a pattern."""
    if not begin.isalnum():
        return []
    answer = await reading.one(
        {
            "query": begun(field, begin),
            "size": 0,
            "track_total_hits": False,
            "aggs": {"found": {"terms": {"field": field, "include": f"{begin}.*", "size": limit}}},
        }
    )
    buckets = answer["aggregations"]["found"]["buckets"]
    return [Suggestion(bucket["key"].partition(BETWEEN)[2], kind, bucket["doc_count"]) for bucket in buckets]


async def _names(reading: Reading, typed: str) -> list[Suggestion]:
    answer = await reading.one(
        {
            "query": ranked(await _tiers(reading, typed)),
            "size": READ,
            "sort": [{"_score": "desc"}, {"id": "asc"}],
            "track_total_hits": False,
        }
    )
    counts: dict[str, int] = {}
    for hit in answer["hits"]["hits"]:
        name = read(hit["_source"]).name
        counts[name] = counts.get(name, 0) + 1
    return [Suggestion(name, "name", count) for name, count in counts.items() if name]


async def _tiers(reading: Reading, typed: str) -> dict[int, Clause]:
    """As a search would find them; where that is not as it was typed, first those whose word only begins so: `패디`."""
    *before, last = wanted(typed)
    found = await ask(reading, typed)
    if not found.loose:
        return {0: found.anything()}
    others = [(await ask(reading, word)).anything() for word in before]
    return {0: every((*others, begun("sounds", jamo(last)))), 1: found.anything()}
