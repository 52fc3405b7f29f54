"""Materials are read whole or not at all, and say how a thing is made."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bobusang.stages.convert import materials
from bobusang.stages.convert.materials import Construction, Part, Share


def found(text: str) -> list[tuple[str, str | None]]:
    return [
        (share.fibre or share.word, None if share.percent is None else str(share.percent))
        for share in materials.shares(text)
    ]


@pytest.mark.parametrize(
    ("text", "shares"),
    [
        ("울(90%), 나일론(10%)", [("wool", "90"), ("nylon", "10")]),
        ("면 100%", [("cotton", "100")]),
        ("폴리에스테르 65% 면 35%", [("polyester", "65"), ("cotton", "35")]),
        ("COTTON 60% POLYESTER 40%", [("cotton", "60"), ("polyester", "40")]),
        ("60% Cotton, 40% Polyester", [("cotton", "60"), ("polyester", "40")]),
        ("면 95 / 폴리우레탄 5", [("cotton", "95"), ("polyurethane", "5")]),
        ("소가죽", [("leather", None)]),
        ("소가죽, 합성피혁", [("leather", None), ("synthetic leather", None)]),
        ("신소재(100%)", [("신소재", "100")]),
        ("", []),
        ("상세페이지 참조 2번", []),
    ],
)
def test_a_mixture_is_read(text: str, shares: list[tuple[str, str | None]]) -> None:
    assert found(text) == shares


def test_parts_are_whole_when_they_add_up() -> None:
    parts = materials.parse({"겉감": "울(90%), 나일론(10%)", "안감": "면(80%)", "충전재": ""})

    assert parts == (
        Part("겉감", (Share("울", "wool", Decimal(90)), Share("나일론", "nylon", Decimal(10)))),
        Part("안감", (Share("면", "cotton", Decimal(80)),)),
    )
    assert [part.whole for part in parts] == [True, False]
    assert materials.parse(None) == ()


@pytest.mark.parametrize(
    ("mixture", "said", "made"),
    [
        ("소가죽(100%)", "로퍼", Construction.LEATHER),
        ("소가죽(40%), 면(60%)", "스니커즈", Construction.UNKNOWN),
        ("합성피혁(100%)", "백팩", Construction.UNKNOWN),
        ("울(100%)", "상의 > 니트", Construction.KNIT),
        ("면(100%)", "반팔 티셔츠", Construction.KNIT),
        ("면(100%)", "옥스포드 셔츠", Construction.WOVEN),
        ("면(100%)", "데님", Construction.WOVEN),
        ("면(100%)", "머그컵", Construction.UNKNOWN),
    ],
)
def test_customs_are_told_how_it_is_made(mixture: str, said: str, made: Construction) -> None:
    assert materials.construction(materials.parse({"겉감": mixture}), [said]) is made


@given(st.text(alphabet="면울가죽 %()0123456789,/.", max_size=25))
def test_whatever_is_written_nothing_is_more_than_it_says(text: str) -> None:
    assert all(share.word for share in materials.shares(text))
