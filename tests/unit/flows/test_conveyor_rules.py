"""The conveyor's pure decisions."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bobusang.engine.model import StepState
from bobusang.engine.rules import Count
from bobusang.flows.conveyor.model import BatchStatus, Stage, StageStatus
from bobusang.flows.conveyor.rules import next_batch_id, number_of, outcome_of, status_of
from bobusang.kit.errors import Invalid

DONE, ERROR, RUNNING, PENDING = StageStatus.DONE, StageStatus.ERROR, StageStatus.RUNNING, StageStatus.PENDING
EVENING = datetime(2026, 1, 26, 18, 30, tzinfo=UTC)
"""Half past three in the night of the 27th in Seoul."""


@pytest.mark.parametrize(
    ("known", "name"),
    [
        ([], "20260127_01"),
        (["20260126_07"], "20260127_01"),
        (["20260127_01", "20260127_02"], "20260127_03"),
        (["20260127_99"], "20260127_100"),
        (["20260127_100", "20260127_99"], "20260127_101"),
    ],
)
def test_a_batch_is_named_by_seouls_day_and_grows_past_99(known: list[str], name: str) -> None:
    assert next_batch_id(EVENING, known) == name


@given(st.integers(min_value=1, max_value=100_000))
def test_the_next_name_is_always_a_higher_number(number: int) -> None:
    assert number_of(next_batch_id(EVENING, [f"20260127_{number:02}"])) == number + 1


@pytest.mark.parametrize("name", ["", "20260127", "20260127_", "20260127_x", "2026_01", "2026012x_01"])
def test_what_is_no_batch_is_refused(name: str) -> None:
    with pytest.raises(Invalid, match="is no batch"):
        number_of(name)


@pytest.mark.parametrize(
    ("steps", "status"),
    [
        ([(StepState.PENDING, Count())], PENDING),
        ([(StepState.RUNNING, Count(created=1)), (StepState.PENDING, Count())], RUNNING),
        ([(StepState.DONE, Count(created=1, succeeded=1)), (StepState.PENDING, Count())], RUNNING),
        ([(StepState.PENDING, Count(created=2))], RUNNING),
        ([(StepState.DONE, Count(created=2, succeeded=2))], DONE),
        ([(StepState.DONE, Count(created=2, succeeded=1, skipped=1))], DONE),
        ([(StepState.DONE, Count(created=2, succeeded=1, failed=1))], ERROR),
        ([(StepState.RUNNING, Count(created=2, failed=1))], RUNNING),
    ],
)
def test_a_stage_is_what_its_steps_come_to(steps: list[tuple[StepState, Count]], status: StageStatus) -> None:
    assert status_of(steps) is status


@pytest.mark.parametrize(
    ("brands", "status", "good"),
    [
        ([[DONE] * 5, [DONE] * 5], BatchStatus.COMPLETED, 2),
        ([[DONE] * 5, [DONE, ERROR, DONE, DONE, DONE]], BatchStatus.COMPLETED, 2),
        ([[DONE] * 5, [DONE, DONE, DONE, DONE, ERROR]], BatchStatus.FAILED, 1),
        ([[DONE] * 5, [DONE, DONE, DONE, DONE, RUNNING]], BatchStatus.RUNNING, 1),
        ([[DONE] * 5, [DONE, DONE, RUNNING, PENDING, PENDING]], BatchStatus.RUNNING, 1),
        ([[DONE] * 3, [DONE, DONE, ERROR]], BatchStatus.FAILED, 1),
        ([[DONE] * 3, [ERROR, DONE, DONE]], BatchStatus.COMPLETED, 2),
        ([], BatchStatus.COMPLETED, 0),
    ],
)
def test_a_batch_ends_well_when_the_last_stage_of_every_brand_is_done(
    brands: list[list[StageStatus]], status: BatchStatus, good: int
) -> None:
    counts = Counter(at for found in brands for at in zip(Stage, found, strict=False))

    assert outcome_of(counts) == (status, good)
