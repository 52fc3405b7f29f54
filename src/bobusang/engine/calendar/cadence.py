"""DYNAMIC schedules: how soon to look again, from how much had changed; and jitter that is the same every time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import blake2b

from bobusang.kit.errors import Invalid

# Unchanged: half as long again; all changed: half as long (facts/collecting.md).
STRETCH = 1.5
SHRINK = 0.5

# The share of change at which the interval is right: one visit in five of a page finds something new.
STEADY = 0.2

# So many items as if seen before, changed at the steady share: one item that changed is not yet a trend.
PRIOR = 5

SPREAD = 0.1

_SECOND = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class Bounds:
    """The shortest and the longest interval that the operator allows."""

    min: timedelta
    max: timedelta

    def __post_init__(self) -> None:
        if not timedelta() < self.min <= self.max:
            raise Invalid(f"an interval from {self.min} to {self.max} is empty", hint="0 < min <= max", field="bounds")

    def clamp(self, interval: timedelta) -> timedelta:
        """The allowed interval nearest to this one."""
        return min(max(interval, self.min), self.max)


def next_interval(current: timedelta, seen: int, changed: int, bounds: Bounds) -> timedelta:
    """Shrink when much had changed, stretch when little had, in whole seconds.

    The share of change is smoothed towards the steady one as if PRIOR more items had been seen, so few items move
    the interval little, and a visit that saw nothing (an error, an empty list) does not move it at all.
    """
    if not 0 <= changed <= seen:
        raise Invalid(f"{changed} changed of {seen} seen", hint="0 <= changed <= seen", field="changed")
    share = (changed + PRIOR * STEADY) / (seen + PRIOR)
    wanted = bounds.clamp(current) * factor(share)
    return bounds.clamp(timedelta(seconds=round(wanted / _SECOND)))


def factor(share: float) -> float:
    """By what to multiply: STRETCH at no change, 1 at the steady share, SHRINK at full change, straight between."""
    if share <= STEADY:
        return STRETCH - (STRETCH - 1) * share / STEADY
    return 1 - (1 - SHRINK) * (share - STEADY) / (1 - STEADY)


def next_instant(last: datetime, interval: timedelta, jitter_key: str = "") -> datetime:
    """When to look again: never before the interval is over, with a key up to a tenth of it later."""
    due = last + interval
    return due + jitter(jitter_key, due, interval * SPREAD) if jitter_key else due


def jitter(key: str, instant: datetime, spread: timedelta) -> timedelta:
    """A delay in [0, spread) that is a hash: two leaders agree on it, and a thousand sellers do not come at once."""
    digest = blake2b(f"{key}\n{instant.astimezone(UTC).isoformat()}".encode(), digest_size=8).digest()
    return timedelta.resolution * (spread // timedelta.resolution * int.from_bytes(digest) >> 64)
