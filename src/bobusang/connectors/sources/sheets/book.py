"""Workbooks: the sheet that is wanted, its cells as plain values, merged ones spread; macros are never looked at."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from bobusang.connectors.sources.sheets.grid import Cell, Grid, Refused, bounded, plain

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_SHEETS = 200
MOST_MERGED = 200_000


def opened(data: bytes, kind: str, wanted: str | int | None) -> Grid:
    """A sheet of a workbook: by its name, by its number among the visible ones, or the first with something in it."""
    from python_calamine import CalamineError, CalamineWorkbook, PasswordError, SheetVisibleEnum

    try:
        book = CalamineWorkbook.from_filelike(io.BytesIO(data))
        known = [one.name for one in book.sheets_metadata if one.visible == SheetVisibleEnum.Visible]
        if len(known) > MOST_SHEETS:
            raise Refused(f"the file has {len(known):,} sheets, at most {MOST_SHEETS} are read")
        return _sheet(book, kind, known, wanted)
    except PasswordError:
        raise Refused("the file is protected by a password", hint="save it without one") from None
    except Refused:
        raise
    except (CalamineError, OSError, ValueError, OverflowError, RuntimeError) as error:
        raise Refused(f"the file cannot be read: {str(error)[:200]}", hint="save it again as .xlsx") from error
    except BaseException as error:
        # What the reader's own mistakes raise is no Exception.
        if type(error).__name__ != "PanicException":
            raise
        raise Refused("the file is broken", hint="save it again as .xlsx") from None


def _sheet(book: Any, kind: str, known: list[str], wanted: str | int | None) -> Grid:
    if isinstance(wanted, str) and wanted:
        if wanted not in book.sheet_names:
            raise Refused(f"there is no sheet '{wanted}'", hint=f"it has {', '.join(known)}")
        names = [wanted]
    elif isinstance(wanted, int):
        if not 0 <= wanted < len(known):
            raise Refused(f"there is no sheet {wanted}", hint=f"it has {len(known)}, counted from 0")
        names = [known[wanted]]
    else:
        names = known
    for name in names:
        sheet = book.get_sheet_by_name(name)
        if sheet.end is not None and sheet.height:
            return _grid(sheet, kind, tuple(known))
    raise Refused("the file has no sheet with anything in it", hint="hidden sheets are not read unless they are named")


def _grid(sheet: Any, kind: str, known: tuple[str, ...]) -> Grid:
    height, width = sheet.end[0] + 1, sheet.end[1] + 1
    bounded(height, width)
    top, left = sheet.start
    merged = _merged(sheet)

    def rows() -> Iterator[tuple[int, list[Cell]]]:
        before: dict[int, Cell] = {}
        padding: list[Cell] = [None] * left
        for at, row in enumerate(sheet.iter_rows(), top):
            # Most cells are texts, for which a call each would cost as much as the rest of reading them.
            cells = [*padding, *[(cell.strip() or None) if type(cell) is str else plain(cell) for cell in row]]
            if merged:
                _spread(cells, merged.get(at), before)
            yield at + 1, cells

    copies = {
        at + 1: frozenset(column for left, right, _ in spans for column in range(left + 1, min(right + 1, width)))
        for at, spans in merged.items()
    }
    return Grid(sheet.name, rows, height, width, kind, known, copies)


def _merged(sheet: Any) -> dict[int, list[tuple[int, int, bool]]]:
    """For each row, which columns belong to a merged cell, and whether it begins there."""
    found: dict[int, list[tuple[int, int, bool]]] = {}
    rows = 0
    for (top, left), (bottom, right) in sheet.merged_cell_ranges or ():
        rows += bottom - top + 1
        if rows > MOST_MERGED or right - left > MOST_MERGED:
            raise Refused("the sheet has more merged cells than any table would", hint="undo the merging and save it")
        for row in range(top, bottom + 1):
            found.setdefault(row, []).append((left, right, row == top))
    return found


def _spread(cells: list[Cell], spans: list[tuple[int, int, bool]] | None, before: dict[int, Cell]) -> None:
    """A merged cell says the same in all its places."""
    for left, right, begins in spans or ():
        if begins:
            before[left] = cells[left] if left < len(cells) else None
        for at in range(left, min(right + 1, len(cells))):
            cells[at] = before.get(left)
