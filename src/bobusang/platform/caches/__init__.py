"""Where answers are kept for a while: in this process, or in a Redis that all share, chosen by one address."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bobusang.kit.errors import Invalid
from bobusang.kit.nearest import did_you_mean
from bobusang.platform.cache import SETTING
from bobusang.platform.caches.memory import MemoryCache

if TYPE_CHECKING:
    from bobusang.kit.clock import Clock
    from bobusang.platform.cache import Cache

KNOWN = ("redis", "rediss")


def opened(url: str, clock: Clock) -> Cache:
    """The cache at an address: `redis://…`, `rediss://…` (TLS), or empty: one of this process alone.

    Nothing is reached yet. A wrong address raises Invalid, naming the setting.
    """
    if not url:
        return MemoryCache(clock)
    scheme, separator, _ = url.partition("://")
    if not separator:
        raise Invalid(f"{SETTING} is no address", hint="redis://host:6379/0", field="cache_url")
    if scheme not in KNOWN:
        raise Invalid(f"{SETTING}: no cache is called {scheme}", hint=did_you_mean(scheme, KNOWN), field="cache_url")
    try:
        from bobusang.platform.caches.redis import RedisCache
    except ModuleNotFoundError as error:
        raise Invalid(
            f"{SETTING} names a Redis, but {error.name} is not installed",
            hint="pip install 'bobusang[redis]'",
            field="cache_url",
        ) from error
    return RedisCache(url)
