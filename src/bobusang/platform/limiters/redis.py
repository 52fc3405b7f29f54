"""Token buckets in Redis, shared by all workers: one script a call, timed by the server's own clock.

A Redis that has lost its memory begins with full buckets: then a span may see up to one `burst` more than its calls.
Where that matters, give it `appendonly yes`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import AuthenticationError, AuthorizationError, RedisError

from bobusang.kit.errors import Invalid, Unavailable
from bobusang.kit.redact import scrub
from bobusang.platform.limiter import FINEST, SETTING, Limit, Taken, counted
from bobusang.platform.limiters.lua import DRAIN, GIVE_BACK, SCRIPT, TAKE, arguments

if TYPE_CHECKING:
    from bobusang.kit.clock import Clock

PREFIX = "bobusang:limit:"
CONNECTIONS = 8
SECONDS = 2.0
"""For connecting, for an answer, and for a free connection: whoever asks a limiter has something better to do."""


class RedisLimiter:
    """Buckets that all processes with this Redis and prefix share."""

    def __init__(self, url: str, clock: Clock, *, prefix: str = PREFIX, seconds: float = SECONDS) -> None:
        self._clock = clock
        self._prefix = prefix
        self._place = _place(url)
        self._redis = Redis(connection_pool=_pool(url, seconds))
        # Sends the script's hash, and the script itself only to a server that does not know it (yet, or any more).
        self._script = self._redis.register_script(SCRIPT)

    async def take(self, key: str, limit: Limit, want: int = 1) -> Taken:
        count, parts, wait = await self._run(key, TAKE, counted(want), limit)
        # By our clock, after the answer: whoever waits until then comes late rather than early.
        return Taken(count, self._clock.now() + wait * FINEST, parts / limit.token)

    async def give_back(self, key: str, limit: Limit, count: int) -> None:
        await self._run(key, GIVE_BACK, counted(count), limit)

    async def drain(self, key: str, limit: Limit) -> None:
        await self._run(key, DRAIN, 0, limit)

    async def close(self) -> None:
        await self._redis.aclose()
        await self._redis.connection_pool.disconnect()

    async def _run(self, key: str, what: str, number: int, limit: Limit) -> list[int]:
        try:
            answer: list[int] = await self._script([self._prefix + key], arguments(what, number, limit))
        except (AuthenticationError, AuthorizationError) as error:
            raise Unavailable(
                f"{SETTING}: the limiter at {self._place} refuses us", hint="check user and password in the address"
            ) from error
        except (RedisError, OSError) as error:
            raise Unavailable(
                f"the limiter at {self._place} is away: {scrub(str(error))[:200]}",
                hint=f"start it or mend {SETTING}; until then nothing is called",
            ) from error
        return answer


def _place(url: str) -> str:
    """The address without user and password."""
    parts = urlsplit(url)
    if not parts.hostname:
        raise Invalid(f"{SETTING} names no host", hint="redis://host:6379/0", field="limiter_url")
    where = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{where}"


def _pool(url: str, seconds: float) -> BlockingConnectionPool:
    try:
        return BlockingConnectionPool.from_url(
            url,
            max_connections=CONNECTIONS,
            timeout=seconds,
            socket_timeout=seconds,
            socket_connect_timeout=seconds,
            # Once, at once: a connection that the server has dropped is found out only by using it.
            retry=Retry(NoBackoff(), 1),
        )
    except ValueError as error:
        raise Invalid(f"{SETTING}: {scrub(str(error))}", hint="redis://host:6379/0", field="limiter_url") from error
