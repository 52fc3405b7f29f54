"""Who counts our calls: this process, or a Redis that all workers share, chosen by one address."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bobusang.kit.errors import Invalid
from bobusang.kit.nearest import did_you_mean
from bobusang.platform.limiter import SETTING
from bobusang.platform.limiters.local import LocalLimiter

if TYPE_CHECKING:
    from bobusang.kit.clock import Clock
    from bobusang.platform.limiter import Limiter

KNOWN = ("redis", "rediss")


def opened(url: str | None, clock: Clock) -> Limiter:
    """The limiter at an address: `redis://…`, `rediss://…` (TLS), or empty: one of this process alone.

    Nothing is reached yet. A wrong address raises Invalid, naming the setting.
    """
    if not url:
        return LocalLimiter(clock)
    scheme, separator, _ = url.partition("://")
    if not separator:
        raise Invalid(f"{SETTING} is no address", hint="redis://host:6379/0", field="limiter_url")
    if scheme not in KNOWN:
        raise Invalid(
            f"{SETTING}: no limiter is called {scheme}", hint=did_you_mean(scheme, KNOWN), field="limiter_url"
        )
    return _redis(url, clock)


def _redis(url: str, clock: Clock) -> Limiter:
    try:
        from bobusang.platform.limiters.redis import RedisLimiter
    except ModuleNotFoundError as error:
        raise Invalid(
            f"{SETTING} names a Redis, but {error.name} is not installed",
            hint="pip install 'bobusang[redis]'",
            field="limiter_url",
        ) from error
    return RedisLimiter(url, clock)
