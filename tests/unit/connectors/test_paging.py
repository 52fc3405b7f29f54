"""Lists of any length end, whatever the shop does, and every product on them is seen once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bobusang.kit.errors import Unavailable
from bobusang.stages.collect.source import Ask, Extent, Target
from tests.unit.connectors.reading import compiled, page

if TYPE_CHECKING:
    from pathlib import Path

SHOP = """
shop: acme
intake: {{kind: http, base: "https://acme.example.com"}}
streams:
  list:
    request: {{get: /list}}
    pages: {pages}
    records: items[*]
    key: id
    fields: {{name: name}}
"""

TARGET = Target("list", "all")


def crawl(shop: Any, answer: Any, most: int = 300) -> tuple[list[Extent], int]:
    waiting, extents, calls = list(shop.seeds(TARGET)), [], 0
    asked = set()
    while waiting:
        ask = waiting.pop(0)
        if ask.name in asked:
            continue
        asked.add(ask.name)
        calls += 1
        assert calls <= most, "it asks for ever"
        for each in shop.read(page(ask, answer(ask))):
            if isinstance(each, Extent):
                extents.append(each)
            elif isinstance(each, Ask):
                waiting.append(each)
    return sorted(extents, key=lambda extent: extent.page), calls


def items(count: int, start: int, size: int) -> list[dict[str, Any]]:
    return [{"id": each, "name": str(each)} for each in range(start, min(start + size, count))]


@pytest.fixture(scope="module")
def shops(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder: Path = tmp_path_factory.mktemp("shops")
    pages = {
        "total": "{by: page, param: page, start: 1, total: total, max: 50}",
        "blind": "{by: page, param: page, start: 0, max: 50}",
        "next": "{by: next, next: next, max: 50}",
        "cursor": "{by: cursor, param: after, next: next, max: 50}",
    }
    return {name: compiled(folder, SHOP.format(pages=each)) for name, each in pages.items()}


@given(count=st.integers(0, 60), size=st.integers(2, 20), wobble=st.integers(-3, 0), repeats=st.booleans())
def test_numbered_pages_end_and_show_everything(
    shops: dict[str, Any], count: int, size: int, wobble: int, repeats: bool
) -> None:
    """The total may be told too low, and the shop may repeat its last page for ever."""

    def answer(ask: Ask) -> dict[str, Any]:
        number = ask.given["page"]
        last = max(1, -(-count // size))
        shown = min(number, last) if repeats else number
        return {"total": max(0, count + wobble), "items": items(count, (shown - 1) * size, size)}

    extents, calls = crawl(shops["total"], answer)

    assert sorted({key for each in extents for key in each.keys}, key=int) == [str(each) for each in range(count)]
    assert extents[-1].last is True
    assert calls <= max(1, -(-count // size)) + 1


@given(count=st.integers(0, 60), size=st.integers(2, 20))
def test_pages_without_a_total_are_followed_until_one_is_empty(shops: dict[str, Any], count: int, size: int) -> None:
    extents, calls = crawl(shops["blind"], lambda ask: {"items": items(count, ask.given["page"] * size, size)})

    assert sum(len(each.keys) for each in extents) == count
    assert (calls, extents[-1].last) == (-(-count // size) + 1, True)


@pytest.mark.parametrize("by", ["next", "cursor"])
@given(count=st.integers(0, 60), size=st.integers(2, 20))
def test_links_and_cursors_lead_to_the_end(shops: dict[str, Any], by: str, count: int, size: int) -> None:
    def answer(ask: Ask) -> dict[str, Any]:
        start = int(ask.url.partition("after=")[2] or 0)
        onward = start + size if start + size < count else None
        link = None if onward is None else f"/list?after={onward}" if by == "next" else str(onward)
        return {"items": items(count, start, size), "next": link}

    extents, _ = crawl(shops[by], answer)

    assert sum(len(each.keys) for each in extents) == count
    assert [each.last for each in extents] == [False] * (len(extents) - 1) + [True]


@pytest.mark.parametrize("by", ["next", "cursor", "blind", "total"])
def test_a_list_without_end_is_left_after_its_most_pages(shops: dict[str, Any], by: str) -> None:
    def answer(ask: Ask) -> dict[str, Any]:
        start = ask.given["page"] * 10
        return {"total": 10**9, "items": items(10**9, start, 10), "next": f"/list?after={start}"}

    extents, calls = crawl(shops[by], answer)

    assert calls == 50
    assert [each.last for each in extents] == [False] * 50


def test_a_link_that_leads_back_to_the_same_page_is_not_followed_twice(shops: dict[str, Any]) -> None:
    extents, calls = crawl(shops["next"], lambda _: {"items": items(5, 0, 5), "next": "/list?after=0"})

    assert calls == 2
    assert [each.last for each in extents] == [False, False]


def test_an_empty_page_inside_the_announced_is_not_the_end(shops: dict[str, Any]) -> None:
    def answer(ask: Ask) -> dict[str, Any]:
        return {"total": 30, "items": [] if ask.given["page"] == 2 else items(30, (ask.given["page"] - 1) * 10, 10)}

    with pytest.raises(Unavailable, match="page 2 is empty although 30 are announced"):
        crawl(shops["total"], answer)
