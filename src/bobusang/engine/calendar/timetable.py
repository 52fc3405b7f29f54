"""FIXED schedules: which instants a cron expression names in an IANA zone, daylight saving decided.

cronsim reads the expression and walks wall-clock time; the way from wall clock to instants is decided here:

- A schedule that names hours (`30 2 * * *`, `0 */6 * * *`) follows the wall clock. What falls into a gap fires once,
  at the first instant after it; what an overlap shows twice fires once, the first time.
- A schedule of every hour (`*/30 * * * *`) is an interval. It fires whenever the clock shows a match: never in a gap,
  in both halves of an overlap, so its rhythm stays even.

cronsim's own zone handling is not used: it answers an instant before the one asked for in the second half of an
overlap, loses `*/30 2 * * *` in a gap, and loses hours where the shift is half an hour (Lord Howe).
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo, available_timezones

from bobusang.engine.calendar.cron import never_fires, parse
from bobusang.kit.errors import Invalid
from bobusang.kit.nearest import nearest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cronsim import CronSim

_SECOND = timedelta(seconds=1)
_DAY = timedelta(days=1)
_NEAR = timedelta(days=2)
_SOME_DAY = datetime(2000, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Timetable:
    """A cron expression of five fields and the zone whose wall clock it means."""

    cron: str
    zone: str = "UTC"
    _walk: CronSim = field(init=False, repr=False, compare=False)
    _zone: ZoneInfo = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_walk", parse(self.cron))
        object.__setattr__(self, "_zone", _zone(self.zone))

    def after(self, instant: datetime) -> datetime | None:
        """The first fire strictly later than this instant, in UTC; nothing when there is none in fifty years."""
        if instant.tzinfo is None:
            raise Invalid(f"{instant} has no zone", hint="pass an aware datetime", field="instant")
        try:
            # Fires and shifts are on whole seconds, so what is later than the second is later than its fraction.
            instant = instant.astimezone(UTC).replace(microsecond=0)
            return self._next_of_interval(instant) if self.is_interval else self._next_of_wall(instant)
        except OverflowError:  # the end of the calendar
            return None

    def fires(self, instant: datetime) -> Iterator[datetime]:
        """All fires later than this instant, in order."""
        fire = self.after(instant)
        while fire is not None:
            yield fire
            fire = self.after(fire)

    def next_fires(self, count: int, after: datetime) -> tuple[datetime, ...]:
        """The next few fires, for a screen."""
        return tuple(fire for _, fire in zip(range(count), self.fires(after), strict=False))

    def period(self, instant: datetime) -> timedelta | None:
        """How long it is from the next fire to the one after it."""
        match self.next_fires(2, instant):
            case (first, second):
                return second - first
        return None

    @property
    def is_interval(self) -> bool:
        """Whether it runs in every hour, so that it is a rhythm rather than a time of day."""
        return len(self._walk.hours) == 24

    def _next_of_wall(self, instant: datetime) -> datetime | None:
        for shown in self._shown_after(self._wall(instant)):
            fire = self._first_instant(shown)
            if fire > instant:
                return fire
        return None

    def _next_of_interval(self, instant: datetime) -> datetime | None:
        """Walk through stretches of one offset, each as if it lasted for ever."""
        while (shown := next(self._shown_after(self._wall(instant)), None)) is not None:
            fire = (shown - self._offset(instant)).replace(tzinfo=UTC)
            shift = self._shift(instant, min(fire, instant + _NEAR))
            if shift is not None:
                if self._matches(self._wall(shift)):
                    return shift
                instant = shift
            elif fire <= instant + _NEAR:
                return fire
            else:
                # No clock moves by more than a day, so nothing can match until shortly before.
                instant = fire - _NEAR
        return None

    def _shown_after(self, wall: datetime) -> Iterator[datetime]:
        walk = copy(self._walk)
        walk.dt = wall
        yield from walk

    def _matches(self, wall: datetime) -> bool:
        return next(self._shown_after(wall - _SECOND), None) == wall

    def _wall(self, instant: datetime) -> datetime:
        return instant.astimezone(self._zone).replace(tzinfo=None)

    def _offset(self, instant: datetime) -> timedelta:
        return instant.astimezone(self._zone).utcoffset() or timedelta()

    def _first_instant(self, shown: datetime) -> datetime:
        """The first instant at which the clock shows this time; in a gap, the instant of the shift."""
        early = shown.replace(tzinfo=self._zone).astimezone(UTC)
        if self._wall(early) == shown:
            return early
        late = shown.replace(tzinfo=self._zone, fold=1).astimezone(UTC)
        return self._shift(late, early) or early

    def _shift(self, start: datetime, end: datetime) -> datetime | None:
        """The first instant after start, up to end, at which the offset is another; by days, as shifts are rare."""
        offset = self._offset(start)
        while start < end:
            step = min(start + _DAY, end)
            if self._offset(step) != offset:
                return self._narrow(start, step, offset)
            start = step
        return None

    def _narrow(self, before: datetime, behind: datetime, offset: timedelta) -> datetime:
        while behind - before > _SECOND:
            middle = before + (behind - before) // (2 * _SECOND) * _SECOND
            if self._offset(middle) == offset:
                before = middle
            else:
                behind = middle
        return behind


def validate(cron: str, zone: str = "UTC") -> Timetable:
    """A timetable that is understood and fires at all; otherwise the error says which part is wrong."""
    timetable = Timetable(cron, zone)
    if timetable.after(_SOME_DAY) is None:
        raise never_fires(cron)
    return timetable


@lru_cache(maxsize=1024)
def _zone(name: str) -> ZoneInfo:
    # ZoneInfo opens a file of that name, so a name may fail in the many ways in which a path can.
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise Invalid(f"unknown zone {name[:100]!r}", hint=_zone_hint(name), field="zone") from None


def _zone_hint(name: str) -> str:
    zones = available_timezones()
    by_city = {zone.rpartition("/")[2]: zone for zone in sorted(zones)} | _BY_NICKNAME
    written = name.replace(" ", "_")
    city = nearest(written, by_city)
    near = by_city.get(written.upper()) or nearest(written, zones) or (by_city[city] if city else None)
    return f"did you mean {near}?" if near else "use an IANA name such as Asia/Seoul"


# What people write for the two zones this house works in; MST would be nearer by letters.
_BY_NICKNAME = {"KST": "Asia/Seoul", "JST": "Asia/Tokyo"}
