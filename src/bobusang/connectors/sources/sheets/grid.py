"""A sheet as rows of plain values, whatever file it stood in."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bobusang.kit.errors import Invalid

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

Cell = str | int | float | bool | None
"""What a cell says; None: nothing. Days and times are ISO text."""

MOST_COLUMNS = 1_000
MOST_ROWS = 1_048_576
MOST_CELLS = 6_000_000
"""Of the smallest rectangle around all cells: what reading a sheet may cost, about 200 MB."""
LARGEST_FILE = 64 << 20

_EXACT = 2**53


class Refused(Invalid):
    """A file that is not read, and why."""

    code = "unreadable_file"


@dataclass(frozen=True, slots=True)
class Grid:
    """One sheet. Rows are counted as the spreadsheet shows them, from 1."""

    sheet: str
    rows: Callable[[], Iterator[tuple[int, list[Cell]]]]
    """All rows with their numbers, from the top; each call begins anew."""
    height: int
    width: int
    kind: str
    """`xlsx`, `xls` or `csv`."""
    sheets: tuple[str, ...] = ()
    """All sheets that can be chosen."""
    copies: Mapping[int, frozenset[int]] = field(default_factory=dict)
    """By row: columns that only repeat what a merged cell to their left says."""
    encoding: str = ""
    delimiter: str = ""


def plain(value: Any) -> Cell:
    """A value as the grammar reads it. Spreadsheets keep every number as a float: whole ones are whole here."""
    kind = type(value)
    found: Cell
    if kind is str:
        found = value.strip() or None
    elif kind is float:
        found = int(value) if value.is_integer() and abs(value) < _EXACT else value
    elif kind is int or kind is bool or value is None:
        found = value
    elif isinstance(value, datetime.datetime):
        midnight = value.time() == datetime.time.min
        found = value.date().isoformat() if midnight else value.isoformat(sep=" ", timespec="seconds")
    elif isinstance(value, datetime.date | datetime.time):
        found = value.isoformat()
    else:
        found = str(value)
    return found


def letters(at: int) -> str:
    """A column, counted from 0, as a spreadsheet names it."""
    found = ""
    at += 1
    while at:
        at, rest = divmod(at - 1, 26)
        found = chr(65 + rest) + found
    return found


def bounded(rows: int, columns: int) -> None:
    """Refuse a sheet that would cost too much."""
    if columns > MOST_COLUMNS:
        raise Refused(
            f"the sheet has {columns:,} columns, at most {MOST_COLUMNS:,} are read",
            hint="delete what stands far to the right, or save the table by itself",
        )
    if rows > MOST_ROWS or rows * columns > MOST_CELLS:
        raise Refused(
            f"the sheet has {rows:,} rows and {columns:,} columns, at most {MOST_CELLS:,} cells are read",
            hint="delete columns that nobody needs, or split the file",
        )
