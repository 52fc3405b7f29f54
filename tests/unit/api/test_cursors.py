"""Cursors: opaque, stable, and good for their own list only."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bobusang.entry.api.fields import LARGEST_ID
from bobusang.entry.api.pages import Page, pack, page, unpack, unpacked
from bobusang.kit.errors import Invalid

KINDS = st.sampled_from(["jobs", "tasks", "jobs/7/tasks"])
KEYS = st.integers(0, LARGEST_ID)


@given(KINDS, KEYS)
def test_a_cursor_brings_its_key_back(kind: str, key: int) -> None:
    assert unpack(kind, pack(kind, key)) == key


@given(KINDS, KEYS, st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=20))
def test_a_cursor_may_have_several_keys_each_of_its_type(kind: str, key: int, text: str) -> None:
    assert unpacked(kind, pack(kind, key, text), int, str) == (key, text)
    for types in ((str, int), (int,), (int, str, int), (int, int)):
        with pytest.raises(Invalid, match="not one of this list"):
            unpacked(kind, pack(kind, key, text), *types)


@given(KINDS, KINDS, KEYS)
def test_a_cursor_is_of_no_use_elsewhere(kind: str, other: str, key: int) -> None:
    if kind != other:
        with pytest.raises(Invalid, match="not one of this list"):
            unpack(other, pack(kind, key))


@given(st.text(max_size=50))
def test_any_other_text_is_refused_in_words(text: str) -> None:
    with pytest.raises(Invalid) as caught:
        unpack("jobs", text)

    assert caught.value.field == "cursor"


def test_no_cursor_is_the_beginning() -> None:
    assert unpack("jobs", None) is None


@pytest.mark.parametrize(("items", "shown", "last"), [([], [], None), ([9, 8], [9, 8], None), ([9, 8, 7], [9, 8], 8)])
def test_one_row_more_than_the_limit_means_that_there_is_more(
    items: list[int], shown: list[int], last: int | None
) -> None:
    expected = Page[int](items=shown, next=None if last is None else pack("x", last))

    assert page("x", items, 2, lambda item: item).model_dump() == expected.model_dump()
