"""Walking through what was found, page by page, in an order that does not change: by a column, then by number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tantivy import DocAddress, FieldType, Occur, Order, Query

from bobusang.kit.errors import Invalid
from bobusang.platform.search import Sort
from bobusang.platform.searches.embedded.clauses import but_not, every, in_span
from bobusang.platform.searches.embedded.schema import SCHEMA, span
from bobusang.platform.searches.tiers import Rank

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tantivy import Searcher

    from bobusang.platform.searches.embedded.asking import Asked, Tier
    from bobusang.platform.searches.embedded.serving import Serving

SMALLEST, LARGEST = -(2**63), 2**63 - 1
WALKED = 3
"""Spans that are looked through before all of them are at once."""
EQUALS = 100
"""Documents more than a page that are read, so that all that equal the last one are among them."""
COVERED: dict[int, range] = {
    Rank.NAMED: range(Rank.NAMED_KIND, Rank.NAMED),
    Rank.KIND: range(Rank.NAMED_KIND, Rank.NAMED),
    Rank.WHOLE: range(Rank.NAMED_KIND, Rank.WHOLE),
    Rank.MOSTLY: range(Rank.NAMED_KIND, Rank.MOSTLY),
    Rank.PARTS: range(Rank.EXACT, Rank.PARTS),
}
"""Whatever the tiers on the right find is found by the one on the left."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """A part of an answer whose documents are in the order of one column."""

    rank: int
    query: Query
    column: str = "id"
    order: Order = Order.Asc


@dataclass(frozen=True, slots=True)
class Step:
    """A document of a page: where it is, and where to go on after it."""

    address: DocAddress
    rank: int
    value: int
    id: int


def stretches(asked: Asked, filters: Sequence[Query], sort: Sort) -> list[Stretch]:
    """An answer in order. By relevance each tier is a stretch; what has no price comes last in an order of prices."""
    match sort:
        case Sort.RELEVANCE:
            return [
                Stretch(tier.rank, every((but_not(tier.query, _found_before(asked.tiers[:place])), *filters)))
                for place, tier in enumerate(asked.tiers)
            ]
        case Sort.NEWEST:
            return [Stretch(0, every((asked.anything, *filters)), "changed", Order.Desc)]
        case Sort.CHEAPEST | Sort.DEAREST:
            query = every((asked.anything, *filters))
            priced = Query.exists_query("price")
            order = Order.Asc if sort is Sort.CHEAPEST else Order.Desc
            return [Stretch(0, every((query, priced)), "price", order), Stretch(1, but_not(query, [priced]))]


def _found_before(tiers: Sequence[Tier]) -> list[Query]:
    """What some tiers find, without those that find nothing that another does not."""
    covered = {rank for tier in tiers for rank in COVERED.get(tier.rank, ())}
    return [tier.query for tier in tiers if tier.rank not in covered]


def page(
    serving: Serving, parts: Sequence[Stretch], after: tuple[float | int, ...], limit: int, total: int = LARGEST
) -> list[Step]:
    """The next documents; `after` is (rank, value, id) of the last one seen. There are no more than `total`."""
    first, seen = _seen(after)
    steps: list[Step] = []
    for part in parts:
        if part.rank >= first and len(steps) < min(limit, total):
            steps += _along(serving, part, seen if part.rank == first else None, limit - len(steps), total)
    return steps


def _seen(after: tuple[float | int, ...]) -> tuple[int, tuple[int, int] | None]:
    if not after:
        return 0, None
    if len(after) != 3 or not all(isinstance(one, int) and SMALLEST <= one <= LARGEST for one in after):
        raise Invalid("the cursor is not one of ours", hint="take `next` of the answer before", field="cursor")
    rank, value, id = (int(one) for one in after)
    return rank, (value, id)


def _along(serving: Serving, part: Stretch, seen: tuple[int, int] | None, limit: int, total: int) -> list[Step]:
    if part.column == "id":
        found = _by_number(serving, part.query, -1 if seen is None else seen[1], limit, total)
        return [Step(address, part.rank, id, id) for id, address in found]
    searcher = serving.searcher
    steps = [] if seen is None else _equal(searcher, part, seen[0], seen[1], limit)
    missing = limit - len(steps)
    if not missing:
        return steps
    query = part.query if seen is None else every((part.query, _beyond(part, seen[0])))
    found = _ordered(searcher, query, part.column, part.order, missing + EQUALS)
    if len(found) < missing + EQUALS or found[-1][0] != found[missing - 1][0]:
        return steps + _numbered(searcher, part, found)[:missing]
    last = found[-1][0]  # those that equal the last one may be many: take them by number
    found = [one for one in found if one[0] != last]
    steps += _numbered(searcher, part, found)
    return steps + _equal(searcher, part, last, SMALLEST, missing - len(found))


def _by_number(serving: Serving, query: Query, after: int, limit: int, total: int) -> list[tuple[int, DocAddress]]:
    """The first of many are among the first numbers, where they are looked for first: otherwise all would be looked at
    for the sake of twenty."""
    spans = [one for one in serving.spans() if one >= span(after)]
    if len(spans) > WALKED and total * WALKED > limit * len(spans):
        found: list[tuple[int, DocAddress]] = []
        for one in spans[:WALKED]:
            inside = _later(every((query, in_span(one))), after if one == span(after) else -1)
            found += _ordered(serving.searcher, inside, "id", Order.Asc, limit - len(found))
            if len(found) == limit:
                return found
    return _ordered(serving.searcher, _later(query, after), "id", Order.Asc, limit)


def _later(query: Query, after: int) -> Query:
    return query if after < 0 else every((query, _between("id", min(after, LARGEST - 1) + 1, LARGEST)))


def _ordered(searcher: Searcher, query: Query, column: str, order: Order, limit: int) -> list[tuple[int, DocAddress]]:
    return searcher.search(query, limit, count=False, order_by_field=column, order=order).hits


def _equal(searcher: Searcher, part: Stretch, value: int, after: int, limit: int) -> list[Step]:
    query = every(
        (part.query, _between(part.column, value, value), _between("id", min(after, LARGEST - 1) + 1, LARGEST))
    )
    return [Step(address, part.rank, value, id) for id, address in _ordered(searcher, query, "id", Order.Asc, limit)]


def _numbered(searcher: Searcher, part: Stretch, found: Sequence[tuple[int, DocAddress]]) -> list[Step]:
    ids = searcher.fast_field_values("id", [address for _, address in found]) if found else []
    steps = [Step(address, part.rank, value, int(id or 0)) for (value, address), id in zip(found, ids, strict=True)]
    sign = 1 if part.order == Order.Asc else -1
    return sorted(steps, key=lambda step: (sign * step.value, step.id))


def _beyond(part: Stretch, value: int) -> Query:
    if part.order == Order.Asc:
        return _between(part.column, min(value, LARGEST - 1) + 1, LARGEST)
    return _between(part.column, SMALLEST, max(value, SMALLEST + 1) - 1)


def _between(column: str, low: int, high: int) -> Query:
    return Query.range_query(SCHEMA, column, FieldType.Integer, low, high)


def price_between(low: int, high: int) -> Query:
    """Documents whose price is within bounds, of which 0 is none."""
    return _between("price", min(low, LARGEST), min(high, LARGEST) if high else LARGEST)


def stocked(is_there: bool) -> Query:
    """Documents of goods that are there, or are known not to be."""
    return Query.boolean_query([(Occur.Must, Query.term_query(SCHEMA, "in_stock", is_there))])
