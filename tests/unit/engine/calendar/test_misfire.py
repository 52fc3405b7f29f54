from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bobusang.engine.calendar.misfire import MOST_COUNTED, Decision, Due, Misfire, Overlap, due, overdue, overlap
from bobusang.engine.calendar.timetable import Timetable

HOURLY = Timetable("0 * * * *")
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
MINUTE = timedelta(minutes=1)

zones = st.sampled_from(["UTC", "Asia/Seoul", "America/New_York", "Australia/Lord_Howe"])
timetables = st.builds(
    Timetable, st.sampled_from(["* * * * *", "*/30 * * * *", "0 * * * *", "30 1,2 * * *", "0 9 * * 1-5"]), zones
)
moments = st.datetimes(datetime(2026, 3, 1), datetime(2026, 4, 10)).map(lambda wall: wall.replace(tzinfo=UTC))  # noqa: DTZ001
policies = st.sampled_from(Misfire)


@pytest.mark.parametrize("policy", Misfire)
def test_nothing_is_due_before_its_time(policy: Misfire) -> None:
    assert due(HOURLY, NOON, NOON + HOUR - timedelta.resolution, policy) == Due((), 0, NOON + HOUR)


@pytest.mark.parametrize("policy", Misfire)
@pytest.mark.parametrize("late", [timedelta(), timedelta(seconds=60)])
def test_what_is_due_fires_once_under_every_policy(policy: Misfire, late: timedelta) -> None:
    assert due(HOURLY, NOON, NOON + HOUR + late, policy) == Due((NOON + HOUR,), 0, NOON + 2 * HOUR)


def test_skip_drops_what_is_later_than_the_grace() -> None:
    now = NOON + 3 * HOUR + timedelta(seconds=61)

    assert due(HOURLY, NOON, now, Misfire.SKIP) == Due((), 3, NOON + 4 * HOUR)
    assert due(HOURLY, NOON, now, Misfire.SKIP, grace=2 * MINUTE) == Due((NOON + 3 * HOUR,), 2, NOON + 4 * HOUR)


def test_once_fires_the_latest_of_many() -> None:
    assert due(HOURLY, NOON, NOON + 5.5 * HOUR, Misfire.ONCE) == Due((NOON + 5 * HOUR,), 4, NOON + 6 * HOUR)


def test_all_fires_each_within_the_window() -> None:
    now = NOON + 5.5 * HOUR
    each = tuple(NOON + n * HOUR for n in (3, 4, 5))

    assert due(HOURLY, NOON, now, Misfire.ALL, window=2.5 * HOUR) == Due(each, 2, NOON + 6 * HOUR)


def test_all_fires_the_latest_ones_when_there_are_more_than_the_cap() -> None:
    now = NOON + 5.5 * HOUR
    latest = (NOON + 4 * HOUR, NOON + 5 * HOUR)

    assert due(HOURLY, NOON, now, Misfire.ALL, timedelta(days=1), 2) == Due(latest, 3, NOON + 6 * HOUR)


@pytest.mark.parametrize("policy", Misfire)
def test_a_clock_that_jumps_back_fires_nothing_twice(policy: Misfire) -> None:
    fired = due(HOURLY, NOON - HOUR, NOON, policy)

    assert fired == Due((NOON,), 0, NOON + HOUR)
    assert due(HOURLY, fired.fires[-1], NOON - 3 * HOUR, policy) == Due((), 0, NOON + HOUR)


class Counted(Timetable):
    """A timetable that knows how often it was asked."""

    asked = 0

    def after(self, instant: datetime) -> datetime | None:
        Counted.asked += 1
        return super().after(instant)


@pytest.mark.parametrize("policy", Misfire)
@pytest.mark.parametrize("cron", ["* * * * *", "* 1-5 * 1 *"])
def test_the_work_is_bounded_when_the_previous_fire_was_a_century_ago(policy: Misfire, cron: str) -> None:
    Counted.asked = 0

    found = due(Counted(cron), datetime(1926, 1, 1, tzinfo=UTC), NOON, policy, timedelta.max, 50)

    assert (len(found.fires), found.skipped) == (
        {"SKIP": 2 if cron[2] == "*" else 0, "ONCE": 1, "ALL": 50}[policy],
        MOST_COUNTED,
    )
    assert Counted.asked < 5_000


@settings(deadline=None)
@given(timetables, moments, st.timedeltas(timedelta(days=-2), timedelta(days=3)), policies, st.integers(1, 40))
def test_due_agrees_with_counting_one_by_one(
    timetable: Timetable, previous: datetime, passed: timedelta, policy: Misfire, cap: int
) -> None:
    now, window, grace = previous + passed, timedelta(hours=20), timedelta(seconds=90)
    missed = []
    for fire in timetable.fires(previous):
        if fire > now:
            break
        missed.append(fire)
    wanted = {
        Misfire.SKIP: [fire for fire in missed if now - fire <= grace][-cap:],
        Misfire.ONCE: missed[-1:],
        Misfire.ALL: [fire for fire in missed if now - fire <= window][-cap:],
    }[policy]

    found = due(timetable, previous, now, policy, window, cap, grace)

    skipped = min(len(missed) - len(wanted), MOST_COUNTED)
    assert found == Due(tuple(wanted), skipped, timetable.after(max([previous, *missed])))


@settings(deadline=None)
@given(timetables, moments, st.lists(st.timedeltas(timedelta(hours=-30), timedelta(hours=40)), max_size=8), policies)
def test_no_instant_fires_twice_however_the_clock_jumps(
    timetable: Timetable, start: datetime, jumps: list[timedelta], policy: Misfire
) -> None:
    fired: list[datetime] = []
    now, next_run_at = start, timetable.after(start)
    for jump in jumps:
        now += jump
        if next_run_at is not None and next_run_at <= now:
            found = due(timetable, next_run_at - timedelta.resolution, now, policy, cap=5)
            fired.extend(found.fires)
            next_run_at = found.next

    assert fired == sorted(set(fired))


@pytest.mark.parametrize(
    ("policy", "running", "buffered", "decision"),
    [
        (Overlap.SKIP, 0, 0, Decision.START),
        (Overlap.SKIP, 1, 0, Decision.SKIP),
        (Overlap.SKIP, 0, 1, Decision.SKIP),
        (Overlap.BUFFER_ONE, 0, 0, Decision.START),
        (Overlap.BUFFER_ONE, 1, 0, Decision.BUFFER),
        (Overlap.BUFFER_ONE, 1, 1, Decision.SKIP),
        (Overlap.BUFFER_ONE, 0, 1, Decision.SKIP),
        (Overlap.ALLOW, 0, 0, Decision.START),
        (Overlap.ALLOW, 7, 3, Decision.START),
        (Overlap.CANCEL_OTHER, 0, 0, Decision.START),
        (Overlap.CANCEL_OTHER, 2, 0, Decision.CANCEL_THEN_START),
        (Overlap.CANCEL_OTHER, 0, 1, Decision.CANCEL_THEN_START),
    ],
)
def test_overlap(policy: Overlap, running: int, buffered: int, decision: Decision) -> None:
    assert overlap(policy, running, buffered) == decision


@pytest.mark.parametrize(
    ("late", "verdict"),
    [(timedelta(), False), (2 * HOUR, False), (2 * HOUR + timedelta.resolution, True), (-HOUR, False)],
)
def test_a_schedule_is_overdue_after_two_periods(late: timedelta, verdict: bool) -> None:
    assert overdue(NOON, HOUR, NOON + late) == verdict
