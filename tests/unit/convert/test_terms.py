"""The operator's terms as a file: what goes out comes back, and what is wrong is named by its line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bobusang.kit.errors import Invalid
from bobusang.stages.convert import terms
from bobusang.stages.convert.glossary import Term
from bobusang.stages.convert.tables import KIND_LENGTH, TERM_LENGTH
from bobusang.stages.convert.terms import COLUMNS, MOST, checked, gathered, parsed, written
from bobusang.stages.convert.text import has_hangul

HEAD = ",".join(COLUMNS) + "\n"
SIGNS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)


def test_terms_go_out_in_their_order_and_come_back() -> None:
    given = [Term("블랙", "黒", "colour"), Term("Air, Max", "エア", "", True), Term("=1+1", "-2", "@x")]

    text = written(given)

    assert text == (f"{HEAD}'=1+1,'-2,'@x,false\n\"Air, Max\",エア,,true\n블랙,黒,colour,false\n")
    assert parsed(text) == [given[2], given[1], given[0]]


def test_a_file_of_a_spreadsheet_is_read() -> None:
    text = "\ufeffterm,translation,case_sensitive\r\n블랙,黒,\r\n\r\nＡｉｒ,エア,TRUE\r\n"

    assert parsed(text) == [Term("블랙", "黒"), Term("Air", "エア", "", True)]


@given(st.tuples(SIGNS, SIGNS, SIGNS, st.booleans()))
def test_whatever_is_kept_comes_back_as_it_was(parts: tuple[str, str, str, bool]) -> None:
    try:
        term = checked(Term(*parts))
    except Invalid:
        return

    assert not has_hangul(term.translation)
    assert checked(term) == term
    assert parsed(written([term])) == [term]


@pytest.mark.parametrize(
    ("text", "why", "field"),
    [
        ("", "the glossary has no column 'term'", "term"),
        ("term\n", "the glossary has no column 'translation'", "translation"),
        ("term,translation,knid\n", "the glossary has a column 'knid' that means nothing", "knid"),
        (f"{HEAD}블랙,블랙,,\n", "line 2 of the glossary: the term '블랙' cannot be kept", "translation"),
        (f"{HEAD}블랙,黒,,\n,黒,,\n", "line 3 of the glossary: a term is empty", "term"),
        (f'{HEAD}"블\n랙",黒,,\n\n블랙,,,\n', "line 5 of the glossary: the term '블랙' cannot be kept", "translation"),
        (f"{HEAD}블랙,黒,,maybe\n", "line 2 of the glossary: 'maybe' is neither true nor false", "case_sensitive"),
        (f"{HEAD}블랙,黒,,,\n", "line 2 of the glossary has more cells than the heading", ""),
        (f"{HEAD}블랙,黒,,\n 블랙 ,漆黒,,\n", "line 3 of the glossary: the term '블랙' comes twice", "term"),
        (f"{HEAD}{'㍿' * 60},黒,,\n", f"line 2 of the glossary: the term of '{'株式会社' * 5}' is too long", "term"),
        (
            f"{HEAD}블랙,黒,{'x' * (KIND_LENGTH + 1)},\n",
            "line 2 of the glossary: the kind of '블랙' is too long",
            "kind",
        ),
        (f"{HEAD}{'x' * 200_000},黒,,\n", "the glossary is no CSV: field larger than field limit (131072)", ""),
    ],
)
def test_what_is_wrong_is_named_by_its_line(text: str, why: str, field: str) -> None:
    with pytest.raises(Invalid) as refused:
        parsed(text)

    assert (refused.value.message, refused.value.field) == (why, field)


def test_a_file_holds_so_many_terms() -> None:
    lines = [f"낱말{number},語,," for number in range(MOST + 1)]

    assert len(parsed(HEAD + "\n".join(lines[:-1]))) == MOST
    with pytest.raises(Invalid, match="more than 10,000 terms"):
        parsed(HEAD + "\n".join(lines))


def test_a_term_is_named_by_its_place_in_a_list() -> None:
    given = [
        ("terms[0]", "terms[0].", Term("블랙", "黒")),
        ("terms[1]", "terms[1].", Term("x" * (TERM_LENGTH + 1), "黒")),
    ]

    with pytest.raises(Invalid) as refused:
        gathered(given)

    assert (refused.value.field, refused.value.hint) == ("terms[1].term", "at most 200 signs")
    assert terms.gathered(given[:1]) == [Term("블랙", "黒")]
