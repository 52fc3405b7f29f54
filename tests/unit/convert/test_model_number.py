"""A model number is told without its season, and only if it is one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bobusang.stages.convert import model_number


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("FQ2494-010", "FQ2494-010"),
        ("FQ2494-010 25FW", "FQ2494-010"),
        ("25FW FQ2494-010", "FQ2494-010"),
        ("[24SS] 24SS FQ2494-010 (FW25)", "FQ2494-010"),
        ("FQ2494-010 25 F/W", "FQ2494-010"),
        ("FQ2494 2024SS", "FQ2494"),
        ("25FW1234", "25FW1234"),
        ("AC-24SS-1", "AC-24SS-1"),
        ("1025SS", "1025SS"),
        ("AC24SS", "AC24SS"),
        ("25FW", "25FW"),
        ("999999\u00a0ABCDE 9999", "999999 ABCDE 9999"),
    ],
)
def test_a_season_goes_and_what_is_inside_the_code_stays(text: str, number: str) -> None:
    """Stripping seasons anywhere would have broken 23 codes of one shop."""
    assert model_number.without_season(text) == number


seasons = st.sampled_from(["25FW", "24SS", "FW25", "2024SS", "25 F/W", "[25FW]", "(24SS)"])
codes = st.from_regex(r"[A-Z0-9]{2,6}[- ]?[A-Z0-9]{2,6}", fullmatch=True)


@given(st.lists(seasons | codes, max_size=4).map(" ".join) | st.text(max_size=30))
def test_stripping_twice_is_stripping_once(text: str) -> None:
    once = model_number.without_season(text)

    assert model_number.without_season(once) == once


@pytest.mark.parametrize(
    ("number", "why"),
    [
        ("FQ2494-010", ""),
        ("80999991", ""),
        ("9AA999_AAA9_A0009", ""),
        ("L12345678", ""),
        ("M990", ""),
        ("BK9SR17D", ""),
        ("AC1", "it has 3 characters, not 4 to 40"),
        ("A" * 41, "it has 41 characters, not 4 to 40"),
        ("AC1234블랙", "it is partly Korean"),
        ("Black", "it is a colour"),
        ("DARK NAVY", "it is a colour"),
        ("25FW", "it is a season"),
        ("US 4.5", "it is a size"),
        ("<script>", "it has characters that no model number has"),
    ],
)
def test_what_is_no_model_number_is_refused(number: str, why: str) -> None:
    assert model_number.refused(number) == why
