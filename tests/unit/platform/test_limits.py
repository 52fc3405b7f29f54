"""The law of limits: over any span never more than its calls, whatever is asked, given back or drained, and when."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from bobusang.kit.errors import Invalid
from bobusang.platform.limiter import Limit
from bobusang.platform.limiters.bucket import Bucket, drained, filled, given_back, taken, wait, wait_full

NOON = 1_769_515_200_000_000


@st.composite
def limits(draw: st.DrawFn) -> Limit:
    calls = draw(st.integers(1, 20))
    return Limit(calls, timedelta(microseconds=draw(st.integers(1, 60))), draw(st.integers(1, calls)))


@st.composite
def buckets(draw: st.DrawFn, limit: Limit) -> Bucket:
    parts = draw(st.integers(0, limit.burst * limit.token))
    return Bucket(parts, NOON + draw(st.integers(-100, 100)), limit.token)


steps = st.lists(
    st.tuples(st.integers(0, 40), st.sampled_from(["take", "take", "take", "give back", "drain"]), st.integers(0, 25)),
    max_size=60,
)


@given(limits(), steps)
def test_no_span_ever_sees_more_than_its_calls(limit: Limit, steps: list[tuple[int, str, int]]) -> None:
    now, bucket, used = NOON, filled(None, limit, NOON), list[int]()
    for passed, what, number in steps:
        now += passed
        bucket = filled(bucket, limit, now)
        match what:
            case "take":
                bucket, count = taken(bucket, number)
                used += [now] * count
            case "give back":  # only what was taken
                unused = min(number, len(used))
                bucket = given_back(bucket, limit, unused)
                del used[len(used) - unused :]
            case _:
                bucket = drained(bucket)

    span = limit.per // timedelta(microseconds=1)
    worst = max((sum(start <= at <= start + span for at in used) for start in used), default=0)
    assert worst <= limit.calls


@given(limits())
def test_a_greedy_caller_gets_all_calls_of_a_span_a_microsecond_a_call_late_at_most(limit: Limit) -> None:
    assume(limit.gain <= limit.token)  # a bucket of one cannot give two in a microsecond
    bucket, granted, span = None, 0, limit.per // timedelta(microseconds=1)
    for now in range(NOON, NOON + span + limit.calls):
        bucket, count = taken(filled(bucket, limit, now), 100)
        granted += count

    assert granted >= limit.calls


@given(st.data(), limits(), st.integers(0, 50))
def test_the_wait_is_neither_too_short_nor_too_long(data: st.DataObject, limit: Limit, later: int) -> None:
    now = NOON + later
    bucket = filled(data.draw(buckets(limit)), limit, now)
    soon, full = now + wait(bucket, limit, now), now + wait_full(bucket, limit, now)

    assert filled(bucket, limit, soon).whole >= 1
    assert filled(bucket, limit, full).parts == limit.burst * limit.token
    assert soon == now or filled(bucket, limit, soon - 1).whole == 0
    assert full == now or filled(bucket, limit, full - 1).parts < limit.burst * limit.token


@given(st.data(), limits(), st.integers(1, 10**12))
def test_a_clock_that_goes_back_adds_nothing_and_stops_nobody_for_long(
    data: st.DataObject, limit: Limit, back: int
) -> None:
    bucket = data.draw(buckets(limit))
    now = bucket.at - back

    then = filled(bucket, limit, now)

    assert then.parts == bucket.parts
    assert now <= then.at <= min(bucket.at, now + limit.token)
    assert filled(then, limit, then.at) == then
    assert wait(then, limit, now) <= 2 * limit.token


@given(st.data(), limits(), st.integers(0, 10**30))
def test_giving_back_never_lifts_a_bucket_above_its_burst(data: st.DataObject, limit: Limit, count: int) -> None:
    bucket = data.draw(buckets(limit))

    full = limit.burst * limit.token
    assert given_back(bucket, limit, count).parts == min(full, bucket.parts + count * limit.token)


@given(st.data(), limits(), limits())
def test_another_limit_keeps_whole_tokens_and_invents_none(data: st.DataObject, old: Limit, new: Limit) -> None:
    bucket = data.draw(buckets(old))

    moved = filled(bucket, new, bucket.at)

    assert moved.whole <= min(bucket.whole, new.burst)
    if old.token != new.token:
        assert moved == Bucket(min(bucket.whole, new.burst) * new.token, bucket.at, new.token)


@pytest.mark.parametrize(
    ("calls", "per", "burst", "message"),
    [
        (0, timedelta(hours=1), 1, "a limit of 0 calls cannot have a burst of 1"),
        (5, timedelta(hours=1), 6, "a limit of 5 calls cannot have a burst of 6"),
        (5, timedelta(hours=1), 0, "a limit of 5 calls cannot have a burst of 0"),
        (5, timedelta(0), 1, "a limit per 0:00:00 limits nothing"),
        (10**9, timedelta(days=900), 10**6, "a burst of 1000000 per 900 days, 0:00:00 is too much to count exactly"),
    ],
)
def test_a_limit_that_cannot_be_is_refused(calls: int, per: timedelta, burst: int, message: str) -> None:
    with pytest.raises(Invalid) as refused:
        Limit(calls, per, burst)

    assert refused.value.message == message


def test_the_rate_leaves_room_for_the_burst() -> None:
    hour = timedelta(hours=1)

    assert Limit(80, hour).rate == 79 / 3600
    assert Limit(80, hour, burst=20).rate == 60 / 3600
    assert Limit(1, hour).rate == 1 / 3600
