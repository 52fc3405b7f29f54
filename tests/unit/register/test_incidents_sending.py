"""What no wish may cause: money of another currency sent as the market's, a deleted listing, invented stock."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bobusang.connectors.markets.buyma.market import Buyma
from bobusang.kit import json
from bobusang.kit.errors import Invalid
from bobusang.kit.money import won
from bobusang.kit.transport import AiohttpTransport
from bobusang.stages.register.deciding import Chosen
from bobusang.stages.register.diffing import Idle, steps
from bobusang.stages.register.drafting import drafted, quantity
from bobusang.stages.register.market import Key
from bobusang.stages.register.model import Policy, State, Stock, Variant
from bobusang.stages.register.planning import Planner
from tests.unit.register.making import ABILITIES, ACCOUNT, TODAY, WANTED, draft, listing, stocks


@pytest.mark.parametrize("name", ["price", "floor", "ceiling"])
def test_an_amount_of_another_currency_is_refused(name: str) -> None:
    """A floor in won would bound nothing in yen: a warehouse without currencies sold for 100 of each."""
    with pytest.raises(Invalid) as refused:
        drafted(replace(WANTED, **{name: won(225_000)}), ACCOUNT, ABILITIES, TODAY)  # type: ignore[arg-type]

    assert (refused.value.message, refused.value.field) == (f"okmall/7: the {name} ₩225,000 is not in JPY", name)


def test_whatever_is_wanted_nothing_is_ever_deleted() -> None:
    """5,320 good listings were deleted by a run; ours are suspended by their stock, and keep their id."""
    planner = Planner(Buyma(AiohttpTransport(frozenset()), "http://market"), timedelta(minutes=1))
    grids = [(), stocks(), stocks(Stock.OUT), stocks(Stock.UNKNOWN), stocks(c1_s1=Stock.OUT)]
    controls = set()
    for state, wanted, confirmed in product(State, grids, grids):
        quantity = 3 if any(one.stock is Stock.TO_ORDER for one in wanted) else 0
        wish = draft(variants=wanted, order_quantity=quantity)
        found = steps(wish, listing(draft(variants=confirmed), state), ABILITIES, Policy(), TODAY)
        for step in () if isinstance(found, Idle) else found:
            body = json.loads(planner.request(Chosen(step), Key("REF1", "100")).body)
            controls.add(body["product"].get("control"))

    assert controls == {None, "publish"}


CELLS = st.sampled_from([Stock.IN_HAND, Stock.TO_ORDER, Stock.OUT, Stock.UNKNOWN])
COUNTS = st.none() | st.integers(0, 200)


@given(st.lists(st.tuples(CELLS, COUNTS), max_size=6), st.integers(1, 3))
def test_no_more_can_be_ordered_than_the_policy_and_the_mall_allow(
    cells: list[tuple[Stock, int | None]], most: int
) -> None:
    """A peer told the market a random 90 to 100: one wrong hour would have taken ninety orders."""
    variants = tuple(Variant("c", str(place), stock, count) for place, (stock, count) in enumerate(cells))
    sold = [variant for variant in variants if variant.stock in (Stock.IN_HAND, Stock.TO_ORDER)]

    found = quantity(variants, most)

    assert 0 <= found <= most
    assert (found == 0) == (not sold)
    if sold and all(variant.count for variant in sold):
        assert found <= sum(variant.count or 0 for variant in sold)
