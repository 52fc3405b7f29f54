"""Only what a person has accepted passes: no guess, however good, lists a product."""

from __future__ import annotations

from typing import Any

import pytest

from bobusang.catalog.assigning import Assigned
from bobusang.catalog.brands import MallBrand
from bobusang.catalog.categories import MallCategory
from bobusang.catalog.model import Review
from bobusang.kit.errors import Invalid
from bobusang.stages.convert import mapping, reviewing
from bobusang.stages.convert.glossary import Glossary, shipped
from bobusang.stages.convert.mapping import Mapped
from bobusang.stages.convert.masters import Kind, Masters
from bobusang.stages.convert.model import Reason, Why
from bobusang.stages.convert.naming import How, Match
from bobusang.stages.convert.reviewing import Line, Subject

YES, NO, NEW = Review.ACCEPTED, Review.BLOCKED, Review.PROPOSED


def brand(id: int, ko: str, en: str, review: Review, market: int | None) -> MallBrand:
    return MallBrand(id, "okmall", f"{ko}({en})", ko, en, None, review, market, None)


def category(id: int, path: str, review: Review, market: int | None) -> MallCategory:
    return MallCategory(id, "okmall", path, None, None, None, review, market)


BRANDS = [
    brand(1, "나이키", "NIKE", YES, 203),
    brand(2, "구찌", "GUCCI", YES, 1),
    brand(3, "구찌 키즈", "GUCCI KIDS", NEW, None),
    brand(4, "아크메", "ACME", YES, 0),
    brand(5, "금지", "BANNED", NO, 9),
    brand(6, "새것", "FRESH", NEW, 12),
    brand(7, "빈칸", "EMPTY", YES, None),
    brand(8, "온", "ON", YES, 6),
]
CATEGORIES = [
    category(1, "상의 > 니트", YES, 3064),
    category(2, "상의 > 셔츠", NEW, 3065),
    category(3, "하의", NO, 3066),
    category(4, "가방", YES, None),
    category(5, "모자", YES, 0),
]
MAPPED = Mapped(BRANDS, CATEGORIES)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"brand": "NIKE", "brand_ko": "나이키"}, 1),
        ({"brand": "nike"}, 1),
        ({"brand_ko": "나이키"}, 1),
        ({"brand": "나이키(NIKE)"}, 1),
        ({"brand": "NIKE", "brand_ko": "나이키 스포츠웨어"}, 1),
        ({"brand": "GUCCI KIDS"}, Why.BRAND_UNREVIEWED),
        ({"brand": "ACME"}, 4),
        ({"brand": "BANNED"}, Why.BRAND_BLOCKED),
        ({"brand": "FRESH"}, Why.BRAND_UNREVIEWED),
        ({"brand": "EMPTY"}, Why.BRAND_UNMAPPED),
        ({"brand": "Salomon"}, Why.BRAND_UNKNOWN),
        ({"brand": "ONLY NY"}, Why.BRAND_UNKNOWN),
        ({"brand": "GUCCI", "brand_ko": "금지"}, Why.BRAND_BLOCKED),
        ({}, Why.BRAND_UNKNOWN),
    ],
)
def test_a_brand_passes_only_if_it_was_accepted(fields: dict[str, Any], expected: int | Why) -> None:
    found = MAPPED.brand(fields)

    assert (found.why if isinstance(found, Reason) else found.id) == expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (["상의", "니트"], 1),
        ("상의 > 니트", 1),
        (["상의", "셔츠"], Why.CATEGORY_UNREVIEWED),
        (["하의"], Why.CATEGORY_BLOCKED),
        (["가방"], Why.CATEGORY_UNMAPPED),
        (["모자"], Why.CATEGORY_UNMAPPED),
        (["신발"], Why.CATEGORY_UNKNOWN),
        (None, Why.CATEGORY_UNKNOWN),
    ],
)
def test_a_category_passes_only_if_it_was_accepted_and_is_never_0(path: object, expected: int | Why) -> None:
    found = MAPPED.category({"category": path})

    assert (found.why if isinstance(found, Reason) else found.id) == expected


LISTS = Masters(
    {
        Kind.BRANDS: [{"id": "203", "brand_name": "NIKE"}, {"id": "7", "brand_name": "GUCCI"}],
        Kind.CATEGORIES: [{"id": "1", "name": "ニット"}, {"id": "2", "name": "ニット"}, {"id": "3", "name": "シャツ"}],
    }
)


def test_brands_and_categories_are_proposed_with_a_confidence() -> None:
    found = mapping.propose_brands(BRANDS[:3], LISTS, mapping.aliases_of(BRANDS))

    assert found == {
        1: [Match(203, "NIKE", How.EXACT, 1.0)],
        2: [Match(7, "GUCCI", How.EXACT, 1.0)],
        3: [],
    }
    assert mapping.sure(found) == [Assigned(1, 203, "NIKE", 1), Assigned(2, 7, "GUCCI", 1)]
    assert mapping.propose_categories(CATEGORIES[:3], LISTS, Glossary(shipped())) == {
        1: [Match(1, "ニット", How.ALIAS, 0.5), Match(2, "ニット", How.ALIAS, 0.5)],
        2: [Match(3, "シャツ", How.ALIAS, 0.95)],
        3: [],
    }


def test_a_mapping_is_written_and_read_again() -> None:
    lines = [
        Line(Subject.BRAND, "okmall", "나이키(NIKE)", "나이키", "NIKE", 203, "NIKE", YES),
        Line(Subject.BRAND, "okmall", "아크메(ACME)", "아크메", "ACME", 0, "ACME, Inc.", YES),
        Line(Subject.BRAND, "okmall", "새것", review=NEW),
        Line(Subject.BRAND, "okmall", "=HYPERLINK(1)", "-톤", "@home", review=NEW),
        Line(Subject.CATEGORY, "okmall", "상의 > 니트", market_id=1, review=NO),
    ]

    assert sorted(reviewing.parsed("\ufeff" + reviewing.written(lines), LISTS), key=str) == sorted(lines, key=str)


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ("brand,okmall,a,,,,,accepted", "the brand 'a' is accepted as nothing"),
        ("category,okmall,a,,,0,,accepted", "which is no category"),
        ("brand,okmall,a,,,999,,accepted", "the market has no brand 999"),
        ("brand,okmall,a,,,x,,proposed", "'x' is no number"),
        ("brand,okmall,a,,,²,,proposed", "'²' is no number"),
        (f"brand,okmall,a,,,{'9' * 30},,proposed", "'9{30}' is no number"),
        ("brand,okmall,a,,,1,,maybe", "it needs a kind"),
        ("brand,okmall,a", "it has 3 columns, not 8"),
        ("brand,okmall,a,,,,,blocked\nbrand,okmall,a,,,,,proposed", "line 3 .*comes twice"),
    ],
)
def test_a_mapping_that_cannot_be_meant_is_refused_as_a_whole(row: str, why: str) -> None:
    with pytest.raises(Invalid, match=why):
        reviewing.parsed(f"{','.join(reviewing.COLUMNS)}\n{row}\n", LISTS)
