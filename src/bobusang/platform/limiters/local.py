"""Token buckets in this process: for one worker, and for tests of whoever uses a limiter."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from bobusang.platform.limiter import FINEST, Limit, Taken, counted
from bobusang.platform.limiters.bucket import Bucket, drained, filled, given_back, taken, wait, wait_full

if TYPE_CHECKING:
    from bobusang.kit.clock import Clock

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
TIDY_FROM = 1024
"""Buckets below which nobody looks for full ones."""


class LocalLimiter:
    """Buckets of one event loop. Nothing here awaits, so no two callers ever see the same tokens."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._buckets: dict[str, tuple[Bucket, Limit]] = {}
        self._tidy_at = TIDY_FROM

    async def take(self, key: str, limit: Limit, want: int = 1) -> Taken:
        now = self._now()
        bucket, count = taken(self._filled(key, limit, now), counted(want))
        if count:
            self._keep(key, limit, bucket, now)
        return Taken(count, EPOCH + (now + wait(bucket, limit, now)) * FINEST, bucket.parts / bucket.token)

    async def give_back(self, key: str, limit: Limit, count: int) -> None:
        now = self._now()
        self._keep(key, limit, given_back(self._filled(key, limit, now), limit, counted(count)), now)

    async def drain(self, key: str, limit: Limit) -> None:
        now = self._now()
        self._keep(key, limit, drained(self._filled(key, limit, now)), now)

    async def close(self) -> None:
        self._buckets.clear()

    def _now(self) -> int:
        return (self._clock.now() - EPOCH) // FINEST

    def _filled(self, key: str, limit: Limit, now: int) -> Bucket:
        bucket, _ = self._buckets.get(key, (None, None))
        return filled(bucket, limit, now)

    def _keep(self, key: str, limit: Limit, bucket: Bucket, now: int) -> None:
        self._buckets[key] = bucket, limit
        if len(self._buckets) >= self._tidy_at:
            self._buckets = {
                name: (kept, its) for name, (kept, its) in self._buckets.items() if _matters(kept, its, now)
            }
            self._tidy_at = max(TIDY_FROM, 2 * len(self._buckets))


def _matters(bucket: Bucket, limit: Limit, now: int) -> bool:
    return wait_full(filled(bucket, limit, now), limit, now) > 0
