"""The engine `cell:`: a value of a row by the heading of its column, under any of the names that suppliers give it."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Any, Final

from bobusang.connectors.sources.declared.document import Document
from bobusang.connectors.sources.declared.known import NOTHING, UNCLEAR, Flaw

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bobusang.connectors.sources.declared.known import Get
    from bobusang.stages.collect.source import Page

MOST_NAMES = 20
NUMERIC = frozenset({"won", "int", "decimal", "bool", "positive", "tiers"})
"""Filters that read numbers as they are; all others are given text."""
ERRORS = frozenset({"#N/A", "#REF!", "#VALUE!", "#DIV/0!", "#NAME?", "#NULL!", "#NUM!", "#SPILL!", "#CALC!"})
"""What a cell shows whose formula went wrong."""

_NONE: Final = -1
_TWO: Final = -2

_BETWEEN = re.compile(r"(?<!/)/(?!/)|\|")
_MARKS = re.compile(r"\((?:원|₩|krw|필수|선택|개|ea)\)|\[(?:필수|선택)\]")
_SIGNS = re.compile(r"[\s*·:_\-.,'\"`~※★●▶|\[\](){}]+")
_SHORTENED = re.compile(r"[0-9](?:\.[0-9]+)?[Ee]\+[0-9]{1,3}")
_FLOATING = re.compile(r"([0-9]{1,19})\.0+")


def normal(text: str) -> str:
    """A heading as it is compared: without spaces, signs, units and marks such as (필수)."""
    plain = unicodedata.normalize("NFKC", text).lower()
    return _SIGNS.sub("", _MARKS.sub("", plain.replace(" ", ""))) or plain.strip()


def alternatives(what: str) -> tuple[str, ...]:
    """The headings that `상품코드/품번` names; a slash of a heading itself is written twice."""
    names = [normal(part.replace("//", "/")) for part in _BETWEEN.split(what)]
    found = tuple(dict.fromkeys(name for name in names if name))
    if not found or len(found) > MOST_NAMES:
        raise Flaw(f"a cell needs 1 to {MOST_NAMES} headings", "as in cell:상품코드/품번")
    return found


class Table(Document):
    """Rows of a sheet while they are read: which column is which."""

    __slots__ = ("_at", "_named", "headings")

    def __init__(self, page: Page, url: str, headings: Sequence[str]) -> None:
        super().__init__(page, url)
        self.headings = tuple(headings)
        self._named: dict[str, int] = {}
        self._at: dict[tuple[str, ...], int] = {}
        for at, heading in enumerate(headings):
            self._named.setdefault(normal(heading), at)
            first = normal(heading.rpartition("#")[0]) if re.search(r"#[0-9]+\Z", heading) else ""
            if first:
                self._named[first] = _TWO

    def at(self, names: tuple[str, ...]) -> int:
        """The column under the first of these headings that is there; `-1` for none, `-2` where two are called so."""
        found = self._at.get(names)
        if found is None:
            found = next((self._named[name] for name in names if name in self._named), _NONE)
            self._at[names] = found
        return found


def compile_cell(what: str, first_filter: str = "") -> Get:
    """A closure that reads a cell of a row."""
    names = alternatives(what)
    as_it_is = first_filter in NUMERIC

    def get(record: Any, table: Any) -> Any:
        at = table.at(names)
        if at < 0:
            return NOTHING if at == _NONE else UNCLEAR
        value = record[at]
        if value is None:
            return NOTHING
        if type(value) is str:
            return UNCLEAR if value[:1] == "#" and value in ERRORS else value
        return value if as_it_is else text_of(value)

    return get


def text_of(value: Any) -> str:
    """A number or a truth as a person would type it."""
    if type(value) is bool:
        return "true" if value else "false"
    return repr(value) if type(value) is float else str(value)


def code_of(value: Any) -> Any:
    """A code as it was meant: `8801234567890.0` was no decimal, and `8.80123E+12` has lost its digits."""
    if value is NOTHING or value is UNCLEAR:
        return value
    text = str(value)
    if text.isalnum():  # as nearly all are: no sign that could mean anything else
        return text
    text = " ".join(text.split())
    if _SHORTENED.fullmatch(text):
        return UNCLEAR
    floating = _FLOATING.fullmatch(text)
    return (floating[1] if floating else text) or NOTHING
