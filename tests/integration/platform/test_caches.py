"""The cache in a real Redis: it conforms, its keys are readable, and its answers do not depend on it being there."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
import redis

from bobusang.kit.clock import SystemClock
from bobusang.kit.errors import Unavailable
from bobusang.platform.caches.redis import RedisCache
from bobusang.platform.caching import Caching, Made, Served
from bobusang.testing.cache_suite import CacheSuite
from bobusang.testing.clock import ManualClock
from tests.servers.redis import Redis
from tests.servers.skip import started

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator


@pytest.fixture
async def cache(redis_url: str, fresh_redis: str) -> AsyncIterator[RedisCache]:
    cache = RedisCache(redis_url, prefix=fresh_redis)
    yield cache
    await cache.close()


@pytest.fixture
def passed() -> Callable[[float], Awaitable[None]]:
    return asyncio.sleep


@pytest.fixture
def client(redis_url: str) -> Iterator[redis.Redis]:
    with redis.Redis.from_url(redis_url) as client:
        yield client


class TestRedis(CacheSuite):
    """The cache in Redis conforms."""


async def test_a_key_and_its_answer_can_be_read_by_hand(
    cache: RedisCache, fresh_redis: str, client: redis.Redis
) -> None:
    caching = Caching(cache, SystemClock())

    async def make() -> Made:
        return Made('{"total":3,"name":"패딩"}'.encode())

    await caching.through("search:패딩:0:0", ["all"], make)

    kept = client.get(f"{fresh_redis}search:패딩:0:0")
    assert isinstance(kept, bytes)
    assert '"body":{"total":3,"name":"패딩"}' in kept.decode()
    assert 300_000 < int(client.pttl(f"{fresh_redis}search:패딩:0:0")) <= 360_000


async def test_two_processes_share_answers_and_changes(redis_url: str, fresh_redis: str) -> None:
    ours, theirs = (Caching(RedisCache(redis_url, prefix=fresh_redis), SystemClock()) for _ in range(2))
    made = iter(range(10))

    async def make() -> Made:
        return Made(str(next(made)).encode())

    served = [await who.through("k", ["t"], make) for who in (ours, theirs)]
    await theirs.bump(["t"])
    served.append(await ours.through("k", ["t"], make))

    assert [(one.body, one.served) for one in served] == [(b"0", Served.MISS), (b"0", Served.HIT), (b"1", Served.MISS)]
    await ours.close()
    await theirs.close()


async def test_what_redis_forgets_is_made_anew(cache: RedisCache, fresh_redis: str, client: redis.Redis) -> None:
    """A tag that was evicted must not make an answer from before a change look new."""
    caching = Caching(cache, SystemClock())

    async def make() -> Made:
        return Made(b"1")

    await caching.through("k", ["t"], make)
    assert client.delete(f"{fresh_redis}tag:t") == 1

    assert (await caching.through("k", ["t"], make)).served is Served.MISS


async def test_a_redis_that_dies_and_comes_back() -> None:
    """While it is away every answer is made, and a change says that it could not be told; then it is used again."""
    with started(Redis()) as server:
        clock = ManualClock()
        caching = Caching(RedisCache(server.url, seconds=0.5), clock)

        async def make() -> Made:
            return Made(b"1")

        async def asked() -> Served:
            clock.advance(seconds=2)
            return (await caching.through("k", ["t"], make)).served

        served = [await asked(), await asked()]
        server.stop(immediate=True)
        served.append(await asked())
        with pytest.raises(Unavailable, match=f"the cache at redis://127.0.0.1:{server.port} is away"):
            await caching.bump(["t"])
        server.start()
        served.append(await asked())
        await caching.close()

    assert (served[:3], served[3] in {Served.HIT, Served.MISS}) == ([Served.MISS, Served.HIT, Served.AWAY], True)
