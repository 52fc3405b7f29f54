"""A run that does not convert renews stock by code, then by text, and never by a code that names something else."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from bobusang.catalog.tables.variants import Axis, StockKind
from bobusang.catalog.variants import Goods, Stock
from bobusang.stages.convert import grid, options, sizes
from bobusang.stages.convert.restocking import restocked
from bobusang.stages.convert.stock import IN, OUT, UNKNOWN

JAPANESE = {"블랙": "ブラック", "검정": "ブラック", "화이트": "ホワイト"}
WORDS = grid.Words(
    text=lambda axis, text: sizes.written(text) if axis is Axis.SIZE else JAPANESE.get(text, text or "画像参照"),
    master=lambda axis, text: None,
    details=lambda size: (),
)


def option(code: str | None, color: str, size: str, **more: Any) -> dict[str, Any]:
    return {"code": code, "color": color, "size": size, "available": True} | more


def out(code: str | None, color: str, size: str) -> dict[str, Any]:
    return option(code, color, size, available=False)


def built(*said: dict[str, Any]) -> Goods:
    return grid.build(options.read(said), WORDS)[0]


def claims(goods: Goods) -> dict[tuple[str, str], Stock]:
    return {(one.color_key, one.size_key): one.stock for one in goods.variants}


def test_stock_is_renewed_by_code_then_by_text_and_what_is_not_named_is_unknown() -> None:
    goods = built(option("1", "블랙", "S"), option("2", "블랙", "M"), option("3", "화이트", "S"))
    now = [option("1", "검정", "S", available=False), option("9", "블랙", "M", stock=1)]

    assert claims(restocked(goods, options.read(now)).goods) == {
        ("블랙", "S"): OUT,
        ("블랙", "M"): Stock(StockKind.COUNT, 1),
        ("화이트", "S"): UNKNOWN,
        ("화이트", "M"): OUT,
    }


def test_both_codes_of_one_thing_are_heard_by_code_and_by_text() -> None:
    goods = built(option("1", "블랙", "S"), option("2", "블랙", "S"))

    for codes in (("1", "2"), ("8", "9")):
        now = [option(codes[0], "블랙", "S", price=900), out(codes[1], "블랙", "S")]

        [variant] = restocked(goods, options.read(now)).goods.variants

        assert (variant.codes, variant.stock, variant.price) == (("1", "2"), IN, 900)


S, M = ("블랙", "S"), ("블랙", "M")
BEFORE = built(option("1", *S), option("2", *M))
WAS = "option codes name something else than was converted: "
STAYS = "; their stock stays until FULL settles it"


@pytest.mark.parametrize(
    ("now", "found", "told"),
    [
        # Spelled anew under the same code: the same option.
        ([option("1", "BLACK", "Small"), out("2", "BLACK", "M (95)")], {S: IN, M: OUT}, ""),
        # The code of the M is the L's now: nobody knows of the M, and the S is what its text says.
        ([out("1", *S), option("2", "블랙", "L")], {S: OUT, M: UNKNOWN}, "2 ('블랙 / L', was '블랙 / M')"),
        ([option("1", *S), option("2", "레드", "M")], {S: IN, M: UNKNOWN}, "2 ('레드 / M', was '블랙 / M')"),
        # Whatever it is, it is out: the M is either that, or not named any more under a code that left it.
        ([option("1", *S), out("2", "블랙", "L")], {S: IN, M: OUT}, "2 ('블랙 / L', was '블랙 / M')"),
        # All codes move by one: the text of the M stands under the S's code.
        (
            [option("9", *S), out("1", *M), option("2", "블랙", "L")],
            {S: IN, M: UNKNOWN},
            "1 ('블랙 / M', was '블랙 / S'), 2 ('블랙 / L', was '블랙 / M')",
        ),
        # They trade places.
        (
            [out("1", *M), option("2", *S)],
            {S: UNKNOWN, M: UNKNOWN},
            "1 ('블랙 / M', was '블랙 / S'), 2 ('블랙 / S', was '블랙 / M')",
        ),
        (
            [out("1", *M), out("2", *S)],
            {S: OUT, M: OUT},
            "1 ('블랙 / M', was '블랙 / S'), 2 ('블랙 / S', was '블랙 / M')",
        ),
        # A new code for the M's text, whose own code is another's: by text.
        ([option("1", *S), option("2", "블랙", "L"), out("7", *M)], {S: IN, M: OUT}, "2 ('블랙 / L', was '블랙 / M')"),
        # What is spelled anew beside a code that is doubted is not known by its code either.
        (
            [option("1", "BLACK", "S"), option("2", "레드", "M")],
            {S: UNKNOWN, M: UNKNOWN},
            "2 ('레드 / M', was '블랙 / M')",
        ),
    ],
)
def test_a_code_that_names_something_else_says_nothing_of_what_it_named(
    now: list[dict[str, Any]], found: dict[tuple[str, str], Stock], told: str
) -> None:
    """A mall gave the code of the M to the L, and the L's stock was sold as the M's."""
    read = options.read(now)

    assert claims(restocked(BEFORE, read).goods) == found
    assert restocked(BEFORE, read).doubts == (f"{WAS}{told}{STAYS}" if told else "")


def test_two_blacks_that_trade_their_names_are_doubted_though_both_are_black() -> None:
    goods = built(option("1", "블랙", "S"), option("2", "검정", "S"))
    now = options.read([option("1", "검정", "S"), out("2", "블랙", "S")])

    assert claims(restocked(goods, now).goods) == {("블랙", "S"): UNKNOWN, ("검정", "S"): UNKNOWN}


def test_a_hole_of_the_grid_is_not_filled_by_a_code_that_named_another_cell() -> None:
    """It stays what it was, which is out unless a page since has filled it."""
    goods = built(option("1", "블랙", "S"), option("2", "화이트", "M"))
    now = options.read([option("1", "블랙", "M"), option("2", "화이트", "M")])

    assert claims(restocked(goods, now).goods) == {
        ("블랙", "S"): UNKNOWN,
        ("블랙", "M"): UNKNOWN,
        ("화이트", "S"): UNKNOWN,
        ("화이트", "M"): IN,
    }


def test_more_than_three_doubts_are_counted() -> None:
    goods = built(*(option(str(code), "블랙", str(230 + code)) for code in range(4)))
    now = options.read([option(str(code), "블랙", str(270 + code)) for code in range(4)])

    assert restocked(goods, now).doubts == (
        f"{WAS}0 ('블랙 / 270', was '블랙 / 230'), 1 ('블랙 / 271', was '블랙 / 231'), "
        f"2 ('블랙 / 272', was '블랙 / 232') and 1 more{STAYS}"
    )


choices = st.tuples(
    st.sampled_from(["블랙", "화이트", "네이비"]), st.sampled_from(["S", "M", "95", "100", "260(8.5)", "42⅔"])
)


@given(
    listed=st.lists(choices, min_size=2, max_size=8, unique=True),
    sign=st.sampled_from(["/", "_", "-", ", ", " | "]),
    coded=st.booleans(),
    still=st.lists(st.booleans(), min_size=8, max_size=8),
    more=st.sampled_from([(), ("선물포장",), ("레드{}S",), ("블랙",)]),
)
def test_colour_and_size_in_one_text_are_found_again_whatever_else_is_listed(
    listed: list[tuple[str, str]], sign: str, coded: bool, still: list[bool], more: tuple[str, ...]
) -> None:
    """How a text is read depends on the others: beside 선물포장 nothing is read apart, and the S that sells out must be
    the same S."""

    def said(code: int, text: str, **more: Any) -> dict[str, Any]:
        return {"code": str(code) if coded else None, "option": text, "available": True} | more

    whole = {cell: sign.join(cell) for cell in listed}
    before = options.read([said(code, text) for code, text in enumerate(whole.values())])
    assume(len(before.axes) == 2)
    goods = grid.build(before, WORDS)[0]
    now = [said(code, text, available=False) for code, text in enumerate(whole.values()) if still[code]]
    now += [said(100 + code, text.format(sign)) for code, text in enumerate(more)]

    found = restocked(goods, options.read(now)) if now else None

    if found:
        named = {cell: OUT if still[code] else UNKNOWN for code, cell in enumerate(listed)}
        assert {cell: claim for cell, claim in claims(found.goods).items() if cell in named} == named
        assert found.doubts == ""


@pytest.mark.parametrize("coded", [True, False])
def test_what_was_listed_as_one_text_keeps_its_stock_when_it_is_read_apart(coded: bool) -> None:
    """It was converted before colour and size were read apart; its axes are a person's matter, its stock is not."""
    listed = [{"code": str(code) if coded else None, "option": text} for code, text in enumerate(("블랙/S", "블랙/M"))]
    old = [options.Source(one["code"], {Axis.COLOR: str(one["option"])}, IN, None, gone=False) for one in listed]
    goods = grid.build(options.Sorted(tuple(old), (Axis.COLOR,)), WORDS)[0]

    found = restocked(goods, options.read([listed[0] | {"available": False}, listed[1] | {"available": True}]))

    assert claims(found.goods) == {("블랙/S", "FREE"): OUT, ("블랙/M", "FREE"): IN}
    assert found.doubts == ""
