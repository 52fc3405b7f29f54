"""Pages of the embedded index where there is much to turn: numbers far apart, and many that equal each other."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from bobusang.platform.search import Document, Query, Sort
from bobusang.platform.searches.embedded import EmbeddedSearch
from bobusang.platform.searches.embedded.schema import SPAN
from bobusang.platform.searches.tokens import asked, tokens, wanted
from bobusang.testing.search_suite import build, ids, paged

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

SPANS, IN_EACH = 12, 20


@pytest.fixture
async def search(tmp_path: Path) -> AsyncIterator[EmbeddedSearch]:
    search = EmbeddedSearch(tmp_path)
    yield search
    await search.close()


def goods(*, spans: int = SPANS) -> list[Document]:
    """The first half of the spans has little of what is looked for, the second nothing else."""
    numbers = [(span << SPAN) + place for span in range(spans) for place in range(IN_EACH)]
    return [
        Document(number, "okmall", str(number), name="니트" if place % 7 == 0 or place > len(numbers) / 2 else "코트")
        for place, number in enumerate(numbers)
    ]


@pytest.mark.parametrize("limit", [1, 3, 20, 50])
async def test_pages_by_number_leave_nothing_out_wherever_the_numbers_are(search: EmbeddedSearch, limit: int) -> None:
    documents = goods()
    await build(search, documents)

    found = await paged(search, Query("니트", limit=limit))

    assert found == [one.id for one in documents if one.name == "니트"]


async def test_numbers_that_were_deleted_are_not_waited_for(search: EmbeddedSearch) -> None:
    documents = goods()
    await build(search, documents)
    await search.delete([one.id for one in documents[: 5 * IN_EACH]])

    found = await search.search(Query("니트", limit=5))

    assert ids(found) == [one.id for one in documents[5 * IN_EACH :] if one.name == "니트"][:5]


@pytest.mark.parametrize("sort", [Sort.CHEAPEST, Sort.DEAREST])
@pytest.mark.parametrize("equal", [5, 90, 400])
async def test_those_of_one_price_come_by_number(search: EmbeddedSearch, sort: Sort, equal: int) -> None:
    documents = [Document(id, "okmall", str(id), name="니트", price=1_000 * (id % (500 // equal))) for id in range(500)]
    random.Random(3).shuffle(documents)
    await build(search, documents)

    found = await paged(search, Query("니트", sort=sort, limit=33))

    sign = 1 if sort is Sort.CHEAPEST else -1
    assert found == [one.id for one in sorted(documents, key=lambda one: (sign * (one.price or 0), one.id))]


async def test_words_that_stand_for_the_same_find_what_has_all_their_tokens(search: EmbeddedSearch) -> None:
    """What stands for several tokens is looked for once, which must find neither more nor less."""
    chance = random.Random(8)
    pieces = ("NIKE", "나이키", "new", "balance", "셔츠", "티셔츠", "브라운", "백팩", "ala", "lan", "anc", "CW2288-111")
    brands = ("", "NIKE", "NEW BALANCE", "THOM BROWNE", "BALAN")
    documents = [
        Document(id, "okmall", str(id), name=" ".join(chance.sample(pieces, 3)), brand=chance.choice(brands))
        for id in range(1, 301)
    ]
    await build(search, documents)

    words = ("new", "balance", "셔츠", "브라운", "톰브라운", "nike", "lan")
    strict = {}
    for typed in {" ".join(chance.sample(words, 2)) for _ in range(40)}:
        if not (await search.search(Query(typed))).loose:
            strict[typed] = sorted(await paged(search, Query(typed, limit=100, facets=False)))
    having = {
        typed: [one.id for one in documents if {one for word in wanted(typed) for one in asked(word)} <= tokens(one)]
        for typed in strict
    }
    assert strict == having
    assert len(strict) > 20
