from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bobusang.kit.errors import Missing, Unavailable
from bobusang.platform.caches.memory import MemoryCache
from bobusang.platform.caching import Answer, Caching, Made, Served, Times
from bobusang.testing.clock import ManualClock

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bobusang.platform.cache import Size

TIMES = Times(fresh=300, stale=60, empty=30)


class Kitchen:
    """Makes answers, counts them, and waits to be let go when told to."""

    def __init__(self) -> None:
        self.made = 0
        self.empty = False
        self.error: Exception | None = None
        self.open = asyncio.Event()
        self.open.set()
        self.began = asyncio.Event()

    async def make(self) -> Made:
        self.made += 1
        body = f'{{"n":{self.made}}}'.encode()
        self.began.set()
        await self.open.wait()
        if self.error is not None:
            raise self.error
        return Made(body, self.empty)


class Shelf:
    """A cache with someone who asks through it."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.cache = MemoryCache(self.clock)
        self.caching = Caching(self.cache, self.clock, TIMES)
        self.kitchen = Kitchen()

    async def ask(self, key: str = "search:패딩:0:0", tags: Sequence[str] = ("t",)) -> tuple[bytes, Served]:
        answer = await self.caching.through(key, tags, self.kitchen.make)
        return answer.body, answer.served


@pytest.fixture
def shelf() -> Shelf:
    return Shelf()


async def test_an_answer_is_made_once_and_then_served(shelf: Shelf) -> None:
    assert [await shelf.ask() for _ in range(3)] == [
        (b'{"n":1}', Served.MISS),
        (b'{"n":1}', Served.HIT),
        (b'{"n":1}', Served.HIT),
    ]
    assert (shelf.caching.counts.hits, shelf.caching.counts.misses, shelf.caching.counts.rate) == (2, 1, 2 / 3)


async def test_however_many_ask_at_once_it_is_made_once(shelf: Shelf) -> None:
    shelf.kitchen.open.clear()
    asked = [asyncio.create_task(shelf.ask()) for _ in range(20)]
    await shelf.kitchen.began.wait()
    shelf.kitchen.open.set()

    assert sorted(await asyncio.gather(*asked)) == sorted(
        [(b'{"n":1}', Served.MISS)] + [(b'{"n":1}', Served.JOINED)] * 19
    )


async def test_who_gives_up_does_not_take_the_answer_from_the_others(shelf: Shelf) -> None:
    shelf.kitchen.open.clear()
    first = asyncio.create_task(shelf.ask())
    await shelf.kitchen.began.wait()
    second = asyncio.create_task(shelf.ask())
    await asyncio.sleep(0)
    first.cancel()
    shelf.kitchen.open.set()

    assert await second == (b'{"n":1}', Served.JOINED)


async def test_an_old_answer_is_served_while_a_new_one_is_made(shelf: Shelf) -> None:
    await shelf.ask()
    shelf.clock.advance(seconds=301)
    shelf.kitchen.began.clear()

    assert await shelf.ask() == (b'{"n":1}', Served.STALE)
    await shelf.kitchen.began.wait()
    await shelf.caching.close()  # waits for what is being made; the memory forgets

    assert shelf.kitchen.made == 2


async def test_too_old_an_answer_is_not_served(shelf: Shelf) -> None:
    await shelf.ask()
    shelf.clock.advance(seconds=361)

    assert await shelf.ask() == (b'{"n":2}', Served.MISS)


async def test_an_empty_answer_is_kept_for_a_shorter_time(shelf: Shelf) -> None:
    shelf.kitchen.empty = True
    await shelf.ask()
    shelf.clock.advance(seconds=29)
    assert await shelf.ask() == (b'{"n":1}', Served.HIT)
    shelf.clock.advance(seconds=62)

    assert await shelf.ask() == (b'{"n":2}', Served.MISS)


async def test_a_change_makes_only_its_own_answers_old(shelf: Shelf) -> None:
    await shelf.ask("search:패딩:0:0", ["패딩", "all"])
    await shelf.ask("search:코트:0:0", ["코트", "all"])
    await shelf.caching.bump(["패딩"])

    assert await shelf.ask("search:패딩:0:0", ["패딩", "all"]) == (b'{"n":3}', Served.MISS)
    assert await shelf.ask("search:코트:0:0", ["코트", "all"]) == (b'{"n":2}', Served.HIT)


async def test_only_the_tags_that_matter_to_an_answer_make_it_old(shelf: Shelf) -> None:
    async def make() -> Made:
        return Made(b"1", tags=("패딩",))

    async def served() -> Served:
        return (await shelf.caching.through("k", ["패딩", "*"], make)).served

    found = [await served()]
    for tag in ("*", "패딩"):
        await shelf.caching.bump([tag])
        found.append(await served())

    assert found == [Served.MISS, Served.HIT, Served.MISS]


async def test_an_answer_made_before_a_change_is_not_kept_after_it(shelf: Shelf) -> None:
    shelf.kitchen.open.clear()
    early = asyncio.create_task(shelf.ask())
    await shelf.kitchen.began.wait()
    await shelf.caching.bump(["t"])  # the answer was made before the change, and is stored after it
    late = asyncio.create_task(shelf.ask())
    shelf.kitchen.open.set()

    assert [await early, await late, await shelf.ask()] == [
        (b'{"n":1}', Served.MISS),
        (b'{"n":2}', Served.MISS),
        (b'{"n":2}', Served.HIT),
    ]


async def test_a_failure_reaches_all_who_wait_and_is_not_kept(shelf: Shelf) -> None:
    shelf.kitchen.error = Missing("no such index")
    found = await asyncio.gather(*(shelf.ask() for _ in range(3)), return_exceptions=True)
    shelf.kitchen.error = None

    assert [str(one) for one in found] == ["no such index"] * 3
    assert await shelf.ask() == (b'{"n":2}', Served.MISS)


async def test_what_somebody_else_put_under_the_key_is_not_served(shelf: Shelf) -> None:
    await shelf.cache.set("search:패딩:0:0", b'{"not":"ours"}', 60)

    assert await shelf.ask() == (b'{"n":1}', Served.MISS)


@given(st.lists(st.sampled_from(["ask", "bump", "pass", "change"]), max_size=30))
async def test_no_answer_is_older_than_the_last_bump(steps: list[str]) -> None:
    """Whatever happens in whichever order: a change that was bumped is seen by the next who asks."""
    shelf = Shelf()
    value = seen_at_least = 0

    async def make() -> Made:
        return Made(str(value).encode())

    for step in steps:
        match step:
            case "change":
                value += 1
            case "bump":
                await shelf.caching.bump(["t"])
                seen_at_least = value
            case "pass":
                shelf.clock.advance(seconds=170)
            case "ask":
                answer = await shelf.caching.through("k", ["t"], make)
                assert int(answer.body) >= seen_at_least


class Away:
    """A cache that nobody can reach, and that counts how often it was tried."""

    tried = 0
    has_tags = True

    def _away(self) -> Unavailable:
        self.tried += 1
        return Unavailable("away")

    async def get(self, key: str) -> bytes | None:
        raise self._away()

    async def set(self, key: str, value: bytes, ttl: float) -> None:
        raise self._away()

    async def delete(self, keys: Sequence[str]) -> int:
        raise self._away()

    async def delete_prefix(self, prefix: str) -> int:
        raise self._away()

    async def get_tagged(self, key: str, tags: Sequence[str]) -> tuple[bytes | None, Mapping[str, int]]:
        raise self._away()

    async def bump(self, tags: Sequence[str]) -> None:
        raise self._away()

    async def size(self, prefix: str = "") -> Size:
        raise self._away()

    async def check(self) -> None:
        raise self._away()

    async def close(self) -> None: ...


async def test_without_its_cache_it_answers_all_the_same() -> None:
    clock, away, kitchen = ManualClock(), Away(), Kitchen()
    caching = Caching(away, clock, TIMES)

    answers = [await caching.through("k", ["t"], kitchen.make) for _ in range(3)]
    clock.advance(seconds=2)
    answers.append(await caching.through("k", ["t"], kitchen.make))

    assert answers == [Answer(f'{{"n":{n}}}'.encode(), Served.AWAY) for n in (1, 2, 3, 4)]
    assert away.tried == 2  # not asked again within a second


async def test_without_its_cache_nobody_joins_what_began_before_he_came() -> None:
    caching, kitchen = Caching(Away(), ManualClock(), TIMES), Kitchen()
    kitchen.open.clear()

    asked = [asyncio.create_task(caching.through("k", ["t"], kitchen.make))]
    await kitchen.began.wait()
    asked += [asyncio.create_task(caching.through("k", ["t"], kitchen.make)) for _ in range(2)]
    await asyncio.sleep(0)
    kitchen.open.set()

    assert await asyncio.gather(*asked) == [
        Answer(b'{"n":1}', Served.AWAY),
        Answer(b'{"n":2}', Served.AWAY),
        Answer(b'{"n":2}', Served.JOINED),
    ]
