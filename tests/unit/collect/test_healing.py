"""When a seller counts as ill, and how long a probe waits."""

from __future__ import annotations

from datetime import timedelta

import pytest

from bobusang.flows.seller_crawl.healing import failures, rest
from bobusang.stages.collect.counts import Counts


@pytest.mark.parametrize(("probe", "minutes"), [(1, 15), (2, 30), (3, 60), (7, 960), (8, 1440), (100, 1440)])
def test_each_probe_waits_twice_as_long_up_to_a_day(probe: int, minutes: int) -> None:
    assert rest(probe) == timedelta(minutes=minutes)


@pytest.mark.parametrize(
    ("told", "failed"),
    [
        ({}, 0),
        ({"list": Counts(retries=2, failure=1)}, 3),
        ({"list": Counts(retries=2), "detail": Counts(failure=4)}, 6),
        ({"list": Counts(success=1), "detail": Counts(failure=9)}, 0),
        ({"list": Counts(throttled=50)}, 0),
    ],
)
def test_one_page_read_or_nothing_but_throttling_is_no_illness(told: dict[str, Counts], failed: int) -> None:
    assert failures(told) == failed
