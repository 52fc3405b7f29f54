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
