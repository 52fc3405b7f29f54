"""How good answers are: nDCG@10 and recall@50 of each query, and the means of groups."""

from __future__ import annotations

from dataclasses import dataclass
from math import log2
from statistics import mean
from typing import TYPE_CHECKING

from bobusang.platform.search import Query

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bobusang.platform.search import Search
    from tests.integration.relevance.judging import Meant

FIRST, READ = 10, 50
RELEVANT = 2
"""The grade from which on a product should not be missing."""


@dataclass(frozen=True, slots=True)
class Measured:
    """The figures of one query."""

    meant: Meant
    ndcg: float
    recall: float


async def measured(search: Search, meant: Meant, grades: Mapping[int, int]) -> Measured:
    """Search, and compare with what each product is worth."""
    found = await search.search(Query(meant.typed, limit=READ, facets=False))
    return Measured(meant, *figures([hit.document.id for hit in found.hits], grades))


def figures(found: Sequence[int], grades: Mapping[int, int]) -> tuple[float, float]:
    """nDCG@10 and recall@50. Where nothing is worth anything, the only good answer is none."""
    best = _gain(sorted(grades.values(), reverse=True))
    if not best:
        return (0.0, 0.0) if found else (1.0, 1.0)
    relevant = sum(grade >= RELEVANT for grade in grades.values())
    hits = sum(grades[id] >= RELEVANT for id in found[:READ])
    return _gain([grades[id] for id in found]) / best, hits / min(READ, relevant) if relevant else 1.0


def _gain(grades: Sequence[int]) -> float:
    return sum(((1 << grade) - 1) / log2(place + 2) for place, grade in enumerate(grades[:FIRST]))


def means(results: Sequence[Measured]) -> dict[str, tuple[float, float]]:
    """nDCG and recall of each group and language, and of all."""
    names = [*dict.fromkeys(one.meant.group for one in results), *dict.fromkeys(one.meant.language for one in results)]
    of = {name: [one for one in results if name in (one.meant.group, one.meant.language)] for name in names}
    return {
        name: (round(mean(one.ndcg for one in some), 3), round(mean(one.recall for one in some), 3))
        for name, some in {**of, "all": list(results)}.items()
    }
