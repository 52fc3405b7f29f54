"""Options are sorted by what they hold, not by what their group is called."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bobusang.catalog.tables.variants import Axis
from bobusang.stages.convert import options, stock
from bobusang.stages.convert.model import Reason, Why

COLOR, SIZE = Axis.COLOR, Axis.SIZE


def texts(found: options.Sorted) -> list[dict[Axis, str]]:
    return [dict(one.texts) for one in found.sources]


def test_a_group_called_model_that_holds_sizes_is_sizes() -> None:
    """Dropping it made three FREE/FREE rows, and the unique key broke."""
    found = options.read([{"code": str(n), "groups": {"모델명": size}} for n, size in enumerate(("230", "240", "250"))])

    assert found.axes == (SIZE,)
    assert texts(found) == [{SIZE: "230"}, {SIZE: "240"}, {SIZE: "250"}]
    assert found.problems == ()


@pytest.mark.parametrize(
    ("groups", "axes"),
    [
        ({"color": ["Black", "White"], "size": ["S", "M"]}, {"color": COLOR, "size": SIZE}),
        ({"color": ["S", "M"], "size": ["Black", "White"]}, {"color": SIZE, "size": COLOR}),
        ({"color": ["FREE", "FREE"], "size": ["S", "M"]}, {"color": None, "size": SIZE}),
        ({"color": ["Black"], "size": ["단일"]}, {"color": COLOR, "size": SIZE}),
        ({"color": ["S", "M"], "size": ["FREE"]}, {"color": SIZE, "size": None}),
        ({"size": ["FREE"]}, {"size": SIZE}),
        ({"디자인": ["A타입", "B타입"], "사이즈": ["S"]}, {"디자인": COLOR, "사이즈": SIZE}),
        ({"사이즈": ["라운드", "브이넥"]}, {"사이즈": SIZE}),
        ({"옵션": ["로고", "무지"]}, {"옵션": COLOR}),
    ],
)
def test_values_decide_what_a_group_is(groups: dict[str, list[str]], axes: dict[str, Axis | None]) -> None:
    assert options.classified(groups) == axes


def test_two_groups_of_one_kind_are_a_persons_matter() -> None:
    found = options.read([{"code": "1", "groups": {"겉감": "Black", "안감": "White"}}])

    assert found.problems == (Reason(Why.AXES_UNCLEAR, "the groups '겉감' and '안감' both look like color", "color"),)


@pytest.mark.parametrize(
    ("said", "axis"),
    [
        ([{"option": "S"}, {"option": "M"}], SIZE),
        ([{"option": "36⅔"}, {"option": "37⅓"}, {"option": "38"}], SIZE),
        ([{"option": "블랙"}, {"option": "화이트"}], COLOR),
        ([{"name": "S"}, {"name": "M"}], SIZE),
        ([{"name": "로고"}, {"name": "무지"}], COLOR),
    ],
)
def test_one_text_is_a_choice_of_what_it_looks_like(said: list[dict[str, Any]], axis: Axis) -> None:
    """A wholesaler's plain names were lost: six sizes were listed as one thing without a choice."""
    found = options.read([{"code": str(at), **one} for at, one in enumerate(said)])

    assert found.axes == (axis,)
    assert texts(found) == [{axis: next(iter(one.values()))} for one in said]
    assert found.problems == ()


def test_a_name_counts_only_where_nothing_else_is_said() -> None:
    found = options.read([{"code": "1", "name": "블랙/S (특가)", "color": "블랙", "size": "S"}])

    assert texts(found) == [{COLOR: "블랙", SIZE: "S"}]


def test_one_text_beside_a_size_is_the_other_axis() -> None:
    found = options.read([{"code": str(n), "size": size, "option": "A타입"} for n, size in enumerate(("S", "M"))])

    assert (found.axes, found.problems) == ((COLOR, SIZE), ())


@pytest.mark.parametrize("field", ["option", "name", "size", "color"])
def test_colour_and_size_in_one_text_are_two_choices(field: str) -> None:
    """A shoe in two colours and two sizes was listed as four colours of a shoe of one size."""
    whole = ["블랙/260(8.5)", "블랙/270(9.5)", "화이트/260(8.5)"]
    found = options.read([{"code": str(at), field: text} for at, text in enumerate(whole)])

    assert (found.axes, found.problems) == ((COLOR, SIZE), ())
    assert [(one.texts[COLOR], one.texts[SIZE], one.whole) for one in found.sources] == [
        ("블랙", "260(8.5)", whole[0]),
        ("블랙", "270(9.5)", whole[1]),
        ("화이트", "260(8.5)", whole[2]),
    ]
    assert options.texts([{field: text} for text in whole[:1]]) == [{COLOR: "블랙", SIZE: "260(8.5)"}]


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        (
            [{"option": "블랙/S"}, {"option": "로고"}],
            "'블랙/S' may be a colour and a size in one, and not all options surely are",
        ),
        (
            [{"option": "블랙/S", "groups": {"종류": "A타입"}}, {"option": "블랙/M", "groups": {"종류": "B타입"}}],
            "the group '옵션' says colour and size in one, and is not the only choice",
        ),
    ],
)
def test_what_may_be_colour_and_size_in_one_is_a_persons_matter(said: list[dict[str, Any]], problem: str) -> None:
    found = options.read([{"code": str(at), **one} for at, one in enumerate(said)])

    assert found.problems == (Reason(Why.AXES_UNCLEAR, problem, "options"),)


def test_a_colours_own_number_beside_a_size_is_the_colours() -> None:
    found = options.read(
        [{"code": "1", "color": "BLACK-95", "size": "S"}, {"code": "2", "color": "BLACK-99", "size": "M"}]
    )

    assert texts(found) == [{COLOR: "BLACK-95", SIZE: "S"}, {COLOR: "BLACK-99", SIZE: "M"}]
    assert found.problems == ()


def test_options_that_say_nothing_are_not_sold_as_one() -> None:
    mute: list[dict[str, Any]] = [{"code": "00", "stock": 3}, {"code": "01", "stock": 4}]
    told = Reason(Why.AXES_UNCLEAR, "the options 00, 01 do not say what they are", "options")

    assert options.read(mute).problems == (told,)
    assert options.read([mute[0], mute[1] | {"gone": True}]).problems == ()
    assert options.read(mute[:1]).problems == ()


def test_what_options_say_is_shown_along_the_axes() -> None:
    said: list[dict[str, Any]] = [
        {"groups": {"종류": "Black"}, "size": "S"},
        {"groups": {"종류": "White"}},
        {"color": 3},
    ]

    assert options.texts(said) == [{COLOR: "Black", SIZE: "S"}, {COLOR: "White"}, {}]


def test_free_beside_sizes_is_held() -> None:
    """1,201 listings of one shop were refused for it."""
    mixed = [{"code": "1", "size": "Free"}, {"code": "2", "size": "S"}]

    assert options.read(mixed).problems == (Reason(Why.FREE_MIXED, "'Free' stands beside the sizes S", "size"),)
    assert options.read([mixed[0] | {"gone": True}, mixed[1]]).problems == ()
    assert options.read([{"code": "1", "size": "Free"}, {"code": "2", "size": "ONE SIZE"}]).problems == ()


def test_an_option_that_does_not_say_all_is_left_out_and_noted() -> None:
    found = options.read([{"code": "1", "size": "US 4"}, {"code": "2", "color": "블랙", "size": "US 6"}, {"code": "3"}])

    assert texts(found) == [{COLOR: "블랙", SIZE: "US 6"}]
    assert [note.why for note in found.notes] == [Why.OPTION_UNREADABLE]


def test_a_product_that_is_sold_out_has_nothing_in_stock() -> None:
    found = options.read([{"code": "1", "size": "S", "available": True}], sold_out=True)

    assert [one.stock for one in found.sources] == [stock.OUT]


values = st.none() | st.integers() | st.text(max_size=8) | st.sampled_from(["S", "Black", "FREE", "블랙", "95"])
option_dicts = st.fixed_dictionaries(
    {},
    optional={
        "code": values,
        "color": values,
        "size": values,
        "option": values,
        "name": values,
        "stock": values,
        "groups": st.dictionaries(st.text(max_size=4), values, max_size=3),
    },
)


@given(st.lists(option_dicts, max_size=8))
def test_whatever_a_mall_says_is_sorted_and_never_placed_without_its_axes(said: list[dict[str, Any]]) -> None:
    found = options.read(said)

    assert all(set(found.axes) == set(one.texts) for one in found.sources)
    assert bool(found.notes) == (len(found.sources) < len(said))
