"""Times, sizes, rates, shares and hours as people write them in a shop."""

from __future__ import annotations

import re
from datetime import time, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from bobusang.connectors.sources.declared.known import Flaw
from bobusang.stages.collect.policy import Window

_SECONDS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400}
_BYTES = {"": 1, "B": 1, "kB": 1 << 10, "KB": 1 << 10, "MB": 1 << 20}

_DURATION = re.compile(r"(\d{1,6}(?:\.\d{1,3})?) ?(ms|s|m|h|d)")
_SIZE = re.compile(r"(\d{1,9}) ?(B|kB|KB|MB)?")
_RATE = re.compile(r"(\d{1,6}(?:\.\d{1,3})?) ?/ ?(\d{0,4}) ?(s|m|h|d)")
_SHARE = re.compile(r"(?:[<>]=? ?)?(\d{1,3}(?:\.\d{1,3})?) ?%(?: of [a-z]+)?")
_WINDOW = re.compile(r"([01]\d|2[0-4]):([0-5]\d) ?- ?([01]\d|2[0-4]):([0-5]\d)(?: +([A-Za-z_/+-]+))?")


def count(text: str) -> int:
    """A whole number, not below zero."""
    if not re.fullmatch(r"\d{1,15}", text):
        raise Flaw(f"'{text[:30]}' is no whole number")
    return int(text)


def duration(text: str) -> timedelta:
    """`30s`, `5m`, `24h`, `14d`."""
    found = _DURATION.fullmatch(text)
    if found is None:
        raise Flaw(f"'{text[:30]}' is no time", "as in 30s, 5m, 24h or 14d")
    return timedelta(seconds=float(found[1]) * _SECONDS[found[2]])


def size(text: str) -> int:
    """`8MB`, `512kB` or a number of bytes."""
    found = _SIZE.fullmatch(text)
    if found is None:
        raise Flaw(f"'{text[:30]}' is no size", "as in 8MB or 512kB")
    return int(found[1]) * _BYTES[found[2] or ""]


def rate(text: str) -> float:
    """`2/s`, `30/m`, `80/1h`: so many a second."""
    found = _RATE.fullmatch(text)
    if found is None or float(found[1]) == 0 or found[2] == "0":
        raise Flaw(f"'{text[:30]}' is no rate", "as in 2/s, 30/m or 80/h")
    return float(found[1]) / (int(found[2] or 1) * _SECONDS[found[3]])


def share(text: str) -> float:
    """`10%`, `>= 98% of total`, `< 1%`: as a number from 0 to 1."""
    found = _SHARE.fullmatch(text)
    if found is None or float(found[1]) > 100:
        raise Flaw(f"'{text[:30]}' is no share", "as in 10% or >= 98% of total")
    return float(found[1]) / 100


def window(text: str) -> Window:
    """`00:00-24:00 Asia/Seoul`; the end may lie after midnight."""
    found = _WINDOW.fullmatch(text)
    if found is None or (found[3] == "24" and found[4] != "00"):
        raise Flaw(f"'{text[:50]}' are no hours", "as in 09:00-18:00 Asia/Seoul")
    zone = found[5] or "Asia/Seoul"
    try:
        ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError):
        raise Flaw(f"unknown time zone '{zone}'", "as in Asia/Seoul") from None
    start, end = (time(int(hour) % 24, int(minute)) for hour, minute in (found.group(1, 2), found.group(3, 4)))
    return Window(start, end, zone)
