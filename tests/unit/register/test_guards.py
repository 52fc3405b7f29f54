"""Nothing leaves that a person would have stopped."""

from __future__ import annotations

import math
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bobusang.kit.money import yen
from bobusang.stages.register.guards import (
    Guard,
    Prices,
    RunFacts,
    Trip,
    changing_trip,
    closing_trip,
    price_trip,
)
from bobusang.stages.register.model import Caution

CAUTION = Caution()
FINE = Prices(yen(22_500), yen(20_000), yen(40_000), 22_000, 22_000)
NO_AMOUNT = [None, 0, -1, "", math.nan, Decimal("NaN"), 20_000.0, True, yen(0), yen(-5)]


def guard(prices: Prices) -> Guard | None:
    trip = price_trip(CAUTION, prices)
    return None if trip is None else trip.guard


def test_a_price_between_its_bounds_that_moves_little_leaves() -> None:
    assert price_trip(CAUTION, FINE) is None


@pytest.mark.parametrize("blank", NO_AMOUNT)
def test_without_a_floor_nothing_is_sent(blank: object) -> None:
    """Every listing with a blank minimum went to one cent for a quarter of an hour (2012)."""
    assert guard(Prices(yen(22_500), blank, yen(40_000))) is Guard.NO_FLOOR
    assert guard(Prices(blank, yen(1), yen(40_000))) is Guard.NO_PRICE
    assert guard(Prices(yen(22_500), yen(1), blank)) is Guard.NO_CEILING


def test_bounds_are_kept() -> None:
    assert price_trip(CAUTION, Prices(yen(19_999), yen(20_000), yen(40_000))) == Trip(
        Guard.BELOW_FLOOR, "19,999 is below the floor 20,000"
    )
    assert guard(Prices(yen(40_001), yen(20_000), yen(40_000))) is Guard.ABOVE_CEILING


def test_a_rate_times_ten_is_a_step_too_far_even_if_its_bounds_moved_along() -> None:
    wrong = Prices(yen(225_000), yen(200_000), yen(400_000), 22_500, 22_500)
    assert price_trip(CAUTION, wrong) == Trip(
        Guard.STEP, "22,500 → 225,000 is +900 % in one step, at most 30 % are allowed"
    )


def test_many_small_steps_are_a_day_too_far() -> None:
    assert guard(Prices(yen(9_000), yen(5_000), yen(40_000), 12_000, 20_000)) is Guard.DAY


@given(price=st.integers(-10, 10**7), floor=st.integers(-10, 10**7), ceiling=st.integers(-10, 10**7))
def test_no_price_below_its_floor_or_above_its_ceiling_ever_passes(price: int, floor: int, ceiling: int) -> None:
    passed = price_trip(CAUTION, Prices(price, floor, ceiling)) is None
    assert passed == (0 < floor <= price <= ceiling)


def test_a_run_that_closes_too_much_is_stopped_and_stays_stopped() -> None:
    assert closing_trip(CAUTION, RunFacts(live=1_000, closing=100, changing=0)) is None
    assert closing_trip(CAUTION, RunFacts(live=1_000, closing=101, changing=0)) == Trip(
        Guard.CLOSED, "101 of 1000 live listings would be closed, at most 100 are in a run"
    )
    assert closing_trip(CAUTION, RunFacts(live=1_000, closing=1, changing=0, closed_before=True)) is not None
    assert closing_trip(CAUTION, RunFacts(live=8, closing=5, changing=0)) is None


def test_a_run_that_changes_too_much_is_stopped() -> None:
    assert changing_trip(CAUTION, RunFacts(live=1_000, closing=0, changing=600)) is None
    assert changing_trip(CAUTION, RunFacts(live=1_000, closing=0, changing=601)) is not None


def test_a_person_may_agree_to_a_jump_but_not_to_a_loss() -> None:
    assert {found for found in Guard if found.can_be_approved} == {
        Guard.STEP,
        Guard.DAY,
        Guard.CLOSED,
        Guard.CHANGED,
        Guard.UNANSWERED,
        Guard.SAME_GOODS,
    }
