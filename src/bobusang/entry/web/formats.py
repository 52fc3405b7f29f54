"""How a visitor sees numbers, money and time: in his language, in his zone."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import msgspec
from markupsafe import Markup, escape

from bobusang.entry.web import cause_words
from bobusang.kit import json

if TYPE_CHECKING:
    import gettext

HOME_ZONE = "Asia/Seoul"
SIGNS = {"KRW": ("₩", 0), "JPY": ("¥", 0), "USD": ("$", 2), "EUR": ("€", 2)}
UNKNOWN = "–"
FILTERS = ("number", "money", "percent", "instant", "clock", "day", "moment", "ago", "seconds", "pretty", "cause")


@lru_cache(maxsize=64)
def zone(name: str) -> ZoneInfo:
    """A zone by its name."""
    return ZoneInfo(name)


@dataclass(frozen=True, slots=True)
class Formats:
    """The filters of templates (`FILTERS`), for one language and zone."""

    words: gettext.NullTranslations
    zone_name: str = HOME_ZONE

    def number(self, value: float | Decimal | None) -> str:
        """1,234 or 12.3."""
        if value is None:
            return UNKNOWN
        return f"{value:,}" if isinstance(value, int) else f"{value:,.1f}"

    def money(self, value: float | Decimal | None, currency: str) -> str:
        """₩1,234, ¥1,234, $12.34."""
        if value is None:
            return UNKNOWN
        sign, digits = SIGNS.get(currency, (f"{currency} ", 2))
        return f"{'-' if value < 0 else ''}{sign}{abs(value):,.{digits}f}"

    def percent(self, share: float | Decimal | None, digits: int = 1) -> str:
        """97.8 %, of 0.978."""
        return UNKNOWN if share is None else f"{share * 100:.{digits}f}%"

    def instant(self, value: datetime | None) -> str:
        """2026-11-16 03:00:12, in the visitor's zone."""
        return UNKNOWN if value is None else f"{self._here(value):%Y-%m-%d %H:%M:%S}"

    def clock(self, value: datetime | None) -> str:
        """03:00."""
        return UNKNOWN if value is None else f"{self._here(value):%H:%M}"

    def day(self, value: datetime | None) -> str:
        """11-16 03:00."""
        return UNKNOWN if value is None else f"{self._here(value):%m-%d %H:%M}"

    def moment(self, seconds: float) -> str:
        """The same of seconds since 1970, as charts have them."""
        return self.day(datetime.fromtimestamp(seconds, UTC))

    def ago(self, value: datetime | None) -> Markup:
        """3 minutes ago, with the instant for whoever points at it."""
        if value is None:
            return escape(UNKNOWN)
        past = datetime.now(UTC) - value
        text = self._past(past) if past >= timedelta() else self._future(-past)
        # By hand, of what is ours: a list shows a hundred of these, and `Markup.format` is slower than all the rest.
        shown = f'<time datetime="{value.isoformat()}" title="{self.instant(value)}">{escape(text)}</time>'
        return Markup(shown)  # noqa: S704

    def seconds(self, value: float | None) -> str:
        """1:02:03, 2:03, or 0.4 s."""
        if value is None:
            return UNKNOWN
        if value < 10:
            return self.words.gettext("%(count)s s") % {"count": f"{value:.1f}"}
        minutes, rest = divmod(int(value), 60)
        hours, minutes = divmod(minutes, 60)
        return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"

    def pretty(self, value: Any) -> str:
        """Data as a person reads it."""
        return msgspec.json.format(json.dumps(value).encode(), indent=2).decode()

    def cause(self, text: str | None) -> str:
        """Why something failed, as far as there are words for it; empty where nobody said."""
        return cause_words.said(text, self.words.gettext) if text else ""

    def _here(self, value: datetime) -> datetime:
        return value.astimezone(zone(self.zone_name))

    def _past(self, past: timedelta) -> str:
        seconds = int(past.total_seconds())
        ngettext = self.words.ngettext
        if seconds < 60:
            return ngettext("%(count)s second ago", "%(count)s seconds ago", seconds) % {"count": seconds}
        if (minutes := seconds // 60) < 60:
            return ngettext("%(count)s minute ago", "%(count)s minutes ago", minutes) % {"count": minutes}
        if (hours := minutes // 60) < 48:
            return ngettext("%(count)s hour ago", "%(count)s hours ago", hours) % {"count": hours}
        return ngettext("%(count)s day ago", "%(count)s days ago", hours // 24) % {"count": hours // 24}

    def _future(self, left: timedelta) -> str:
        seconds = int(left.total_seconds())
        ngettext = self.words.ngettext
        if seconds < 60:
            return ngettext("in %(count)s second", "in %(count)s seconds", seconds) % {"count": seconds}
        if (minutes := seconds // 60) < 60:
            return ngettext("in %(count)s minute", "in %(count)s minutes", minutes) % {"count": minutes}
        if (hours := minutes // 60) < 48:
            return ngettext("in %(count)s hour", "in %(count)s hours", hours) % {"count": hours}
        return ngettext("in %(count)s day", "in %(count)s days", hours // 24) % {"count": hours // 24}


def attribute(value: Any) -> Markup:
    """Data for a script, as the value of an attribute."""
    return escape(msgspec.json.encode(value, enc_hook=str).decode())  # what is translated is no plain `str`
