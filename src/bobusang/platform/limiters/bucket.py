"""The arithmetic of a token bucket, exact: whole parts of a token and whole microseconds, no fractions.

`lua.py` says the same in Lua, and a test holds the two together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bobusang.platform.limiter import Limit


@dataclass(frozen=True, slots=True)
class Bucket:
    """What was in it at an instant (microseconds since 1970), in parts of a token."""

    parts: int
    at: int
    token: int
    """How many parts a token had: another limit, another number."""

    @property
    def whole(self) -> int:
        """Tokens that can be taken."""
        return self.parts // self.token


def filled(bucket: Bucket | None, limit: Limit, now: int) -> Bucket:
    """A bucket as it is by now; one that nobody knows is full.

    A clock that goes back adds nothing, and what it has told before stays told: the bucket waits until the clock is
    past that instant again, but no longer than a span, lest one wrong reading stop us for a year.
    """
    token, most = limit.token, limit.burst * limit.token
    if bucket is None:
        return Bucket(most, now, token)
    parts = bucket.parts if bucket.token == token else bucket.whole * token
    at = min(bucket.at, now + token)
    return Bucket(min(most, parts + max(now - at, 0) * limit.gain), max(at, now), token)


def taken(bucket: Bucket, want: int) -> tuple[Bucket, int]:
    """Take from a filled bucket: what remains, and how many were granted."""
    count = min(want, bucket.whole)
    return Bucket(bucket.parts - count * bucket.token, bucket.at, bucket.token), count


def given_back(bucket: Bucket, limit: Limit, count: int) -> Bucket:
    """Put tokens back into a filled bucket, up to its burst."""
    return Bucket(min(limit.burst * bucket.token, bucket.parts + count * bucket.token), bucket.at, bucket.token)


def drained(bucket: Bucket) -> Bucket:
    """Nothing is left."""
    return Bucket(0, bucket.at, bucket.token)


def wait(bucket: Bucket, limit: Limit, now: int) -> int:
    """Microseconds until a filled bucket has a token."""
    return _until(bucket, bucket.token, limit, now)


def wait_full(bucket: Bucket, limit: Limit, now: int) -> int:
    """Microseconds until a filled bucket is full, and so as good as forgotten."""
    return _until(bucket, limit.burst * bucket.token, limit, now)


def _until(bucket: Bucket, parts: int, limit: Limit, now: int) -> int:
    lacking = parts - bucket.parts
    return bucket.at - now - (-lacking // limit.gain) if lacking > 0 else 0
