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


@pytest.mark.parametrize(
    ("kind", "text", "why"),
    [
        (Kind.COLORS, "id,name\n1,ホワイト\n,ブラック\n", "line 3: the id '' is no number of the market"),
        (Kind.SEASONS, "id,name\nx,25AW\n", "line 2: the id 'x' is no number"),
        (Kind.COLORS, "id,name\n²,ホワイト\n", "line 2: the id .* is no number"),
        (Kind.BRANDS, f"id,brand_name\n{2**63},NIKE\n", "line 2: the id '9223372036854775808' is no number"),
        (Kind.SIZES, "id,name,category_id\n1,S,x\n", "line 2: the category_id 'x' is no number"),
        (Kind.SIZES, "id,name\n1,S\n", "no column category_id"),
        (Kind.SIZE_DETAILS, "name,group_name\n肩幅,x\n", "no column category_id"),
        (Kind.BRANDS, "id,limited\n1,0\n", "no column brand_name or name"),
        (Kind.COLORS, "id,paths,name,limited\n3060,a,ドレス,0\n", "its column paths is of the list of categories"),
        (Kind.CATEGORIES, "id,name,category_id\n1,S,2\n", "of the list of sizes or size_details or tags"),
    ],
)
def test_a_list_that_nothing_could_be_looked_up_in_is_refused(kind: Kind, text: str, why: str) -> None:
    with pytest.raises(Invalid, match=f"the list of {kind} cannot be read: .*{why}"):
        masters.parse(kind, text.encode())


def test_a_size_without_a_category_is_one_of_all_categories() -> None:
    rows = masters.parse(Kind.SIZES, b"id,name,category_id\n1,S,\n2,S,7\n")

    assert [Masters({Kind.SIZES: rows}).size(category, "S") for category in (6, 7)] == [1, 2]


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


@pytest.mark.parametrize(
    ("text", "id"),
    [
        *(("Small", 2), ("S(95)", 2), ("95 (S)", 2), ("S/36", 2), ("medium", 3), ("미디움", 3), ("M [100]", 3)),
        *(("XXL", 6), ("2XL", 6), ("xxl(115)", 6), ("XXXL", 7), ("3XL", 7), ("X-Large", 5), ("95", 4)),
        *(("S/M", 99), ("S(M)", 99), ("W32 L34", 99), ("US M10", 99), ("X-Small", 99), ("5M", 99), ("로고", 99)),
    ],
)
def test_a_size_is_found_by_its_letter_where_it_has_one(text: str, id: int) -> None:
    named = ("S", "M", "95", "XL", "XXL", "3XL")
    rows = [{"id": str(id), "name": name, "category_id": "7"} for id, name in enumerate(named, start=2)]
    found = Masters({Kind.SIZES: [*rows, {"id": "99", "name": "その他", "category_id": "7"}]})

    assert found.size(7, text) == id


def test_a_size_that_is_listed_as_it_is_written_is_that_one() -> None:
    names = ("XXL", "2XL", "S(95)", "S")
    found = Masters({Kind.SIZES: [{"id": str(id), "name": name} for id, name in enumerate(names, start=1)]})

    assert [found.size(0, name) for name in names] == [1, 2, 3, 4]


def test_what_was_stored_before_ids_were_checked_stops_nothing() -> None:
    stored = Masters(
        {
            Kind.COLORS: [{"id": "", "name": "ブラック"}, {"id": "1", "name": "ホワイト"}],
            Kind.SIZES: [{"id": "²", "name": "S", "category_id": "²"}],
            Kind.SEASONS: [{"id": "x", "name": "25AW"}],
        }
    )

    assert [stored.color(text) for text in ("Black", "White")] == [None, 1]
    assert (stored.size(1, "S"), stored.season("25FW"), stored.has(Kind.SIZES, 2)) == (None, None, False)
