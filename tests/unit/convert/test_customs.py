"""Customs are told how a thing is made and whether it is leather; what nobody knows is not taken for the cheaper."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest

from bobusang.stages.convert import customs, materials
from bobusang.stages.convert.customs import Construction


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
    assert customs.construction(materials.parse({"겉감": mixture}), [said]) is made


@pytest.mark.parametrize(
    ("path", "name", "made"),
    [
        ("상의 > 스웻셔츠", "오버핏", Construction.KNIT),
        ("상의 > 스웨트셔츠", "로고", Construction.KNIT),
        ("남성 > 폴로 셔츠", "로고", Construction.KNIT),
        ("상의 > 피케/카라 셔츠", "로고", Construction.KNIT),
        ("하의 > 스웨트팬츠", "로고", Construction.KNIT),
        ("하의 > 조거팬츠", "로고", Construction.KNIT),
        ("하의 > 트레이닝 팬츠", "로고", Construction.KNIT),
        ("아우터 > 플리스 재킷", "로고", Construction.KNIT),
        ("상의", "케이블 풀오버", Construction.KNIT),
        # What is knitted says so, though it lies among what is woven.
        ("상의 > 셔츠", "럭비 셔츠", Construction.KNIT),
        ("아우터 > 코트", "니트 코트", Construction.KNIT),
        # A woven cloth may be cut like sportswear.
        ("하의 > 팬츠", "데님 조거 팬츠", Construction.WOVEN),
        ("아우터 > 코트", "후드 코트", Construction.WOVEN),
        ("상의 > 셔츠", "오버핏", Construction.WOVEN),
        ("상의 > 셔츠", "폴로 랄프로렌 스트라이프", Construction.WOVEN),
        # Shirt, trousers and jacket alone prove nothing.
        ("상의", "오버핏 셔츠", Construction.UNKNOWN),
        ("하의 > 팬츠", "와이드 팬츠", Construction.UNKNOWN),
        ("아우터 > 재킷", "크롭 재킷", Construction.UNKNOWN),
    ],
)
def test_only_a_proof_makes_it_woven(path: str, name: str, made: Construction) -> None:
    """Sweatshirts and joggers were called woven and so free of duty, for 셔츠 and 팬츠 stand in their names."""
    assert customs.construction((), (path, name)) is made


@pytest.mark.parametrize(
    ("said", "material"),
    [
        ("소가죽(90%), 폴리에스테르(10%)", "leather"),
        ("소가죽(10%), 폴리에스테르(90%)", "other"),
        ("소가죽 50%, 합성가죽 50%", "leather"),
        ("소가죽 25%, 스웨이드 25%, 면 40%, 고무 10%", "leather"),
        ("카프스킨", "leather"),
        ("밑창: 고무 / 갑피: 소가죽", "leather"),
        ({"굽": "고무", "갑피": "소가죽"}, "leather"),
        ({"안감": "소가죽", "겉감": "캔버스"}, "other"),
        ("면", "other"),
        ("합성가죽 100%", "other"),
        ("에코레더", "other"),
        ("소가죽, 고무", ""),
        ("신소재 60%, 면 40%", ""),
        ("상세페이지 참조", ""),
        ({"앞판": "면", "뒤판": "소가죽"}, ""),
        (None, ""),
    ],
)
def test_leather_is_what_most_of_it_is_and_unknown_is_not_none(said: Any, material: str) -> None:
    """카프스킨 was free of duty, and 비건레더 was leather: the word was looked at, not what it means."""
    assert customs.material(materials.parse(said)) == material


def test_the_main_part_does_not_depend_on_the_order_in_which_parts_are_told() -> None:
    """PostgreSQL's JSON sorts its keys by length: the same shoes were leather in one database and rubber in another."""
    parts = {"밑창": "고무", "안감": "면", "몸판": "소가죽", "장식": "금속"}

    for order in permutations(parts.items()):
        found = materials.parse(dict(order))

        assert customs.material(found) == "leather"
        assert customs.construction(found, ["로퍼"]) is Construction.LEATHER
