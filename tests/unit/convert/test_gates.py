"""Gates: Korean left in 55 texts, 31 requests lost to a blank nobody saw, brands matched by two letters."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bobusang.kit.errors import Invalid
from bobusang.stages.convert.forbidden import Forbidden, List, occurs, read, replaced, same_name
from bobusang.stages.convert.gates import BUYMA_LIMITS, Field, Problem, Rule, buyma
from bobusang.stages.convert.text import clean, cut
from bobusang.stages.convert.transliteration import transliterate

TODAY = date(2026, 1, 27)
SINCE = date(2026, 1, 1)


def rules_broken(kind: Field, text: str) -> list[Rule]:
    return [problem.rule for problem in buyma().problems([(kind, kind, text)], TODAY)]


@pytest.mark.parametrize(
    ("kind", "text", "broken"),
    [
        (Field.NAME, "ウールコート", []),
        (Field.NAME, "ア" * 30, []),
        (Field.NAME, "ア" * 30 + "a", [Rule.LENGTH]),
        (Field.NAME, "", [Rule.EMPTY]),
        (Field.NAME, "ウール 코트", [Rule.HANGUL]),
        (Field.NAME, "ウール\u00a0コート", [Rule.UNSEEN]),
        (Field.NAME, "ウール\u200bコート", [Rule.UNSEEN]),
        (Field.NAME, "ウールコート ", [Rule.BLANKS]),
        (Field.NAME, "ウール\nコート", [Rule.BLANKS]),
        (Field.NAME, "ウール\ufffd", [Rule.BROKEN]),
        (Field.NAME, "<b>ウール</b>", [Rule.HTML]),
        (Field.NAME, "A&amp;B", [Rule.HTML]),
        (Field.NAME, "H&M 3 < 5 > 4", []),
        (Field.OPTION, "ア" * 13, []),
        (Field.OPTION, "ア" * 14, [Rule.LENGTH]),
        (Field.SHOP_NAME, "", []),
        (Field.SHOP_NAME, "a" * 31, [Rule.LENGTH]),
        (Field.COMMENTS, "ア\nイ\n" * 749 + "ア", []),
        (Field.COMMENTS, "ア" * 3001, [Rule.LENGTH]),
        (Field.NOTE, "ア" * 1000, []),
        (Field.NOTE, "ア" * 1001, [Rule.LENGTH]),
    ],
)
def test_a_text_breaks_these_rules(kind: Field, text: str, broken: list[Rule]) -> None:
    assert rules_broken(kind, text) == broken


def test_a_problem_says_where_and_what_to_do() -> None:
    found = buyma().problems([(Field.OPTION, "option[3]", "블랙" + "ア" * 12)], TODAY)

    assert found == (
        Problem("option[3]", Rule.LENGTH, "28 half-width units, at most 26 are allowed", "shorten it by 2"),
        Problem(
            "option[3]",
            Rule.HANGUL,
            "Korean is left: 블랙",
            "add the word to the glossary, or correct the translation",
        ),
    )


@given(st.text(min_size=1), st.sampled_from([Field.NAME, Field.OPTION]))
def test_what_is_cleaned_transliterated_and_cut_passes_or_is_empty_or_markup(text: str, kind: Field) -> None:
    made = cut(clean(transliterate(clean(text))), BUYMA_LIMITS[kind].most)

    assert set(rules_broken(kind, made)) <= {Rule.EMPTY, Rule.HTML, Rule.BROKEN}


FAKE = Forbidden(List.WORD, "コピー", SINCE, market="buyma", language="ja")
CHEAP = Forbidden(List.WORD, "激安", SINCE, date(2026, 2, 1), "buyma", "ja", "お得")
PHRASE = Forbidden(List.WORD, "made in china", SINCE, replacement="")


@pytest.mark.parametrize(
    ("text", "on", "broken"),
    [
        ("コピー品", TODAY, [FAKE.term]),
        ("スーパーコピーライター", TODAY, []),
        ("激安コート", TODAY, [CHEAP.term]),
        ("激安コート", date(2026, 2, 1), []),
        ("激安コピー", date(2025, 12, 31), []),
        ("Made  In China ", TODAY, [PHRASE.term]),
        ("made in chinatown", TODAY, []),
    ],
)
def test_words_are_forbidden_by_token_and_by_day(text: str, on: date, broken: list[str]) -> None:
    gate = buyma([FAKE, CHEAP, PHRASE])

    found = [p.message for p in gate.problems([(Field.NAME, "name", text.strip())], on) if p.rule is Rule.WORD]

    assert found == [f"'{term}' may not be said on buyma" for term in broken]


def test_another_market_may_say_it() -> None:
    assert not FAKE.holds("smartstore", "ja", TODAY)
    assert not FAKE.holds("buyma", "ko", TODAY)
    assert PHRASE.holds("smartstore", "ko", TODAY)


def test_a_word_with_a_replacement_is_replaced_and_the_rest_is_not_touched() -> None:
    assert (
        replaced("激安 コート, 激安! ＭＡＤＥ in china コピー", [FAKE, CHEAP])
        == "お得 コート, お得! ＭＡＤＥ in china コピー"
    )
    assert clean(replaced("coat Made in China 2026", [PHRASE])) == "coat 2026"


def test_a_word_is_never_replaced_by_itself() -> None:
    with pytest.raises(Invalid, match="would be replaced by itself"):
        Forbidden(List.WORD, "激安", SINCE, replacement="激安 セール")
    with pytest.raises(Invalid, match="holds no word"):
        Forbidden(List.WORD, "!!", SINCE)


def test_brands_and_sources_are_matched_by_whole_names() -> None:
    gate = buyma(
        [
            Forbidden(List.BRAND, "OM", SINCE),
            Forbidden(List.BRAND, "Gucci", SINCE, evidence="seized at customs"),
            Forbidden(List.SOURCE, "shop-uk", SINCE),
        ]
    )

    assert gate.names("COMME DES GARCONS", "okmall", TODAY) == ()
    assert gate.names("GUCCI KIDS", "okmall", TODAY) == ()
    assert gate.names("GUCCI", "Shop UK", TODAY) == (
        Problem(
            "brand",
            Rule.BRAND,
            "'Gucci' may not be sold: seized at customs",
            "leave it out, or lift the entry",
        ),
        Problem("source", Rule.SOURCE, "nothing may be bought from 'shop-uk'", "buy it elsewhere, or lift the entry"),
    )


@given(st.text(alphabet="ab カ品 ", max_size=8), st.text(alphabet="ab カ品 ", max_size=12))
def test_a_replaced_word_is_gone(term: str, text: str) -> None:
    if not term.strip():
        return
    entry = Forbidden(List.WORD, term, SINCE, replacement="!")

    assert not occurs(term, replaced(text, [entry]))
    assert same_name(term, term.upper())


@pytest.mark.parametrize(
    ("text", "on", "reworded"),
    [
        ("激安 ブラック Made in China ア", TODAY, "お得 ブラック ア"),
        ("Made in China", TODAY, ""),
        ("コート\n\n激安\n■素材：綿　100%", TODAY, "コート\n\nお得\n■素材：綿 100%"),
        ("■素材：綿　100%  ", TODAY, "■素材：綿　100%  "),
        ("コピー品", TODAY, "コピー品"),
        ("激安 ブラック", date(2026, 2, 1), "激安 ブラック"),
    ],
)
def test_words_are_replaced_and_a_text_without_any_stays_as_it_is(text: str, on: date, reworded: str) -> None:
    assert buyma([FAKE, CHEAP, PHRASE]).reworded(text, on) == reworded


def test_the_lists_are_read_from_a_file() -> None:
    text = (
        "\ufeffkind,term,since,until,market,language,replacement,evidence\n"
        "word,激安,2026-01-01,2026-02-01,buyma,ja,お得,\n"
        "word,コピー,2026-01-01,,buyma,ja,,\n"
        "word,made in china,2026-01-01,,,,-,\n"
        "brand,Gucci,2026-01-01,,,,,seized at customs\n"
    )

    assert read(text) == (CHEAP, FAKE, PHRASE, Forbidden(List.BRAND, "Gucci", SINCE, evidence="seized at customs"))


@pytest.mark.parametrize(
    "line", ["thing,a,2026-01-01", "word,a,yesterday", "word,!,2026-01-01", "word", "word,a,2026-01-01,soon"]
)
def test_a_wrong_line_is_named(line: str) -> None:
    with pytest.raises(Invalid, match="line 3 of the forbidden list"):
        read(f"kind,term,since,until\nword,a,2026-01-01,\n{line}\n")
