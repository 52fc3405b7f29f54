"""What the limiter grants: calls at the source's rate, and calls of each identity's quota. Never in a transaction."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from bobusang.kit import log as logs
from bobusang.kit.errors import Unavailable
from bobusang.platform.limiter import Limit
from bobusang.stages.collect.identity import limit_of, refilled_at

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from datetime import datetime

    from bobusang.kit.clock import Clock
    from bobusang.platform.limiter import Limiter, Taken
    from bobusang.stages.collect.identities import Lease
    from bobusang.stages.collect.policy import Limits, Policy

log = logs.get(__name__)

SPAN = timedelta(minutes=1)


def source_limit(limits: Limits) -> Limit:
    """The bucket behind the engine's pool: as fast, but roomier, for what was claimed evenly may come to us in heaps.

    The pool paces; this one makes sure that nobody who got past it runs free.
    """
    burst = math.ceil(limits.burst) + limits.concurrency
    return Limit(math.ceil(limits.rate * SPAN.total_seconds()) + burst, SPAN, burst)


class LimiterAway(Unavailable):
    """Nobody can say how many calls are left, so nobody may make one."""

    code = "limiter_away"


@dataclass(frozen=True, slots=True)
class Refusal:
    """A lease whose identity has used up its quota until then."""

    lease: Lease
    until: datetime


class Quotas:
    """Asks the limiter; LimiterAway when it does not answer."""

    def __init__(self, limiter: Limiter, clock: Clock) -> None:
        self._limiter = limiter
        self._clock = clock

    async def take_rate(self, source: str, limits: Limits, want: int) -> Taken:
        """Up to so many calls of a source."""
        return await self._take(_source_key(source), source_limit(limits), want)

    async def take_quota(self, lease: Lease, policy: Policy) -> Lease | Refusal:
        """The lease with as many calls as its quota grants. The page that issues a session is a call too."""
        if policy.identity.quota is None:
            return lease
        limit, key = limit_of(policy.identity.quota), _identity_key(lease)
        extra = 1 if lease.needs_session and limit.burst > 1 else 0
        taken = await self._take(key, limit, lease.calls + extra)
        if taken.count > extra:
            return replace(lease, calls=taken.count - extra, left=taken.left, granted_at=self._clock.now())
        if taken.count:
            await self._kindly(self._limiter.give_back, key, limit, taken.count)
        return Refusal(lease, taken.next_at)

    def limited_until(self, lease: Lease, policy: Policy, used: int) -> tuple[float | None, datetime | None]:
        """What the bucket of a lease holds once the unused calls are back in it, and until when it has no token."""
        if policy.identity.quota is None or lease.left is None or lease.granted_at is None:
            return None, None
        limit, now = limit_of(policy.identity.quota), self._clock.now()
        since = max(0.0, (now - lease.granted_at).total_seconds())
        left = min(float(limit.burst), lease.left + since * limit.rate + max(0, lease.calls - used))
        return left, refilled_at(left, limit, now)

    async def give_back_rate(self, source: str, limits: Limits, count: int) -> None:
        """Calls of a source that were not made."""
        if count > 0:
            await self._kindly(self._limiter.give_back, _source_key(source), source_limit(limits), count)

    async def give_back_quota(self, lease: Lease, policy: Policy, count: int) -> None:
        """Calls of an identity that were not made."""
        if count > 0 and policy.identity.quota is not None:
            limit = limit_of(policy.identity.quota)
            await self._kindly(self._limiter.give_back, _identity_key(lease), limit, count)

    async def drain(self, lease: Lease, policy: Policy) -> None:
        """They say that the quota is used up, whatever we counted."""
        if policy.identity.quota is not None:
            await self._kindly(self._limiter.drain, _identity_key(lease), limit_of(policy.identity.quota))

    async def _take(self, key: str, limit: Limit, want: int) -> Taken:
        try:
            return await self._limiter.take(key, limit, want)
        except Unavailable as error:
            raise LimiterAway(f"the limiter is away ({error.message})", hint=error.hint) from error

    async def _kindly(self, act: Callable[..., Awaitable[None]], *arguments: object) -> None:
        """A limiter that is away now counts some calls that were not made: that is on the safe side."""
        try:
            await act(*arguments)
        except Unavailable as error:
            log.warning("unused calls not given back", error=str(error))


def _source_key(source: str) -> str:
    return f"source:{source}"


def _identity_key(lease: Lease) -> str:
    return f"identity:{lease.source}:{lease.identity}"
