"""A file looked through before anything is written: what it holds, and what is wrong with which cell."""

from __future__ import annotations

import re
from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING, Any

import msgspec

from bobusang.connectors.sources.declared import sheet
from bobusang.connectors.sources.declared.known import UNCLEAR
from bobusang.connectors.sources.sheets.cutting import Scattered
from bobusang.connectors.sources.sheets.mapping import BY_NAME

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from bobusang.connectors.sources.declared.sheet import Read
    from bobusang.connectors.sources.sheets.cutting import Cutter
    from bobusang.connectors.sources.sheets.grid import Grid
    from bobusang.connectors.sources.sheets.heading import Heading

MOST_PROBLEMS = 200
FIRST_ROWS = 20
WRONG_ROWS = 40
LONGEST = 60

_NUMBERS = re.compile(r"^[0-9]+ (?=rows)|(?<=^row) [0-9]+")

_EXPECTED = {
    "won": "an amount of won is expected, as 12,900",
    "int": "a whole number is expected",
    "abs_url": "an address is expected",
    "map": "this word is not known",
    "split": "an address is expected",
}


class Problem(msgspec.Struct, frozen=True):
    """What is wrong with a cell."""

    row: int
    column: str
    """As the spreadsheet names it; empty where there is none."""
    field: str
    value: str
    problem: str


class Shown(msgspec.Struct, frozen=True):
    """A row as a person sees it before it is taken."""

    row: int
    values: dict[str, str]
    problems: dict[str, str] = {}


class Report(msgspec.Struct, frozen=True):
    """What a file holds."""

    sheet: str
    kind: str
    header_row: int
    headings: list[str]
    columns: dict[str, str]
    """Field → heading of the column that it is read in."""
    lacking: list[str]
    """Fields that every row should tell, and that no column has."""
    rows: int
    products: int
    refused: int
    """Rows without a code."""
    skipped: dict[str, int]
    problem_count: int
    problem_kinds: list[dict[str, Any]]
    problems: list[Problem]
    """The first of them."""
    shown: list[Shown]
    sheets: list[str] = []
    encoding: str = ""


def check(cutter: Cutter) -> Report:
    """Look through a whole file; nothing is written."""
    try:
        return _looked_through(cutter)
    except Scattered:
        return _looked_through(cutter)


def _looked_through(cutter: Cutter) -> Report:
    found = _Looking(cutter)
    for page in cutter.pages():
        found.see(page)
    return found.report()


def outline(grid: Grid, heading: Heading, columns: Mapping[str, str], lacking: list[str]) -> Report:
    """What a file looks like of which too little is known to read it: its first rows, by heading."""
    rows = islice((one for one in grid.rows() if one[0] > heading.row and any(one[1])), FIRST_ROWS)
    shown = [
        Shown(
            number,
            {
                name: str(cells[at])[:LONGEST]
                for at, name in heading.columns
                if at < len(cells) and cells[at] is not None
            },
        )
        for number, cells in rows
    ]
    return Report(
        sheet=grid.sheet,
        kind=grid.kind,
        header_row=heading.row,
        headings=list(heading.names),
        columns=dict(columns),
        lacking=lacking,
        rows=max(0, grid.height - heading.row),
        products=0,
        refused=0,
        skipped={},
        problem_count=0,
        problem_kinds=[],
        problems=[],
        shown=shown,
        sheets=list(grid.sheets),
        encoding=grid.encoding,
    )


class _Looking:
    """What was seen so far."""

    def __init__(self, cutter: Cutter) -> None:
        self.cutter = cutter
        self.fields = {name: cutter.columns_of(name) for name in cutter.stream.cells}
        self.problems: list[Problem] = []
        self.kinds: Counter[tuple[str, str]] = Counter()
        self.count = 0
        self.first: list[Shown] = []
        self.wrong: list[Shown] = []
        self.places = {at: index for index, (at, _) in enumerate(cutter.columns, 1)}

    def see(self, page: list[list[Any]]) -> None:
        stream, table = self.cutter.stream, self.cutter.table
        by_number = {row[0]: row for row in page}
        for one in sheet.products(stream, table, page):
            wrong = self._wrong(one, by_number) if one.row.unknown else {}
            for number in one.numbers:
                if len(self.first) < FIRST_ROWS:
                    self.first.append(self._shown(by_number[number], wrong.get(number, {})))
                elif number in wrong and len(self.wrong) < WRONG_ROWS:
                    self.wrong.append(self._shown(by_number[number], wrong[number]))

    def report(self) -> Report:
        cutter, tally = self.cutter, self.cutter.tally
        for number, why in tally.unkeyed:
            self._note(number, sheet.KEY, self._column(sheet.KEY), "", why)
        headings = dict(cutter.columns)
        return Report(
            sheet=cutter.grid.sheet,
            kind=cutter.grid.kind,
            header_row=cutter.heading.row,
            headings=list(cutter.heading.names),
            columns={name: headings[at[0]] for name, at in self.fields.items() if at},
            lacking=cutter.lacking,
            rows=tally.rows,
            products=tally.products,
            refused=len(tally.unkeyed),
            skipped={
                "totals": tally.totals,
                "notes": tally.notes,
                "repeated headers": tally.repeated,
                "skipped": tally.skipped,
            },
            problem_count=self.count,
            problem_kinds=[
                {"field": field, "problem": problem, "count": count}
                for (field, problem), count in self.kinds.most_common(50)
            ],
            problems=self.problems,
            shown=[*self.first, *self.wrong],
            sheets=list(cutter.grid.sheets),
            encoding=cutter.grid.encoding,
        )

    def _wrong(self, one: Read, rows: dict[int, list[Any]]) -> dict[int, dict[str, str]]:
        """The problems of a product by row and field."""
        found: dict[int, dict[str, str]] = {}
        for name in one.row.unknown:
            if name in self.cutter.lacking:
                continue  # told once for the whole sheet
            for number, field, problem in self._cells(one, name, rows):
                found.setdefault(number, {})[field] = problem
                self._note(number, field, self._column(field), self._value(rows[number], field), problem)
        return found

    def _cells(self, one: Read, name: str, rows: dict[int, list[Any]]) -> Iterable[tuple[int, str, str]]:
        if name == "options":
            return self._options(one, rows)
        if name in one.contradicted:
            told = f"{len(one.numbers)} rows of this code say different things"
            return [(number, name, told) for number in one.numbers]
        empty = [number for number in one.numbers if not self._value(rows[number], name)]
        if empty and len(empty) == len(one.numbers):
            return [(number, name, "the cell is empty") for number in empty[:1]]
        return [(number, name, _unread(name)) for number in one.numbers if number not in empty]

    def _options(self, one: Read, rows: dict[int, list[Any]]) -> list[tuple[int, str, str]]:
        stream, table = self.cutter.stream, self.cutter.table
        place = stream.variants[0]
        found: list[tuple[int, str, str]] = []
        seen: dict[str, int] = {}
        for number in one.numbers:
            row = rows[number]
            unread = [each.name for each in place.fields if each.get(row, table) is UNCLEAR]
            found += [(number, f"{sheet.OPTION}{name}", _unread(name)) for name in unread]
            code = place.key(row, table)
            if not isinstance(code, str):
                found.append((number, f"{sheet.OPTION}key", "nothing tells this option apart"))
            elif code in seen:
                found.append((number, f"{sheet.OPTION}key", f"row {seen[code]} is the same option, and says otherwise"))
            else:
                seen[code] = number
        return found

    def _note(self, row: int, field: str, column: str, value: str, problem: str) -> None:
        self.count += 1
        self.kinds[field, _NUMBERS.sub("", problem)] += 1
        if len(self.problems) < MOST_PROBLEMS:
            self.problems.append(Problem(row, column, field, value, problem))

    def _column(self, field: str) -> str:
        at = self.fields.get(field)
        return self.cutter.place(0, at[0])[:-1] if at else ""

    def _value(self, row: list[Any], field: str) -> str:
        for at in self.fields.get(field, ()):
            value = row[self.places[at]]
            if value is not None:
                return str(value)[:LONGEST]
        return ""

    def _shown(self, row: list[Any], wrong: dict[str, str]) -> Shown:
        return Shown(row[0], {field: self._value(row, field) for field, at in self.fields.items() if at}, wrong)


def _unread(name: str) -> str:
    known = BY_NAME.get(name)
    first = known.filters.partition("{")[0].partition(" ")[0] if known else ""
    return _EXPECTED.get(first, "this cannot be read with certainty")
