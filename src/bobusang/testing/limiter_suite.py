"""The conformance suite of limiters: what buckets must do wherever they are kept.

`class TestRedis(LimiterSuite)` needs three fixtures: `limiter` (without buckets), `other` (the same buckets as a second
process has them) and `until` (lets time pass to an instant).
"""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from bobusang.kit.errors import Invalid
from bobusang.platform.limiter import Limit

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from bobusang.platform.limiter import Limiter

    Until = Callable[[datetime], Awaitable[None]]

DAILY = Limit(100, timedelta(days=1), burst=10)
"""Fills so slowly that a test sees nothing of it."""
QUICK = Limit(110, timedelta(seconds=2), burst=10)
"""One token in 20 ms."""


class LimiterSuite:
    """Tests that hold for every limiter."""

    async def test_a_bucket_gives_its_burst_and_no_more(self, limiter: Limiter) -> None:
        granted = [(await limiter.take("a", DAILY, want)).count for want in (4, 4, 4, 4)]

        assert granted == [4, 4, 2, 0]

    async def test_more_than_there_are_is_as_many_as_there_are(self, limiter: Limiter) -> None:
        assert [(await limiter.take("a", DAILY, 10**20)).count, (await limiter.take("a", DAILY)).count] == [10, 0]

    async def test_looking_takes_nothing(self, limiter: Limiter) -> None:
        looks = [await limiter.take("a", DAILY, 0) for _ in range(20)]

        assert {(look.count, look.left) for look in looks} == {(0, 10.0)}
        assert (await limiter.take("a", DAILY, 10)).count == 10

    async def test_the_next_one_comes_when_it_was_said_to(self, limiter: Limiter, until: Until) -> None:
        await limiter.drain("a", QUICK)

        for _ in range(3):
            told = await limiter.take("a", QUICK, 0)
            await until(told.next_at)
            assert (await limiter.take("a", QUICK)).count == 1

    async def test_a_bucket_fills_up_to_its_burst(self, limiter: Limiter, until: Until) -> None:
        first = await limiter.take("a", QUICK, 10)

        await until(first.next_at + timedelta(seconds=0.5))

        assert [(await limiter.take("a", QUICK, 100)).count, (await limiter.take("a", DAILY)).count] == [10, 0]

    async def test_callers_at_the_same_time_share(self, limiter: Limiter, other: Limiter) -> None:
        asked = await asyncio.gather(*(who.take("a", DAILY) for who in (limiter, other) * 20))

        assert sorted(one.count for one in asked) == [0] * 30 + [1] * 10

    async def test_names_have_buckets_of_their_own(self, limiter: Limiter) -> None:
        names = ["a", "A", "머스트잇", "머스트잇 ", "a:b", "a b"]

        granted = [(await limiter.take(name, DAILY, 7)).count for name in names * 2]

        assert granted == [7] * 6 + [3] * 6

    async def test_what_is_given_back_can_be_taken_again(self, limiter: Limiter, other: Limiter) -> None:
        await limiter.take("a", DAILY, 10)

        await other.give_back("a", DAILY, 3)

        assert (await limiter.take("a", DAILY, 10)).count == 3

    async def test_giving_back_too_much_does_not_lift_a_bucket_above_its_burst(self, limiter: Limiter) -> None:
        await limiter.take("a", DAILY, 1)

        await limiter.give_back("a", DAILY, 10**20)
        await limiter.give_back("b", DAILY, 5)

        assert [(await limiter.take(name, DAILY, 100)).count for name in "ab"] == [10, 10]

    async def test_a_drained_bucket_is_empty_for_all(self, limiter: Limiter, other: Limiter) -> None:
        await limiter.drain("a", DAILY)

        told = await other.take("a", DAILY)
        assert (told.count, int(told.left)) == (0, 0)

    async def test_another_limit_keeps_whole_tokens_up_to_its_burst(self, limiter: Limiter) -> None:
        narrow = Limit(20, timedelta(hours=20), burst=2)
        await limiter.take("few", DAILY, 9)
        await limiter.take("many", DAILY, 1)

        granted = [(await limiter.take(key, narrow, 5)).count for key in ("few", "many")]

        assert granted == [1, 2]

    async def test_all_calls_at_once_are_possible_and_then_one_a_span(self, limiter: Limiter, until: Until) -> None:
        limit = Limit(3, timedelta(seconds=0.05), burst=3)
        first = await limiter.take("a", limit, 9)

        await until(first.next_at)

        assert (first.count, (await limiter.take("a", limit)).count) == (3, 1)

    async def test_less_than_nothing_is_refused(self, limiter: Limiter) -> None:
        for ask in (limiter.take("a", DAILY, -1), limiter.give_back("a", DAILY, -1)):
            with pytest.raises(Invalid, match="-1 tokens cannot be taken or given back"):
                await ask
