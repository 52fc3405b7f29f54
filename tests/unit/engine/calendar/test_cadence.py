from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bobusang.engine.calendar.cadence import Bounds, factor, jitter, next_instant, next_interval
from bobusang.kit.errors import Invalid

DAY = Bounds(timedelta(minutes=10), timedelta(days=1))
HOUR = timedelta(hours=1)
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)

spans = st.timedeltas(timedelta(seconds=1), timedelta(days=400))
bounds = st.tuples(spans, spans).map(lambda pair: Bounds(min(pair), max(pair)))
sights = st.integers(0, 10_000).flatmap(lambda seen: st.tuples(st.just(seen), st.integers(0, seen)))


@pytest.mark.parametrize(
    ("seen", "changed", "interval"),
    [
        pytest.param(0, 0, HOUR, id="a visit that saw nothing says nothing"),
        pytest.param(100, 20, HOUR, id="at the steady share it stays"),
        pytest.param(1, 1, timedelta(seconds=3300), id="one item that changed is not yet a trend"),
        pytest.param(1_000_000, 0, timedelta(minutes=90), id="no change: half as long again"),
        pytest.param(1_000_000, 1_000_000, timedelta(minutes=30), id="all changed: half as long"),
    ],
)
def test_the_interval_follows_the_change(seen: int, changed: int, interval: timedelta) -> None:
    assert next_interval(HOUR, seen, changed, DAY) == interval


@pytest.mark.parametrize(("share", "by"), [(0.0, 1.5), (0.1, 1.25), (0.2, 1.0), (0.6, 0.75), (1.0, 0.5)])
def test_factor_is_straight_between_its_three_points(share: float, by: float) -> None:
    assert factor(share) == pytest.approx(by)


@pytest.mark.parametrize(("seen", "changed"), [(1, 2), (-1, 0), (0, -1)])
def test_more_changed_than_seen_is_refused(seen: int, changed: int) -> None:
    with pytest.raises(Invalid) as caught:
        next_interval(HOUR, seen, changed, DAY)

    assert (caught.value.field, caught.value.message) == ("changed", f"{changed} changed of {seen} seen")


@pytest.mark.parametrize(("least", "most"), [(2 * HOUR, HOUR), (timedelta(), HOUR), (-HOUR, HOUR)])
def test_empty_bounds_are_refused(least: timedelta, most: timedelta) -> None:
    with pytest.raises(Invalid) as caught:
        Bounds(least, most)

    assert caught.value.field == "bounds"


@given(spans, sights, bounds)
def test_the_interval_stays_within_its_bounds(current: timedelta, sight: tuple[int, int], within: Bounds) -> None:
    assert within.min <= next_interval(current, *sight, within) <= within.max


@given(spans, sights, bounds, st.integers(0, 10_000))
def test_more_change_never_makes_it_longer(
    current: timedelta, sight: tuple[int, int], within: Bounds, other: int
) -> None:
    seen, changed = sight
    fewer = min(other, changed)

    assert next_interval(current, seen, changed, within) <= next_interval(current, seen, fewer, within)


@given(spans, spans, sights, bounds)
def test_a_longer_interval_stays_the_longer_one(
    one: timedelta, other: timedelta, sight: tuple[int, int], within: Bounds
) -> None:
    shorter, longer = sorted((one, other))

    assert next_interval(shorter, *sight, within) <= next_interval(longer, *sight, within)


@given(st.floats(0, 1), st.floats(0, 1))
def test_factor_falls_with_the_share(one: float, other: float) -> None:
    less, more = sorted((one, other))

    assert 0.5 <= factor(more) <= factor(less) <= 1.5


def test_without_change_it_climbs_to_the_longest_and_with_change_falls_to_the_shortest() -> None:
    interval = HOUR
    for _ in range(30):
        interval = next_interval(interval, 50, 0, DAY)
    quiet = interval
    for _ in range(30):
        interval = next_interval(interval, 50, 50, DAY)

    assert (quiet, interval) == (DAY.max, DAY.min)


@given(st.text(min_size=1), st.datetimes(timezones=st.just(UTC)), st.timedeltas(timedelta(0), timedelta(days=400)))
def test_jitter_is_the_same_every_time_and_within_its_spread(key: str, instant: datetime, spread: timedelta) -> None:
    delay = jitter(key, instant, spread)

    assert delay == jitter(key, instant, spread)
    assert timedelta() <= delay < max(spread, timedelta.resolution)


def test_jitter_is_of_the_instant_not_of_how_it_is_written() -> None:
    assert jitter("seller:1", NOON, HOUR) == jitter("seller:1", NOON.astimezone(ZoneInfo("Asia/Seoul")), HOUR)


def test_a_thousand_keys_spread_evenly() -> None:
    quarters = [0, 0, 0, 0]
    for number in range(1000):
        quarters[jitter(f"seller:{number}", NOON, HOUR) // (HOUR / 4)] += 1

    assert min(quarters) > 200


def test_next_instant_is_never_before_the_interval_is_over() -> None:
    assert next_instant(NOON, HOUR) == NOON + HOUR
    assert NOON + HOUR <= next_instant(NOON, HOUR, "seller:1") < NOON + 1.1 * HOUR
    assert next_instant(NOON, HOUR, "seller:1") != next_instant(NOON, HOUR, "seller:2")
