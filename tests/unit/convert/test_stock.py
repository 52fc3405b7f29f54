"""Stock is a claim: unknown never becomes none, and no number is made up."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bobusang.catalog.tables.variants import StockKind
from bobusang.catalog.variants import Stock
from bobusang.kit.errors import Invalid
from bobusang.stages.convert import stock
from bobusang.stages.convert.stock import IN, OUT, UNKNOWN


def counted(count: int) -> Stock:
    return Stock(StockKind.COUNT, count)


@pytest.mark.parametrize(
    ("option", "claim"),
    [
        ({"stock": 3, "available": True}, counted(3)),
        ({"stock": 3}, counted(3)),
        ({"stock": 0, "available": False}, OUT),
        ({"available": True}, IN),
        ({"available": False}, OUT),
        ({}, UNKNOWN),
        ({"stock": None, "available": None}, UNKNOWN),
        ({"stock": 0, "available": True}, UNKNOWN),
        ({"stock": 5, "available": False}, UNKNOWN),
        ({"stock": -1}, UNKNOWN),
        ({"stock": "3"}, UNKNOWN),
        ({"stock": True}, UNKNOWN),
        ({"gone": True, "available": True}, OUT),
    ],
)
def test_a_claim_is_what_the_mall_says_and_no_more(option: dict[str, Any], claim: Stock) -> None:
    assert stock.claim(option) == claim


claims = st.sampled_from([IN, OUT, UNKNOWN]) | st.integers(1, 200).map(counted)


@given(claims, st.integers(1, 3), st.integers(0, 5))
def test_no_more_is_offered_than_the_cap_and_the_claim(claim: Stock, cap: int, held_back: int) -> None:
    offered = stock.sellable(claim, cap=cap, held_back=held_back)

    assert (offered is None) == (claim == UNKNOWN)
    if offered is not None:
        assert 0 <= offered <= cap
        assert claim != OUT or offered == 0
        assert claim.count is None or offered <= claim.count


@pytest.mark.parametrize("cap", [0, -1, 4, 90])
def test_a_cap_that_would_fake_stock_is_refused(cap: int) -> None:
    with pytest.raises(Invalid, match="a stock cap is 1 to 3"):
        stock.sellable(IN, cap=cap)


@given(st.lists(claims, max_size=5))
def test_what_a_mall_has_twice_is_out_only_if_every_one_is(every: list[Stock]) -> None:
    joined = stock.joined(every)

    assert (joined == OUT) == (bool(every) and all(one == OUT for one in every))
    assert joined in every or (joined == UNKNOWN and not every)
