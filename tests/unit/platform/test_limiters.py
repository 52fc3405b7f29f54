"""The limiter of one process, and the choice of a limiter."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from bobusang.kit.errors import Invalid
from bobusang.platform import limiters
from bobusang.platform.limiter import Limit, Taken
from bobusang.platform.limiters.local import TIDY_FROM, LocalLimiter
from bobusang.platform.limiters.redis import RedisLimiter
from bobusang.testing.clock import NOON, ManualClock
from bobusang.testing.limiter_suite import LimiterSuite

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

HOURLY = Limit(80, timedelta(hours=1), burst=20)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def limiter(clock: ManualClock) -> LocalLimiter:
    return LocalLimiter(clock)


@pytest.fixture
def other(limiter: LocalLimiter) -> LocalLimiter:
    """In one process there is only one."""
    return limiter


@pytest.fixture
def until(clock: ManualClock) -> Callable[[datetime], Awaitable[None]]:
    async def passed(then: datetime) -> None:
        clock.set(then)

    return passed


class TestLocal(LimiterSuite):
    """The limiter of one process conforms."""


async def test_what_was_taken_is_told_exactly(limiter: LocalLimiter, clock: ManualClock) -> None:
    first = await limiter.take("a", HOURLY, 5)
    second = await limiter.take("a", HOURLY, 50)
    clock.advance(seconds=30)
    third = await limiter.take("a", HOURLY)
    clock.advance(seconds=30)
    fourth = await limiter.take("a", HOURLY)

    minute = NOON + timedelta(minutes=1)
    assert [first, second, third, fourth] == [
        Taken(5, NOON, 15.0),
        Taken(15, minute, 0.0),
        Taken(0, minute, 0.5),
        Taken(1, minute + timedelta(minutes=1), 0.0),
    ]


async def test_a_clock_set_back_waits_and_grants_nothing(limiter: LocalLimiter, clock: ManualClock) -> None:
    await limiter.take("a", HOURLY, 20)
    clock.advance(minutes=-10)

    assert await limiter.take("a", HOURLY) == Taken(0, NOON + timedelta(minutes=1), 0.0)


async def test_full_buckets_are_forgotten(limiter: LocalLimiter, clock: ManualClock) -> None:
    for number in range(TIDY_FROM - 1):
        await limiter.take(f"old {number}", HOURLY)
    clock.advance(hours=1)
    await limiter.take("new", HOURLY)

    assert list(limiter._buckets) == ["new"]


@pytest.mark.parametrize(
    ("url", "kind"),
    [(None, LocalLimiter), ("", LocalLimiter), ("redis://h", RedisLimiter), ("rediss://h", RedisLimiter)],
)
def test_the_address_chooses(url: str | None, kind: type, clock: ManualClock) -> None:
    assert type(limiters.opened(url, clock)) is kind


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("rdis://:pw@host", "BOBUSANG_LIMITER_URL: no limiter is called rdis (did you mean redis?)"),
        ("etcd://:pw@host", "BOBUSANG_LIMITER_URL: no limiter is called etcd (known: redis, rediss)"),
        ("localhost:6379", "BOBUSANG_LIMITER_URL is no address (redis://host:6379/0)"),
        ("redis://", "BOBUSANG_LIMITER_URL names no host (redis://host:6379/0)"),
    ],
)
def test_a_wrong_address_is_refused_by_the_name_of_the_setting(url: str, message: str, clock: ManualClock) -> None:
    with pytest.raises(Invalid) as refused:
        limiters.opened(url, clock)

    assert str(refused.value) == message
