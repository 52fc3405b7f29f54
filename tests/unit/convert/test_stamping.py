"""A product is made anew when something that it was made by has changed, and only then."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from bobusang.catalog.brands import MallBrand
from bobusang.catalog.categories import MallCategory
from bobusang.catalog.model import Review
from bobusang.stages.convert import gates, stamping
from bobusang.stages.convert.forbidden import Forbidden, List
from bobusang.stages.convert.glossary import Glossary, Term
from bobusang.stages.convert.mapping import Mapped
from bobusang.stages.convert.masters import Kind, Masters
from bobusang.stages.convert.stamping import Stamps

TODAY = date(2026, 1, 27)
NIKE, GUCCI = ("NIKE", "나이키", "상의 > 니트", ""), ("GUCCI", "구찌", "상의 > 니트", "")
LISTS: dict[Kind, list[dict[str, str]]] = {
    Kind.BRANDS: [{"id": "203", "name": "Nike"}, {"id": "1", "name": "Gucci"}],
    Kind.CATEGORIES: [{"id": "3064"}, {"id": "3065"}],
    Kind.COLORS: [{"id": "1", "name": "ブラック"}],
    Kind.TAGS: [{"id": "5", "category_id": "3064"}],
}
FACTS: dict[str, Any] = {
    "nike": 203,
    "review": Review.ACCEPTED,
    "knit": 3064,
    "lists": LISTS,
    "terms": [Term("블랙", "ブラック", "color")],
    "corrections": (2, 7),
    "forbidden": (),
    "on": TODAY,
    "unknown_color": None,
    "edited": "",
}


def stamped(**changed: Any) -> tuple[str, str]:
    """The stamps of the knitwear of two brands."""
    told = FACTS | changed
    brands = [
        MallBrand(1, "okmall", "나이키(NIKE)", "나이키", "NIKE", None, told["review"], told["nike"], None),
        MallBrand(2, "okmall", "구찌(GUCCI)", "구찌", "GUCCI", None, Review.ACCEPTED, 1, None),
    ]
    knit = MallCategory(1, "okmall", "상의 > 니트", None, None, None, Review.ACCEPTED, told["knit"])
    masters = Masters(told["lists"])
    words = stamping.words(Glossary(told["terms"]), *told["corrections"])
    said = stamping.common(masters, words, gates.buyma(told["forbidden"]), told["on"], told["unknown_color"])
    found = Stamps(said, Mapped(brands, [knit]), masters)
    return found.of((*NIKE[:3], told["edited"])), found.of(GUCCI)


@pytest.mark.parametrize(
    ("changed", "anew"),
    [
        ({}, (False, False)),
        ({"nike": 1}, (True, False)),
        ({"review": Review.BLOCKED}, (True, False)),
        ({"knit": 3065}, (True, True)),
        (
            {"lists": LISTS | {Kind.BRANDS: [{"id": "203", "name": "NIKE"}, {"id": "1", "name": "Gucci"}]}},
            (True, False),
        ),
        ({"lists": LISTS | {Kind.BRANDS: [{"id": "203", "name": "Nike"}]}}, (False, True)),
        ({"lists": LISTS | {Kind.BRANDS: [*LISTS[Kind.BRANDS], {"id": "9", "name": "New"}]}}, (False, False)),
        ({"lists": LISTS | {Kind.CATEGORIES: [{"id": "3065"}]}}, (True, True)),
        ({"lists": LISTS | {Kind.COLORS: [{"id": "2", "name": "ブラック"}]}}, (True, True)),
        ({"lists": LISTS | {Kind.TAGS: []}}, (False, False)),
        ({"terms": [Term("블랙", "黒", "color")]}, (True, True)),
        ({"corrections": (2, 8)}, (True, True)),
        ({"corrections": (1, 7)}, (True, True)),
        ({"forbidden": (Forbidden(List.WORD, "激安", TODAY),)}, (True, True)),
        ({"forbidden": (Forbidden(List.WORD, "激安", date(2026, 2, 1)),)}, (False, False)),
        ({"forbidden": (Forbidden(List.WORD, "激安", date(2026, 2, 1)),), "on": date(2026, 2, 1)}, (True, True)),
        ({"on": date(2026, 2, 1)}, (False, False)),
        ({"unknown_color": 99}, (True, True)),
        ({"edited": '["name"] 2026-01-27'}, (True, False)),
    ],
)
def test_what_a_product_was_made_by_makes_it_anew(changed: dict[str, Any], anew: tuple[bool, bool]) -> None:
    before, after = stamped(), stamped(**changed)

    assert tuple(one != other for one, other in zip(before, after, strict=True)) == anew


def test_without_corrections_the_stamp_is_as_it_was_before_there_were_any() -> None:
    glossary = Glossary(FACTS["terms"])

    assert stamping.words(glossary, 0, 0) == glossary.mark
