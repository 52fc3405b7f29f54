"""A Redis as our platform uses it: few connections, short waits, and errors that name the setting, never a password."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import AuthenticationError, AuthorizationError, RedisError

from bobusang.kit.errors import Invalid, Unavailable
from bobusang.kit.redact import scrub

if TYPE_CHECKING:
    from collections.abc import Iterator

CONNECTIONS = 8
SECONDS = 2.0
"""For connecting, for an answer, and for a free connection: whoever asks has something better to do."""


@dataclass(frozen=True, slots=True)
class Use:
    """What a Redis is used for: its name, the setting that tells where it is, and what happens while it is away."""

    name: str
    setting: str
    meanwhile: str

    @property
    def field(self) -> str:
        """The setting as a field."""
        return self.setting.removeprefix("BOBUSANG_").lower()


class Server:
    """One Redis, reached lazily."""

    def __init__(self, url: str, use: Use, *, seconds: float = SECONDS, connections: int = CONNECTIONS) -> None:
        self._use = use
        self._place = _place(url, use)
        self.redis = Redis(connection_pool=_pool(url, use, seconds, connections))

    @contextmanager
    def reached(self) -> Iterator[None]:
        """Say who is away, or refuses us, in our own words."""
        use = self._use
        try:
            yield
        except (AuthenticationError, AuthorizationError) as error:
            raise Unavailable(
                f"{use.setting}: the {use.name} at {self._place} refuses us",
                hint="check user and password in the address",
            ) from error
        except (RedisError, OSError) as error:
            raise Unavailable(
                f"the {use.name} at {self._place} is away: {scrub(str(error))[:200]}",
                hint=f"start it or mend {use.setting}; until then {use.meanwhile}",
            ) from error

    async def close(self) -> None:
        """Give the connections back."""
        await self.redis.aclose()
        await self.redis.connection_pool.disconnect()


def _place(url: str, use: Use) -> str:
    """The address without user and password."""
    parts = urlsplit(url)
    if not parts.hostname:
        raise Invalid(f"{use.setting} names no host", hint="redis://host:6379/0", field=use.field)
    where = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{where}"


def _pool(url: str, use: Use, seconds: float, connections: int) -> BlockingConnectionPool:
    try:
        return BlockingConnectionPool.from_url(
            url,
            max_connections=connections,
            timeout=seconds,
            socket_timeout=seconds,
            socket_connect_timeout=seconds,
            # Once, at once: a connection that the server has dropped is found out only by using it.
            retry=Retry(NoBackoff(), 1),
        )
    except ValueError as error:
        raise Invalid(f"{use.setting}: {scrub(str(error))}", hint="redis://host:6379/0", field=use.field) from error
