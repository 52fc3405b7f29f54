"""Keys of kept answers: readable, the same for the same question, and never the same for two."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bobusang.platform.cache import LONGEST_KEY
from bobusang.platform.search import Query, Sort
from bobusang.views.searching import after, cursor, key_of


@pytest.mark.parametrize(
    ("query", "key"),
    [
        (Query("패딩"), "search:패딩:0:0"),
        (Query("나이키 패딩", min_price=1_000, max_price=9_000), "search:나이키 패딩:1000:9000"),
        (Query("a:b%"), "search:a%3Ab%25:0:0"),
        (Query("패딩", brands=("나이키",)), "search:패딩:0:0:brand=나이키"),
        (
            Query(malls=("okmall", "mustit"), in_stock=False, sort=Sort.DEAREST, limit=5, facets=False),
            "search::0:0:mall=mustit:mall=okmall:in_stock=0:sort=-price:limit=5:facets=0",
        ),
    ],
)
def test_a_key_can_be_read(query: Query, key: str) -> None:
    assert key_of(query) == key


NAMES = st.lists(st.text("ab:%=나", min_size=1, max_size=3), max_size=2, unique=True).map(
    lambda names: tuple(sorted(names))
)
QUERIES = st.builds(
    Query,
    keyword=st.text("ab:%=나 ", max_size=4),
    min_price=st.integers(0, 2),
    max_price=st.integers(0, 2),
    brands=NAMES,
    malls=NAMES,
    in_stock=st.sampled_from([None, True, False]),
    sort=st.sampled_from(list(Sort)),
    limit=st.sampled_from([20, 5]),
    after=st.sampled_from([(), (1, 2, 3)]),
    facets=st.booleans(),
)


@given(QUERIES, QUERIES)
def test_two_questions_have_two_keys(one: Query, other: Query) -> None:
    assert (key_of(one) == key_of(other)) == (one == other)


def test_a_long_question_has_a_short_key() -> None:
    brands = tuple(f"{number:0200}" for number in range(20))

    keys = {key_of(Query("가" * 200, brands=brands)), key_of(Query("가" * 200, brands=brands[1:]))}

    assert len(keys) == 2
    assert all(len(key) <= LONGEST_KEY for key in keys)


@given(st.tuples(st.integers(0, 50), st.integers(-(2**63), 2**63 - 1), st.integers(0, 2**63 - 1)))
def test_a_cursor_comes_back_as_it_went(place: tuple[int, int, int]) -> None:
    assert after(cursor(place)) == place
