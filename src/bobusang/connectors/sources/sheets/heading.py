"""Which row of a sheet names its columns: found by itself below titles, logos and notes."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from bobusang.connectors.sources.declared.cells import normal
from bobusang.connectors.sources.sheets.grid import Refused

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from bobusang.connectors.sources.sheets.grid import Cell, Grid

LOOKED_AT = 60
LONGEST = 60
"""Nobody gives a column a longer name."""

_DATA = re.compile(r"[₩\\$]?[-+0-9.,/:% ]*[0-9][-+0-9.,/:% ]*(?:원|개|ea|kg|g|cm)?|https?://.*|\S+@\S+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Heading:
    """The row that names the columns, and their names; of two alike both are numbered, as `가격#1` and `가격#2`."""

    row: int
    columns: tuple[tuple[int, str], ...]
    """Place from 0 and name of each column that has one."""

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for _, name in self.columns)


def found(grid: Grid, known: Collection[str] = (), *, row: int = 0) -> Heading:
    """The heading of a sheet: that of a given row, or the row that looks most like one. `known` are names that one
    hopes for, as `cells.normal` makes them."""
    rows = list(islice(grid.rows(), max(LOOKED_AT, row)))
    if row:
        cells = next((cells for number, cells in rows if number == row), None)
        if cells is None or not any(cells):
            raise Refused(f"row {row} is empty: it names no columns", hint="say another header_row, or auto")
        return Heading(row, _columns(cells, grid.copies.get(row, frozenset())))
    best = max(rows, key=lambda one: (_score(one[1], known), -one[0]), default=None)
    if best is None or _score(best[1], known) <= 0:
        raise Refused("no row of the sheet names its columns", hint="give the table a header row")
    return Heading(best[0], _columns(best[1], grid.copies.get(best[0], frozenset())))


def _score(cells: Sequence[Cell], known: Collection[str]) -> int:
    """How much a row looks like names of columns: short, different, not numbers; above all, names that are known."""
    names = {normal(str(one)) for one in cells if _is_name(one)}
    others = sum(one is not None and not _is_name(one) for one in cells)
    return 3 * len(names & set(known)) + len(names) - 2 * others


def _is_name(cell: Cell) -> bool:
    return isinstance(cell, str) and len(cell) <= LONGEST and _DATA.fullmatch(cell) is None


def _columns(cells: Sequence[Cell], copies: frozenset[int]) -> tuple[tuple[int, str], ...]:
    said = [(at, cell) for at, cell in enumerate(cells) if cell is not None and at not in copies]
    named = [(at, " ".join(str(cell).split())[:LONGEST]) for at, cell in said]
    times = Counter(normal(name) for _, name in named)
    seen: Counter[str] = Counter()
    found = []
    for at, name in named:
        bare = normal(name)
        seen[bare] += 1
        found.append((at, f"{name}#{seen[bare]}" if times[bare] > 1 else name))
    return tuple(found)
