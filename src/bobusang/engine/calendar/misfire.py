"""What to do about fires that were missed, and about a run that is still there when the next is due."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import islice, takewhile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bobusang.engine.calendar.timetable import Timetable

GRACE = timedelta(seconds=60)
WINDOW = timedelta(days=1)
CAP = 100

# Dropped fires are counted for people; a schedule of every minute that slept for years is not worth counting out.
MOST_COUNTED = 1000

_SECOND = timedelta(seconds=1)


class Misfire(StrEnum):
    """What becomes of fires whose time passed while nobody looked."""

    SKIP = "SKIP"  # drop what is later than the grace
    ONCE = "ONCE"  # the latest one stands for all
    ALL = "ALL"  # each one within the window, the latest ones if there are too many


@dataclass(frozen=True, slots=True)
class Due:
    """What to fire now, how many were dropped (counted up to MOST_COUNTED), and when to look again."""

    fires: tuple[datetime, ...]
    skipped: int
    next: datetime | None


def due(
    timetable: Timetable,
    previous: datetime,
    now: datetime,
    policy: Misfire,
    window: timedelta = WINDOW,
    cap: int = CAP,
    grace: timedelta = GRACE,
) -> Due:
    """Decide about every fire after the previous *scheduled* instant, up to now.

    Counting from the previous fire, not from the wall clock, is what keeps a clock that jumps back from firing
    anything twice. The work is bounded however long ago the previous fire was.
    """
    fires = _chosen(timetable, previous, now, policy, window, cap, grace)
    # What fires is always the latest part of what was due, so what is dropped lies before it.
    dropped = _between(timetable, previous, _before(fires[0]) if fires else now)
    skipped = sum(1 for _ in islice(dropped, MOST_COUNTED))
    return Due(fires, skipped, timetable.after(max(previous, now)))


def _chosen(
    timetable: Timetable,
    previous: datetime,
    now: datetime,
    policy: Misfire,
    window: timedelta,
    cap: int,
    grace: timedelta,
) -> tuple[datetime, ...]:
    match policy:
        case Misfire.SKIP:
            return _latest(timetable, _since(previous, now, grace), now, cap)
        case Misfire.ONCE:
            return _latest(timetable, previous, now, 1)
        case Misfire.ALL:
            return _latest(timetable, _since(previous, now, window), now, cap)


def _between(timetable: Timetable, start: datetime, end: datetime) -> Iterator[datetime]:
    """The fires later than start, up to end."""
    return takewhile(lambda fire: fire <= end, timetable.fires(start))


def _since(previous: datetime, now: datetime, span: timedelta) -> datetime:
    """The previous fire, or where the span before now begins; a fire at its very edge is within it."""
    return previous if now - previous <= span else _before(now - span)


def _before(instant: datetime) -> datetime:
    return instant - timedelta.resolution


def _latest(timetable: Timetable, start: datetime, end: datetime, count: int) -> tuple[datetime, ...]:
    """The latest few fires later than start, up to end, oldest first."""
    fires = tuple(islice(_between(timetable, start, end), count + 1))
    if len(fires) <= count:
        return fires
    found: list[datetime] = []
    while len(found) < count:
        found.insert(0, _last(timetable, start, end))
        end = _before(found[0])
    return tuple(found)


def _last(timetable: Timetable, start: datetime, end: datetime) -> datetime:
    """The last fire later than start, up to end, where there is one: by halves, since a timetable only goes forward."""
    fire = timetable.after(start)
    assert fire is not None
    beyond = end
    while beyond - fire >= _SECOND:
        middle = fire + (beyond - fire) / 2
        later = timetable.after(middle)
        if later is not None and later <= end:
            fire = later
        else:
            beyond = middle
    return fire


class Overlap(StrEnum):
    """What becomes of a fire while an earlier run of the schedule is not over."""

    SKIP = "SKIP"
    BUFFER_ONE = "BUFFER_ONE"
    ALLOW = "ALLOW"
    CANCEL_OTHER = "CANCEL_OTHER"


class Decision(StrEnum):
    """What to do with one fire."""

    START = "START"
    SKIP = "SKIP"
    BUFFER = "BUFFER"
    CANCEL_THEN_START = "CANCEL_THEN_START"


def overlap(policy: Overlap, running: int, buffered: int) -> Decision:
    """Decide by how many runs of the schedule are under way and how many wait for them."""
    if running + buffered == 0:
        return Decision.START
    match policy:
        case Overlap.ALLOW:
            return Decision.START
        case Overlap.SKIP:
            return Decision.SKIP
        case Overlap.BUFFER_ONE:
            return Decision.SKIP if buffered else Decision.BUFFER
        case Overlap.CANCEL_OTHER:
            return Decision.CANCEL_THEN_START


def overdue(next_run_at: datetime, period: timedelta, now: datetime) -> bool:
    """Whether an enabled schedule has not fired for two of its periods: its scheduler died without a word."""
    return now - next_run_at > 2 * period
