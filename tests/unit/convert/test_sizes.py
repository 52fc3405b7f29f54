"""Sizes are told from colours, and the one size has one name."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bobusang.stages.convert import sizes


@pytest.mark.parametrize(
    "text",
    [
        "FREE",
        "Free",
        "free size",
        "ONE SIZE",
        "one-size",
        "OneSize",
        "O/S",
        "OS",
        "단일",
        "단일 사이즈",
        "프리",
        "Ｆ",
        "フリー",
    ],
)
def test_the_one_size_has_one_name(text: str) -> None:
    assert sizes.written(text) == "FREE"


@pytest.mark.parametrize(
    "text",
    [
        *("S", "M", "xl", "XXL", "2XL", "3xs", "95", "100", "US 4", "US 4.5", "270mm", "27 1/2", "M(95)", "S/M"),
        *("IT 48", "EU 36 2/3", "28인치"[:2], "라지", "230", "4호", "12M", "85-90", "100사이즈"),
        *("36⅔", "37⅓", "8½", "EU 42⅔", "7 3/8", "7⅝"),
    ],
)
def test_a_size_reads_as_one(text: str) -> None:
    assert sizes.is_size(text)


@pytest.mark.parametrize("text", ["블랙", "Black", "AC1234-010", "A타입", "Medium Gray", "로고 티", "SL", ""])
def test_what_is_no_size_does_not(text: str) -> None:
    assert not sizes.is_size(text)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        *(("xl", "XL"), ("us 4.5", "US 4.5"), ("100 사이즈", "100"), ("라지", "L"), ("A타입", "A타입")),
        *(("42⅔", "42 2/3"), ("42 ⅔", "42 2/3"), ("42 2⁄3", "42 2/3"), ("7⅝", "7 5/8"), ("3⅒", "3 1/10")),
        *(("us 8½", "US 8.5"), ("8 1/2", "8.5"), ("½", "1/2")),
    ],
)
def test_a_size_is_written_one_way(text: str, written: str) -> None:
    """42⅔ was told to the market as 422⁄3."""
    assert sizes.written(text) == written


@given(st.text(max_size=30) | st.from_regex(r"(us|EU)? ?[0-9]{1,3}(\.5)? ?[½⅓⅔¾]?(cm| 사이즈)?", fullmatch=True))
def test_writing_twice_is_writing_once(text: str) -> None:
    once = sizes.written(text)

    assert sizes.written(once) == once
