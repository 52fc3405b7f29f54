"""Rows of a sheet put together as products and cut into pages, each of which is read and stored by itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

from bobusang.connectors.sources.declared import sheet
from bobusang.connectors.sources.declared.cells import normal
from bobusang.connectors.sources.declared.known import NOTHING
from bobusang.connectors.sources.sheets import heading as headings
from bobusang.connectors.sources.sheets.grid import Refused, letters
from bobusang.connectors.sources.sheets.mapping import WORDS
from bobusang.stages.collect.source import Ask, Kind, Page

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bobusang.connectors.sources.declared.shop import Declared
    from bobusang.connectors.sources.declared.stream import Stream
    from bobusang.connectors.sources.sheets.grid import Grid
    from bobusang.connectors.sources.sheets.heading import Heading

AT_ONCE = 1000
"""Products of a page."""
MOST_ROWS_OF_ONE = 5000
TOTALS = frozenset({"합계", "총합계", "총계", "소계", "계", "누계", "total", "grandtotal", "subtotal", "sum"})


@dataclass(slots=True)
class Tally:
    """What the rows of a sheet were."""

    rows: int = 0
    """With anything in them, below the header."""
    products: int = 0
    unkeyed: list[tuple[int, str]] = field(default_factory=list)
    """Rows without a key that can be read, and why."""
    totals: int = 0
    notes: int = 0
    repeated: int = 0
    """Headers that stand again between the rows."""
    skipped: int = 0


class Scattered(Exception):
    """Rows of one product stand apart, and pages that were cut lack some of them: cut anew."""


class Cutter:
    """One sheet, read by one shop."""

    def __init__(self, shop: Declared, grid: Grid) -> None:
        self.shop = shop
        self.stream: Stream = next(iter(shop.streams.values()))
        self.grid = grid
        files = shop.files
        hoped = {name for tried in self.stream.cells.values() for names in tried for name in names}
        self.heading: Heading = headings.found(grid, hoped | WORDS, row=files.header_row if files else 0)
        wanted = hoped & {normal(name) for name in self.heading.names} | _numbered(hoped)
        self.columns = [(at, name) for at, name in self.heading.columns if _is_wanted(name, wanted)]
        page = Page(Ask("", Kind.LIST, self.stream.name), b"")
        self.table = sheet.table_of(shop, page, [name for _, name in self.columns])
        self.tally = Tally()
        self._scattered = False
        self._check()

    def columns_of(self, name: str) -> list[int]:
        """Where a field is read in this sheet, as places among its columns."""
        tried = [self.table.at(names) for names in self.stream.cells.get(name, ())]
        return [self.columns[at - 1][0] for at in tried if at > 0]

    @property
    def lacking(self) -> list[str]:
        """Fields that every row should tell, and that no column has."""
        return [
            each.name
            for each in self.stream.fields
            if not each.optional and self.stream.cells.get(each.name) and not self.columns_of(each.name)
        ]

    def pages(self, at_once: int = AT_ONCE) -> Iterator[list[list[Any]]]:
        """Pages of whole products, each row with its number before it.

        Rows of one product stand below each other, as nearly always, until one is seen that does not: then it raises
        Scattered, and the next call gathers them from the whole sheet.
        """
        self.tally = Tally()
        page: list[list[Any]] = []
        count = 0
        for group in self._gathered() if self._scattered else self._grouped():
            if count == at_once:
                yield page
                page, count = [], 0
            page += group
            count += 1
        if page:
            yield page

    def encoded(self, rows: list[list[Any]], *, job: int = 0) -> bytes:
        """A page as it is kept until it is read."""
        names = [name for _, name in self.columns]
        return msgspec.json.encode(sheet.Rows(self.grid.sheet, names, [at for at, _ in self.columns], rows, job))

    def place(self, row: int, column: int) -> str:
        """A cell as a spreadsheet names it."""
        return f"{letters(column)}{row}"

    def _check(self) -> None:
        if not self.columns_of(sheet.KEY):
            names = " or ".join(name for tried in self.stream.cells.get(sheet.KEY, ()) for name in tried)
            raise Refused(
                f"the sheet has no column {names}: nothing says which product a row is",
                hint=f"its columns are {', '.join(self.heading.names)[:300]}",
            )

    def _rows(self) -> Iterator[tuple[str, list[Any]]]:
        """Rows that are products, by their key."""
        tally = self.tally
        places, table, stream, skip = [at for at, _ in self.columns], self.table, self.stream, self.stream.skip
        names, headings = [normal(name) for _, name in self.columns], frozenset(self.heading.names)
        for number, cells in self.grid.rows():
            if number <= self.heading.row:
                continue
            width = len(cells)
            row = [number, *[cells[at] if at < width else None for at in places]]
            key = sheet.key_of(stream, row, table)
            if key and key.lower() not in TOTALS and key not in headings:
                if skip is not None and skip(row, table) not in (NOTHING, False):
                    tally.skipped += 1
                    continue
                tally.rows += 1
                yield key, row
            elif any(cell is not None for cell in cells):
                _other(tally, number, key, cells, row[1:], names)

    def _grouped(self) -> Iterator[list[list[Any]]]:
        """Rows of one key that stand below each other; Scattered with the first key that comes again."""
        last, group = "", list[list[Any]]()
        seen: set[str] = set()
        for key, row in self._rows():
            if key != last:
                if key in seen:
                    self._scattered = True
                    raise Scattered
                seen.add(key)
                if group:
                    self.tally.products += 1
                    yield group
                    group = []
                last = key
            group.append(row)
            _bounded(key, group)
        if group:
            self.tally.products += 1
            yield group

    def _gathered(self) -> Iterator[list[list[Any]]]:
        """Rows of one key wherever they stand, in the order in which the keys begin."""
        groups: dict[str, list[list[Any]]] = {}
        for key, row in self._rows():
            group = groups.setdefault(key, [])
            group.append(row)
            _bounded(key, group)
        self.tally.products = len(groups)
        for key in list(groups):
            yield groups.pop(key)


def _bounded(key: str, group: list[list[Any]]) -> None:
    if len(group) > MOST_ROWS_OF_ONE:
        raise Refused(f"more than {MOST_ROWS_OF_ONE:,} rows are of {key}", hint="is this column its code?")


def _other(tally: Tally, number: int, key: str | None, cells: list[Any], row: list[Any], names: list[str]) -> None:
    """A row that is no product: a sum, a note, the header again; or one of which nobody knows what it is."""
    said = [cell for cell in cells if cell is not None]
    if any(normal(cell) in TOTALS for cell in said[:3] if isinstance(cell, str)):
        tally.totals += 1
    elif [normal(cell) for cell in row if isinstance(cell, str)] and all(
        isinstance(cell, str) and normal(cell) == name
        for cell, name in zip(row, names, strict=True)
        if cell is not None
    ):
        tally.repeated += 1
    elif key == "" and len(said) == 1:
        tally.notes += 1
    else:
        tally.rows += 1
        tally.unkeyed.append((number, "there is no code" if key == "" else "the code cannot be read with certainty"))


def _numbered(hoped: set[str]) -> set[str]:
    return {name for name in hoped if "#" in name}


def _is_wanted(name: str, wanted: set[str]) -> bool:
    bare = normal(name)
    return bare in wanted or bare.rpartition("#")[0] in wanted
