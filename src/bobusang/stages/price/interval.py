"""How long until a model is searched again: longer while we keep our place, sooner after we lost it."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime


class Place(StrEnum):
    """What a search showed of where we stand."""

    KEPT = "kept"
    LOST = "lost"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Pace:
    """Between which bounds, and by how many percent two models with the same interval drift apart."""

    first: timedelta = timedelta(minutes=60)
    least: timedelta = timedelta(minutes=2)
    most: timedelta = timedelta(minutes=360)
    jitter_percent: int = 15


DEFAULT_PACE = Pace()


def adapted(interval: timedelta, place: Place, pace: Pace = DEFAULT_PACE) -> timedelta:
    """The next interval, without jitter; a failed search changes nothing."""
    match place:
        case Place.KEPT:
            interval *= 2
        case Place.LOST:
            interval /= 2
    return min(max(interval, pace.least), pace.most)


def due_at(key: str, now: datetime, interval: timedelta, pace: Pace = DEFAULT_PACE) -> datetime:
    """When to search next; the jitter comes from what is searched and when, so that it can be told again."""
    toss = zlib.crc32(f"{key}@{now.isoformat()}".encode()) % (2 * pace.jitter_percent + 1) - pace.jitter_percent
    return now + interval * (100 + toss) / 100
