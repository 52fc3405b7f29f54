"""Coverage: what must have been seen of a list before what is not in it may count as missing (law 1).

A list that was cut off, repeated, or announced more than it showed looks the same as one from which hundreds of
products were taken. So absence means something only after a run that is proved to have seen the whole list.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from bobusang.stages.collect.guards import FEW, Guard, Held, share

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bobusang.stages.collect.policy import Guards

THIN = 0.75
"""A page between others with less than this share of the fullest one is taken for cut off: half a page has about half
of its items, and a whole one may lack some that moved while we were reading."""


@dataclass(frozen=True, slots=True)
class ListPage:
    """What one page of a list told."""

    keys: tuple[str, ...]
    page: int = 1
    total: int | None = None
    last: bool = False
    skipped: int = 0
    """What it shows and the source counts, but nobody collects."""

    @property
    def size(self) -> int:
        return len(self.keys) + self.skipped


@dataclass(frozen=True, slots=True)
class Listing:
    """All that a run has seen of its list."""

    pages: Sequence[ListPage] = ()
    failed: int = 0
    """List pages that were asked for and not read."""
    known: int = 0
    """How many items the list had before."""
    tripped: str = ""
    """The guard that has stopped the run."""


@dataclass(frozen=True, slots=True)
class Proved:
    """The whole list was seen."""

    listed: int
    announced: int | None


@dataclass(frozen=True, slots=True)
class Unproved:
    """It may be that not all was seen: nothing is missed, for this reason."""

    reason: str


def proof(guards: Guards, listing: Listing) -> Proved | Unproved:
    """Whether a run saw its whole list."""
    pages = sorted(listing.pages, key=lambda one: one.page)
    keys = {key for page in pages for key in page.keys}
    announced = max((page.total for page in pages if page.total is not None), default=None)
    flaw = (
        _unread(listing)
        or _hole(pages)
        or _repeated(pages)
        or _thin(pages)
        or _emptied(listing, len(keys))
        or _short(guards, pages, len(keys) + sum(page.skipped for page in pages), announced)
    )
    return Unproved(flaw) if flaw else Proved(len(keys), announced)


def fall(guards: Guards, known: int, missing: int) -> Held | None:
    """A proved list that has lost too much of what it had: a person decides whether that is true."""
    if missing < FEW or known - missing >= share(guards.coverage) * known:
        return None
    reason = (
        f"the list shows {known - missing:,} of the {known:,} items it had "
        f"({(known - missing) / known:.1%}, below {guards.coverage:.0%} absence is held)"
    )
    return Held(Guard.COVERAGE, reason, ("listed",))


def _unread(listing: Listing) -> str:
    if listing.tripped:
        return f"the run was stopped by its guard {listing.tripped}"
    if listing.failed:
        return f"{listing.failed:,} list page{'s' if listing.failed > 1 else ''} could not be read"
    return "" if listing.pages else "no list page was read"


def _hole(pages: Sequence[ListPage]) -> str:
    """A page number that is left out, an empty page before one with items, an end that was none."""
    numbers = {page.page for page in pages}
    if len(numbers) > 1 or pages[0].page > 1:  # a source that does not number its pages calls all of them 1
        left_out = next(
            (number for number in range(min(1, pages[0].page), max(numbers)) if number not in numbers), None
        )
        if left_out is not None:
            return f"page {left_out} was not read"
    for page, later in pairwise(pages):
        if later.page == page.page:
            continue
        if not page.size and later.size:
            return f"page {page.page} is empty, but page {later.page} is not"
        if page.last and later.size:
            return f"page {page.page} says it is the last, but page {later.page} lists more"
    return ""


def _repeated(pages: Sequence[ListPage]) -> str:
    seen: dict[frozenset[str], int] = {}
    for page in pages:
        keys = frozenset(page.keys)
        if keys and keys in seen:
            return f"page {page.page} repeats page {seen[keys]}"
        seen[keys] = page.page
    return ""


def _thin(pages: Sequence[ListPage]) -> str:
    """Only the last page may have less than the others; pages without numbers do not tell which one that is."""
    filled = [page for page in pages if page.size]
    size = max((page.size for page in filled), default=0)
    thin = [page for page in filled if page.size < share(THIN) * size]
    if not thin or thin == filled[-1:] or (len(thin) == 1 and filled[-1].page == filled[0].page):
        return ""
    return f"page {thin[0].page} lists only {thin[0].size}, others {size}: it may be cut off"


def _emptied(listing: Listing, listed: int) -> str:
    if listed or not listing.known:
        return ""
    return f"the list is empty, but had {listing.known:,} items before"


def _short(guards: Guards, pages: Sequence[ListPage], listed: int, announced: int | None) -> str:
    """Fewer items than announced, or totals that contradict each other; without a total the end must have been seen."""
    if announced is None:
        return "" if any(page.last for page in pages) else "there is neither a total nor an end of the list"
    need = share(guards.coverage)
    least = min(page.total for page in pages if page.total is not None)
    if least < need * announced:
        return f"the announced total wobbles between {least:,} and {announced:,}"
    if listed >= need * announced:
        return ""
    shown = f"{listed / announced:.1%}, {guards.coverage:.0%} needed"
    return f"{listed:,} of {announced:,} announced items were listed ({shown})"
