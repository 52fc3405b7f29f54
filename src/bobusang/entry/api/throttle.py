"""How often one key may call: a bucket a key, counted here or in the Redis that all processes share."""

from __future__ import annotations

from datetime import timedelta

from bobusang.kit import log
from bobusang.kit.clock import Clock
from bobusang.kit.errors import Throttled, Unavailable
from bobusang.platform.limiter import Limit, Limiter
from bobusang.platform.limiters.local import LocalLimiter

SPAN = timedelta(minutes=1)
AT_ONCE = 10
"""The part of a minute's calls that may come at once."""

_log = log.get("api")


class Throttle:
    """Takes one of a key's calls, or says when there is one again."""

    def __init__(self, limiter: Limiter, clock: Clock, rate: int) -> None:
        self._limiter = limiter
        self._here = LocalLimiter(clock)
        self._limit = Limit(rate, SPAN, max(1, rate // AT_ONCE)) if rate else None

    async def take(self, key_id: int, name: str) -> None:
        """Count a call of this key; `Throttled` when it has none left."""
        if self._limit is None:
            return
        bucket = f"api:{key_id}"
        try:
            taken = await self._limiter.take(bucket, self._limit)
        except Unavailable as error:  # our own door does not close because a counter is away
            _log.warning("calls are counted by this process alone", error=str(error))
            taken = await self._here.take(bucket, self._limit)
        if not taken.count:
            raise Throttled(
                f"the key '{name}' has made its {self._limit.calls} calls a minute",
                until=taken.next_at,
                hint="wait as long as Retry-After says; BOBUSANG_API_RATE sets the rate",
            )
