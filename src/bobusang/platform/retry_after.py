"""The `Retry-After` header, in either of its forms."""

from __future__ import annotations

from datetime import UTC, timedelta
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

LONGEST_WAIT = timedelta(days=1)


def waited(retry_after: str | None, now: datetime) -> timedelta | None:
    """`Retry-After` in seconds or as a date; a day at most, None when it says nothing."""
    if not retry_after:
        return None
    text = retry_after.strip()
    if text.isascii() and text.isdigit():
        return min(timedelta(seconds=int(text[:6])), LONGEST_WAIT) or None
    try:
        at = parsedate_to_datetime(text)
    except ValueError:
        return None
    if at.tzinfo is None:
        at = at.replace(tzinfo=UTC)
    return min(at - now, LONGEST_WAIT) if at > now else None
