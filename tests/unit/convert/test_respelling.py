"""An option that the mall spells anew stays the option that it was, unless its code names something else by now."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bobusang.catalog.tables.variants import Axis
from bobusang.catalog.variants import Goods, Option, Variant
from bobusang.stages.convert import grid, options, sizes
from bobusang.stages.convert.restocking import restocked
from bobusang.stages.convert.stock import IN, OUT, UNKNOWN

JAPANESE = {"블랙": "ブラック", "BLACK": "ブラック", "화이트": "ホワイト", "레드": "レッド"}
WORDS = grid.Words(
    text=lambda axis, text: sizes.written(text) if axis is Axis.SIZE else JAPANESE.get(text, text or "画像参照"),
    master=lambda axis, text: None,
    details=lambda size: (),
)


def built(*said: tuple[str | None, str, str], before: Goods | None = None, **more: Any) -> Goods:
    """The grid of (code, colour, size)."""
    listed = [{"code": code, "color": color, "size": size, "available": True} | more for code, color, size in said]
    return grid.build(options.read(listed), WORDS, before)[0]


def named(goods: Goods, axis: Axis) -> list[tuple[str, str, str]]:
    """Key, text and the market's text of each option."""
    return [(one.key, one.text, one.market_text) for one in goods.options if one.axis is axis]


def claims(goods: Goods) -> dict[tuple[str, str], Any]:
    return {(one.color_key, one.size_key): one.stock for one in goods.variants}


def test_a_colour_that_is_spelled_anew_is_the_same_colour_with_another_text() -> None:
    """The market had ブラック, sold out, beside ブラック 2."""
    before = built(("1", "블랙", "S"), ("2", "블랙", "M"), ("3", "화이트", "S"))

    after = built(("1", "BLACK", "S"), ("2", "BLACK", "M"), ("3", "화이트", "S"), before=before)

    assert after == Goods(
        (
            Option(Axis.COLOR, "블랙", "1", "BLACK", "ブラック", 1),
            Option(Axis.COLOR, "화이트", "3", "화이트", "ホワイト", 2),
            Option(Axis.SIZE, "S", "1", "S", "S", 1),
            Option(Axis.SIZE, "M", "2", "M", "M", 2),
        ),
        (
            Variant("1", ("1",), "BLACK / S", "블랙", "S", IN),
            Variant("2", ("2",), "BLACK / M", "블랙", "M", IN),
            Variant("3", ("3",), "화이트 / S", "화이트", "S", IN),
            Variant("grid:화이트/M", (), "화이트 / M", "화이트", "M", OUT, filler=True),
        ),
    )


@pytest.mark.parametrize(
    ("axis", "was", "now", "is_same"),
    [
        (Axis.COLOR, "블랙", "BLACK", True),
        (Axis.COLOR, "블랙", "검정색 (001)", True),
        (Axis.COLOR, "체크", "CHECK", True),
        (Axis.COLOR, "A타입", "A type", True),
        (Axis.COLOR, "블랙", "레드", False),
        (Axis.COLOR, "블랙 001", "블랙 002", False),
        (Axis.COLOR, "체크", "스트라이프", False),
        (Axis.COLOR, "A타입", "C타입", False),
        (Axis.SIZE, "S", "Small", True),
        (Axis.SIZE, "라지", "L (100)", True),
        (Axis.SIZE, "95", "95(M)", True),
        (Axis.SIZE, "XXL", "2XL", True),
        (Axis.SIZE, "EU 42⅔", "42 2/3", True),
        (Axis.SIZE, "EU 42⅔", "42 1/3", False),
        (Axis.SIZE, "S", "M", False),
        (Axis.SIZE, "230", "235", False),
        (Axis.SIZE, "W30 L32", "W32 L32", False),
        (Axis.SIZE, "FREE", "M", False),
    ],
)
def test_a_code_is_believed_unless_the_texts_mean_different_things(
    axis: Axis, was: str, now: str, *, is_same: bool
) -> None:
    """A mall that replaces its options in order gives the code of the black one to the red one."""
    cell = ("1", was, "S") if axis is Axis.COLOR else ("1", "블랙", was)
    new = ("1", now, "S") if axis is Axis.COLOR else ("1", "블랙", now)

    after = built(new, before=built(cell))

    keys = [one.key for one in after.options if one.axis is axis]
    assert keys == ([was] if is_same else [was, now])


def test_both_axes_may_be_spelled_anew_at_once() -> None:
    before = built(("1", "블랙", "S"), ("2", "화이트", "S"), ("3", "블랙", "M"))

    after = built(("1", "BLACK", "Small"), ("2", "WHITE", "Small"), ("3", "BLACK", "Medium"), before=before)

    assert [(one.key, one.codes) for one in after.variants] == [(one.key, one.codes) for one in before.variants]
    assert named(after, Axis.SIZE) == [("S", "Small", "SMALL"), ("M", "Medium", "MEDIUM")]


def test_two_colours_that_get_one_text_are_not_taken_for_each_other() -> None:
    before = built(("1", "블랙", "S"), ("2", "검정", "S"))

    after = built(("1", "BLACK", "S"), ("2", "BLACK", "S"), before=before)

    assert [key for key, _, _ in named(after, Axis.COLOR)] == ["블랙", "검정", "BLACK"]


def test_a_colour_that_is_still_named_is_not_spelled_anew() -> None:
    before = built(("1", "블랙", "S"), ("2", "블랙", "M"))

    after = built(("1", "블랙", "S"), ("2", "BLACK", "M"), before=before)

    assert [key for key, _, _ in named(after, Axis.COLOR)] == ["블랙", "BLACK"]


def test_where_one_code_names_something_else_no_code_is_believed() -> None:
    before = built(("1", "블랙", "S"), ("2", "화이트", "S"))

    after = built(("1", "BLACK", "S"), ("2", "레드", "S"), before=before)

    assert [(key, code) for key, code in ((one.key, one.code) for one in after.options)] == [
        *(("블랙", "1"), ("화이트", "2"), ("BLACK", None), ("레드", None)),
        ("S", "1"),
    ]


def test_without_codes_a_text_is_all_there_is() -> None:
    before = built((None, "블랙", "S"))

    after = built((None, "BLACK", "S"), before=before)

    assert claims(after) == {("블랙", "S"): UNKNOWN, ("BLACK", "S"): IN}


def test_it_is_found_by_its_new_text_from_then_on_and_may_be_spelled_anew_again() -> None:
    first = built(("1", "블랙", "S"))
    second = built(("1", "BLACK", "S"), before=first)

    assert built(("1", "BLACK", "S"), before=second) == second
    assert [key for key, _, _ in named(built(("9", "BLACK", "M"), before=second), Axis.COLOR)] == ["블랙"]
    assert built(("1", "블랙", "S"), before=second) == first
    now = options.read([{"code": "8", "color": "BLACK", "size": "S", "available": False}])
    assert claims(restocked(second, now).goods) == {("블랙", "S"): OUT}


SPELLINGS = {
    "블랙": "BLACK",
    "화이트": "WHITE",
    "레드": "RED",
    "네이비": "NAVY",
    "S": "Small",
    "M": "미디움",
    "L": "라지",
}
COLORS, SIZES = ("블랙", "화이트", "레드", "네이비"), ("S", "M", "L")
grids = st.sets(st.tuples(st.sampled_from(COLORS), st.sampled_from(SIZES)), min_size=1).map(sorted)


@given(grids, st.sets(st.sampled_from([*SPELLINGS])))
def test_whatever_is_spelled_anew_under_its_codes_nothing_but_texts_changes(
    cells: list[tuple[str, str]], anew: set[str]
) -> None:
    def spelled(word: str) -> str:
        return SPELLINGS[word] if word in anew else word

    before = built(*((f"c{place}", *cell) for place, cell in enumerate(cells)))
    after = built(*((f"c{at}", spelled(color), spelled(size)) for at, (color, size) in enumerate(cells)), before=before)

    assert [(one.axis, one.key, one.code, one.position) for one in after.options] == [
        (one.axis, one.key, one.code, one.position) for one in before.options
    ]
    assert [one.text for one in after.options] == [spelled(one.text) for one in before.options]
    assert [(one.key, one.codes, one.stock) for one in after.variants] == [
        (one.key, one.codes, one.stock) for one in before.variants
    ]


anything = st.tuples(
    st.sampled_from([*COLORS, "BLACK", "RED", "A타입"]), st.sampled_from([*SIZES, "Small", "95", "FREE"])
)


@given(st.lists(anything, min_size=1, max_size=8), st.lists(anything, min_size=1, max_size=8))
def test_whatever_codes_come_to_name_every_code_has_one_cell_and_no_option_is_lost(
    first: list[tuple[str, str]], then: list[tuple[str, str]]
) -> None:
    before = built(*((str(place), *cell) for place, cell in enumerate(first)))
    after = built(*((str(place), *cell) for place, cell in enumerate(then)), before=before)

    known = {(one.axis, one.key) for one in before.options}
    assert known <= {(one.axis, one.key) for one in after.options}
    owners = [code for one in after.variants if one.stock != UNKNOWN for code in one.codes]
    assert sorted(owners) == sorted(str(place) for place in range(len(then)))
    for axis in Axis:
        codes = [one.code for one in after.options if one.axis is axis and one.code is not None]
        assert len(set(codes)) == len(codes)
