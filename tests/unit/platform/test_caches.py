from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bobusang.kit.errors import Invalid
from bobusang.platform import caches
from bobusang.platform.cache import Size
from bobusang.platform.caches.memory import OVERHEAD, MemoryCache
from bobusang.platform.caches.redis import RedisCache
from bobusang.testing.cache_suite import CacheSuite
from bobusang.testing.clock import ManualClock

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def cache(clock: ManualClock) -> MemoryCache:
    return MemoryCache(clock)


@pytest.fixture
def passed(clock: ManualClock) -> Callable[[float], Awaitable[None]]:
    async def moved(seconds: float) -> None:
        clock.advance(seconds=seconds)

    return moved


class TestMemory(CacheSuite):
    """The cache of one process conforms."""


async def test_the_least_lately_used_goes_first(clock: ManualClock) -> None:
    cache = MemoryCache(clock, most_bytes=3 * (OVERHEAD + 10))
    for key in "abc":
        await cache.set(key, b"x" * 9, 60)
    await cache.get("a")
    await cache.set("d", b"x" * 9, 60)

    assert [key for key in "abcd" if await cache.get(key)] == ["a", "c", "d"]


async def test_a_value_larger_than_all_is_not_kept(clock: ManualClock) -> None:
    cache = MemoryCache(clock, most_bytes=1000)
    await cache.set("a", b"x" * 2000, 60)

    assert await cache.size() == Size(0, 0)


async def test_a_forgotten_tag_comes_back_with_another_generation(clock: ManualClock) -> None:
    cache = MemoryCache(clock, most_tags=2)
    before = (await cache.get_tagged("k", ["a"]))[1]
    await cache.get_tagged("k", ["b", "c"])

    assert (await cache.get_tagged("k", ["a"]))[1] != before


@pytest.mark.parametrize(
    ("url", "kind"), [("", MemoryCache), ("redis://localhost/1", RedisCache), ("rediss://u:p@host:6380/0", RedisCache)]
)
async def test_an_address_chooses_the_cache(url: str, kind: type, clock: ManualClock) -> None:
    cache = caches.opened(url, clock)

    assert type(cache) is kind
    await cache.close()


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("localhost:6379", "BOBUSANG_CACHE_URL is no address"),
        ("reddis://localhost", "BOBUSANG_CACHE_URL: no cache is called reddis"),
        ("redis:///0", "BOBUSANG_CACHE_URL names no host"),
    ],
)
def test_a_wrong_address_is_named(url: str, told: str, clock: ManualClock) -> None:
    with pytest.raises(Invalid) as caught:
        caches.opened(url, clock)

    assert (str(caught.value).split(";")[0].split(" (")[0], caught.value.field) == (told, "cache_url")
