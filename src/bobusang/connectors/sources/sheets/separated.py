"""Tables as text: CSV and TSV in whatever encoding, with whichever sign stands between the cells."""

from __future__ import annotations

import csv
import io
import re
from itertools import islice
from threading import Lock
from typing import TYPE_CHECKING

from bobusang.connectors.sources.sheets.grid import LARGEST_FILE, Cell, Grid, Refused, bounded
from bobusang.kit.encoding import decoded

if TYPE_CHECKING:
    from collections.abc import Iterator

DELIMITERS = (",", "\t", ";", "|")
LOOKED_AT = 50
MANY_BROKEN = 0.01
"""More replaced signs than this share mean that the encoding was not found."""

_AS_TEXT = re.compile(r'="([^"]*)"')
"""How people keep a spreadsheet from eating leading zeros."""


def opened(data: bytes, name: str, *, encoding: str = "") -> Grid:
    """The table in a text file."""
    found = decoded(data, declared=encoding)
    text = found.text
    if "\0" in text:
        raise Refused("the file is neither a spreadsheet nor text", hint="save it as .xlsx or as CSV")
    if found.replaced > max(3, MANY_BROKEN * len(text)):
        raise Refused("the encoding of the file could not be found", hint="save it as CSV UTF-8")
    delimiter = _delimiter(text, tab=name.lower().endswith((".tsv", ".tab")))
    height = width = 0
    for number, row in _rows(text, delimiter):
        height, width = number, max(width, len(row))
    bounded(height, width)
    return Grid(
        "", lambda: _rows(text, delimiter), height, width, "csv", ("",), encoding=found.encoding, delimiter=delimiter
    )


_limit = Lock()
"""Python has one limit for all cells of a process, and only suppliers' files may hold whole pages in one."""


def _rows(text: str, delimiter: str) -> Iterator[tuple[int, list[Cell]]]:
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    number = 0
    while True:
        try:
            row = _next(lines)
        except csv.Error as error:
            raise Refused(f"line {lines.line_num:,} cannot be read: {error}", hint="look at its quotes") from error
        if row is None:
            return
        number += 1
        yield number, [_cell(one) for one in row]


def _next(lines: Iterator[list[str]]) -> list[str] | None:
    with _limit:
        before = csv.field_size_limit(LARGEST_FILE)
        try:
            return next(lines, None)
        finally:
            csv.field_size_limit(before)


def _cell(text: str) -> Cell:
    text = text.strip()
    if text.startswith('="') and (found := _AS_TEXT.fullmatch(text)):
        text = found[1].strip()
    return text or None


def _delimiter(text: str, *, tab: bool) -> str:
    """The sign that cuts the first lines into most columns, alike in most of them."""
    order = ("\t", ",", ";", "|") if tab else DELIMITERS
    return max(order, key=lambda one: _fit(text, one))


def _fit(text: str, delimiter: str) -> tuple[int, int]:
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        widths = [len(row) for row in islice(lines, LOOKED_AT) if any(row)]
    except csv.Error:
        return 0, 0
    usual = max(set(widths), key=lambda one: (widths.count(one), one), default=0)
    return (widths.count(usual) * (usual - 1), usual) if usual > 1 else (0, 0)
