from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bobusang.engine.calendar.timetable import Timetable, validate
from bobusang.kit.errors import Invalid

MINUTE = timedelta(minutes=1)

# A zone, and an instant a day before its clock moves: by an hour, half an hour, at midnight, by a day.
SHIFTS = [
    ("America/New_York", "2026-03-07T07:00Z"),
    ("America/New_York", "2026-10-31T06:00Z"),
    ("Europe/Berlin", "2026-03-28T01:00Z"),
    ("Europe/Berlin", "2026-10-24T01:00Z"),
    ("Australia/Lord_Howe", "2026-04-03T15:00Z"),
    ("Australia/Lord_Howe", "2026-10-02T15:30Z"),
    ("Africa/Cairo", "2026-04-22T22:00Z"),
    ("Africa/Cairo", "2026-10-28T21:00Z"),
    ("Pacific/Apia", "2011-12-29T10:00Z"),
    ("Asia/Seoul", "2026-01-01T00:00Z"),
]


def instants(*texts: str) -> tuple[datetime, ...]:
    return tuple(datetime.fromisoformat(text) for text in texts)


@pytest.mark.parametrize(
    ("cron", "zone", "after", "fires"),
    [
        pytest.param(
            "30 2 * * *",
            "America/New_York",
            "2026-03-07T08:00Z",
            ["2026-03-08T07:00Z", "2026-03-09T06:30Z"],
            id="in a gap it fires once, at the first instant after it",
        ),
        pytest.param(
            "0,30 2,3 * * *",
            "America/New_York",
            "2026-03-07T12:00Z",
            ["2026-03-08T07:00Z", "2026-03-08T07:30Z", "2026-03-09T06:00Z"],
            id="two in a gap and one right after it are one fire",
        ),
        pytest.param(
            "*/30 2 * * *",
            "America/New_York",
            "2026-03-07T12:00Z",
            ["2026-03-08T07:00Z", "2026-03-09T06:00Z"],
            id="a step of minutes in a named hour is not lost in the gap",
        ),
        pytest.param(
            "0 */2 * * *",
            "America/New_York",
            "2026-03-08T05:00Z",
            ["2026-03-08T07:00Z", "2026-03-08T08:00Z", "2026-03-08T10:00Z"],
            id="a step of hours is not lost in the gap either",
        ),
        pytest.param(
            "30 1 * * *",
            "America/New_York",
            "2026-10-31T12:00Z",
            ["2026-11-01T05:30Z", "2026-11-02T06:30Z"],
            id="in an overlap it fires once, the first time",
        ),
        pytest.param(
            "30 1 * * *",
            "America/New_York",
            "2026-11-01T06:10Z",
            ["2026-11-02T06:30Z"],
            id="asked in the second half of an overlap, the answer is not in the first",
        ),
        pytest.param(
            "*/30 * * * *",
            "America/New_York",
            "2026-11-01T05:00Z",
            ["2026-11-01T05:30Z", "2026-11-01T06:00Z", "2026-11-01T06:30Z", "2026-11-01T07:00Z"],
            id="an interval keeps its rhythm through an overlap",
        ),
        pytest.param(
            "*/30 * * * *",
            "America/New_York",
            "2026-03-08T06:00Z",
            ["2026-03-08T06:30Z", "2026-03-08T07:00Z", "2026-03-08T07:30Z"],
            id="an interval keeps its rhythm through a gap",
        ),
        pytest.param(
            "0 */2 * * *",
            "Australia/Lord_Howe",
            "2026-04-04T12:00Z",
            ["2026-04-04T13:00Z", "2026-04-04T15:30Z", "2026-04-04T17:30Z"],
            id="a clock that moves by half an hour loses nothing",
        ),
        pytest.param(
            "0 9 * * 1-5",
            "Asia/Seoul",
            "2026-01-02T00:00Z",
            ["2026-01-05T00:00Z", "2026-01-06T00:00Z"],
            id="weekdays in Seoul",
        ),
        pytest.param(
            "*/30 * * * *",
            "America/New_York",
            "2026-03-08T06:59:59.900001Z",
            ["2026-03-08T07:00Z"],
            id="asked a fraction of a second before the clock moves",
        ),
        pytest.param("0 0 29 2 *", "UTC", "2096-03-01T00:00Z", ["2104-02-29T00:00Z"], id="leap days over 2100"),
    ],
)
def test_next_fires(cron: str, zone: str, after: str, fires: list[str]) -> None:
    assert Timetable(cron, zone).next_fires(len(fires), datetime.fromisoformat(after)) == instants(*fires)


def test_fires_are_in_utc_whatever_the_zone_of_the_question() -> None:
    seoul = datetime(2026, 1, 1, 8, 59, 59, 999_999, tzinfo=ZoneInfo("Asia/Seoul"))

    fire = Timetable("0 9 * * *", "Asia/Seoul").after(seoul)

    assert (fire, fire and fire.tzinfo) == (datetime(2026, 1, 1, tzinfo=UTC), UTC)


def test_a_fire_is_strictly_later_than_the_question() -> None:
    daily = Timetable("0 0 * * *")

    assert daily.next_fires(2, datetime(2026, 1, 1, tzinfo=UTC)) == instants("2026-01-02T00:00Z", "2026-01-03T00:00Z")


@pytest.mark.parametrize(
    ("cron", "period"), [("*/30 * * * *", timedelta(minutes=30)), ("0 2 * * *", timedelta(days=1))]
)
def test_period_is_the_distance_of_two_fires(cron: str, period: timedelta) -> None:
    assert Timetable(cron).period(datetime(2026, 1, 1, tzinfo=UTC)) == period


def test_an_instant_without_a_zone_is_refused() -> None:
    with pytest.raises(Invalid) as caught:
        Timetable("0 0 * * *").after(datetime(2026, 1, 1))  # noqa: DTZ001

    assert str(caught.value) == "2026-01-01 00:00:00 has no zone (pass an aware datetime)"


@pytest.mark.parametrize("cron", ["* * * * *", "0 0 * * *", "0 0 29 2 *", "0 * 29 2 *"])
def test_the_calendar_may_end(cron: str) -> None:
    assert Timetable(cron, "Asia/Seoul").after(datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)) is None


@pytest.mark.parametrize("cron", ["* * * * *", "0 0 * * *"])
def test_the_calendar_has_a_beginning(cron: str) -> None:
    assert Timetable(cron, "UTC").after(datetime(1, 1, 1, tzinfo=UTC)) is not None


@pytest.mark.parametrize(
    ("cron", "zone", "field", "message"),
    [
        ("61 * * * *", "UTC", "cron", "cron '61 * * * *': the minute '61' is not understood"),
        ("* 24 * * *", "UTC", "cron", "cron '* 24 * * *': the hour '24' is not understood"),
        ("0 0 32 * *", "UTC", "cron", "cron '0 0 32 * *': the day-of-month '32' is not understood"),
        ("0 0 * 13 *", "UTC", "cron", "cron '0 0 * 13 *': the month '13' is not understood"),
        ("0 0 * * 8", "UTC", "cron", "cron '0 0 * * 8': the day-of-week '8' is not understood"),
        ("* * * *", "UTC", "cron", "cron '* * * *' has 4 fields in 7 characters"),
        ("0 0 0 * * *", "UTC", "cron", "cron '0 0 0 * * *' has 6 fields in 11 characters"),
        ("", "UTC", "cron", "cron '' has 0 fields in 0 characters"),
        ("0 0 30 2 *", "UTC", "cron", "cron '0 0 30 2 *' never fires"),
        ("0 0 31 2,4,6,9,11 *", "UTC", "cron", "cron '0 0 31 2,4,6,9,11 *' never fires"),
        ("0 0 * * *", "Asia/Soul", "zone", "unknown zone 'Asia/Soul'"),
        ("0 0 * * *", "../../etc/passwd", "zone", "unknown zone '../../etc/passwd'"),
        ("0 0 * * *", "/etc/passwd", "zone", "unknown zone '/etc/passwd'"),
        ("0 0 * * *", "Asia", "zone", "unknown zone 'Asia'"),
        ("0 0 * * *", "", "zone", "unknown zone ''"),
        ("0 0 * * *", "\0", "zone", "unknown zone '\\x00'"),
    ],
)
def test_what_is_wrong_is_named(cron: str, zone: str, field: str, message: str) -> None:
    with pytest.raises(Invalid) as caught:
        validate(cron, zone)

    assert (caught.value.field, caught.value.message) == (field, message)


@pytest.mark.parametrize(
    ("zone", "hint"),
    [
        ("Asia/Soul", "did you mean Asia/Seoul?"),
        ("asia/tokio", "did you mean Asia/Tokyo?"),
        ("Seoul", "did you mean Asia/Seoul?"),
        ("new york", "did you mean America/New_York?"),
        ("KST", "did you mean Asia/Seoul?"),
        ("보부상", "use an IANA name such as Asia/Seoul"),
    ],
)
def test_an_unknown_zone_comes_with_the_nearest_one(zone: str, hint: str) -> None:
    with pytest.raises(Invalid) as caught:
        validate("0 0 * * *", zone)

    assert caught.value.hint == hint


@pytest.mark.parametrize("cron", ["0 0 29 2 *", "0 0 * 2 MON#5", "0 0 31 2 1", "0 0 LW * *", "0 0 * * 5L"])
def test_a_rare_cron_is_valid(cron: str) -> None:
    assert validate(cron, "Asia/Seoul") == Timetable(cron, "Asia/Seoul")


@given(st.text(alphabet="0123456789*/-,#LWMONJAFEB ²\0", max_size=30) | st.text(max_size=30), st.text(max_size=10))
def test_any_text_is_a_timetable_or_invalid(cron: str, zone: str) -> None:
    for each in ("UTC", zone):
        try:
            validate(cron, each)
        except Invalid:
            pass


@st.composite
def crons(draw: st.DrawFn) -> tuple[str, set[int], set[int], set[int]]:
    """An expression beside what it means, so that the oracle need not read cron."""
    minutes = draw(st.sets(st.sampled_from([0, 1, 15, 29, 30, 31, 45, 59]), min_size=1, max_size=4))
    every_hour = draw(st.booleans())
    hours = set(range(24)) if every_hour else draw(st.sets(st.integers(0, 23), min_size=1, max_size=6))
    every_day = draw(st.booleans())
    days = set(range(7)) if every_day else draw(st.sets(st.integers(0, 6), min_size=1, max_size=6))
    cron = f"{_listed(minutes)} {'*' if every_hour else _listed(hours)} * * {'*' if every_day else _listed(days)}"
    return cron, minutes, hours, days


def _listed(numbers: set[int]) -> str:
    return ",".join(map(str, sorted(numbers)))


@settings(max_examples=60, deadline=None)
@given(crons(), st.sampled_from(SHIFTS), st.timedeltas(timedelta(), timedelta(hours=2)))
def test_fires_are_those_of_a_clock_watched_minute_by_minute(
    cron: tuple[str, set[int], set[int], set[int]], shift: tuple[str, str], moved: timedelta
) -> None:
    text, minutes, hours, days = cron
    zone, start = shift[0], datetime.fromisoformat(shift[1]) + moved
    begin = start.replace(second=0, microsecond=0)

    def matches(wall: datetime) -> bool:
        return wall.minute in minutes and wall.hour in hours and wall.isoweekday() % 7 in days

    watched = [begin + MINUTE * n for n in range(3 * 24 * 60)]
    shown = [instant.astimezone(ZoneInfo(zone)).replace(tzinfo=None) for instant in watched]
    expected = []
    latest = shown[0]  # the wall clock as far as it has gone; it only counts forward
    for instant, wall in zip(watched, shown, strict=True):
        if len(hours) == 24:
            fires = matches(wall)
        else:
            passed = [latest + MINUTE * n for n in range(1, (wall - latest) // MINUTE + 1)]
            fires = any(map(matches, passed))
            latest = max(latest, wall)
        if fires and instant > start:
            expected.append(instant)

    found = [fire for fire in Timetable(text, zone).next_fires(len(expected) + 1, start) if fire <= watched[-1]]

    assert found == expected


@settings(deadline=None)
@given(crons(), st.sampled_from(SHIFTS), st.datetimes(datetime(1900, 1, 1), datetime(2200, 1, 1)))  # noqa: DTZ001
def test_fires_strictly_increase_and_none_is_skipped_by_asking_later(
    cron: tuple[str, set[int], set[int], set[int]], shift: tuple[str, str], start: datetime
) -> None:
    timetable = Timetable(cron[0], shift[0])
    asked = start.replace(tzinfo=UTC)
    fires = (asked, *timetable.next_fires(10, asked))

    assert all(earlier < later for earlier, later in pairwise(fires))
    assert all(timetable.after(later - timedelta.resolution) == later for later in fires[1:])
    assert all(timetable.after(early + (late - early) / 2) == late for early, late in pairwise(fires))
