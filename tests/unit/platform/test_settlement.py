from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from bobusang.platform.bus import Delivered, Event, Hold, Outcome, Patience, Pause, Reject, Retry, Untried
from bobusang.platform.deliveries import Claim
from bobusang.platform.settlement import Settlement, held_until, settled
from bobusang.platform.subscriptions import Subscription
from bobusang.platform.tables import SubscriptionState

NOW = datetime(2026, 1, 27, 9, 0, tzinfo=UTC)
PATIENCE = Patience(base=10, cap=100, attempts=3)
SUBSCRIPTION = Subscription(1, "s", "*", "local:s", SubscriptionState.ACTIVE)


def claim_of(keys: str, attempts: int = 0) -> Claim:
    events = tuple(Event("t", key, None, id=id) for id, key in enumerate(keys, start=1))
    return Claim(SUBSCRIPTION, "token", events, {event.id: attempts for event in events})


def settle(keys: str, *outcomes: Outcome, attempts: int = 0, owned: str | None = None) -> Settlement:
    return settled(claim_of(keys, attempts), outcomes, set(keys if owned is None else owned), PATIENCE, NOW)


def test_what_was_delivered_is_done() -> None:
    assert settle("ab", Delivered(), Delivered()) == Settlement(delivered=[1, 2])


def test_a_failure_puts_off_its_key_by_the_back_off() -> None:
    found = settle("aab", Retry("boom"), Untried(), Delivered())
    assert (found.delivered, found.failed, found.delayed) == ([3], {"boom": [1]}, {"a"})
    (at,) = found.waiting
    assert timedelta(seconds=7.5) <= at - NOW <= timedelta(seconds=10)


def test_a_wait_that_was_asked_for_is_kept_to_the_second() -> None:
    found = settle("a", Retry("slow down", timedelta(seconds=99)))
    assert found.waiting == {NOW + timedelta(seconds=99): ["a"]}


def test_the_last_try_makes_a_dead_letter_and_the_key_goes_on() -> None:
    found = settle("aa", Retry("boom"), Untried(), attempts=2)
    assert (found.dead, found.failed, found.delayed) == ({"boom": [1]}, {}, set())


def test_many_equal_failures_are_one_group() -> None:
    found = settle("abcdef", *[Retry("boom")] * 6)
    assert found.failed == {"boom": [1, 2, 3, 4, 5, 6]}
    assert list(found.waiting.values()) == [["a", "b", "c", "d", "e", "f"]]


def test_hold_and_pause_concern_the_whole_subscription() -> None:
    found = settle("abc", Hold("down"), Pause("gone"), Reject("never"))
    assert (found.hold, found.pause, found.dead, found.delayed) == (Hold("down"), Pause("gone"), {"never": [3]}, set())


def test_keys_that_are_no_longer_ours_are_left_alone() -> None:
    assert settle("ab", Delivered(), Retry("boom"), owned="") == Settlement()


def test_errors_are_kept_short_and_without_secrets() -> None:
    (error,) = settle("a", Retry("redis://:pw@host \0\udcff " + "x" * 1000)).failed
    assert error.startswith("redis://:***@host ?")
    assert len(error) == 500


@given(st.integers(1, 200))
def test_the_back_off_grows_to_its_cap(failures: int) -> None:
    delay = PATIENCE.delay(failures).total_seconds()
    whole = min(100, 10 * 2 ** (failures - 1))
    assert whole * 0.75 <= delay <= whole


@given(st.integers(0, 1000))
def test_a_subscriber_that_is_down_is_asked_at_least_every_five_minutes(failures: int) -> None:
    assert NOW < held_until(Hold("down"), failures, NOW) <= NOW + timedelta(minutes=5)
    assert held_until(Hold("rest", NOW + timedelta(hours=3)), failures, NOW) == NOW + timedelta(hours=3)


OUTCOMES = st.sampled_from([Delivered(), Retry("r"), Reject("x"), Hold("h"), Pause("p"), Untried()])


@given(st.lists(st.tuples(st.sampled_from("abc"), OUTCOMES), max_size=30), st.integers(0, 4))
def test_every_event_ends_in_at_most_one_place(pairs: list[tuple[str, Outcome]], attempts: int) -> None:
    found = settle("".join(key for key, _ in pairs), *(outcome for _, outcome in pairs), attempts=attempts, owned="abc")
    placed = [*found.delivered, *(id for ids in (*found.failed.values(), *found.dead.values()) for id in ids)]
    assert len(placed) == len(set(placed))
    assert set(found.delivered) == {id for id, (_, each) in enumerate(pairs, start=1) if each == Delivered()}
    assert sum(len(keys) for keys in found.waiting.values()) == len(found.delayed)
