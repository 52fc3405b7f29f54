"""Colour and size in one text are read apart where that is sure, and told as unclear where it only may be."""

from __future__ import annotations

import pytest

from bobusang.stages.convert.splitting import Cell, Split, split


@pytest.mark.parametrize(
    ("values", "cells"),
    [
        (["블랙/260(8.5)", "화이트/270(9.5)"], [("블랙", "260(8.5)"), ("화이트", "270(9.5)")]),
        (["블랙/S", "블랙/M"], [("블랙", "S"), ("블랙", "M")]),
        (["블랙_M", "블랙_L"], [("블랙", "M"), ("블랙", "L")]),
        (["네이비-95", "네이비-100"], [("네이비", "95"), ("네이비", "100")]),
        (["Off-White - M", "Off-White - L"], [("Off-White", "M"), ("Off-White", "L")]),
        (["네이비/화이트, S", "블랙, S"], [("네이비/화이트", "S"), ("블랙", "S")]),
        (["블랙｜42⅔", "블랙｜43⅓"], [("블랙", "42⅔"), ("블랙", "43⅓")]),
        (["블랙-S/M", "블랙-X-Large"], [("블랙", "S/M"), ("블랙", "X-Large")]),
        (["260/블랙", "270/블랙"], [("블랙", "260"), ("블랙", "270")]),
        (["BLACK_FREE", "WHITE_FREE"], [("BLACK", "FREE"), ("WHITE", "FREE")]),
        (["A타입-S", "A타입-M"], [("A타입", "S"), ("A타입", "M")]),
    ],
)
def test_a_group_is_read_apart_at_one_sign(values: list[str], cells: list[tuple[str, str]]) -> None:
    assert split(values) == Split(dict(zip(values, (Cell(*cell) for cell in cells), strict=True)))


@pytest.mark.parametrize(
    "values",
    [
        ["블랙", "화이트"],
        ["Black/White", "Navy/Red"],
        ["S/M", "L/XL"],
        ["85-90", "95-100"],
        ["사이즈-S", "사이즈-M"],
        # The number of a colour, of a model, and of the list itself.
        ["BLACK-001", "WHITE-002"],
        ["AC1234-100", "AC1234-200"],
        ["1-블랙", "2-화이트"],
        [],
    ],
)
def test_what_is_no_colour_and_size_is_left_as_it_is(values: list[str]) -> None:
    assert split(values) == Split({})


@pytest.mark.parametrize(
    ("values", "unclear"),
    [
        (["블랙/S", "로고"], "블랙/S"),
        (["블랙/S", "FREE"], "블랙/S"),
        (["01.블랙/M/기본", "01.블랙/L/기본"], "01.블랙/M/기본"),
        (["블랙/S", "블랙-M"], "블랙/S"),
        # Sizes, or the colours' own numbers: nobody can tell.
        (["BLACK-100", "WHITE-200"], "BLACK-100"),
        (["블랙/260"], "블랙/260"),
    ],
)
def test_what_may_be_colour_and_size_and_may_be_not_is_unclear(values: list[str], unclear: str) -> None:
    assert split(values) == Split({}, unclear)
