"""A mall's category is looked for in the market's words, among what is made for the same people."""

from __future__ import annotations

import pytest

from bobusang.stages.convert.glossary import Glossary, Term, shipped
from bobusang.stages.convert.market_categories import Audience, Categories, audience
from bobusang.stages.convert.masters import Kind, Masters
from bobusang.stages.convert.naming import How, Match

WOMEN, MEN, KIDS = "レディースファッション > 靴", "メンズファッション > 靴", "ベビー・キッズ > 靴"
ROWS = [
    *((1, WOMEN, "スニーカー"), (2, MEN, "スニーカー"), (3, KIDS, "スニーカー"), (4, WOMEN, "リュック・バックパック")),
    *((5, MEN, "リュック・バックパック"), (6, MEN, "腕時計"), (7, "ライフスタイル", "ラグ"), (0, "", "コート")),
]
LISTS = Masters({Kind.CATEGORIES: [{"id": str(id), "paths": paths, "name": name} for id, paths, name in ROWS]})
FOUND = Categories(LISTS, Glossary([*shipped(), Term("손목시계", "腕時計"), Term("러그", "ラグ")]))


def exact(id: int, paths: str, name: str, how: How = How.ALIAS, confidence: float = 0.95) -> Match:
    return Match(id, f"{paths} > {name}", how, confidence)


@pytest.mark.parametrize(
    ("path", "said"),
    [
        *(("여성 > 코트", "women"), ("WOMEN'S > COAT", "women"), ("남성의류 > 코트", "men"), ("MEN > COAT", "men")),
        *(("키즈 > 여아 > 코트", "kids"), ("여성 > 키즈", "kids"), ("レディースファッション > コート", "women")),
        *(("MEN & WOMEN > 코트", None), ("남녀공용 > 코트", None), ("맨투맨", None), ("mendoza", None), ("", None)),
    ],
)
def test_a_path_says_whom_it_is_for(path: str, said: str | None) -> None:
    assert audience(path) == (Audience(said) if said else None)


@pytest.mark.parametrize(
    ("path", "matches"),
    [
        ("여성 > 신발 > 스니커즈", [exact(1, WOMEN, "スニーカー")]),
        ("신발 > 남성 스니커즈 > 남성", [exact(2, MEN, "スニーカー")]),
        ("아동 > 스니커즈", [exact(3, KIDS, "スニーカー")]),
        ("MEN > スニーカー", [exact(2, MEN, "スニーカー", How.EXACT, 1.0)]),
    ],
)
def test_of_rows_with_one_name_that_is_found_which_is_made_for_the_same(path: str, matches: list[Match]) -> None:
    assert FOUND.find(path) == matches


def test_whom_a_category_is_for_may_stand_beside_its_path() -> None:
    assert FOUND.find("신발 > 스니커즈", "여성") == [exact(1, WOMEN, "スニーカー")]


def test_a_name_that_several_have_is_a_doubt_where_the_mall_does_not_say_for_whom() -> None:
    found = FOUND.find("신발 > 스니커즈")

    assert [(one.id, one.how, one.confidence) for one in found] == [(id, How.ALIAS, 0.5) for id in (1, 2, 3)]


def test_what_is_made_for_others_is_a_doubt_however_well_it_is_called_the_same() -> None:
    assert FOUND.find("여성 > 손목시계") == [exact(6, MEN, "腕時計", confidence=0.5)]
    assert FOUND.find("남성 > 손목시계") == [exact(6, MEN, "腕時計")]
    assert FOUND.find("여성 > 러그") == [exact(7, "ライフスタイル", "ラグ")]


def test_what_is_only_near_is_shown_and_not_sure() -> None:
    assert [(one.id, one.confidence, one.sure) for one in FOUND.find("남성 > 백팩")] == [
        (5, 0.667, False),
        (4, 0.5, False),
    ]


@pytest.mark.parametrize("path", ["", "여성", "여성 > 남성", "여성 > 라구", "코트"])
def test_what_says_nothing_or_would_only_sound_alike_is_not_found(path: str) -> None:
    assert FOUND.find(path) == []
