"""One identity's life: states, health, rests, and who is chosen."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bobusang.kit.errors import Invalid
from bobusang.platform.limiter import Limit
from bobusang.stages.collect.identities import Lease
from bobusang.stages.collect.identity import (
    Member,
    chosen,
    free_at,
    is_free,
    lacks_key,
    likely_left,
    limit_of,
    needs_session,
    place_in_row,
    refilled_at,
    released,
    rest,
    state_at,
)
from bobusang.stages.collect.policy import BackOff, Identity, IdentityKind, Policy, Quota
from bobusang.stages.collect.responses import Tally
from bobusang.stages.collect.tables import IdentityState
from bobusang.testing.clock import NOON

MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
SESSION = Policy(identity=Identity(IdentityKind.SESSION, size=3, quota=Quota(80, HOUR)))
API_KEY = Policy(identity=Identity(IdentityKind.API_KEY))
ACTIVE = Member(
    7,
    "Agent/1",
    IdentityState.ACTIVE,
    health=50,
    token="t",
    cookies={"token": "t"},
    token_expires_at=NOON + HOUR,
    token_renew_at=NOON + HOUR / 2,
    lease_number=3,
    leased_until=NOON + MINUTE,
)
IDLE = replace(ACTIVE, state=IdentityState.IDLE, leased_until=None)
BARE = replace(IDLE, token=None, cookies={}, token_expires_at=None, token_renew_at=None)


@pytest.mark.parametrize(
    ("tally", "options", "expected"),
    [
        (Tally(), {}, IDLE),
        (Tally(calls=3, answered=3), {}, replace(IDLE, health=65)),
        (Tally(calls=20, answered=20), {}, replace(IDLE, health=100)),
        (Tally(calls=2, answered=2, failed=1), {}, replace(IDLE, health=50)),
        (Tally(calls=5, broken=5), {}, IDLE),  # 5xx blames the source
        (Tally(calls=1, refused=1), {}, replace(BARE, health=45)),
        (
            Tally(calls=1, answered=1),
            {"limited_until": NOON + MINUTE},
            replace(IDLE, health=55, state=IdentityState.RATE_LIMITED, rest_until=NOON + MINUTE),
        ),
        (
            Tally(calls=4, answered=2, throttled=2),
            {"limited_until": NOON + MINUTE},
            replace(
                BARE,
                health=40,
                state=IdentityState.DISABLED,
                rest_until=NOON + MINUTE,
                throttled_in_a_row=1,
                last_throttled_at=NOON,
                forgiven_at=NOON + 31 * MINUTE,
            ),
        ),
        (
            Tally(calls=1, throttled=1, retry_after=10 * MINUTE),
            {"jitter": 0.1},
            replace(
                BARE,
                health=30,
                state=IdentityState.DISABLED,
                rest_until=NOON + 11 * MINUTE,
                throttled_in_a_row=1,
                last_throttled_at=NOON,
                forgiven_at=NOON + 41 * MINUTE,
            ),
        ),
        (
            Tally(calls=1, refused=1),
            {"fresh": True},
            replace(
                BARE,
                health=45,
                state=IdentityState.DISABLED,
                rest_until=NOON + MINUTE,
                throttled_in_a_row=1,
                last_throttled_at=NOON,
                forgiven_at=NOON + 31 * MINUTE,
            ),
        ),
    ],
)
def test_a_release_moves_an_identity_as_the_drawing_says(
    tally: Tally, options: dict[str, object], expected: Member
) -> None:
    assert released(ACTIVE, tally, SESSION, now=NOON, **options) == expected  # type: ignore[arg-type]


def test_a_key_is_not_thrown_away() -> None:
    assert released(ACTIVE, Tally(calls=1, throttled=1), API_KEY, now=NOON).token == "t"


@pytest.mark.parametrize(
    ("state", "rest_until", "leased_until", "by_then"),
    [
        (IdentityState.DISABLED, MINUTE, None, IdentityState.RECOVERED),
        (IdentityState.RATE_LIMITED, MINUTE, None, IdentityState.IDLE),
        (IdentityState.ACTIVE, None, MINUTE, IdentityState.IDLE),
    ],
)
def test_what_passes_by_time_passes_at_its_instant(
    state: IdentityState, rest_until: timedelta | None, leased_until: timedelta | None, by_then: IdentityState
) -> None:
    member = Member(
        1,
        state=state,
        rest_until=NOON + rest_until if rest_until else None,
        leased_until=NOON + leased_until if leased_until else None,
    )
    before = NOON + MINUTE - timedelta(microseconds=1)

    assert [state_at(member, before), is_free(member, before), free_at(member, before)] == [state, False, NOON + MINUTE]
    assert [state_at(member, NOON + MINUTE), is_free(member, NOON + MINUTE)] == [by_then, True]


def test_a_session_is_renewed_before_its_end_and_a_key_never() -> None:
    assert [needs_session(one, SESSION, NOON) for one in (IDLE, BARE)] == [False, True]
    assert needs_session(IDLE, SESSION, NOON + HOUR / 2)
    assert not needs_session(BARE, API_KEY, NOON)
    assert [lacks_key(one, API_KEY) for one in (IDLE, BARE)] == [False, True]


def test_rests_grow_up_to_the_longest_and_begin_anew_once_forgiven() -> None:
    back_off = BackOff(MINUTE, 2.0, 5 * MINUTE, 30 * MINUTE)

    assert [rest(back_off, row, None, 0.0) for row in (1, 2, 3, 4, 99)] == [
        MINUTE,
        2 * MINUTE,
        4 * MINUTE,
        5 * MINUTE,
        5 * MINUTE,
    ]
    assert [place_in_row(2, NOON, now) for now in (NOON, NOON + MINUTE)] == [3, 1]
    assert place_in_row(0, None, NOON) == 1


BACK_OFFS = st.builds(
    BackOff,
    st.timedeltas(timedelta(0), HOUR),
    st.floats(0.5, 10),
    st.timedeltas(timedelta(0), timedelta(days=1)),
)


@given(BACK_OFFS, st.integers(1, 10_000), st.none() | st.timedeltas(timedelta(0), HOUR), st.floats(0, 1))
def test_a_rest_never_ends_before_the_server_wants_nor_shrinks(
    back_off: BackOff, row: int, asked: timedelta | None, jitter: float
) -> None:
    found = rest(back_off, row, asked, jitter)

    assert found >= (asked or timedelta(0))
    assert found <= max(back_off.most, asked or timedelta(0)) * (1 + jitter) + timedelta(microseconds=1)
    if back_off.factor >= 1:
        assert rest(back_off, row + 1, asked, jitter) >= found


@pytest.mark.parametrize(("calls", "burst"), [(1, 1), (3, 1), (4, 2), (80, 5), (1600, 100)])
def test_a_quota_becomes_a_bucket(calls: int, burst: int) -> None:
    assert limit_of(Quota(calls, HOUR)) == Limit(calls, HOUR, burst)


def test_a_quota_of_nothing_is_refused() -> None:
    with pytest.raises(Invalid, match="a quota of 0 calls allows nothing"):
        limit_of(Quota(0, HOUR))


LIMIT = Limit(80, HOUR, 5)


def test_an_empty_bucket_has_a_token_when_time_has_made_one() -> None:
    assert refilled_at(0.0, LIMIT, NOON) == NOON + timedelta(seconds=48)
    assert refilled_at(1.0, LIMIT, NOON) is None


def member(id: int, health: int = 100, left: float | None = None, used: datetime | None = None) -> Member:
    return Member(id, health=health, quota_left=left, last_used_at=used)


def test_the_healthiest_go_first_then_the_fullest_then_the_longest_unused() -> None:
    pool = [
        member(1, health=80),
        member(2, left=0.0, used=NOON),
        member(3, left=3.0, used=NOON),
        member(4, left=3.0, used=NOON - timedelta(seconds=1)),
    ]

    found = [(one.id, calls) for one, calls in chosen(pool, 12, LIMIT, NOON)]

    assert found == [(4, 3), (3, 3), (2, 1), (1, 5)]
    assert [one.id for one, _ in chosen(pool, 1, LIMIT, NOON)] == [4]


def test_who_needs_a_session_comes_after_who_has_one_and_calls_left() -> None:
    pool = [member(1), member(2, health=80, left=2.0, used=NOON), member(3, left=0.0, used=NOON), member(4, health=90)]

    found = [(one.id, calls) for one, calls in chosen(pool, 14, LIMIT, NOON, needy={1, 4})]

    assert found == [(2, 2), (1, 5), (3, 1), (4, 5)]


def test_without_a_quota_one_makes_all_the_calls() -> None:
    assert [(one.id, calls) for one, calls in chosen([member(1), member(2)], 12, None, NOON)] == [(1, 12)]


def test_a_bucket_is_guessed_to_fill_by_time_up_to_its_burst() -> None:
    used = member(1, left=1.0, used=NOON)

    assert [likely_left(used, LIMIT, NOON + timedelta(seconds=48 * tokens)) for tokens in (0, 1, 9)] == [1, 2, 5]


def test_secrets_are_not_in_the_words_for_an_identity_or_a_lease() -> None:
    secret = "eyJ.secret"
    found = replace(IDLE, token=secret, cookies={"token": secret})
    lease = Lease("mustit", 1, 1, NOON, 1, "Agent/1", {"authorization": secret}, {"nid": secret})

    assert secret not in repr(found) + repr(lease)
