"""Pure decisions: errors, outcomes, back-off, states and verdicts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bobusang.engine.model import (
    ErrorHandling,
    JobStatus,
    ReasonClass,
    Step,
    StepState,
    StepType,
    TaskOutcome,
    TaskStatus,
)
from bobusang.engine.outcome import Done, Fail, Halt, Outcome, Park, Retry, Skip, Snooze, Wait
from bobusang.engine.rules import (
    FIRST_DELAY,
    LONGEST_DELAY,
    MAX_CRASHES,
    Count,
    Move,
    backoff,
    decide,
    fingerprint,
    is_poison,
    is_suspect,
    resolve,
    states,
    storable,
    verdict,
)
from bobusang.kit.errors import Blocked, Conflict, Drifted, External, Invalid, Missing, Rejected, Throttled, Unavailable

NOW = datetime(2026, 1, 27, 12, tzinfo=UTC)
LATER = NOW + timedelta(minutes=1)
PENDING, RUNNING, DONE = StepState

counts = st.builds(Count, *[st.integers(0, 20)] * 6)


def step(on_error: ErrorHandling = ErrorHandling.RETRY, max_retries: int = 3) -> Step:
    return Step(1, 1, "fetch", StepType.FETCH, "fetch", on_error=on_error, max_retries=max_retries)


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (Throttled("429", until=LATER), Snooze(LATER, "429")),
        (Throttled("429", until=NOW - timedelta(hours=1)), Snooze(NOW, "429")),
        (Rejected("no", problems=["short", "late"]), Park(ReasonClass.REJECTED, "no; short; late")),
        (Drifted("no price"), Halt("no price")),
        (Blocked("403"), Halt("403")),
        (Unavailable("503", hint="wait"), Retry("503 (wait)")),
        (External("odd"), Retry("odd")),
        (Conflict("first"), Retry("first")),
        (Invalid("bad"), Park(ReasonClass.INVALID, "bad")),
        (Missing("gone"), Park(ReasonClass.INVALID, "gone")),
        (TimeoutError(), Retry("timed out", reason=ReasonClass.TIMEOUT)),
        (KeyError("price"), Retry("KeyError: 'price'", reason=ReasonClass.BUG)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_an_error_says_what_happens_next(error: Exception, outcome: Outcome) -> None:
    assert decide(error, NOW) == outcome


@pytest.mark.parametrize(
    ("outcome", "attempt", "on_error", "move"),
    [
        (Retry("e"), 3, ErrorHandling.RETRY, (TaskStatus.FAILED, TaskOutcome.PARKED)),
        (Retry("e"), 3, ErrorHandling.SKIP, (TaskStatus.SUCCESS, TaskOutcome.SKIPPED)),
        (Retry("e"), 0, ErrorHandling.FAIL, (TaskStatus.FAILED, TaskOutcome.FAILED)),
        (Retry("e"), 2, ErrorHandling.RETRY, (TaskStatus.RETRYING, None)),
        (Park(ReasonClass.BUG, "e"), 0, ErrorHandling.FAIL, (TaskStatus.FAILED, TaskOutcome.FAILED)),
        (Fail("e"), 0, ErrorHandling.RETRY, (TaskStatus.FAILED, TaskOutcome.FAILED)),
        (Halt("e"), 9, ErrorHandling.FAIL, (TaskStatus.RETRYING, None)),
        (Snooze(LATER), 9, ErrorHandling.FAIL, (TaskStatus.RETRYING, None)),
        (Wait("k", LATER), 9, ErrorHandling.FAIL, (TaskStatus.RETRYING, None)),
        (Skip(), 0, ErrorHandling.FAIL, (TaskStatus.SUCCESS, TaskOutcome.SKIPPED)),
        (Done(), 9, ErrorHandling.FAIL, (TaskStatus.SUCCESS, TaskOutcome.DONE)),
    ],
)
def test_a_step_decides_what_an_outcome_means(
    outcome: Outcome, attempt: int, on_error: ErrorHandling, move: tuple[TaskStatus, TaskOutcome | None]
) -> None:
    found = resolve(outcome, step(on_error), 7, attempt, NOW)

    assert (found.status, found.outcome) == move
    assert found.ended == (move[1] is not None)


def test_a_retry_is_used_up_and_waits_for_its_time() -> None:
    found = resolve(Retry("503", after=timedelta(minutes=3)), step(), 7, 1, NOW)

    assert found == Move(
        TaskStatus.RETRYING,
        error="503",
        reason=ReasonClass.TRANSPORT,
        attempts=1,
        delay_until=NOW + timedelta(minutes=3),
    )


def test_what_is_no_outcome_is_refused() -> None:
    with pytest.raises(TypeError, match="which is no outcome"):
        resolve(None, step(), 7, 0, NOW)  # type: ignore[arg-type]


@given(st.integers(1, 2**53), st.integers(0, 10_000))
def test_back_off_doubles_within_bounds_and_is_the_same_everywhere(task_id: int, attempt: int) -> None:
    full = min(FIRST_DELAY * 2 ** min(attempt, 20), LONGEST_DELAY)

    found = backoff(task_id, attempt)

    assert full / 2 <= found <= full
    assert found == backoff(task_id, attempt)


def test_back_off_spreads_tasks_that_failed_together() -> None:
    assert len({backoff(task_id, 3) for task_id in range(1000)}) > 990


@given(st.integers(1, 100), st.integers(0, 10), st.timedeltas(timedelta(), timedelta(hours=3)))
def test_back_off_honours_what_was_asked(task_id: int, attempt: int, least: timedelta) -> None:
    assert backoff(task_id, attempt, least) == max(least, backoff(task_id, attempt))


@pytest.mark.parametrize(
    ("given_counts", "found"),
    [
        ([Count()], [DONE]),
        ([Count(created=2, succeeded=1)], [RUNNING]),
        ([Count(created=1), Count()], [RUNNING, PENDING]),
        ([Count(created=1, succeeded=1), Count()], [DONE, DONE]),
        ([Count(created=1, failed=1), Count(created=1)], [DONE, RUNNING]),
        ([Count(created=2, skipped=1), Count(created=1, succeeded=1)], [RUNNING, RUNNING]),
        ([Count(created=2, succeeded=2), Count(created=2, cancelled=2), Count(created=1)], [DONE, DONE, RUNNING]),
    ],
)
def test_a_step_is_done_when_nothing_is_open_in_it_or_before(given_counts: list[Count], found: list[StepState]) -> None:
    assert states(given_counts) == tuple(found)


@given(st.lists(counts, max_size=6))
def test_steps_are_done_from_the_front(given_counts: list[Count]) -> None:
    found = states(given_counts)

    done = [state is DONE for state in found]
    assert done == sorted(done, reverse=True)


@given(counts, counts, counts)
def test_counters_add_up_in_any_order(one: Count, two: Count, three: Count) -> None:
    assert (one + two) + three == three + (two + one)
    assert (one + two).open == one.open + two.open


@pytest.mark.parametrize(
    ("count", "tolerance", "status"),
    [
        (Count(), 0.0, JobStatus.SUCCESS),
        (Count(succeeded=9), 0.0, JobStatus.SUCCESS),
        (Count(succeeded=9, failed=1), 0.0, JobStatus.FAILED),
        (Count(succeeded=9, failed=1), 0.1, JobStatus.SUCCESS),
        (Count(succeeded=8, failed=2), 0.1, JobStatus.FAILED),
        (Count(skipped=100, failed=1), 0.1, JobStatus.FAILED),
        (Count(failed=5), 1.0, JobStatus.SUCCESS),
    ],
)
def test_a_job_fails_by_more_failures_than_it_tolerates(count: Count, tolerance: float, status: JobStatus) -> None:
    assert verdict([count], tolerance) is status


def test_the_failure_of_a_step_that_gathers_is_never_tolerated() -> None:
    many, one = Count(succeeded=99), Count(failed=1)

    assert verdict([many, one], 0.5, [False, False]) is JobStatus.SUCCESS
    assert verdict([many, one], 0.5, [False, True]) is JobStatus.FAILED
    assert verdict([one, many], 0.5, [False, True]) is JobStatus.SUCCESS


def test_a_task_is_suspected_before_it_is_taken_for_poison() -> None:
    assert [is_suspect(n) for n in range(1, 7)] == [False, False, False, True, True, True]
    assert [is_poison(n) for n in (MAX_CRASHES, MAX_CRASHES + 1)] == [False, True]


def test_errors_that_differ_in_numbers_are_one() -> None:
    assert fingerprint("name has 61 characters") == fingerprint("name has 173 characters")
    assert fingerprint("name has 61 characters") != fingerprint("name has no characters")


@given(st.text(st.characters(codec=None), max_size=5000))
def test_any_error_text_becomes_one_that_can_be_stored(text: str) -> None:
    found = storable(text)

    assert "\0" not in found
    assert found.encode().decode() == found
    assert len(found) <= 4000
    assert storable(found) == found
