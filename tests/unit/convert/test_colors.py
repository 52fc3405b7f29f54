"""Colours are known by their words, and belong to one family or to several."""

from __future__ import annotations

import pytest

from bobusang.stages.convert import colors


@pytest.mark.parametrize(
    ("text", "family"),
    [
        ("Black", "black"),
        ("블랙", "black"),
        ("검정색", "black"),
        ("라이트블루", "blue"),
        ("Sky Blue", "blue"),
        ("스카이블루", "blue"),
        ("다크 네이비", "navy"),
        ("Off-White", "white"),
        ("Black/White", "multi"),
        ("블랙&화이트", "multi"),
        ("Sand Beige", "beige"),
        ("샌드베이지", "beige"),
        ("핑크베이지", "beige"),
        ("블루그레이", "gray"),
        ("네이비블루", "blue"),
        ("카키브라운", "brown"),
        ("로즈골드", "gold"),
        ("차콜블랙", "black"),
        ("크림슨", "red"),
        ("Black-Navy", "multi"),
        ("블랙x네이비", "multi"),
        ("Onyx Sand Beige", "beige"),
        ("네이비 화이트 스트라이프", "multi"),
        ("멀티", "multi"),
        ("와인", "red"),
        ("blackout", None),
        ("A타입", None),
        ("", None),
    ],
)
def test_a_colour_belongs_to_a_family(text: str, family: str | None) -> None:
    assert colors.family(text) == family
    assert colors.is_color(text) == (family is not None)


@pytest.mark.parametrize(
    ("text", "family"),
    [
        ("Black Denim", "black"),
        ("블랙데님", "black"),
        ("그레이 데님", "gray"),
        ("Navy Melange", "navy"),
        ("차콜 멜란지", "gray"),
        ("Blue Black Denim", "black"),
        ("데님", "blue"),
        ("흑청", "black"),
        ("Melange", "gray"),
        ("Denim Melange", "gray"),
        ("Denim/Black", "multi"),
    ],
)
def test_how_a_colour_is_dyed_is_a_family_only_where_no_colour_is_named(text: str, family: str) -> None:
    assert colors.family(text) == family


@pytest.mark.parametrize("text", ["White Black", "black white", "블랙화이트", "아이보리 블랙"])
def test_black_and_white_do_not_shade_each_other(text: str) -> None:
    assert colors.family(text) == "multi"
