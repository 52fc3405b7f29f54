"""The market's parts alone: work in order for each key, calls counted in sliding windows, errors in their shape."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from bobusang.sandbox.buyma.account import Behaviour, Budget
from bobusang.sandbox.buyma.lanes import Lanes
from bobusang.sandbox.buyma.problem import Problems

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

BEGIN = datetime(2026, 11, 16, tzinfo=UTC)
BEHAVIOUR = Behaviour(hour_limit=5, day_limit=8)


async def test_work_of_one_key_is_done_in_order_and_by_its_time() -> None:
    lanes, done = Lanes(2), list[str]()

    def noting(word: str) -> Callable[[], Awaitable[None]]:
        async def note() -> None:
            done.append(word)

        return note

    await lanes.open()
    for n in range(5):
        lanes.put("a", 0, noting(f"a{n}"))
    lanes.put("a", 0.02, noting("late"))
    lanes.put("a", 0.01, noting("sooner"))
    pending = lanes.pending
    await lanes.settled()
    await lanes.close()

    assert pending == 7
    assert (done, lanes.pending, list(lanes.broken)) == (["a0", "a1", "a2", "a3", "a4", "sooner", "late"], 0, [])


async def test_what_would_take_its_time_is_done_without_it_one_after_another() -> None:
    lanes, done = Lanes(2), list[float]()

    def noting(delay: float) -> Callable[[], Awaitable[None]]:
        async def note() -> None:
            done.append(delay)

        return note

    await lanes.open()
    for key, delay in (("a", 3600.0), ("b", 7200.0), ("b", 1800.0), ("a", 0.0)):
        lanes.put(key, delay, noting(delay))
    found = []
    while await lanes.hasten():
        found.append(list(done))
    await lanes.settled()
    await lanes.close()

    assert done == [0.0, 1800.0, 3600.0, 7200.0]
    assert found == [done[:1], done[:2], done[:3]]


async def test_work_that_breaks_is_noted_and_the_next_is_done() -> None:
    lanes, done = Lanes(1), list[int]()

    async def broken() -> None:
        raise ValueError("so")

    async def whole() -> None:
        done.append(1)

    await lanes.open()
    lanes.put("a", 0, broken)
    lanes.put("b", 0, whole)
    await lanes.settled()
    await lanes.close()

    assert (done, list(lanes.broken)) == ([1], ["ValueError: so"])


@given(st.lists(st.tuples(st.integers(0, 5000), st.booleans()), max_size=60))
def test_no_window_holds_more_calls_than_its_limit(calls: list[tuple[int, bool]]) -> None:
    budget, now = Budget(), BEGIN
    taken: list[tuple[datetime, bool]] = []
    for seconds, product in calls:
        now += timedelta(seconds=seconds)
        hour = [at for at, _ in taken if at > now - timedelta(hours=1)]
        day = [at for at, is_product in taken if is_product and at > now - timedelta(days=1)]
        expected = len(hour) < 5 and (not product or len(day) < 8)

        assert budget.take(now, BEHAVIOUR, product=product) is expected
        if expected:
            taken.append((now, product))


def test_without_limits_nothing_is_counted() -> None:
    budget = Budget()
    unlimited = Behaviour(hour_limit=0, day_limit=0)

    assert all(budget.take(BEGIN, unlimited, product=True) for _ in range(10_000))
    assert budget.used() == {"hour": 0, "day": 0}


def test_where_a_whole_list_is_wrong_nothing_is_said_of_its_entries() -> None:
    found = Problems()
    found.at("images", 2, "path", "a")
    found.at("images", 2, "path", "b")
    nested = found.told()
    found.add("images", "c")

    assert (nested, found.told()) == ({"images": {"2": {"path": ["a", "b"]}}}, {"images": ["c"]})
