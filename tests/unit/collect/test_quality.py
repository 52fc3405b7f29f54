"""A quality score tells what it is made of."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bobusang.stages.collect.quality import EXPECTED, Quality, quality


def test_a_score_is_the_weighed_sum_of_its_parts() -> None:
    found = quality(10, filled=54, valid=8, fresh=5, doubtful=1)
    assert found == Quality(10, completeness=0.9, validity=0.8, freshness=0.5, consistency=0.9)
    assert found.score == 79.0


def test_nothing_has_no_quality() -> None:
    nothing = quality(0, filled=0, valid=0, fresh=0, doubtful=3)
    assert (nothing, nothing.score) == (Quality(0, 0.0, 0.0, 0.0, 0.0), 0.0)


@given(st.data())
def test_a_score_lies_between_0_and_100_and_grows_with_each_part(data: st.DataObject) -> None:
    items = data.draw(st.integers(1, 10**6))
    part = st.integers(0, items)
    filled, valid, fresh, doubtful = data.draw(st.integers(0, items * len(EXPECTED))), *(data.draw(part) for _ in "123")
    found = quality(items, filled=filled, valid=valid, fresh=fresh, doubtful=doubtful)
    best = quality(items, filled=items * len(EXPECTED), valid=items, fresh=items, doubtful=0)
    assert 0 <= found.score <= best.score == 100
    assert quality(items, filled=filled, valid=items, fresh=fresh, doubtful=doubtful).score >= found.score
