"""Limits shared through a real Redis: by several processes, over its restarts, and exactly as the pure rules say."""

from __future__ import annotations

import asyncio
import secrets
import signal
import socket
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from subprocess import PIPE
from typing import TYPE_CHECKING

import pytest
import redis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bobusang.kit.clock import SystemClock
from bobusang.kit.errors import Unavailable
from bobusang.platform.limiter import FINEST, Limit, Taken
from bobusang.platform.limiters.local import EPOCH, LocalLimiter
from bobusang.platform.limiters.lua import DRAIN, GIVE_BACK, SCRIPT, TAKE, arguments
from bobusang.platform.limiters.redis import RedisLimiter
from bobusang.testing.clock import NOON, ManualClock
from bobusang.testing.limiter_suite import LimiterSuite
from bobusang.testing.workshop import PATIENCE
from tests.integration.platform import hammer
from tests.servers.redis import Redis
from tests.servers.server import ROOT, free_port
from tests.servers.skip import started

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

HOURLY = Limit(80, timedelta(hours=1), burst=20)


@pytest.fixture
async def limiter(redis_url: str, fresh_redis: str) -> AsyncIterator[RedisLimiter]:
    limiter = RedisLimiter(redis_url, SystemClock(), prefix=fresh_redis)
    yield limiter
    await limiter.close()


@pytest.fixture
async def other(redis_url: str, fresh_redis: str) -> AsyncIterator[RedisLimiter]:
    other = RedisLimiter(redis_url, SystemClock(), prefix=fresh_redis)
    yield other
    await other.close()


@pytest.fixture
def until() -> Callable[[datetime], Awaitable[None]]:
    async def passed(then: datetime) -> None:
        await asyncio.sleep(max((then - datetime.now(UTC)).total_seconds(), 0))

    return passed


@pytest.fixture
def client(redis_url: str) -> Iterator[redis.Redis]:
    with redis.Redis.from_url(redis_url, decode_responses=True) as client:
        yield client


class TestRedis(LimiterSuite):
    """The limiter in Redis conforms."""


# --- the same arithmetic ---------------------------------------------------------------------------------------------

LIMITS = st.builds(
    lambda burst, more, per: Limit(burst + more, per, burst),
    st.integers(1, 40),
    st.integers(0, 200),
    st.sampled_from([timedelta(microseconds=7), timedelta(seconds=1), timedelta(hours=1), timedelta(days=30)]),
)
STEPS = st.lists(
    st.tuples(
        st.sampled_from([TAKE, TAKE, TAKE, GIVE_BACK, DRAIN]),
        st.integers(0, 50) | st.just(10**18),
        st.integers(-(10**7), 10**9) | st.sampled_from([0, 1, -1, 3_600_000_000, -(10**13), 10**13]),
        st.integers(0, 1),
    ),
    min_size=1,
    max_size=30,
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(limits=st.tuples(LIMITS, LIMITS), steps=STEPS)
async def test_lua_and_python_agree_on_every_step(
    limits: tuple[Limit, Limit], steps: list[tuple[str, int, int, int]], client: redis.Redis, fresh_redis: str
) -> None:
    """Time goes on, stands still and goes back; two limits take turns on one bucket."""
    clock, key = ManualClock(), fresh_redis + secrets.token_hex(8)
    local, script = LocalLimiter(clock), client.register_script(SCRIPT)
    for what, number, passed, which in steps:
        limit, now = limits[which], clock.advance(microseconds=passed)
        told = script([key], arguments(what, number, limit, (now - EPOCH) // FINEST))
        assert isinstance(told, list)
        count, parts, wait = told

        assert Taken(count, now + wait * FINEST, parts / limit.token) == await done(local, what, limit, number)


async def done(local: LocalLimiter, what: str, limit: Limit, number: int) -> Taken:
    match what:
        case "take":
            return await local.take("a", limit, number)
        case "give_back":
            await local.give_back("a", limit, number)
        case _:
            await local.drain("a", limit)
    return await local.take("a", limit, 0)


# --- what Redis keeps ------------------------------------------------------------------------------------------------


async def test_a_bucket_is_kept_until_it_is_full_again(
    limiter: RedisLimiter, client: redis.Redis, fresh_redis: str
) -> None:
    await limiter.take("full", HOURLY, 0)
    await limiter.take("used", HOURLY, 5)

    assert client.keys(f"{fresh_redis}*") == [f"{fresh_redis}used"]
    lives = client.pttl(f"{fresh_redis}used")
    assert isinstance(lives, int)
    assert 290_000 < lives <= 301_000


async def test_a_server_that_forgot_the_script_is_told_again(limiter: RedisLimiter, client: redis.Redis) -> None:
    await limiter.take("a", HOURLY, 5)
    client.script_flush()

    assert (await limiter.take("a", HOURLY, 50)).count == 15


async def test_what_is_told_is_told_by_our_clock(redis_url: str, fresh_redis: str) -> None:
    limiter = RedisLimiter(redis_url, ManualClock(), prefix=fresh_redis)
    taken = await limiter.take("a", Limit(2, timedelta(hours=1)))
    await limiter.close()

    assert taken == Taken(1, NOON + timedelta(hours=1), 0.0)


# --- processes -------------------------------------------------------------------------------------------------------


async def test_processes_together_keep_the_limit_and_a_killed_one_takes_nothing_with_it(
    limiter: RedisLimiter, redis_url: str, fresh_redis: str
) -> None:
    grants = await asyncio.to_thread(hammered, redis_url, fresh_redis)

    span, calls, burst = hammer.LIMIT.per.total_seconds(), hammer.LIMIT.calls, hammer.LIMIT.burst
    windows = [sum(n for a, b, n in grants if a >= start and b <= start + span) for start, _, _ in grants]
    assert calls / 2 < max(windows) <= calls
    assert sum(n for _, _, n in grants) > calls

    await asyncio.sleep(burst / hammer.LIMIT.rate)
    assert (await limiter.take(hammer.KEY, hammer.LIMIT, 100)).count == burst


def hammered(url: str, prefix: str) -> list[tuple[float, float, int]]:
    """What three processes were granted in four seconds, one of them killed soon: asked, answered, how many."""
    command = [sys.executable, "-m", hammer.__name__, url, prefix, "4"]
    running = [subprocess.Popen(command, cwd=ROOT, stdout=PIPE, text=True) for _ in range(3)]
    victim = running[0]
    assert victim.stdout is not None
    lines = [victim.stdout.readline() for _ in range(6)]
    victim.kill()
    lines += [line for process in running for line in process.communicate()[0].splitlines()]
    assert [process.returncode for process in running] == [-signal.SIGKILL, 0, 0]
    whole = [words for words in map(str.split, lines) if len(words) == 3]  # the killed one may leave half a line
    return [(float(asked), float(answered), int(count)) for asked, answered, count in whole]


# --- a Redis that is away --------------------------------------------------------------------------------------------


async def test_a_limiter_that_was_away_works_again_without_a_restart() -> None:
    with started(Redis()) as server:
        address = f"127.0.0.1:{server.port}"
        limiter = RedisLimiter(f"redis://default:s3cret@{address}/0", SystemClock())
        with redis.Redis.from_url(server.url) as client:
            client.config_set("requirepass", "s3cret")
        await limiter.take("a", HOURLY, 15)

        server.stop(immediate=True)
        away = await refusal(limiter)
        server.start()
        with redis.Redis.from_url(server.url) as client:
            client.config_set("requirepass", "s3cret")
        back = await limiter.take("a", HOURLY, 15)
        await limiter.close()

    assert away.startswith(f"the limiter at redis://{address} is away: ")
    assert away.endswith("(start it or mend BOBUSANG_LIMITER_URL; until then nothing is called)")
    assert "s3cret" not in away
    assert back.count == 5


async def test_a_wrong_password_is_said_without_saying_it() -> None:
    with started(Redis()) as server:
        with redis.Redis.from_url(server.url) as client:
            client.config_set("requirepass", "right")
        address = f"127.0.0.1:{server.port}"
        limiter = RedisLimiter(f"redis://:wrong@{address}", SystemClock())
        said = await refusal(limiter)
        await limiter.close()

    assert said == (
        f"BOBUSANG_LIMITER_URL: the limiter at redis://{address} refuses us (check user and password in the address)"
    )


async def test_one_that_does_not_answer_is_not_waited_for() -> None:
    with socket.create_server(("127.0.0.1", free_port())) as silent:
        limiter = RedisLimiter(f"redis://127.0.0.1:{silent.getsockname()[1]}", SystemClock(), seconds=0.1)
        async with asyncio.timeout(PATIENCE):
            said = await refusal(limiter)
        await limiter.close()

    assert "is away: " in said


async def refusal(limiter: RedisLimiter) -> str:
    with pytest.raises(Unavailable) as refused:
        await limiter.take("a", HOURLY)
    return str(refused.value)
