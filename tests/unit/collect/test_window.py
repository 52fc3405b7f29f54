"""When a source may be visited, over midnight and over changes of the clock."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bobusang.kit.errors import Invalid
from bobusang.stages.collect.policy import Window
from bobusang.stages.collect.window import opens

BERLIN = "Europe/Berlin"  # 2026: forward on 29 March at 02:00, back on 25 October at 03:00


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


DAY = Window(time(9), time(18))
NIGHT = Window(time(23), time(6))


@pytest.mark.parametrize(
    ("window", "now", "expected"),
    [
        (Window(), "2026-01-27T12:00", None),
        (DAY, "2026-01-26T23:59:59", "2026-01-27T00:00"),  # 08:59:59 in Seoul
        (DAY, "2026-01-27T00:00", None),
        (DAY, "2026-01-27T08:59:59", None),
        (DAY, "2026-01-27T09:00", "2026-01-28T00:00"),  # 18:00: over for today
        (NIGHT, "2026-01-27T13:59", "2026-01-27T14:00"),  # 22:59
        (NIGHT, "2026-01-27T14:00", None),
        (NIGHT, "2026-01-27T15:30", None),  # half past midnight: yesterday's window
        (NIGHT, "2026-01-27T20:59", None),
        (NIGHT, "2026-01-27T21:00", "2026-01-28T14:00"),
        # A start that the clock jumps over comes as long after the jump.
        (Window(time(2, 30), time(8), BERLIN), "2026-03-29T01:29", "2026-03-29T01:30"),
        (Window(time(2, 30), time(8), BERLIN), "2026-03-29T01:30", None),
        # A window that ends before its moved start is lost that day.
        (Window(time(2, 30), time(3, 15), BERLIN), "2026-03-29T00:00", "2026-03-30T00:30"),
        # In the hour that comes twice it opens once.
        (Window(time(2, 10), time(2, 40), BERLIN), "2026-10-25T00:15", None),
        (Window(time(2, 10), time(2, 40), BERLIN), "2026-10-25T01:15", "2026-10-26T01:10"),
    ],
)
def test_a_window_opens_at(window: Window, now: str, expected: str | None) -> None:
    assert opens(window, utc(now)) == (None if expected is None else utc(expected))


ZONES = st.sampled_from(["Asia/Seoul", BERLIN, "America/New_York", "Australia/Lord_Howe", "UTC"])
TIMES = st.times().map(lambda at: at.replace(second=0, microsecond=0))
INSTANTS = st.timedeltas(timedelta(0), timedelta(days=4 * 365)).map(lambda span: utc("2024-01-01T00:00") + span)


@given(st.builds(Window, TIMES, TIMES, ZONES), INSTANTS)
def test_it_is_open_when_it_opens_and_shut_just_before(window: Window, now: datetime) -> None:
    at = opens(window, now)
    if at is None:
        return

    assert now < at <= now + timedelta(days=2, hours=2)
    assert opens(window, at) is None
    assert opens(window, at - timedelta(microseconds=1)) == at


@given(st.builds(Window, TIMES, TIMES, st.sampled_from(["Asia/Seoul", "UTC"])), INSTANTS)
def test_where_clocks_never_change_it_is_what_the_clock_on_the_wall_says(window: Window, now: datetime) -> None:
    wall = now.astimezone(ZoneInfo(window.zone)).time()
    start, end = window.start, window.end
    inside = start == end or (start <= wall < end if start < end else wall >= start or wall < end)

    assert (opens(window, now) is None) == inside


def test_a_zone_that_does_not_exist_is_refused_by_name() -> None:
    with pytest.raises(Invalid, match="'Asia/Seol' is no time zone"):
        opens(Window(time(1), time(2), "Asia/Seol"), utc("2026-01-27T12:00"))
