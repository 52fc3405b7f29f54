"""The grid has every cell, each with a claim of its own, whatever the market calls its rows and columns."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from bobusang.catalog.tables.variants import Axis, StockKind
from bobusang.catalog.variants import Goods, Option, Stock, Variant
from bobusang.stages.convert import grid, options, sizes
from bobusang.stages.convert.model import Reason, Why
from bobusang.stages.convert.stock import IN, OUT, UNKNOWN
from bobusang.stages.convert.text import width

JAPANESE = {"블랙": "ブラック", "검정": "ブラック", "화이트": "ホワイト"}


def words(renamed: dict[str, str] | None = None) -> grid.Words:
    told = JAPANESE | (renamed or {})
    return grid.Words(
        text=lambda axis, text: sizes.written(text) if axis is Axis.SIZE else told.get(text, text or "画像参照"),
        master=lambda axis, text: None,
        details=lambda size: (),
    )


def built(said: list[dict[str, Any]], before: Goods | None = None, renamed: dict[str, str] | None = None) -> Goods:
    return grid.build(options.read(said), words(renamed), before)[0]


def option(code: str, color: str, size: str, **more: Any) -> dict[str, Any]:
    return {"code": code, "color": color, "size": size, "available": True} | more


def claims(goods: Goods) -> dict[tuple[str, str], Stock]:
    return {(one.color_key, one.size_key): one.stock for one in goods.variants}


def test_a_hole_of_the_grid_is_filled_as_out_of_stock() -> None:
    """1,357 listings were refused because a cell was missing."""
    goods = built([option("1", "블랙", "S"), option("2", "화이트", "M", stock=2)])

    assert goods == Goods(
        (
            Option(Axis.COLOR, "블랙", "1", "블랙", "ブラック", 1),
            Option(Axis.COLOR, "화이트", "2", "화이트", "ホワイト", 2),
            Option(Axis.SIZE, "S", "1", "S", "S", 1),
            Option(Axis.SIZE, "M", "2", "M", "M", 2),
        ),
        (
            Variant("1", ("1",), "블랙 / S", "블랙", "S", IN),
            Variant("grid:블랙/M", (), "블랙 / M", "블랙", "M", OUT, filler=True),
            Variant("grid:화이트/S", (), "화이트 / S", "화이트", "S", OUT, filler=True),
            Variant("2", ("2",), "화이트 / M", "화이트", "M", Stock(StockKind.COUNT, 2)),
        ),
    )


def test_a_colour_that_is_translated_anew_changes_its_text_and_nothing_else() -> None:
    said = [option("1", "블랙", "S"), option("2", "화이트", "S")]
    before = built(said)

    after = built(said, before, {"블랙": "黒"})

    assert after.variants == before.variants
    assert [one.key for one in after.options] == [one.key for one in before.options]
    assert [one.market_text for one in after.options] == ["黒", "ホワイト", "S"]


def test_two_colours_with_one_translation_stay_apart() -> None:
    goods = built([option("1", "블랙", "S"), option("2", "검정", "S")])

    assert [one.market_text for one in goods.options] == ["ブラック", "ブラック 2", "S"]


def test_a_thing_without_options_is_one_cell() -> None:
    said: list[dict[str, Any]]
    for said in ([{"code": "1"}], [{"code": "1", "size": "단일"}]):
        goods = built(said)

        assert [(one.axis, one.market_text, one.position) for one in goods.options] == [
            (Axis.COLOR, "画像参照", 1),
            (Axis.SIZE, "FREE", 1),
        ]
        assert len(goods.variants) == 1


def test_what_a_mall_has_twice_is_one_cell_with_both_codes() -> None:
    """5.5 % of 500,000 rows are double."""
    said = [option("1", "블랙", "Free", available=False), option("2", "블랙", "ONE SIZE", price=900)]
    goods, notes = grid.build(options.read(said), words())

    assert goods.variants == (Variant("1", ("1", "2"), "블랙 / ONE SIZE", "블랙", "FREE", IN, 900),)
    assert [note.why for note in notes] == [Why.OPTION_DOUBLED]


def test_what_is_gone_stays_in_a_grid_that_was_told_and_is_not_brought_into_a_new_one() -> None:
    said = [option("1", "블랙", "S"), option("2", "블랙", "M")]
    before = built(said)
    gone = [said[0], said[1] | {"gone": True, "available": False}]

    assert claims(built(gone, before)) == {("블랙", "S"): IN, ("블랙", "M"): OUT}
    assert claims(built(gone)) == {("블랙", "S"): IN}
    assert claims(built(gone[1:])) == {("블랙", "M"): OUT}


def test_an_option_that_could_not_be_read_this_time_is_unknown_and_not_out() -> None:
    before = built([option("1", "블랙", "S"), option("2", "블랙", "M")])

    after = built([option("1", "블랙", "S"), {"code": "2", "available": True}], before)

    assert after.variants == (before.variants[0], Variant("2", ("2",), "블랙 / M", "블랙", "M", UNKNOWN))


def test_new_options_follow_those_that_were_there() -> None:
    before = built([option("1", "블랙", "M"), option("2", "블랙", "L")])

    after = built([option("0", "블랙", "S"), option("2", "블랙", "L"), option("1", "블랙", "M")], before)

    assert [(one.text, one.position) for one in after.options if one.axis is Axis.SIZE] == [
        ("M", 1),
        ("L", 2),
        ("S", 3),
    ]


def test_codes_that_trade_their_texts_are_a_persons_matter() -> None:
    before = built([option("1", "블랙", "S"), option("2", "블랙", "M")])

    swapped = options.read([option("1", "블랙", "M"), option("2", "블랙", "S")])
    renamed = options.read([option("1", "블랙", "Small"), option("2", "블랙", "M")])

    assert [reason.why for reason in grid.relabeled(swapped, before)] == [Why.OPTION_RELABELED]
    assert grid.relabeled(renamed, before) == ()


def test_a_grid_that_would_be_too_large_has_a_reason_and_no_cells() -> None:
    """A thousand options that shared nothing made a million cells: six seconds, and 370 MB."""
    said = [option(str(place), f"블랙 {place}", f"{place}호") for place in range(45)]
    text = "its options make 2,025 combinations, at most 2,000 can be listed"

    goods, notes = grid.build(options.read(said), words())

    assert (goods.variants, notes) == ((), (Reason(Why.OPTIONS_MANY, text, "options"),))
    assert len(built(said[:44]).variants) == 44 * 44


cells = st.tuples(st.sampled_from(["블랙", "검정", "화이트", "A타입"]), st.sampled_from(["S", "M", "L", "95"]))


@given(st.lists(cells, min_size=1, max_size=12), st.lists(cells, max_size=12))
def test_every_grid_is_whole_distinct_and_numbered_without_gaps(
    first: list[tuple[str, str]], then: list[tuple[str, str]]
) -> None:
    before = built([option(str(place), *cell) for place, cell in enumerate(first)])
    goods = built([option(str(place), *cell) for place, cell in enumerate(then or first)], before)

    colors = [one for one in goods.options if one.axis is Axis.COLOR]
    tags = [one for one in goods.options if one.axis is Axis.SIZE]
    assert list(claims(goods)) == [(color.key, size.key) for color in colors for size in tags]
    assert len({one.key for one in goods.variants}) == len(goods.variants)
    assert {one.key for one in before.options} <= {one.key for one in goods.options}
    for axis in (colors, tags):
        assert [one.position for one in axis] == list(range(1, len(axis) + 1))
        assert len({one.market_text for one in axis}) == len(axis)


@given(st.lists(st.text(min_size=1, max_size=40).filter(str.strip), max_size=6))
def test_market_texts_fit_and_differ(texts: list[str]) -> None:
    told = grid.distinct(texts, 26)

    assert len(set(told)) == len(texts)
    assert all(width(text) <= 26 and text == text.strip() for text in told)
