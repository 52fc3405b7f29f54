"""Calls are scarce: a stock-out always finds one, and the market's limits are never exceeded."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from bobusang.stages.register.budget import DAY, HOUR, SLOT, Used, admitted, free_at, slot
from bobusang.stages.register.diffing import Urgency
from bobusang.stages.register.market import Family
from bobusang.stages.register.model import Budget

NOW = datetime(2026, 3, 2, 12, 1, 30, tzinfo=UTC)
SMALL = Budget(hour=10, day=10, shares=(100, 90, 80, 70, 60))
PRODUCT, STOCK = Family.PRODUCT, Family.STOCK


def used(count: int, family: Family = PRODUCT, ago: timedelta = timedelta()) -> Used:
    return Used({(slot(NOW - ago), family): count})


def test_what_is_urgent_goes_first_whatever_the_order() -> None:
    asked = [(Urgency.NEW, PRODUCT)] * 8 + [(Urgency.STOCK_OUT, STOCK)] * 8

    answer = admitted(SMALL, used(0), NOW, asked)

    assert Counter(urgency for (urgency, _), yes in zip(asked, answer, strict=True) if yes) == {Urgency.STOCK_OUT: 8}


def test_new_listings_leave_calls_for_what_is_urgent() -> None:
    assert admitted(SMALL, used(6), NOW, [(Urgency.NEW, PRODUCT)]) == (False,)
    assert admitted(SMALL, used(6), NOW, [(Urgency.PRICE_DOWN, PRODUCT)]) == (True,)
    assert admitted(SMALL, used(9), NOW, [(Urgency.STOCK_OUT, STOCK)]) == (True,)
    assert admitted(SMALL, used(10), NOW, [(Urgency.STOCK_OUT, STOCK)]) == (False,)


def test_the_day_counts_product_calls_alone_unless_told() -> None:
    busy = Used({(slot(NOW - timedelta(hours=5)), PRODUCT): 10})
    both = Budget(hour=10, day=10, stock_counts=True)

    assert admitted(SMALL, busy, NOW, [(Urgency.STOCK_OUT, STOCK), (Urgency.STOCK_OUT, PRODUCT)]) == (True, False)
    assert admitted(both, busy, NOW, [(Urgency.STOCK_OUT, STOCK)]) == (False,)


def test_it_says_when_there_is_room_again() -> None:
    busy = Used({(slot(NOW - timedelta(minutes=50)), PRODUCT): 4, (slot(NOW), PRODUCT): 2})

    at = free_at(Budget(hour=10), busy, NOW, Urgency.NEW, STOCK)

    assert at == slot(NOW - timedelta(minutes=50)) + HOUR + SLOT
    assert free_at(Budget(), busy, NOW, Urgency.NEW, PRODUCT) == NOW


def test_what_was_booked_as_a_slot_ended_counts_until_the_last_of_it_was_sent_an_hour_ago() -> None:
    """Sent 28 seconds into the next slot, it is less than an hour old when the slot after its own begins."""
    booked, lease = datetime(2026, 3, 2, 11, 4, 59, tzinfo=UTC), timedelta(minutes=1)
    busy = Used({(slot(booked), PRODUCT): 10}, lease)
    early = booked + HOUR + timedelta(seconds=1)

    assert admitted(SMALL, busy, early, [(Urgency.STOCK_OUT, PRODUCT)]) == (False,)
    room = free_at(SMALL, busy, early, Urgency.STOCK_OUT, STOCK)
    assert room == slot(booked) + HOUR + SLOT + lease
    assert admitted(SMALL, busy, room, [(Urgency.STOCK_OUT, STOCK)]) == (True,)


@given(st.lists(st.tuples(st.integers(0, 900), st.sampled_from(list(Urgency)), st.integers(0, 60)), max_size=60))
def test_no_hour_and_no_day_ever_has_more_calls_than_allowed(waits: list[tuple[int, Urgency, int]]) -> None:
    """Not even where one is sent as late after it was booked as its lease allows."""
    budget, now, lease = Budget(hour=5, day=12, shares=(100,) * 5), NOW, timedelta(seconds=60)
    calls: Counter[tuple[datetime, Family]] = Counter()
    made: list[datetime] = []
    for seconds, urgency, late in waits:
        now += timedelta(seconds=seconds)
        if admitted(budget, Used(calls, lease), now, [(urgency, PRODUCT)]) == (True,):
            calls[slot(now), PRODUCT] += 1
            made.append(now + timedelta(seconds=late))
    assert all(
        sum(at - span < other <= at for other in made) <= most for at in made for span, most in ((HOUR, 5), (DAY, 12))
    )
