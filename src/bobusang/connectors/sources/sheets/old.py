"""XLS files are read by a process of their own, which may take so much memory and time and no more.

Nothing of the old format can be weighed before it is read, and a reader that asks for more memory than there is ends
its process at once: that must not be the one that answers people. Run as a program this module is the process.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from contextlib import suppress
from itertools import islice
from typing import IO, TYPE_CHECKING, Any

import msgspec

from bobusang.connectors.sources.sheets import book
from bobusang.connectors.sources.sheets.grid import Grid, Refused
from bobusang.kit import cores

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bobusang.connectors.sources.sheets.grid import Cell

SECONDS = 60.0
SPACE = 1 << 30
"""Of addresses: a sheet as large as XLS can be takes half of it."""
LONGEST = 512 << 20
"""Of what it tells."""
AT_ONCE = 500
LENGTH = 8


class Told(msgspec.Struct, frozen=True):
    """What a sheet is before its rows; or why there is none."""

    sheet: str = ""
    height: int = 0
    width: int = 0
    sheets: tuple[str, ...] = ()
    copies: dict[int, frozenset[int]] = {}
    error: str = ""
    hint: str = ""


def opened(data: bytes, wanted: str | int | None) -> Grid:
    """A sheet of an XLS file; its rows lie in a file that has no name and goes with them."""
    told = tempfile.TemporaryFile()  # noqa: SIM115  (it lives as long as the sheet)
    argv = (sys.executable, "-P", "-m", __name__)
    asked = msgspec.msgpack.encode((wanted, data))
    try:
        with cores.everywhere():
            done = subprocess.run(  # noqa: S603 - ourselves
                argv, input=asked, stdout=told, stderr=subprocess.DEVNULL, timeout=SECONDS, check=False
            )
    except subprocess.TimeoutExpired:
        raise Refused(f"the file was not read in {SECONDS:g} seconds", hint="save it as .xlsx") from None
    if done.returncode:
        raise Refused("the file is broken, or would take more memory than any", hint="save it as .xlsx")
    told.seek(0)
    found = msgspec.msgpack.decode(_next(told), type=Told)
    if found.error:
        raise Refused(found.error, hint=found.hint)
    begin = told.tell()

    def rows() -> Iterator[tuple[int, list[Cell]]]:
        at = begin
        while True:
            told.seek(at)
            block = _next(told)
            if not block:
                return
            at = told.tell()
            yield from msgspec.msgpack.decode(block, type=list[tuple[int, list[Any]]])

    return Grid(found.sheet, rows, found.height, found.width, "xls", found.sheets, found.copies)


def _next(told: IO[bytes]) -> bytes:
    return told.read(int.from_bytes(told.read(LENGTH), "big"))


# --- the process ------------------------------------------------------------------------------------------------------


def main() -> None:
    """Read one file and tell of it."""
    _bounded()
    wanted, data = msgspec.msgpack.decode(sys.stdin.buffer.read(), type=tuple[str | int | None, bytes])
    try:
        grid = book.opened(data, "xls", wanted)
    except Refused as error:
        _tell(Told(error=error.message, hint=error.hint))
        return
    if any(_is_garbled(cell) for _, cells in grid.rows() for cell in cells):
        _tell(Told(error="its texts are in a code page that cannot be read with certainty", hint="save it as .xlsx"))
        return
    _tell(Told(grid.sheet, grid.height, grid.width, grid.sheets, dict(grid.copies)))
    rows = grid.rows()
    while block := list(islice(rows, AT_ONCE)):
        _tell(block)


def _is_garbled(cell: Cell) -> bool:
    """The reader takes Korean of files before 1997 for something else, and writes what no spreadsheet holds."""
    return type(cell) is str and ("\0" in cell or "\ufffd" in cell)


def _bounded() -> None:
    import resource

    for what, most in ((resource.RLIMIT_AS, SPACE), (resource.RLIMIT_FSIZE, LONGEST), (resource.RLIMIT_CORE, 0)):
        with suppress(ValueError, OSError):  # not every system has all of them
            resource.setrlimit(what, (most, most))


def _tell(what: Told | list[tuple[int, list[Cell]]]) -> None:
    packed = msgspec.msgpack.encode(what)
    sys.stdout.buffer.write(len(packed).to_bytes(LENGTH, "big") + packed)


if __name__ == "__main__":
    main()
