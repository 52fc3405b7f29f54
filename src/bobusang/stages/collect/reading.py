"""Reading an answer: what a source makes of it, or why nobody could; the same in whatever thread or process."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bobusang.kit.encoding import decoded
from bobusang.kit.errors import BobusangError, Drifted, Unavailable
from bobusang.stages.collect.source import TRIPS, Page

if TYPE_CHECKING:
    from datetime import datetime

    from bobusang.kit.http import Answer
    from bobusang.stages.collect.source import Ask, Reads, Source

BROKEN_SHARE = 0.001
BROKEN_LEAST = 5
"""More unreadable characters than this and the page is not trusted; a few stand in some review on many pages."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """An answer that is to be read, and how it came."""

    ask: Ask
    answer: Answer
    media: str = ""
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """What came of reading: values and asks, a page that has drifted, or trouble that may pass."""

    found: tuple[Reads, ...] = ()
    drifted: str = ""
    """Why the page is not what the source knows how to read."""
    trouble: str = ""
    """Why it is to be asked for again."""


def read(source: Source, fetched: Fetched) -> Reading:
    """What an answer says. A page with broken characters is not trusted: it may break other things too."""
    try:
        page = page_of(source, fetched.ask, fetched.answer, fetched.media, fetched.at)
        return Reading(tuple(source.read(page)))
    except Drifted as error:
        return Reading(drifted=str(error))
    except BobusangError as error:
        return Reading(trouble=str(error))
    except RecursionError:
        return Reading(drifted="the page is nested too deep to be read")
    except TRIPS as error:
        return Reading(drifted=f"{source.name} trips over the page: {error!r}"[:300])


def page_of(source: Source, ask: Ask, answer: Answer, media: str, at: datetime | None = None) -> Page:
    """An answer as a page: JSON stays bytes, anything else becomes text."""
    if media.endswith("json"):
        return Page(ask, answer.body, answer.status, answer.headers, answer.url, at)
    found = decoded(answer.body, answer.headers.get("content-type", ""), source.policy.encoding)
    if found.replaced > max(BROKEN_LEAST, BROKEN_SHARE * len(found.text)):
        raise Unavailable(f"{ask.endpoint}: {found.replaced} characters of the page cannot be read")
    return Page(ask, answer.body, answer.status, answer.headers, answer.url, at, found.text, found.is_utf8)
