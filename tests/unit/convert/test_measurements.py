"""Measurements have a unit, and are told under names that the category allows, or not at all."""

from __future__ import annotations

from decimal import Decimal

import pytest

from bobusang.stages.convert import measurements
from bobusang.stages.convert.measurements import Chart, Measure


@pytest.mark.parametrize(
    ("text", "measure"),
    [
        ("42cm 전후", ("42", "cm", "1")),
        ("66.5cm", ("66.5", "cm", "0")),
        ("약 42 cm", ("42", "cm", "1")),
        ("40~42cm", ("41", "cm", "1")),
        ("42cm ±2cm", ("42", "cm", "2")),
        ("425mm", ("425", "mm", "0")),
        ("10 inch", ("10", "inch", "0")),
        ("320g 전후", ("320", "g", "1")),
        ("42", None),
        ("0cm", None),
        ("42~40cm", None),
        ("넉넉함", None),
        ("S: 42cm / M: 44cm", None),
    ],
)
def test_a_measurement_has_a_value_a_unit_and_a_tolerance(text: str, measure: tuple[str, str, str] | None) -> None:
    expected = measure and Measure("총장", Decimal(measure[0]), measure[1], Decimal(measure[2]))

    assert measurements.parse("총장", text) == expected


def test_only_what_the_category_allows_is_told_and_a_flat_width_becomes_a_girth() -> None:
    """About 800 listings were refused whole for a measurement that their category does not have."""
    said = [
        {"size": "S", "values": {"어깨 너비": "42cm 전후", "가슴 너비": "50cm", "무게": "300g", "총장": "665mm"}},
        {"size": "free size", "values": {"허리 너비": "37.5cm", "총장": "60"}},
        {"size": "M"},
    ]

    assert measurements.chart(said, frozenset({"肩幅", "胸囲", "着丈", "ウエスト"})) == Chart(
        {
            "S": (
                {"key": "肩幅", "value": "42"},
                {"key": "胸囲", "value": "100"},
                {"key": "着丈", "value": "66.5"},
            ),
            "FREE": ({"key": "ウエスト", "value": "75"},),
        },
        ("무게", "총장"),
    )
    assert measurements.chart(said, frozenset({"身幅"})).by_size["S"] == ({"key": "身幅", "value": "50"},)
    assert measurements.chart(None, frozenset()) == Chart({}, ())


@pytest.mark.parametrize(
    ("label", "told"),
    [
        ("어깨단면", {"key": "肩幅", "value": "50"}),
        ("가슴단면", {"key": "胸囲", "value": "100"}),
        ("허리 단면", {"key": "ウエスト", "value": "100"}),
        ("힙단면", {"key": "ヒップ", "value": "100"}),
        ("허벅지단면", {"key": "もも周り", "value": "100"}),
        ("밑단단면", {"key": "すそ周り", "value": "100"}),
    ],
)
def test_a_flat_width_by_its_other_name_is_a_girth_too(label: str, told: dict[str, str]) -> None:
    """What Korean size tables call 단면 was dropped, chest and waist of most clothes."""
    allowed = frozenset({"肩幅", "胸囲", "ウエスト", "ヒップ", "もも周り", "すそ周り"})

    assert measurements.chart([{"size": "S", "values": {label: "50cm"}}], allowed) == Chart({"S": (told,)}, ())
