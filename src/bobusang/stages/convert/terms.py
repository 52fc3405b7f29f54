"""The operator's terms: what one must be like, and all of them as a file, out as CSV and in again."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from bobusang.kit.commas import reading
from bobusang.kit.errors import Invalid
from bobusang.kit.formula import defused, plain
from bobusang.kit.nearest import did_you_mean
from bobusang.stages.convert.glossary import Term
from bobusang.stages.convert.tables import KIND_LENGTH, TERM_LENGTH
from bobusang.stages.convert.text import clean, has_hangul

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

COLUMNS = ("term", "translation", "kind", "case_sensitive")
REQUIRED = COLUMNS[:2]
FLAGS = {"": False, "false": False, "true": True}
"""As we write them; spreadsheets turn them into capitals."""
MOST = 10_000
"""Terms of one file: all of them are held in memory by every process that converts."""


def checked(term: Term) -> Term:
    """The term as it is kept; one that could never be found, or would put Korean on the market, is refused."""
    word, translation, kind = clean(term.term), clean(term.translation), clean(term.kind)
    if not word:
        raise Invalid("a term is empty", hint="write the word that the mall uses", field="term")
    if not translation or has_hangul(translation):
        hint = "give its translation, without Korean letters"
        raise Invalid(f"the term '{word[:20]}' cannot be kept", hint=hint, field="translation")
    for field, text, most in (
        ("term", word, TERM_LENGTH),
        ("translation", translation, TERM_LENGTH),
        ("kind", kind, KIND_LENGTH),
    ):
        if len(text) > most:  # folding may have made it longer than it came
            raise Invalid(f"the {field} of '{word[:20]}' is too long", hint=f"at most {most} signs", field=field)
    return Term(word, translation, kind, term.case_sensitive)


def gathered(given: Iterable[tuple[str, str, Term]]) -> list[Term]:
    """Terms as they are kept; each comes with its place in words and what its fields are called by. The first that is
    wrong refuses all, by its place."""
    found: dict[str, Term] = {}
    for place, prefix, term in given:
        try:
            one = checked(term)
        except Invalid as error:
            field = f"{prefix}{error.field}"
            raise Invalid(f"{place}: {error.message}", hint=error.hint, field=field) from error
        if one.term in found:
            raise Invalid(f"{place}: the term '{one.term}' comes twice", hint="keep one", field=f"{prefix}term")
        found[one.term] = one
    return list(found.values())


def written(terms: Iterable[Term]) -> str:
    """The file's text, by term, so that two exports can be compared line by line."""
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    table.writerow(COLUMNS)
    for one in sorted(terms, key=lambda term: term.term):
        texts = (defused(text) for text in (one.term, one.translation, one.kind))
        table.writerow((*texts, str(one.case_sensitive).lower()))
    return out.getvalue()


def parsed(text: str) -> list[Term]:
    """The terms of a file; what cannot be meant is refused with its line number, and nothing is taken."""
    with reading("the glossary", COLUMNS):
        return gathered(_lines(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"), newline=""))))


def _lines(rows: csv.DictReader[str]) -> Iterator[tuple[str, str, Term]]:
    names = rows.fieldnames or ()
    for name in REQUIRED:
        if name not in names:
            hint = f"its first line is {','.join(COLUMNS)}"
            raise Invalid(f"the glossary has no column '{name}'", hint=hint, field=name)
    for name in names:
        if name not in COLUMNS:
            hint = did_you_mean(name, COLUMNS)
            raise Invalid(f"the glossary has a column '{name[:50]}' that means nothing", hint=hint, field=name[:50])
    for count, cells in enumerate(rows, start=1):
        if count > MOST:
            raise Invalid(f"the glossary has more than {MOST:,} terms", hint="send it in several files", field="term")
        yield (place := f"line {rows.line_num} of the glossary"), "", _term(place, cells)


def _term(place: str, cells: dict[str, str | None]) -> Term:
    if None in cells:
        raise Invalid(f"{place} has more cells than the heading", hint="put quotes around a cell with a comma")
    word, translation, kind, flag = (plain((cells.get(name) or "").strip()) for name in COLUMNS)
    is_exact = FLAGS.get(flag.lower())
    if is_exact is None:
        raise Invalid(f"{place}: '{flag[:20]}' is neither true nor false", field="case_sensitive")
    return Term(word, translation, kind, is_exact)
