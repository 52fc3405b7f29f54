"""What limits a listing: a person's word, and how long nobody has seen its source."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from bobusang.connectors.markets.buyma.market import Buyma
from bobusang.kit.transport import AiohttpTransport
from bobusang.stages.register.deciding import Chosen, decide
from bobusang.stages.register.diffing import Idle, Kind, Step, Urgency
from bobusang.stages.register.limiting import WORDS, Limit, limit_of, limited
from bobusang.stages.register.model import Policy, State, Stock, Unseen, Variant
from bobusang.stages.register.reopening import lowered
from tests.unit.register.making import ACCOUNT, WANTED, draft, listing, stocks

NOW = datetime(2026, 3, 2, 3, tzinfo=UTC)
POLICY = Policy()
MARKET = Buyma(AiohttpTransport(frozenset()), "http://market")


def held(count: int) -> tuple[Variant, ...]:
    """The grid, each cell with so many in hand."""
    return tuple(Variant(one.color, one.size, Stock.IN_HAND, count) for one in stocks())


def ago(**span: float) -> datetime:
    return NOW - timedelta(**span)


@pytest.mark.parametrize(
    ("closed", "unseen", "seen", "policy", "found"),
    [
        (None, None, None, POLICY, Limit.FREE),
        (ago(days=1), None, NOW, POLICY, Limit.CLOSED),
        (None, ago(hours=23), ago(days=9), POLICY, Limit.FREE),
        (None, ago(hours=24), ago(days=9), POLICY, Limit.CAPPED),
        (None, ago(hours=239), None, POLICY, Limit.CAPPED),
        (None, ago(hours=240), ago(days=30), POLICY, Limit.UNSEEN),
        (None, ago(hours=240), ago(hours=1), POLICY, Limit.FREE),
        (None, ago(days=90), None, Policy(unseen=Unseen(suspended=0)), Limit.CAPPED),
        (None, ago(days=90), None, Policy(unseen=Unseen(capped=0, suspended=0)), Limit.FREE),
    ],
)
def test_people_know_for_so_long_before_less_is_offered(
    closed: datetime | None, unseen: datetime | None, seen: datetime | None, policy: Policy, found: Limit
) -> None:
    assert limit_of(listing(closed_at=closed, unseen_at=unseen), seen, policy, NOW) is found


def test_a_limit_asks_for_the_smallest_call_by_what_the_market_has() -> None:
    off = draft(variants=stocks(Stock.OUT), order_quantity=0)

    assert limited(listing(), Limit.FREE, POLICY) == Idle(WORDS[Limit.FREE])
    assert limited(listing(), Limit.CAPPED, POLICY) == (
        Step(Kind.STOCK, draft(order_quantity=1), Urgency.STOCK_OUT, ("order_quantity",)),
    )
    assert limited(listing(draft(order_quantity=1)), Limit.CAPPED, POLICY) == Idle(WORDS[Limit.CAPPED])
    closing = (Step(Kind.CLOSE, off, Urgency.STOCK_OUT, ("variants",)),)
    assert limited(listing(), Limit.UNSEEN, POLICY) == limited(listing(), Limit.CLOSED, POLICY) == closing
    suspended = listing(state=State.SUSPENDED)
    assert limited(suspended, Limit.CLOSED, POLICY) == Idle(WORDS[Limit.CLOSED])


@pytest.mark.parametrize(
    ("stands", "told", "found"),
    [
        (stocks(), stocks(), stocks()),
        (stocks(), stocks(c1_s1=Stock.OUT), stocks(c1_s1=Stock.OUT)),
        (stocks(c2_s2=Stock.OUT), stocks(c1_s1=Stock.OUT), stocks(c1_s1=Stock.OUT, c2_s2=Stock.OUT)),
        (held(5), held(2), held(2)),
        (held(1), held(2), held(1)),
        ((*stocks(), Variant("c1", "s9", Stock.TO_ORDER)), stocks(Stock.OUT), None),
    ],
)
def test_what_is_for_sale_again_is_lowered_to_what_was_told_last_and_nothing_is_raised(
    stands: tuple[Variant, ...], told: tuple[Variant, ...], found: tuple[Variant, ...] | None
) -> None:
    after = lowered(draft(variants=stands, order_quantity=2), draft(variants=told, order_quantity=3))

    assert after.is_sold_out if found is None else after == draft(variants=found, order_quantity=2)


def test_what_nobody_looked_at_closes_nothing_by_itself() -> None:
    unlooked = replace(WANTED, variants=(), options=(), is_known=False)

    assert decide(unlooked, listing(), ACCOUNT, MARKET, NOW) == Idle(WORDS[Limit.FREE])


def test_what_is_capped_follows_its_product_but_for_the_quantity() -> None:
    one = listing(unseen_at=ago(days=2), told_at=ago(days=9))

    found = decide(WANTED, one, ACCOUNT, MARKET, NOW)

    assert isinstance(found, Chosen)
    assert (found.step.kind, found.step.target.order_quantity) == (Kind.STOCK, 1)
    assert found.step.target.variants == one.confirmed.variants if one.confirmed else ()
