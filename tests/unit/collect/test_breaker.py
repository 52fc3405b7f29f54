"""The breaker: what opens it, what closes it, and who may find out."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from bobusang.stages.collect.breaker import Breaker, Tripping, closed, counted, halted, may_probe, probed, unprobed
from bobusang.stages.collect.policy import BackOff
from bobusang.stages.collect.responses import Tally
from bobusang.stages.collect.tables import BreakerState
from bobusang.testing.clock import NOON

MINUTE = timedelta(minutes=1)
TRIPPING = Tripping(
    window=MINUTE, least=3, ratio=0.5, in_a_row=5, rest=BackOff(MINUTE, 2.0, 10 * MINUTE, 30 * MINUTE), probe=MINUTE
)


def calls(answered: int = 0, broken: int = 0) -> Tally:
    return Tally(calls=answered + broken, answered=answered, broken=broken)


def after(breaker: Breaker, tally: Tally, now: datetime = NOON, probe: int = 0) -> Breaker:
    return counted(breaker, tally, now, TRIPPING, probe=probe)


OPEN = Breaker(
    BreakerState.OPEN,
    opened_at=NOON,
    open_until=NOON + MINUTE,
    times_opened=1,
    reason="3 of 6 calls were not answered",
)


def test_a_source_that_answers_leaves_no_trace() -> None:
    assert after(Breaker(), calls(answered=1000)) == Breaker()


def test_half_of_enough_calls_unanswered_opens_it() -> None:
    once = after(Breaker(), calls(broken=1))
    assert once == Breaker(window_started_at=NOON, window_calls=1, window_failures=1, failures_in_a_row=1)

    mixed = after(once, calls(answered=3, broken=1))
    assert mixed == Breaker(window_started_at=NOON, window_calls=5, window_failures=2)

    assert after(mixed, calls(broken=1)) == OPEN


def test_a_smaller_share_does_not() -> None:
    many = after(Breaker(), calls(answered=97, broken=3))

    assert many == Breaker(window_started_at=NOON, window_calls=100, window_failures=3)


def test_failures_long_apart_are_not_counted_together_but_in_a_row_they_are() -> None:
    breaker, now = Breaker(), NOON
    for _ in range(4):
        breaker = after(breaker, calls(broken=1), now)
        now += 2 * MINUTE
    assert breaker == Breaker(
        window_started_at=now - 2 * MINUTE, window_calls=1, window_failures=1, failures_in_a_row=4
    )
    assert after(breaker, calls(answered=1), now) == Breaker()

    fifth = after(breaker, calls(broken=1), now)
    assert (fifth.state, fifth.reason) == (BreakerState.OPEN, "5 calls in a row were not answered")


def test_what_was_under_way_when_it_opened_changes_nothing() -> None:
    for late in (calls(broken=9), calls(answered=9), Tally(calls=1, opened="maintenance")):
        assert after(OPEN, late, NOON + MINUTE / 2) == OPEN


def test_exactly_one_probe_goes_out_and_a_dead_one_is_replaced() -> None:
    later = NOON + MINUTE
    assert [may_probe(OPEN, NOON), may_probe(OPEN, later)] == [False, True]

    probing = probed(OPEN, later, TRIPPING)

    assert probing == replace(OPEN, state=BreakerState.HALF_OPEN, probe_number=1, probe_until=later + MINUTE)
    assert [may_probe(probing, later), may_probe(probing, later + MINUTE)] == [False, True]
    assert unprobed(probing, 1) == replace(probing, probe_until=None)
    assert unprobed(probing, 7) == probing


def test_only_the_probe_closes_or_reopens() -> None:
    later = NOON + 2 * MINUTE
    probing = probed(OPEN, later, TRIPPING)

    assert after(probing, calls(answered=5), later) == probing
    assert after(probing, calls(answered=1), later, probe=1) == Breaker(
        opened_at=NOON, closed_at=later, times_opened=1, probe_number=1
    )
    assert after(probing, calls(broken=1), later, probe=1) == Breaker(
        BreakerState.OPEN,
        opened_at=NOON,
        open_until=later + 2 * MINUTE,
        times_opened=2,
        probe_number=1,
        reason="the probe was not answered",
    )
    assert after(probing, Tally(calls=1, throttled=1), later, probe=1) == replace(probing, probe_until=None)


def test_rests_grow_and_are_forgiven_after_a_while() -> None:
    soon, late = (closed(replace(OPEN, times_opened=3), NOON + wait) for wait in (MINUTE, MINUTE))
    bad = Tally(calls=1, opened="maintenance")

    assert after(soon, bad, NOON + 2 * MINUTE).open_until == NOON + 2 * MINUTE + 8 * MINUTE
    assert after(late, bad, NOON + 40 * MINUTE).open_until == NOON + 40 * MINUTE + MINUTE


def test_it_rests_at_least_as_long_as_the_table_or_the_server_says() -> None:
    told = after(Breaker(), Tally(calls=1, opened="maintenance", rest=30 * MINUTE))
    asked = after(Breaker(), Tally(calls=5, broken=5, retry_after=7 * MINUTE))

    assert (told.open_until, told.reason) == (NOON + 30 * MINUTE, "maintenance")
    assert asked.open_until == NOON + 7 * MINUTE


def test_what_is_halted_stays_halted() -> None:
    stopped = halted(OPEN, "HTTP 403", NOON)

    assert stopped == Breaker(BreakerState.HALTED, opened_at=NOON, times_opened=1, reason="HTTP 403")
    assert [after(stopped, calls(answered=1), probe=0), may_probe(stopped, NOON + 99 * MINUTE)] == [stopped, False]


EVENTS = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 400).map(lambda s: timedelta(seconds=s))),
    max_size=40,
)


@given(EVENTS)
def test_it_is_open_only_after_failures_and_never_longer_than_the_longest_rest(
    events: list[tuple[int, int, timedelta]],
) -> None:
    breaker, now, failures = Breaker(), NOON, 0
    for good, bad, passed in events:
        now += passed
        answered, broken, probe = good, bad, 0
        if may_probe(breaker, now):
            breaker = probed(breaker, now, TRIPPING)
            answered, broken, probe = (1, 0, breaker.probe_number) if good else (0, 1, breaker.probe_number)
        breaker = after(breaker, calls(answered, broken), now, probe)
        failures += broken
        if breaker.state is BreakerState.OPEN:
            assert failures >= TRIPPING.least
            assert breaker.open_until is not None
            assert breaker.open_until - now <= TRIPPING.rest.most
        if probe and answered:
            assert breaker.state is BreakerState.CLOSED
