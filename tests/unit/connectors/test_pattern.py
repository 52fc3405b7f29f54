import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bobusang.connectors.sources.declared.known import Flaw
from bobusang.connectors.sources.declared.pattern import compile_pattern

FOUND = [
    (r'skuqty\[(\d+)\]="(\d+)"', 'x skuqty[3]="12" y', "3"),
    (r"^([^(]+)\(", "나이키(NIKE)", "나이키"),
    (r"\(([^()]{1,100})\)$", "나이키(NIKE)", "NIKE"),
    (r"^\[[^\]]*\]\s*(남성|여성)", "[NIKE] 남성 코트", "남성"),
    (r"약 ?(.{1,50})$", "실측 사이즈 약 95", "95"),
    (r"^(.{1,300}\))\([^()]{1,200}\)$", "코트 (A-1)(LONG NAME)", "코트 (A-1)"),
    (r"(?:ab){2}(c)", "ababc", "c"),
    (r"(?P<year>\d{4})-\d{2}", "on 2026-01", "2026"),
    (r"price: (\d+?),", "price: 129,", "129"),
    (r"([A-Z]+\d*)\.", "AB12.", "AB12"),
]

BOMBS = [
    r"(a+)+b",
    r"(a*)*",
    r"(a|aa)+$",
    r"(a|a)*b",
    r"(?:a?){50}",
    r"((a{1,9}){1,9}){1,9}",
    r".*.*x",
    r"a*a*a*b",
    r"(\w+\s*)+:",
    r"(.*)(.*)(.*)x",
    r"\d*[0-9]*x",
    "a?" * 30 + "a" * 30,
    r"(x+x+)+y",
    r"(a|b|ab)*c",
    r"\s+\s+$",
]

BROKEN = [
    "",
    "(",
    ")",
    "[",
    "a**",
    "*a",
    "a{2000}",
    r"(a)\1",
    "(?=a)a",
    "(?!a)",
    "(?<=a)b",
    "(?i)a",
    "a" * 400,
    r"\N{DASH}",
    "a{3,1}",
]


@pytest.mark.parametrize(("pattern", "text", "group"), FOUND)
def test_a_sound_pattern_finds(pattern: str, text: str, group: str) -> None:
    found = compile_pattern(pattern).search(text)

    assert found is not None
    assert found[1] == group


@pytest.mark.parametrize("pattern", BOMBS)
def test_a_bomb_is_refused(pattern: str) -> None:
    with pytest.raises(Flaw):
        compile_pattern(pattern)


@pytest.mark.parametrize("pattern", BROKEN)
def test_what_is_no_pattern_or_needs_more_than_is_allowed_is_refused(pattern: str) -> None:
    with pytest.raises(Flaw):
        compile_pattern(pattern)


PIECES = st.lists(
    st.sampled_from(
        ["a", "b", ".", "[ab]", r"\d", "(", ")", "(?:", "|", "*", "+", "?", "{1,9}", "{3}", "*?", "x", "^", "$"]
    ),
    max_size=10,
)


@given(PIECES)
def test_what_is_allowed_ends_on_the_worst_text(pieces: list[str]) -> None:
    """A bomb that was let through would run into the tests' time limit here."""
    try:
        pattern = compile_pattern("".join(pieces))
    except Flaw:
        return
    for text in ("a" * 2000, "ab" * 1000, "1" * 2000, "aab1" * 500):
        pattern.search(text)


@given(PIECES)
def test_what_is_allowed_means_the_same_as_without_bounds(pieces: list[str]) -> None:
    text = "".join(pieces)
    try:
        pattern = compile_pattern(text)
    except Flaw:
        return
    for sample in ("", "ab", "aab1x", "xx11", "b"):
        bare, bounded = re.search(text, sample), pattern.search(sample)
        assert (bare and bare.span()) == (bounded and bounded.span())
