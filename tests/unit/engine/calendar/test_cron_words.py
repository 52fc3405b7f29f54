import pytest
from hypothesis import given
from hypothesis import strategies as st

from bobusang.engine.calendar.cron_words import describe


@pytest.mark.parametrize(
    ("cron", "korean", "english"),
    [
        ("* * * * *", "매분", "every minute"),
        ("*/30 * * * *", "30분마다", "every 30 minutes"),
        ("0 * * * *", "매시 정각", "every hour on the hour"),
        ("15 * * * *", "매시 15분", "every hour at minute 15"),
        ("0 */6 * * *", "6시간마다 정각", "every 6 hours on the hour"),
        ("*/30 * * * 1-5", "평일 30분마다", "every 30 minutes on weekdays"),
        ("0 2 * * *", "매일 02:00", "every day at 02:00"),
        ("30 2,14 * * *", "매일 02:30, 14:30", "every day at 02:30, 14:30"),
        ("0 9 * * 1-5", "평일 09:00", "on weekdays at 09:00"),
        ("0 9 * * mon-fri", "평일 09:00", "on weekdays at 09:00"),
        ("0 9 * * 6-7", "주말 09:00", "on weekends at 09:00"),
        ("0 9 * * SUN,SAT", "주말 09:00", "on weekends at 09:00"),
        ("0 9 * * 1,4", "매주 월·목요일 09:00", "every Monday, Thursday at 09:00"),
        ("0 0 1 * *", "매월 1일 00:00", "on day 1 of every month at 00:00"),
        ("0 0 L * *", "매월 말일 00:00", "on the last day of every month at 00:00"),
        ("0 0 25 12 *", "매년 12월 25일 00:00", "every year on 25 December at 00:00"),
        ("0 0 1 JAN *", "매년 1월 1일 00:00", "every year on 1 January at 00:00"),
    ],
)
def test_a_common_cron_has_words(cron: str, korean: str, english: str) -> None:
    assert (describe(cron, "ko"), describe(cron, "en")) == (korean, english)


@pytest.mark.parametrize(
    "cron",
    [
        "*/7 * * * *",
        "0 9-18 * * *",
        "0 0 1 * 1",
        "0 9 * * 1#2",
        "0 0 1,15 * *",
        "0 0 1 1-3 *",
        "0 0 * 1 *",
        "*/5 2 * * *",
        "99 0 * * *",
        "every day",
        "",
    ],
)
def test_any_other_cron_speaks_for_itself(cron: str) -> None:
    assert (describe(cron, "ko"), describe(cron, "en")) == (cron, cron)


@given(st.text(alphabet="0123456789*/-,#LWMON ²", max_size=30))
def test_describing_never_fails(cron: str) -> None:
    assert isinstance(describe(cron, "ko"), str)
