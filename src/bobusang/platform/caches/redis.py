"""A cache in Redis, shared by all processes: readable keys, values as they were given, generations kept by a script."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from bobusang.platform.cache import SETTING, Size, checked
from bobusang.platform.redis import SECONDS, Server, Use

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence

USE = Use("cache", SETTING, "answers are made anew each time")
TAG = "tag:"
TAG_SECONDS = 86_400
"""Longer than any value lives. A tag that is gone comes back with another generation, which only costs a miss."""
PART = 1000
GLOB = re.compile(r"([\\*?\[\]])")

# KEYS: the value's, then the tags'. A tag that is not there begins with a number that was never used before: the
# server's time, and where two begin in one microsecond it does no harm that they are equal.
GET_TAGGED = """
local now = redis.call('TIME')
local fresh = now[1] .. string.format('%06d', now[2])
local found = {redis.call('GET', KEYS[1])}
for i = 2, #KEYS do
  local generation = redis.call('GET', KEYS[i])
  if not generation then
    generation = fresh
    redis.call('SET', KEYS[i], generation, 'EX', ARGV[1])
  end
  found[i] = generation
end
return found
"""


class RedisCache:
    """Values that all processes with this Redis and prefix share."""

    def __init__(self, url: str, *, prefix: str = "", seconds: float = SECONDS) -> None:
        self._prefix = prefix
        self._server = Server(url, USE, seconds=seconds)
        self._redis = self._server.redis
        self._get_tagged = self._redis.register_script(GET_TAGGED)

    async def get(self, key: str) -> bytes | None:
        with self._server.reached():
            value = await self._redis.get(self._prefix + key)
        return value.encode() if isinstance(value, str) else value

    async def set(self, key: str, value: bytes, ttl: float) -> None:
        checked(key, value, ttl)
        with self._server.reached():
            await self._redis.set(self._prefix + key, value, px=max(1, round(ttl * 1000)))

    async def delete(self, keys: Sequence[str]) -> int:
        if not keys:
            return 0
        with self._server.reached():
            return int(await self._redis.unlink(*{self._prefix + key for key in keys}))

    async def delete_prefix(self, prefix: str) -> int:
        gone = 0
        with self._server.reached():
            async for keys in self._scan(prefix):
                gone += int(await self._redis.unlink(*keys))
        return gone

    async def get_tagged(self, key: str, tags: Sequence[str]) -> tuple[bytes | None, Mapping[str, int]]:
        keys = [self._prefix + key, *(f"{self._prefix}{TAG}{tag}" for tag in tags)]
        with self._server.reached():
            value, *generations = await self._get_tagged(keys, [TAG_SECONDS])
        return value, dict(zip(tags, map(int, generations), strict=True))

    async def bump(self, tags: Sequence[str]) -> None:
        names = sorted({f"{self._prefix}{TAG}{tag}" for tag in tags})
        with self._server.reached():
            for at in range(0, len(names), PART):
                await self._redis.unlink(*names[at : at + PART])

    @property
    def has_tags(self) -> bool:
        return True  # other processes ask for them

    async def size(self, prefix: str = "") -> Size:
        keys = size = 0
        with self._server.reached():
            async for part in self._scan(prefix):
                async with self._redis.pipeline(transaction=False) as asked:
                    for key in part:
                        asked.strlen(key)
                    lengths = await asked.execute()
                keys += len(part)
                size += sum(lengths) + sum(len(key) - len(self._prefix.encode()) for key in part)
        return Size(keys, size)

    async def check(self) -> None:
        with self._server.reached():
            await self._redis.ping()

    async def close(self) -> None:
        await self._server.close()

    async def _scan(self, prefix: str) -> AsyncIterator[list[bytes]]:
        """Keys that begin so, a part at a time, each once; tags are no keys of anybody's."""
        seen: set[bytes] = set()
        own = (self._prefix + TAG).encode()
        part: list[bytes] = []
        pattern = GLOB.sub(r"\\\1", self._prefix + prefix) + "*"
        async for key in self._redis.scan_iter(match=pattern, count=PART):
            if key in seen or key.startswith(own):
                continue
            seen.add(key)
            part.append(key)
            if len(part) == PART:
                yield part
                part = []
        if part:
            yield part
