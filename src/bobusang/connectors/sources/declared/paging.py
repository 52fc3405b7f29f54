"""How a list goes on: page numbers, a next link or a cursor; and where it ends."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from bobusang.connectors.sources.declared.known import NOTHING, UNCLEAR, Get
from bobusang.kit.errors import Drifted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bobusang.connectors.sources.declared.document import Document

MOST_PAGES = 10_000


class By(StrEnum):
    """What leads to the next page."""

    PAGE = "page"
    NEXT = "next"
    CURSOR = "cursor"


@dataclass(frozen=True, slots=True)
class Paging:
    """The paging of a list."""

    by: By = By.PAGE
    param: str = ""
    start: int = 1
    size_param: str = ""
    size: int = 0
    total: Get | None = None
    next: Get | None = None
    prefix: str = ""
    """What stands before a relative next link."""
    empty: Get | None = None
    """A sign that a list without records is really empty."""
    more: Get | None = None
    """Whether the page says that there is another one."""
    most: int = 200
    counts_skipped: bool = False
    """Whether the total counts records that are skipped."""
    no_new_ids: bool = True
    """A page that repeats the one before it is past the end."""
    known: bool = False
    """A page all of whose items we had before the window of time is the last that is asked for."""

    def parameters(self, page: int, cursor: str = "") -> dict[str, Any]:
        """What is added to the query for a page."""
        found: dict[str, Any] = {}
        if self.by is By.PAGE and self.param:
            found[self.param] = page
        if self.by is By.CURSOR and self.param and cursor:
            found[self.param] = cursor
        if self.size_param:
            found[self.size_param] = self.size
        return found

    def goes_on(self, record: Any, document: Document) -> bool | None:
        """Whether there is another page, where this one says so with certainty."""
        found = self.more(record, document) if self.more else NOTHING
        return found if type(found) is bool else None

    def announced(self, record: Any, document: Document) -> int | None:
        """The total that the page tells."""
        found = self.total(record, document) if self.total else NOTHING
        return found if type(found) is int and found >= 0 else None


@dataclass(frozen=True, slots=True)
class Further:
    """A page to ask for: its number, and where it is when that is not said by the number."""

    page: int
    link: str = ""
    cursor: str = ""
    last: int = 0
    """The last page that is known of; that one asks on."""
    before: str = ""
    """A digest of the keys on the page before it."""
    count: int = 0
    """How many records the first page showed: a page that the total makes known has as many."""


def digest(keys: Sequence[str]) -> str:
    """Tells whether two pages list the same."""
    return sha256("\n".join(keys).encode()).hexdigest()[:16]


def first_after(paging: Paging, page: int, total: int | None, count: int) -> int:
    """The last page that a total makes known; the page itself where nothing is."""
    if total is None or count == 0:
        return page
    pages = -(-total // count)
    return min(max(paging.start + pages - 1, page), paging.start + paging.most - 1)


def numbered(
    paging: Paging, given: Mapping[str, Any], page: int, total: int | None, count: int, shown: int, keys: Sequence[str]
) -> list[Further]:
    """The pages that a numbered page asks for, which shows so many records, `count` of them to be collected.

    The first one asks for all that its total makes known; the last of those asks for one more, and so does every
    further one until a page is empty or repeats the one before it.
    """
    last = page if paging.known else int(given.get("last") or 0) or first_after(paging, page, total, count)
    if page < last:
        return (
            [Further(each, last=last, count=shown) for each in range(page + 1, last + 1)]
            if page == paging.start
            else []
        )
    if page - paging.start + 1 >= paging.most:
        return []
    return [Further(page + 1, last=page + 1, before=digest(keys), count=int(given.get("count") or shown))]


def linked(paging: Paging, page: int, found: Any, before: str, base: str, url: str) -> list[Further]:
    """The page that a next link or a cursor leads to."""
    if found is NOTHING or found is UNCLEAR or not str(found).strip() or page - paging.start + 1 >= paging.most:
        return []
    text = str(found).strip()
    if paging.by is By.CURSOR:
        return [Further(page + 1, cursor=text, before=before)]
    return [
        Further(
            page + 1,
            link=_same_host(_onward(paging.prefix, text, base, url), base),
            before=before,
        )
    ]


def _onward(prefix: str, link: str, base: str, url: str) -> str:
    if prefix and not urlsplit(link).netloc:
        return f"{base}{prefix}/{link.removeprefix('/')}"
    return urljoin(url, link)


def _same_host(url: str, base: str) -> str:
    """A next link never leads away from its source."""
    if urlsplit(url)[:2] != urlsplit(base)[:2]:
        raise Drifted(f"the next page lies elsewhere: {url[:200]}", hint=f"the source is {base}")
    return url
