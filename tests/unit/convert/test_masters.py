"""The market's lists are read whole or not at all, and looked up as the market writes them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bobusang.kit.errors import Invalid
from bobusang.stages.convert import masters
from bobusang.stages.convert.masters import Difference, Kind, Masters

BRANDS = '\ufeff"id","brand_name","limited"\r\n"203","NIKE","0"\r\n"77","A.P.C., Paris","1"\r\n'.encode()


def test_a_file_with_a_mark_and_quotes_is_read() -> None:
    assert masters.parse(Kind.BRANDS, BRANDS) == [
        {"id": "203", "brand_name": "NIKE", "limited": "0"},
        {"id": "77", "brand_name": "A.P.C., Paris", "limited": "1"},
    ]


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "no column id"),
        (b"\xff\xfe", "not UTF-8"),
        (b"<html>busy</html>", "no column id"),
        (b'"id","name"\r\n', "it has no rows"),
        (b'"id","name"\r\n"1","a"\r\n"2"\r\n', "line 3 has 1 columns, not 2"),
        (b'"id","name"\r\n"1","a\r\n"2","b', "not CSV"),
        (b'"id","name"\r\n"1","a"\r\n"1","b"\r\n', "a row comes twice"),
    ],
)
def test_half_a_file_or_another_is_refused(data: bytes, why: str) -> None:
    with pytest.raises(Invalid, match=f"the list of brands cannot be read: .*{why}"):
        masters.parse(Kind.BRANDS, data)


def test_versions_differ_by_what_came_changed_and_vanished() -> None:
    before = [{"id": "1", "name": "a"}, {"id": "2", "name": "b"}]
    after = [{"id": "2", "name": "B"}, {"id": "3", "name": "c"}]

    assert masters.difference(Kind.SEASONS, before, after) == Difference(("3",), ("2",), ("1",))


rows = st.lists(st.fixed_dictionaries({"id": st.integers(1, 9).map(str), "name": st.text(max_size=5)}), max_size=6)


@given(rows, st.randoms())
def test_the_order_of_a_list_is_no_news(found: list[dict[str, str]], chance: object) -> None:
    turned = found[::-1]

    assert masters.checksum(turned) == masters.checksum(found)
    assert masters.difference(Kind.SEASONS, found, found).same


LISTS = Masters(
    {
        Kind.COLORS: [
            {"id": "1", "name": "ホワイト系"},
            {"id": "2", "name": "ブラック系"},
            {"id": "9", "name": "ブルー系"},
            {"id": "99", "name": "マルチカラー"},
        ],
        Kind.SIZES: [
            {"id": "2", "name": "S", "category_id": "3064"},
            {"id": "8", "name": "フリー", "category_id": "3064"},
            {"id": "5", "name": "S", "category_id": "1"},
        ],
        Kind.SIZE_DETAILS: [
            {"name": "肩幅", "category_id": "3064"},
            {"name": "着丈", "category_id": "3064"},
            {"name": "マチ", "category_id": "9"},
        ],
        Kind.CATEGORIES: [{"id": "3064", "paths": "メンズ > トップス", "name": "Tシャツ", "limited": "0"}],
    }
)


def test_colours_sizes_and_measures_are_found_as_the_market_writes_them() -> None:
    assert [LISTS.color(text) for text in ("Black", "화이트", "네이비", "Black/White", "A타입", "핑크")] == [
        *(2, 1, 9, 99, None, None)
    ]
    assert [LISTS.size(*one) for one in ((3064, "s"), (3064, "ONE SIZE"), (1, "S"), (2, "S"))] == [2, 8, 5, None]
    assert LISTS.measures(3064) == {"肩幅", "着丈"}
    assert LISTS.measures(1) == frozenset()


def test_a_list_that_was_never_imported_forbids_nothing() -> None:
    assert LISTS.has(Kind.CATEGORIES, 3064)
    assert not LISTS.has(Kind.CATEGORIES, 1)
    assert LISTS.has(Kind.BRANDS, 1)
