"""Token buckets in Redis, shared by all workers: one script a call, timed by the server's own clock.

A Redis that has lost its memory begins with full buckets: then a span may see up to one `burst` more than its calls.
Where that matters, give it `appendonly yes`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bobusang.platform.limiter import FINEST, SETTING, Limit, Taken, counted
from bobusang.platform.limiters.lua import DRAIN, GIVE_BACK, SCRIPT, TAKE, arguments
from bobusang.platform.redis import SECONDS, Server, Use

if TYPE_CHECKING:
    from bobusang.kit.clock import Clock

PREFIX = "bobusang:limit:"
USE = Use("limiter", SETTING, "nothing is called")


class RedisLimiter:
    """Buckets that all processes with this Redis and prefix share."""

    def __init__(self, url: str, clock: Clock, *, prefix: str = PREFIX, seconds: float = SECONDS) -> None:
        self._clock = clock
        self._prefix = prefix
        self._server = Server(url, USE, seconds=seconds)
        # Sends the script's hash, and the script itself only to a server that does not know it (yet, or any more).
        self._script = self._server.redis.register_script(SCRIPT)

    async def take(self, key: str, limit: Limit, want: int = 1) -> Taken:
        count, parts, wait = await self._run(key, TAKE, counted(want), limit)
        # By our clock, after the answer: whoever waits until then comes late rather than early.
        return Taken(count, self._clock.now() + wait * FINEST, parts / limit.token)

    async def give_back(self, key: str, limit: Limit, count: int) -> None:
        await self._run(key, GIVE_BACK, counted(count), limit)

    async def drain(self, key: str, limit: Limit) -> None:
        await self._run(key, DRAIN, 0, limit)

    async def close(self) -> None:
        await self._server.close()

    async def _run(self, key: str, what: str, number: int, limit: Limit) -> list[int]:
        with self._server.reached():
            answer: list[int] = await self._script([self._prefix + key], arguments(what, number, limit))
        return answer
