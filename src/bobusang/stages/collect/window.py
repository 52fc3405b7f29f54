"""The hours in which a source may be visited: one window a local day, over midnight and over changes of the clock.

A window is the time between two instants, not a comparison of wall clocks: in the hour that comes twice it does not
open a second time, and a start that the clock jumps over is as many minutes after the jump as it was meant to be after
its beginning.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from bobusang.kit.errors import Invalid

if TYPE_CHECKING:
    from datetime import time

    from bobusang.stages.collect.policy import Window

DAY = timedelta(days=1)


def opens(window: Window, now: datetime) -> datetime | None:
    """When the window opens next; None while it is open."""
    if window.start == window.end:
        return None
    zone = _zone(window.zone)
    today = now.astimezone(zone).date()
    for days in range(-1, 4):  # from yesterday's, which may still be open, to the first after one lost to a jump
        start, end = _span(window, zone, today + days * DAY)
        if start <= now < end:
            return None
        if now < start < end:
            return start
    raise Invalid(f"the window {window.start:%H:%M}-{window.end:%H:%M} {window.zone} never opens", field="window")


def _span(window: Window, zone: ZoneInfo, day: date) -> tuple[datetime, datetime]:
    last = day if window.end > window.start else day + DAY
    return _instant(day, window.start, zone), _instant(last, window.end, zone)


def _instant(day: date, at: time, zone: ZoneInfo) -> datetime:
    return datetime.combine(day, at, tzinfo=zone).astimezone(UTC)


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ValueError, OSError, KeyError) as error:
        raise Invalid(
            f"'{name}' is no time zone", hint="use an IANA name such as Asia/Seoul", field="window"
        ) from error
