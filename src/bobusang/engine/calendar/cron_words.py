"""Cron expressions in plain Korean and English, for the common ones; the others speak for themselves."""

from __future__ import annotations

import re
from typing import Literal

from bobusang.engine.calendar.cron import parse
from bobusang.kit.errors import Invalid

Language = Literal["ko", "en"]

MOST_TIMES = 4

_MONTHS: tuple[str, ...] = ("January", "February", "March", "April", "May", "June")
_MONTHS += ("July", "August", "September", "October", "November", "December")
_DAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
_KO_DAYS = "일월화수목금토"
_SHORT_DAYS = {day[:3].upper(): number for number, day in enumerate(_DAYS)}
_SHORT_MONTHS = {month[:3].upper(): number for number, month in enumerate(_MONTHS, 1)}


def describe(cron: str, lang: Language = "en") -> str:
    """`매일 02:00`, `every 30 minutes on weekdays`; the expression itself where words would mislead."""
    try:
        parse(cron)
    except Invalid:
        return cron
    minute, hour, day, month, weekday = cron.upper().split()
    days = _days(day, month, weekday, lang)
    if days is None:
        return cron
    if rhythm := _rhythm(minute, hour, lang):
        return _joined(days, rhythm, lang)
    if times := _times(minute, hour):
        return f"{days} {times}" if lang == "ko" else f"{days} at {times}"
    return cron


def _joined(days: str, rhythm: str, lang: Language) -> str:
    if days in {"매일", "every day"}:
        return rhythm
    return f"{days} {rhythm}" if lang == "ko" else f"{rhythm} {days}"


def _rhythm(minute: str, hour: str, lang: Language) -> str | None:
    ko = lang == "ko"
    if minute == hour == "*":
        return "매분" if ko else "every minute"
    if hour == "*" and (every := _every(minute, 60)):
        return f"{every}분마다" if ko else f"every {every} minutes"
    if not minute.isdecimal():
        return None
    past = _past(int(minute), lang)
    if hour == "*":
        return f"매시 {past}" if ko else f"every hour {past}"
    if every := _every(hour, 24):
        return f"{every}시간마다 {past}" if ko else f"every {every} hours {past}"
    return None


def _past(minute: int, lang: Language) -> str:
    if lang == "ko":
        return f"{minute}분" if minute else "정각"
    return f"at minute {minute}" if minute else "on the hour"


def _every(part: str, whole: int) -> int | None:
    """The step of `*/step`, when it divides the hour or the day: `*/7` has a short one at the end."""
    found = re.fullmatch(r"\*/([0-9]{1,2})", part)
    step = int(found[1]) if found else 0
    return step if step > 1 and whole % step == 0 else None


def _times(minute: str, hour: str) -> str | None:
    hours = _numbers(hour, {})
    if hours is None or not minute.isdecimal() or len(hours) > MOST_TIMES:
        return None
    return ", ".join(f"{number:02}:{int(minute):02}" for number in hours)


def _days(day: str, month: str, weekday: str, lang: Language) -> str | None:
    ko = lang == "ko"
    if day == month == "*":
        return ("매일" if ko else "every day") if weekday == "*" else _weekdays(weekday, lang)
    if weekday != "*":
        return None
    if month == "*":
        if day == "L":
            return "매월 말일" if ko else "on the last day of every month"
        return _if_number(day, "매월 {}일" if ko else "on day {} of every month")
    number = _number(month, _SHORT_MONTHS)
    if number is None:
        return None
    return _if_number(day, f"매년 {number}월 {{}}일" if ko else f"every year on {{}} {_MONTHS[number - 1]}")


def _weekdays(weekday: str, lang: Language) -> str | None:
    ko = lang == "ko"
    numbers = _numbers(weekday, _SHORT_DAYS)
    if numbers is None:
        return None
    days = sorted({number % 7 for number in numbers})
    if days == [1, 2, 3, 4, 5]:
        return "평일" if ko else "on weekdays"
    if days == [0, 6]:
        return "주말" if ko else "on weekends"
    if ko:
        return f"매주 {'·'.join(_KO_DAYS[day] for day in days)}요일"
    return f"every {', '.join(_DAYS[day] for day in days)}"


def _if_number(part: str, words: str) -> str | None:
    return words.format(int(part)) if part.isdecimal() else None


def _numbers(part: str, names: dict[str, int]) -> list[int] | None:
    """What a list of numbers, names and short ranges says, in order; nothing if it says more."""
    numbers: set[int] = set()
    for term in part.split(","):
        first, dash, last = term.partition("-")
        ends = [_number(end, names) for end in ((first, last) if dash else (first, first))]
        if None in ends:
            return None
        start, stop = (end for end in ends if end is not None)
        numbers.update(range(start, stop + 1))
    return sorted(numbers) or None


def _number(text: str, names: dict[str, int]) -> int | None:
    return names[text] if text in names else int(text) if text.isdecimal() else None
