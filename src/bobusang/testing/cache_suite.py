"""The conformance suite of caches: what every one must do.

`class TestRedis(CacheSuite)` needs two fixtures: `cache` (an empty one) and `passed` (lets seconds pass for it).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bobusang.kit.errors import Invalid
from bobusang.platform.cache import LARGEST, LONGEST, LONGEST_KEY, Size

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from bobusang.platform.cache import Cache

    Passed = Callable[[float], Awaitable[None]]

KEYS = (
    "search:패딩:0:0",
    "search:패딩:0:0:brand=나이키",
    "search:a*[b]?\\c:0:0",
    "search:a",
    "SEARCH:a",
    " ",
    "나" * 400,
)


class CacheSuite:
    """Tests that hold for every cache."""

    async def test_what_is_set_is_there_under_its_own_key_alone(self, cache: Cache) -> None:
        for number, key in enumerate(KEYS):
            await cache.set(key, f"{number} 패딩".encode(), 60)

        assert [await cache.get(key) for key in KEYS] == [f"{n} 패딩".encode() for n in range(len(KEYS))]
        assert await cache.get("search:패딩") is None

    async def test_the_last_value_counts(self, cache: Cache) -> None:
        for value in (b"first", b"", b"last"):
            await cache.set("a", value, 60)

        assert await cache.get("a") == b"last"
        assert await cache.size() == Size(1, len("a") + len("last"))

    async def test_a_value_is_gone_when_its_time_is_over(self, cache: Cache, passed: Passed) -> None:
        await cache.set("short", b"x", 0.05)
        await cache.set("long", b"x", 600)
        await passed(0.1)

        assert (await cache.get("short"), await cache.get("long")) == (None, b"x")
        assert await cache.size() == Size(1, len("long") + 1)

    async def test_deleting_tells_how_many_there_were(self, cache: Cache) -> None:
        for key in KEYS:
            await cache.set(key, b"x", 60)

        assert await cache.delete([KEYS[0], KEYS[0], "nobody"]) == 1
        assert await cache.delete([]) == 0
        assert [await cache.get(key) for key in KEYS[:2]] == [None, b"x"]

    @pytest.mark.parametrize(
        ("prefix", "gone"),
        [
            ("search:패딩:", KEYS[:2]),
            ("search:a*[b]?\\c:", KEYS[2:3]),
            ("search:a", KEYS[2:4]),
            ("*", ()),
            ("search:?", ()),
            ("", KEYS),
        ],
    )
    async def test_a_prefix_is_taken_by_the_letter(self, cache: Cache, prefix: str, gone: tuple[str, ...]) -> None:
        for key in KEYS:
            await cache.set(key, b"x", 60)
        kept = {key for key in KEYS if key not in gone}

        assert await cache.size(prefix) == Size(len(gone), sum(len(key.encode()) + 1 for key in gone))
        assert await cache.delete_prefix(prefix) == len(gone)
        assert {key for key in KEYS if await cache.get(key)} == kept

    async def test_tags_keep_their_generations_until_they_are_bumped(self, cache: Cache) -> None:
        await cache.set("a", b"x", 60)
        first = await cache.get_tagged("a", ["패딩", "nike", "all"])
        again = await cache.get_tagged("nobody", ["nike", "all", "패딩"])
        await cache.bump(["nike", "never seen"])
        value, after = await cache.get_tagged("a", ["패딩", "nike", "all"])

        assert (first[0], again[0], value, cache.has_tags) == (b"x", None, b"x", True)
        assert first[1] == again[1]
        assert {tag: after[tag] == first[1][tag] for tag in first[1]} == {"패딩": True, "nike": False, "all": True}

    async def test_no_generation_comes_back(self, cache: Cache) -> None:
        seen = set()
        for _ in range(50):
            seen.add((await cache.get_tagged("a", ["tag"]))[1]["tag"])
            await cache.bump(["tag"])

        assert len(seen) == 50

    async def test_tags_are_no_values(self, cache: Cache) -> None:
        await cache.get_tagged("a", ["tag", "search:a"])

        assert await cache.size() == Size(0, 0)
        assert await cache.get("search:a") is None
        before = (await cache.get_tagged("a", ["tag"]))[1]
        assert await cache.delete_prefix("") == 0
        assert (await cache.get_tagged("a", ["tag"]))[1] == before

    async def test_many_keys_are_all_deleted(self, cache: Cache) -> None:
        for number in range(2_500):
            await cache.set(f"search:{number}", b"x", 60)
        await cache.set("other", b"x", 60)

        assert await cache.delete_prefix("search:") == 2_500
        assert await cache.size() == Size(1, len("other") + 1)

    @pytest.mark.parametrize(
        ("key", "value", "ttl", "field"),
        [
            ("", b"x", 60, "key"),
            ("k" * (LONGEST_KEY + 1), b"x", 60, "key"),
            ("a", b"x" * (LARGEST + 1), 60, "value"),
            ("a", b"x", 0, "ttl"),
            ("a", b"x", LONGEST + 1, "ttl"),
        ],
    )
    async def test_what_no_cache_keeps_is_refused(
        self, cache: Cache, key: str, value: bytes, ttl: float, field: str
    ) -> None:
        with pytest.raises(Invalid) as caught:
            await cache.set(key, value, ttl)

        assert caught.value.field == field
        assert await cache.size() == Size(0, 0)
