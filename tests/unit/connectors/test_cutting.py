"""Rows of a sheet become pages of whole products, wherever the rows of one product stand."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bobusang.connectors.sources.declared.cells import code_of
from bobusang.connectors.sources.declared.known import UNCLEAR
from bobusang.connectors.sources.sheets import checking
from bobusang.connectors.sources.sheets.cutting import Cutter, Scattered
from bobusang.connectors.sources.sheets.mapping import Settled, shop_of
from bobusang.connectors.sources.sheets.opening import opened

SETTLED = Settled({"key": ["코드"], "name": ["이름"], "price": ["가격"], "size": ["사이즈"]})


def cutter(keys: list[str]) -> Cutter:
    lines = ["코드,이름,가격,사이즈", *(f"{key},코트 {key},1000,{at}" for at, key in enumerate(keys))]
    return Cutter(shop_of("acme", SETTLED), opened("\n".join(lines).encode(), "list.csv"))


def cut(found: Cutter, at_once: int) -> list[list[list[Any]]]:
    """All pages, begun anew where rows of one product stand apart."""
    try:
        return list(found.pages(at_once))
    except Scattered:
        return list(found.pages(at_once))


@given(st.lists(st.sampled_from("ABCDE"), min_size=1, max_size=20), st.integers(1, 3))
def test_every_product_is_whole_on_one_page_in_the_order_in_which_they_begin(keys: list[str], at_once: int) -> None:
    found = cutter(keys)
    pages = cut(found, at_once)
    wanted = {key: [at + 2 for at, one in enumerate(keys) if one == key] for key in keys}
    groups = list(wanted.items())

    assert [[(row[0], row[1]) for row in page] for page in pages] == [
        [(number, key) for key, numbers in groups[start : start + at_once] for number in numbers]
        for start in range(0, len(groups), at_once)
    ]
    assert (found.tally.rows, found.tally.products) == (len(keys), len(wanted))


def test_rows_that_stand_together_are_cut_without_a_second_look() -> None:
    assert [[row[1] for row in page] for page in cutter(["A", "A", "B", "C"]).pages(2)] == [["A", "A", "B"], ["C"]]


def test_rows_that_stand_apart_are_told_of_before_their_page_is_believed() -> None:
    found = cutter(["A", "B", "A"])

    with pytest.raises(Scattered):
        list(found.pages(1))
    assert [[row[0] for row in page] for page in found.pages(1)] == [[2, 4], [3]]


@given(st.lists(st.sampled_from("ABC"), min_size=1, max_size=8))
def test_a_preview_counts_the_same_wherever_rows_stand(keys: list[str]) -> None:
    report = checking.check(cutter(keys))

    assert (report.rows, report.products, report.problem_count) == (len(keys), len(set(keys)), 0)


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ("A1", "A1"),
        (8801234567890, "8801234567890"),
        ("8801234567890.0", "8801234567890"),
        (" A  1 ", "A 1"),
        ("A-1.0", "A-1.0"),
        ("8.80123E+12", UNCLEAR),
        ("8E+12", UNCLEAR),
        ("8E12", "8E12"),
    ],
)
def test_a_code_is_what_was_meant(said: Any, code: Any) -> None:
    assert code_of(said) == code
