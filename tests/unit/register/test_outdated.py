"""What goes out while the price of a product is outdated: what can no longer be delivered, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from bobusang.connectors.markets.buyma.market import Buyma
from bobusang.kit.money import yen
from bobusang.kit.transport import AiohttpTransport
from bobusang.stages.register.deciding import Chosen, Decision, Outdated, decide
from bobusang.stages.register.diffing import Kind, Step, Urgency
from bobusang.stages.register.model import Listing, State, Stock, Variant
from tests.unit.register.making import ACCOUNT, WANTED, draft, listing, stocks

NOW = datetime(2026, 3, 2, 3, tzinfo=UTC)
MARKET = Buyma(AiohttpTransport(frozenset()), "http://market")
OLD = "its price was decided 72 hours ago, and is good for 6"
SOME_OUT, ALL_OUT = stocks(c1_s1=Stock.OUT), stocks(Stock.OUT)
FEWER = Chosen(
    Step(Kind.STOCK, draft(variants=SOME_OUT), Urgency.STOCK_OUT, ("variants",)),
)
CLOSED = Chosen(Step(Kind.CLOSE, draft(variants=ALL_OUT, order_quantity=0), Urgency.STOCK_OUT, ("variants",)))


@pytest.mark.parametrize(
    ("one", "variants", "decision"),
    [
        (Listing(1, 1, 7, "okmall/7"), stocks(), Outdated(OLD)),  # nothing is created by it
        (listing(), stocks(), Outdated(OLD)),
        (listing(), SOME_OUT, FEWER),
        (listing(), ALL_OUT, CLOSED),
        (listing(draft(variants=SOME_OUT)), stocks(), Outdated(OLD)),  # more of something can wait
        (listing(draft(price=21_000)), stocks(), Outdated(OLD)),  # as confirmed, but nobody knows whether rightly
        (listing(draft(variants=ALL_OUT), State.SUSPENDED), stocks(), Outdated(OLD)),  # nothing comes back by it
        (listing(draft(variants=ALL_OUT), State.SUSPENDED), ALL_OUT, Outdated(OLD)),
    ],
)
def test_while_its_price_is_outdated(one: Listing, variants: tuple[Variant, ...], decision: Decision) -> None:
    wanted = replace(WANTED, price=yen(21_000), variants=variants, outdated=OLD)

    assert decide(wanted, one, ACCOUNT, MARKET, NOW) == decision
