"""The gate's decision: go, or wait until then because of this; and what it learns from answers."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, time, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bobusang.platform.limiter import Limit
from bobusang.stages.collect.admission import (
    NEVER,
    TOGETHER,
    UNTIL_ENABLED,
    Cause,
    Facts,
    Open,
    Standing,
    Wait,
    decide,
)
from bobusang.stages.collect.breaker import Breaker, Tripping, halted
from bobusang.stages.collect.identity import Member
from bobusang.stages.collect.learning import is_news, learned
from bobusang.stages.collect.policy import Identity, IdentityKind, Limits, Policy, Window
from bobusang.stages.collect.quotas import source_limit
from bobusang.stages.collect.responses import Tally
from bobusang.stages.collect.tables import BreakerState, IdentityState
from bobusang.testing.clock import NOON

MINUTE = timedelta(minutes=1)
POLICY = Policy(window=Window(time(9), time(18)))
FREE = Facts(NOON, "mustit", "detail", enabled=True)


def resting(minutes: float, state: IdentityState = IdentityState.RATE_LIMITED) -> Member:
    return Member(1, state=state, rest_until=NOON + minutes * MINUTE)


BUSY = Member(1, state=IdentityState.ACTIVE, leased_until=NOON + 10 * MINUTE)
OPEN = Breaker(BreakerState.OPEN, open_until=NOON + MINUTE, reason="5 of 5 calls were not answered")
HALF_OPEN = Breaker(BreakerState.HALF_OPEN, open_until=NOON, probe_until=NOON + MINUTE, probe_number=1)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, Open(20)),
        (
            {"enabled": False},
            Wait(UNTIL_ENABLED, "mustit is off: `bobusang source enable mustit` with why it may be", Cause.OFF),
        ),
        (
            {"whole": Standing(halted(Breaker(), "HTTP 403", NOON))},
            Wait(NEVER, "mustit is halted: HTTP 403; `bobusang source resume mustit` when mended", Cause.HALTED),
        ),
        (
            {"opens_at": NOON + MINUTE},
            Wait(NOON + MINUTE, "mustit is visited only 09:00-18:00 Asia/Seoul", Cause.WINDOW),
        ),
        (
            {"whole": Standing(blocked_until=NOON + MINUTE)},
            Wait(NOON + MINUTE, "mustit asked for a rest", Cause.BACK_OFF),
        ),
        (
            {"part": Standing(blocked_until=NOON + MINUTE)},
            Wait(NOON + MINUTE, "mustit detail asked for a rest", Cause.BACK_OFF, everywhere=False),
        ),
        ({"part": Standing(blocked_until=NOON)}, Open(20)),
        (
            {"part": Standing(OPEN)},
            Wait(
                NOON + MINUTE,
                "mustit detail does not answer: 5 of 5 calls were not answered",
                Cause.BREAKER,
                everywhere=False,
            ),
        ),
        ({"part": Standing(replace(OPEN, open_until=NOON))}, Open(1, probe=True)),
        (
            {"part": Standing(HALF_OPEN)},
            Wait(NOON + MINUTE, "a probe asks whether mustit detail answers again", Cause.PROBE, everywhere=False),
        ),
        ({"part": Standing(replace(HALF_OPEN, probe_until=NOON))}, Open(1, probe=True)),
        ({"pool": ()}, Open(20)),
        ({"pool": (BUSY, Member(2))}, Open(20)),
        (
            {"pool": (BUSY, resting(5), resting(7, IdentityState.DISABLED))},
            Wait(
                NOON + 5 * MINUTE,
                "mustit: none of 3 identities is free: 1 in use, 1 at their quota, 1 resting after a 429",
                Cause.IDENTITIES,
            ),
        ),
        # The longest wait counts, and of equal ones the gravest.
        (
            {"opens_at": NOON + MINUTE, "pool": (resting(5),)},
            Wait(NOON + 5 * MINUTE, "mustit: none of 1 identities is free: 1 at their quota", Cause.IDENTITIES),
        ),
        (
            {"opens_at": NOON + MINUTE, "whole": Standing(blocked_until=NOON + MINUTE)},
            Wait(NOON + MINUTE, "mustit is visited only 09:00-18:00 Asia/Seoul", Cause.WINDOW),
        ),
    ],
)
def test_the_gate_answers(changes: dict[str, object], expected: Open | Wait) -> None:
    assert decide(replace(FREE, **changes), POLICY, 20) == expected  # type: ignore[arg-type]


def test_a_source_without_its_key_waits_for_a_person() -> None:
    policy = Policy(identity=Identity(IdentityKind.API_KEY))

    assert decide(replace(FREE, pool=(Member(1),)), policy, 1) == Wait(
        NEVER, "mustit has not been given its key: `bobusang source key mustit`", Cause.KEY
    )
    assert decide(replace(FREE, pool=(Member(1, token="k"),)), policy, 1) == Open(1)


def test_a_pool_at_its_quota_wakes_for_several_at_once_but_not_for_the_last() -> None:
    soon = tuple(resting(5 + second / 60) for second in range(20))
    late = (resting(5), resting(5.5), *(resting(600) for _ in range(18)))

    words = "mustit: none of 20 identities is free: 20 at their quota"
    assert [decide(replace(FREE, pool=pool), POLICY, 20) for pool in (soon, late)] == [
        Wait(NOON + 5 * MINUTE + timedelta(seconds=4), words, Cause.IDENTITIES),
        Wait(NOON + 5.5 * MINUTE, words, Cause.IDENTITIES),
    ]


INSTANTS = st.none() | st.integers(-600, 600).map(lambda seconds: NOON + timedelta(seconds=seconds))
LATER = st.none() | st.integers(1, 600).map(lambda seconds: NOON + timedelta(seconds=seconds))
BREAKERS = st.builds(
    Breaker,
    st.sampled_from([BreakerState.CLOSED, BreakerState.OPEN, BreakerState.HALF_OPEN]),
    open_until=INSTANTS,
    probe_until=INSTANTS,
)
STANDINGS = st.builds(Standing, BREAKERS, INSTANTS)
MEMBERS = st.builds(Member, st.integers(1, 9), state=st.sampled_from(IdentityState)).flatmap(
    lambda one: st.builds(lambda at, to: replace(one, rest_until=at, leased_until=to), INSTANTS, INSTANTS)
)
FACTS = st.builds(
    Facts,
    st.just(NOON),
    st.just("mustit"),
    st.just("detail"),
    st.just(True),
    STANDINGS,
    STANDINGS,
    LATER,
    st.none() | st.lists(MEMBERS, max_size=6).map(tuple),
)


def at(facts: Facts, now: datetime) -> Facts:
    """The same facts when nothing but time has passed."""
    opens_at = None if facts.opens_at is not None and facts.opens_at <= now else facts.opens_at
    return replace(facts, now=now, opens_at=opens_at)


@given(FACTS, st.integers(1, 100))
def test_waiting_until_the_instant_given_is_enough_and_hardly_ever_too_long(facts: Facts, want: int) -> None:
    found = decide(facts, POLICY, want)
    if isinstance(found, Open):
        assert found == Open(1 if found.probe else want, found.probe)
        return

    assert found.until > NOON
    assert isinstance(decide(at(facts, found.until), POLICY, want), Open)
    spare = TOGETHER if found.cause is Cause.IDENTITIES else timedelta(0)
    early = found.until - spare - timedelta(microseconds=1)
    assert early <= NOON or isinstance(decide(at(facts, early), POLICY, want), Wait)


@given(FACTS, st.integers(1, 100))
def test_what_is_off_or_halted_never_goes(facts: Facts, want: int) -> None:
    off = decide(replace(facts, enabled=False), POLICY, want)
    stopped = decide(replace(facts, whole=Standing(halted(Breaker(), "wall", NOON))), POLICY, want)

    assert isinstance(off, Wait)
    assert isinstance(stopped, Wait)
    assert (off.cause, stopped.cause, stopped.until) == (Cause.OFF, Cause.HALTED, NEVER)


def learn(tally: Tally, *, pooled: bool, whole: Standing | None = None) -> tuple[Standing, Standing]:
    return learned(whole or Standing(), Standing(), tally, now=NOON, tripping=Tripping(), pooled=pooled)


def test_answers_alone_teach_nothing() -> None:
    answers = Tally(calls=9, answered=9, failed=2)

    assert not is_news(answers)
    assert learn(answers, pooled=False) == (Standing(), Standing())


def test_a_429_blames_the_identity_or_where_there_is_none_the_source() -> None:
    throttled = Tally(calls=1, throttled=1)
    resting = Standing(blocked_until=NOON + MINUTE, blocked_in_a_row=1, forgiven_at=NOON + 31 * MINUTE)

    assert learn(throttled, pooled=True) == (Standing(), Standing())
    assert learn(throttled, pooled=False) == (resting, Standing())
    assert learn(throttled, pooled=False, whole=resting) == (resting, Standing())
    again = replace(resting, blocked_until=NOON)
    assert learn(throttled, pooled=False, whole=again)[0] == Standing(
        blocked_until=NOON + 2 * MINUTE, blocked_in_a_row=2, forgiven_at=NOON + 32 * MINUTE
    )


def test_a_bot_wall_halts_the_source_and_retry_after_blocks_the_endpoint() -> None:
    whole, _ = learn(Tally(calls=1, halted="wall"), pooled=True)
    _, part = learn(Tally(calls=1, broken=1, retry_after=MINUTE), pooled=True)

    assert whole == Standing(halted(Breaker(), "wall", NOON))
    assert part.blocked_until == NOON + MINUTE


def test_the_bucket_behind_a_pool_is_as_fast_and_roomier() -> None:
    limit = source_limit(Limits(rate=2.0, burst=1.0, concurrency=4))

    assert (limit, limit.rate) == (Limit(125, MINUTE, 5), 2.0)
