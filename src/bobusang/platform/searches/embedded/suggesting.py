"""Completions of what is being typed: brands by jamo and initials, model numbers, then names of products."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tantivy import Query

from bobusang.platform.search import LONGEST_KEYWORD, Suggestion
from bobusang.platform.searches.embedded.asking import ask
from bobusang.platform.searches.embedded.clauses import but_not, every
from bobusang.platform.searches.embedded.paging import Stretch, page
from bobusang.platform.searches.embedded.schema import BETWEEN, SCHEMA, read
from bobusang.platform.searches.readings import turned
from bobusang.platform.searches.tokens import wanted
from bobusang.platform.searches.words import compact, folded, jamo

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bobusang.platform.searches.embedded.serving import Serving

SHORTEST_MODEL = 3
"""Fewer letters begin too many model numbers to be of help."""
READ = 60
"""Products whose names are read to find different ones."""


def suggest(serving: Serving, typed: str, limit: int) -> tuple[Suggestion, ...]:
    """The likeliest first: frequent brands, then model numbers, then names."""
    typed = typed[:LONGEST_KEYWORD]
    if not compact(folded(typed)):
        return ()
    found: dict[str, Suggestion] = {}
    for suggestion in _all(serving, typed, limit):
        found.setdefault(folded(suggestion.text), suggestion)
        if len(found) == limit:
            break
    return tuple(found.values())


def _all(serving: Serving, typed: str, limit: int) -> Iterator[Suggestion]:
    whole = compact(folded(typed))
    brands = list(_begun(serving, "brands", jamo(whole), "brand", limit))
    for other in turned(typed) if not brands else ():
        brands += _begun(serving, "brands", jamo(compact(folded(other))), "brand", limit)
    yield from brands
    if len(whole) >= SHORTEST_MODEL:
        yield from _begun(serving, "models", whole, "model", limit)
    yield from _names(serving, typed)


def _begun(serving: Serving, field: str, begin: str, kind: str, limit: int) -> Iterator[Suggestion]:
    for term, known in serving.searcher.terms_with_prefix(field, begin, limit=limit):
        count = _living(serving, field, term) if serving.deleted else known
        if count:
            yield Suggestion(term.partition(BETWEEN)[2], kind, count)


def _living(serving: Serving, field: str, term: str) -> int:
    """How many documents have a term, without those that were deleted and still count."""
    found = serving.searcher.search(Query.term_query(SCHEMA, field, term), 1, count=True)
    return int(found.count)  # type: ignore[attr-defined]  # which its stubs do not know


def _names(serving: Serving, typed: str) -> Iterator[Suggestion]:
    counts: dict[str, int] = {}
    parts = [Stretch(rank, query) for rank, query in enumerate(_tiers(serving, typed))]
    for step in page(serving, parts, (), READ):
        name = read(serving.searcher.doc(step.address)).name
        counts[name] = counts.get(name, 0) + 1
    return (Suggestion(name, "name", count) for name, count in counts.items() if name)


def _tiers(serving: Serving, typed: str) -> tuple[Query, ...]:
    """As a search would find them; where that is not as it was typed, first those whose word only begins so: `패디`."""
    *before, last = wanted(typed)
    found = ask(serving, typed)
    if not found.loose:
        return (found.anything,)
    begun = Query.fuzzy_term_query(SCHEMA, "sounds", jamo(last), 0, prefix=True)
    likely = every((*(ask(serving, word).anything for word in before), begun))
    return (likely, but_not(found.anything, [likely]))
