"""Materials are read whole or not at all."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bobusang.stages.convert import materials
from bobusang.stages.convert.materials import Part, Share


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
    ("text", "fibre"),
    [
        ("카프스킨", "leather"),
        ("고트 스킨", "leather"),
        ("천연 소가죽", "leather"),
        ("소가죽(겉)", "leather"),
        ("BOVINE LEATHER", "leather"),
        ("Goat leather", "leather"),
        ("Nubuck", "leather"),
        ("합성가죽", "synthetic leather"),
        ("비건레더", "synthetic leather"),
        ("인조가죽(PU)", "synthetic leather"),
        ("가죽(합성)", ""),
        ("상세페이지 참조", ""),
    ],
)
def test_a_word_is_a_fibre_only_if_it_is_known_as_one(text: str, fibre: str) -> None:
    assert [share.fibre for share in materials.shares(text)] == [fibre]
    assert [share.fibre for share in materials.shares(f"{text} 100%")] == [fibre]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("밑창: 고무 / 갑피: 소가죽", {"밑창": ["rubber"], "갑피": ["leather"]}),
        ("갑피:소가죽 밑창:고무", {"갑피": ["leather"], "밑창": ["rubber"]}),
        ("제품 소재: 면 60%, 울 40% / 안감: 면", {"제품 소재": ["cotton", "wool"], "안감": ["cotton"]}),
        ("면: 60%, 울: 40%", {"겉감": ["cotton", "wool"]}),
        ("면 100%(배색: 울 100%)", {}),
    ],
)
def test_one_text_may_name_several_parts(text: str, parts: dict[str, list[str]]) -> None:
    found = materials.parse({"겉감": text})

    assert {part.name: [share.fibre for share in part.shares] for part in found} == parts


@given(st.text(alphabet="면울가죽 %()0123456789,/.", max_size=25))
def test_whatever_is_written_nothing_is_more_than_it_says(text: str) -> None:
    assert all(share.word for share in materials.shares(text))
