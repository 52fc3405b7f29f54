"""Two accidents that no wish may cause: money of another currency sent as the market's, and a listing deleted."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from itertools import product

import pytest

from bobusang.connectors.markets.buyma.market import Buyma
from bobusang.kit import json
from bobusang.kit.errors import Invalid
from bobusang.kit.money import won
from bobusang.kit.transport import AiohttpTransport
from bobusang.stages.register.deciding import Chosen
from bobusang.stages.register.diffing import Idle, steps
from bobusang.stages.register.drafting import drafted
from bobusang.stages.register.market import Key
from bobusang.stages.register.model import Policy, State, Stock
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
