"""Pieces of queries: values only, never text that would be parsed."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from tantivy import Occur, Query

from bobusang.platform.searches.embedded.schema import SCHEMA
from bobusang.platform.searches.embedded.shorthand import called_so

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from bobusang.platform.searches.embedded.serving import Serving

    Terms = frozenset[str]


def token(serving: Serving, text: str) -> Query:
    """Documents that are filed under a token, or under what stands for it."""
    return with_all(serving, [text])


def with_all(serving: Serving, tokens: Iterable[str]) -> Query:
    """Documents that are filed under all of these. What stands for one often stands for the next: `브라` and `라운` are
    both found by `+브라운`, which is then looked for once."""
    known = {one: dict(serving.terms(one)) or {one: 0} for one in tokens}
    counts = {term: count for terms in known.values() for term, count in terms.items()}
    return every(_factors(map(frozenset, known.values()), counts))


def _factors(wanted: Iterable[Terms], counts: Mapping[str, int]) -> list[Query]:
    """(a or b) and (a or c) is a or (b and c): `a` is mostly a brand and the rest next to nothing."""
    clauses = _least(wanted)
    often = Counter(term for clause in clauses for term in clause)
    shared = max(often, key=lambda term: (often[term], counts[term], term))
    if often[shared] < 2:
        return [one_of("tokens", sorted(clause)) for clause in clauses]
    others = every(_factors([clause - {shared} for clause in clauses if shared in clause], counts))
    rest = [clause for clause in clauses if shared not in clause]
    return [either([one_of("tokens", [shared]), others]), *(_factors(rest, counts) if rest else ())]


def _least(wanted: Iterable[Terms]) -> list[Terms]:
    """Without those that another implies."""
    found = dict.fromkeys(wanted)
    return [one for one in found if not any(other < one for other in found)]


def of_brand(called: Sequence[str]) -> Query:
    """Documents of a brand that is called one of these, in one form."""
    return one_of("called", [mark for name in called for mark in called_so(name)])


def one_of(field: str, values: Sequence[str]) -> Query:
    """Documents with one of these values."""
    return either([Query.term_query(SCHEMA, field, value, "basic") for value in values])


def in_span(span: int) -> Query:
    """Documents whose numbers are of one span."""
    return one_of("span", [str(span)])


def every(queries: Sequence[Query]) -> Query:
    """What all of them find."""
    return queries[0] if len(queries) == 1 else Query.boolean_query([(Occur.Must, query) for query in queries])


def either(queries: Sequence[Query]) -> Query:
    """What any of them finds."""
    return queries[0] if len(queries) == 1 else Query.boolean_query([(Occur.Should, query) for query in queries])


def but_not(query: Query, others: Sequence[Query]) -> Query:
    """What a query finds and the others do not."""
    return (
        Query.boolean_query([(Occur.Must, query), *((Occur.MustNot, other) for other in others)]) if others else query
    )


def all_but_one(queries: Sequence[Query]) -> Query:
    """What all of them find, or all but any one."""
    return either([every([*queries[:place], *queries[place + 1 :]]) for place in range(len(queries))])


def at_least(number: int, queries: Sequence[Query]) -> Query:
    """What so many of them find."""
    return Query.boolean_query([(Occur.Should, query) for query in queries], number)
