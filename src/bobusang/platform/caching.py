"""Answers read through a cache: made once however many ask, old ones served while they are renewed, none kept stale.

An answer is kept with the generations that its tags had before it was made. Whoever changes what answers show changes
first and bumps the tags afterwards, so an answer that was made too early carries a generation that is no more, and is
made anew: a change shows at once, and only in the answers that it could concern.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

import msgspec

from bobusang.kit import log as logs
from bobusang.kit.errors import Unavailable
from bobusang.platform.cache import LARGEST, Size

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from bobusang.kit.clock import Clock
    from bobusang.platform.cache import Cache

log = logs.get(__name__)

QUIET_SECONDS = 60.0
"""A cache that stays away is told of so often."""


class Served(StrEnum):
    """How an answer came about."""

    HIT = "hit"
    STALE = "stale"
    MISS = "miss"
    JOINED = "joined"
    AWAY = "away"


@dataclass(frozen=True, slots=True)
class Times:
    """How long answers are kept, in seconds: as new, then as old while they are renewed; empty ones shorter."""

    fresh: float = 300.0
    stale: float = 60.0
    empty: float = 30.0


@dataclass(frozen=True, slots=True)
class Made:
    """An answer as it was made: JSON, whether it has nothing in it, and which of the tags asked for matter to it."""

    body: bytes
    empty: bool = False
    tags: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer as it is given."""

    body: bytes
    served: Served


@dataclass(slots=True)
class Counts:
    """What was served since this process began."""

    served: dict[Served, int] = field(default_factory=lambda: dict.fromkeys(Served, 0))

    @property
    def hits(self) -> int:
        """Answers that needed no searching of their own."""
        return self.served[Served.HIT] + self.served[Served.STALE] + self.served[Served.JOINED]

    @property
    def misses(self) -> int:
        """Answers that were made for whoever asked."""
        return self.served[Served.MISS] + self.served[Served.AWAY]

    @property
    def rate(self) -> float | None:
        """The share of hits, if anything was asked."""
        asked = self.hits + self.misses
        return self.hits / asked if asked else None


class Kept(msgspec.Struct, frozen=True):
    """An answer as the cache has it: readable, and its body is not read again to be served."""

    fresh_until: float
    tags: dict[str, int]
    body: msgspec.Raw


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Kept).decode


class Caching:
    """Reads through one cache. A cache that is away costs its time-out once, then nothing for a while."""

    def __init__(self, cache: Cache, clock: Clock, times: Times | None = None) -> None:
        self._cache = cache
        self._clock = clock
        self._times = times or Times()
        self._flights: dict[tuple[object, ...], asyncio.Task[Made]] = {}
        self._away_until = 0.0
        self._told = float("-inf")
        self.counts = Counts()

    async def through(self, key: str, tags: Sequence[str], make: Callable[[], Awaitable[Made]]) -> Answer:
        """The answer under a key, or a new one by `make`, which is called once for all who ask at the same time."""
        answer = await self._through(key, tags, make)
        self.counts.served[answer.served] += 1
        return answer

    async def bump(self, tags: Sequence[str]) -> None:
        """What these tags stand for has changed; raises Unavailable when the cache cannot be told."""
        await self._cache.bump(tags)

    @property
    def has_tags(self) -> bool:
        """Whether an answer could be made old: not before somebody has asked for one."""
        return self._cache.has_tags

    async def delete(self, prefix: str) -> int:
        """Forget all answers whose key begins so; how many there were."""
        return await self._cache.delete_prefix(prefix)

    async def size(self, prefix: str) -> Size:
        """How much is kept."""
        return await self._cache.size(prefix)

    async def check(self) -> None:
        """Raise Unavailable when the cache cannot be used."""
        await self._cache.check()

    async def close(self) -> None:
        """Wait for what is being made, and give the cache's connections back."""
        await asyncio.gather(*self._flights.values(), return_exceptions=True)
        await self._cache.close()

    async def _through(self, key: str, tags: Sequence[str], make: Callable[[], Awaitable[Made]]) -> Answer:
        try:
            value, generations = await self._look(key, tags)
        except Unavailable as error:
            self._tell(error)
            made, joined = await self._next((key,), make)
            return Answer(made.body, Served.JOINED if joined else Served.AWAY)
        kept = None if value is None else _kept(value, generations)

        async def renewed() -> Made:
            made = await make()
            await self._keep(key, made, generations)
            return made

        # Who comes after a change never joins a flight that began before it.
        flight = (key, *sorted(generations.items()))
        if kept is not None:
            if self._now() < kept.fresh_until:
                return Answer(bytes(kept.body), Served.HIT)
            self._start(flight, renewed)
            return Answer(bytes(kept.body), Served.STALE)
        made, joined = await self._flown(flight, renewed)
        return Answer(made.body, Served.JOINED if joined else Served.MISS)

    async def _look(self, key: str, tags: Sequence[str]) -> tuple[bytes | None, Mapping[str, int]]:
        if self._now() < self._away_until:
            raise Unavailable("the cache was away a moment ago")
        return await self._cache.get_tagged(key, tags)

    async def _flown(self, flight: tuple[object, ...], make: Callable[[], Awaitable[Made]]) -> tuple[Made, bool]:
        """What the flight brings, and whether somebody else had begun it. Whoever leaves does not end it."""
        joined = flight in self._flights
        return await asyncio.shield(self._start(flight, make)), joined

    async def _next(self, flight: tuple[object, ...], make: Callable[[], Awaitable[Made]]) -> tuple[Made, bool]:
        """What a flight brings that begins from now on: without generations nobody knows what has changed since the one
        under way began."""
        under_way = self._flights.get(flight)
        if under_way is None:
            return await self._flown(flight, make)

        async def after() -> Made:
            await asyncio.wait([under_way])
            return await make()

        return await self._flown((*flight, under_way), after)

    def _start(self, flight: tuple[object, ...], make: Callable[[], Awaitable[Made]]) -> asyncio.Task[Made]:
        if (under_way := self._flights.get(flight)) is not None:
            return under_way

        async def work() -> Made:
            return await make()

        task = asyncio.create_task(work())
        self._flights[flight] = task
        task.add_done_callback(lambda _: self._landed(flight, task))
        return task

    def _landed(self, flight: tuple[object, ...], task: asyncio.Task[Made]) -> None:
        del self._flights[flight]
        if not task.cancelled() and (error := task.exception()) is not None:
            log.info("an answer could not be made", key=str(flight[0]), error=str(error))

    async def _keep(self, key: str, made: Made, generations: Mapping[str, int]) -> None:
        fresh = self._times.empty if made.empty else self._times.fresh
        tags = generations if made.tags is None else {tag: generations[tag] for tag in made.tags}
        kept = Kept(self._now() + fresh, dict(tags), msgspec.Raw(made.body))
        value = _encode(kept)
        if len(value) > LARGEST:
            return
        try:
            await self._cache.set(key, value, fresh + self._times.stale)
        except Unavailable as error:
            self._tell(error)

    def _tell(self, error: Unavailable) -> None:
        """Let it rest for a second, so that not everybody waits for its time-out; tell of it now and then."""
        now = self._now()
        if now >= self._away_until:
            self._away_until = now + 1.0
        if now - self._told >= QUIET_SECONDS:
            self._told = now
            log.warning("going on without the cache", error=str(error))

    def _now(self) -> float:
        return self._clock.now().timestamp()


def _kept(value: bytes, generations: Mapping[str, int]) -> Kept | None:
    """What the cache has, unless it is none of ours or a tag has changed since."""
    try:
        kept = _decode(value)
    except msgspec.DecodeError:
        return None
    return kept if kept.tags.items() <= generations.items() else None
