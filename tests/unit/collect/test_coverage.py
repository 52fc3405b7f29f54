"""A list is proved only when nothing speaks against its having been seen whole."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bobusang.stages.collect.coverage import Listing, ListPage, Proved, Unproved, fall, proof
from bobusang.stages.collect.guards import Guard, Held
from bobusang.stages.collect.policy import Guards

GUARDS = Guards()


def page(number: int, first: int, count: int, total: int | None = None, *, last: bool = False) -> ListPage:
    return ListPage(tuple(str(key) for key in range(first, first + count)), number, total, last)


def whole(items: int = 220, size: int = 80, total: int | None = 220) -> list[ListPage]:
    """A good list."""
    starts = range(0, items, size)
    return [page(at, first, min(size, items - first), total) for at, first in enumerate(starts, start=1)]


@pytest.mark.parametrize(
    ("pages", "answer"),
    [
        (whole(), Proved(220, 220)),
        (list(reversed(whole())), Proved(220, 220)),
        ([page(0, 0, 80, 160), page(1, 80, 80, 160)], Proved(160, 160)),
        ([*whole(), page(4, 0, 0, 220, last=True)], Proved(220, 220)),
        ([*whole(total=None), page(4, 0, 0, last=True)], Proved(220, None)),
        ([page(1, 0, 10, last=True)], Proved(10, None)),
        # Items move from page to page while we read: a few are seen twice, a few not at all.
        ([page(1, 0, 80, 160), page(2, 78, 80, 161)], Proved(158, 161)),
        # A source that does not number its pages.
        ([page(1, 0, 80), page(1, 150, 0, last=True), page(1, 80, 10), page(1, 90, 60)], Proved(150, None)),
        # Scratched goods are counted by the mall, and not collected by us.
        ([replace(page(1, 0, 40, 120), skipped=40), page(2, 40, 40, 120)], Proved(80, 120)),
        ([page(1, 0, 0, 0)], Proved(0, 0)),
        ([page(1, 0, 0, last=True)], Proved(0, None)),
    ],
)
def test_a_whole_list_is_proved(pages: list[ListPage], answer: Proved) -> None:
    assert proof(GUARDS, Listing(pages)) == answer


@pytest.mark.parametrize(
    ("listing", "reason"),
    [
        (Listing([]), "no list page was read"),
        (Listing(whole(), failed=1), "1 list page could not be read"),
        (Listing(whole(), failed=2), "2 list pages could not be read"),
        (Listing(whole(), tripped="mass_change"), "the run was stopped by its guard mass_change"),
        (Listing([whole()[0], whole()[2]]), "page 2 was not read"),
        (Listing(whole()[1:]), "page 1 was not read"),
        (
            Listing([page(1, 0, 80, 220), page(2, 0, 0, 220), page(3, 160, 60, 220)]),
            "page 2 is empty, but page 3 is not",
        ),
        (
            Listing([page(1, 0, 80), page(2, 80, 80, last=True), page(3, 160, 10)]),
            "page 2 says it is the last, but page 3 lists more",
        ),
        (Listing([*whole(), replace(whole()[2], page=4)]), "page 4 repeats page 3"),
        (
            Listing([page(1, 0, 80, 220), page(2, 80, 40, 220), page(3, 160, 60, 220)]),
            "page 2 lists only 40, others 80: it may be cut off",
        ),
        (
            Listing([page(1, 0, 80), page(1, 80, 10), page(1, 90, 10), page(1, 150, 0, last=True)]),
            "page 1 lists only 10, others 80: it may be cut off",
        ),
        (
            Listing([replace(page(1, 0, 40, 120), skipped=37), page(2, 40, 40, 120)]),
            "117 of 120 announced items were listed (97.5%, 98% needed)",
        ),
        (Listing(whole(items=215)), "215 of 220 announced items were listed (97.7%, 98% needed)"),
        (Listing([page(1, 0, 80, 80), page(2, 80, 80, 160)]), "the announced total wobbles between 80 and 160"),
        (Listing(whole(total=None)), "there is neither a total nor an end of the list"),
        (Listing([page(1, 0, 0, 0)], known=5), "the list is empty, but had 5 items before"),
        (Listing([page(1, 0, 0, last=True)], known=1), "the list is empty, but had 1 items before"),
    ],
)
def test_a_list_with_a_flaw_is_not_proved(listing: Listing, reason: str) -> None:
    assert proof(GUARDS, listing) == Unproved(reason)


@given(listed=st.integers(1, 300), total=st.integers(1, 300), coverage=st.integers(1, 100))
def test_the_limit_of_coverage_is_met_exactly(listed: int, total: int, coverage: int) -> None:
    proved = isinstance(proof(Guards(coverage=coverage / 100), Listing([page(1, 0, listed, total)])), Proved)
    assert proved == (listed * 100 >= coverage * total)


@given(st.data())
def test_a_list_that_lost_a_page_is_never_proved(data: st.DataObject) -> None:
    """Whatever a fault does to one page of a list below 4,000 items (a page is then more than 2 %)."""
    items = data.draw(st.integers(161, 3900))
    pages = whole(items, total=data.draw(st.sampled_from([items, None])))
    end = ListPage((), len(pages) + 1, pages[0].total, last=True)
    hurt = data.draw(st.integers(0, len(pages) - 2))
    fault = data.draw(st.sampled_from(["lost", "empty", "repeated", "half"]))
    match fault:
        case "lost":
            left = [*pages[:hurt], *pages[hurt + 1 :], end]
        case "empty":
            left = [*pages[:hurt], replace(pages[hurt], keys=()), *pages[hurt + 1 :], end]
        case "repeated":
            left = [*pages[:hurt], replace(pages[hurt], keys=pages[hurt - 1].keys), *pages[hurt + 1 :], end]
        case _:
            left = [*pages[:hurt], replace(pages[hurt], keys=pages[hurt].keys[:40]), *pages[hurt + 1 :], end]
    assert isinstance(proof(GUARDS, Listing(left)), Unproved)
    assert proof(GUARDS, Listing([*pages, end])) == Proved(items, pages[0].total)


def test_a_list_that_loses_too_much_at_once_is_a_matter_for_a_person() -> None:
    reason = "the list shows 90 of the 100 items it had (90.0%, below 98% absence is held)"
    held = Held(Guard.COVERAGE, reason, ("listed",))
    assert [fall(GUARDS, known, missing) for known, missing in ((100, 10), (100, 2), (200, 4), (200, 5), (20, 2))] == [
        held,
        None,
        None,
        Held(
            Guard.COVERAGE, "the list shows 195 of the 200 items it had (97.5%, below 98% absence is held)", ("listed",)
        ),
        None,
    ]
