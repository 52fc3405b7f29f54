"""Cookies of single calls: what `Set-Cookie` sets and for how long, and the header that sends them back."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from bobusang.kit.errors import Invalid

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from multidict import CIMultiDictProxy

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z:\[\]-]+")
_UNFIT = re.compile(r"[\x00-\x1f\x7f;\ud800-\udfff]")
_SECONDS = re.compile(r"-?[0-9]{1,10}")


@dataclass(frozen=True, slots=True)
class Jar:
    """What one origin has set in the course of a call."""

    cookies: Mapping[str, str] = field(default_factory=dict)
    ages: Mapping[str, float] = field(default_factory=dict)

    def filled(self, headers: CIMultiDictProxy[str]) -> Jar:
        """With what an answer sets."""
        # A date counts from their clock, if they tell it: ours may be wrong.
        now = _date(headers.get("Date", "")) or datetime.now(UTC)
        cookies, ages = set_cookies(headers.getall("Set-Cookie", ()), now)
        kept = {name: value for name, value in self.cookies.items() if name not in ages}
        return Jar({**kept, **cookies}, {**self.ages, **ages})


EMPTY = Jar()


def set_cookies(lines: Iterable[str], now: datetime) -> tuple[dict[str, str], dict[str, float]]:
    """Cookies by name, as written, and the seconds they live where that is said.

    A cookie that is withdrawn (`Max-Age=0`, or a date that is past) is not among the cookies; its age is 0.
    """
    cookies: dict[str, str] = {}
    ages: dict[str, float] = {}
    for line in lines:
        pair, *attributes = line.split(";")
        name, equals, value = (part.strip() for part in pair.partition("="))
        if not equals or not _NAME.fullmatch(name) or _UNFIT.search(value):
            continue
        cookies[name] = value
        ages.pop(name, None)
        age = _age(attributes, now)
        if age is not None:
            ages[name] = max(age, 0.0)
    return {name: value for name, value in cookies.items() if ages.get(name) != 0.0}, ages


def read_cookies(header: str) -> dict[str, str]:
    """A `Cookie` header, taken apart."""
    pairs = (part.strip().partition("=") for part in header.split(";"))
    return {name: value for name, equals, value in pairs if equals}


def cookie_header(cookies: Mapping[str, str]) -> str:
    """What is sent; Invalid when a name or value would become something else on the way."""
    for name, value in cookies.items():
        if not _NAME.fullmatch(name) or _UNFIT.search(value):
            raise Invalid(f"the cookie {name[:40]!r} cannot be sent as it is", field="cookies")
    return "; ".join(f"{name}={value}" for name, value in cookies.items())


def _age(attributes: Iterable[str], now: datetime) -> float | None:
    """`Max-Age` counts for more than `Expires`, whichever comes first."""
    given = {name.strip().lower(): value.strip() for name, _, value in (one.partition("=") for one in attributes)}
    if _SECONDS.fullmatch(given.get("max-age", "")):
        return float(given["max-age"])
    expires = _date(given.get("expires", ""))
    return (expires - now).total_seconds() if expires else None


def _date(text: str) -> datetime | None:
    try:
        date = parsedate_to_datetime(text)
    except ValueError:
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)
