"""When a quota runs out at the pace of the last hours."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from bobusang.stages.register.budget import DAY, HOUR, SLOT, Used
from bobusang.stages.register.market import Family
from bobusang.views.quotas import Quota, quota

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
PRODUCT = frozenset({Family.PRODUCT})


def used(*slots: tuple[timedelta, int], family: Family = Family.PRODUCT) -> Used:
    return Used({(NOW - ago, family): calls for ago, calls in slots})


def test_without_calls_it_lasts() -> None:
    found = quota(used(), PRODUCT, 2500, DAY, NOW)

    assert found == Quota(used=0, limit=2500, seconds=86400.0, pace=0.0, runs_out_at=None)


def test_at_the_pace_of_the_last_two_hours_it_runs_out() -> None:
    """2,400 of 2,500 are used and 120 an hour are called: ten of them in each of the next slots."""
    recently = [(number * SLOT, 10) for number in range(1, 25)]
    found = quota(used((timedelta(hours=3), 2160), *recently), PRODUCT, 2500, DAY, NOW)

    assert found == Quota(used=2400, limit=2500, seconds=86400.0, pace=120.0, runs_out_at=NOW + timedelta(minutes=50))


def test_what_falls_out_of_the_span_makes_room() -> None:
    """Nearly all was called a day ago: it is forgotten in five minutes, and 96 an hour never fill a day."""
    recently = [(number * SLOT, 8) for number in range(1, 25)]
    found = quota(used((DAY - SLOT, 2290), *recently), PRODUCT, 2500, DAY, NOW)

    assert found == Quota(used=2482, limit=2500, seconds=86400.0, pace=96.0, runs_out_at=None)


@pytest.mark.parametrize("calls", [5000, 6000])
def test_what_is_used_up_has_run_out_now(calls: int) -> None:
    found = quota(used((SLOT, calls)), frozenset(Family), 5000, HOUR, NOW)

    assert found.runs_out_at == NOW


def test_other_families_do_not_count() -> None:
    assert quota(used((SLOT, 100), family=Family.STOCK), PRODUCT, 2500, DAY, NOW).used == 0
