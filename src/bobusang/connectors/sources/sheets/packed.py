"""What an XLSX file may cost is known before it is read: sizes as declared and as they are, entities, far-off cells,
texts that many cells name.

Which of its parts are sheets the file says itself, by any name in certain folders: so the folder counts, not the name.

The reader behind it unpacks all it is given and lays cells out in a rectangle, so one cell in the last corner of a
sheet of a few hundred bytes would take all memory.
"""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bobusang.connectors.sources.sheets.grid import MOST_CELLS, MOST_COLUMNS, MOST_ROWS, Refused, bounded, letters
from bobusang.connectors.sources.sheets.texts import Copies, Texts, named

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

LARGEST = 512 << 20
"""Bytes of all parts of a workbook that are read."""
RATIO = 300
"""Sheets of alike rows shrink to a hundredth; what shrinks more was made to."""
HARMLESS = 16 << 20
"""Below this no ratio matters."""
MOST_MEMBERS = 5_000
LONGEST_TAG = 1 << 20
BLOCK = 1 << 20

_XML = (".xml", ".rels")
_SHEETS = frozenset({"worksheets", "chartsheets", "dialogsheets"})
_RELATIONS, _MACROS, _MEDIA = "_rels", "vbaproject.bin", ["xl", "media"]
_ENTITY = re.compile(rb"<!(?:DOCTYPE|ENTITY)", re.IGNORECASE)
_CELL = re.compile(rb"""<(?:[\w.-]+:)?(row|c)\b((?:[^>"']|"[^"]*"|'[^']*')*)""")
_PLACE = re.compile(rb"""(?:^|\s)r\s*=\s*["']([A-Za-z]*)([0-9]*)""")
_BARE = (b"<c>", b"<c/", b"<row>", b" =", b":c ")
_UNUSUAL = {
    b"'": (b"='",),
    b"\t": (b"r\t", b"<c\t", b"<row\t", b"\tr"),
    b"\n": (b"r\n", b"<c\n", b"<row\n", b"\nr"),
    b"\r": (b"r\r", b"<c\r", b"<row\r", b"\rr"),
}
"""What spreadsheets do not write around places: such a piece is looked at cell by cell."""

_ENCRYPTED, _STORED, _DEFLATED = 0x1, 0, 8
_BOMB = "the file unpacks to far more than a spreadsheet would: it is not opened"


def checked(data: bytes) -> None:
    """Refuse a workbook that is broken or would cost too much."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            members = packed.infolist()
    except (zipfile.BadZipFile, ValueError, OSError, EOFError, NotImplementedError, OverflowError) as error:
        raise Refused("the file is cut off or broken", hint="save it again, or have it sent again") from error
    if len(members) > MOST_MEMBERS:
        raise Refused(_BOMB, hint=f"it has {len(members):,} parts")
    if not any(one.filename.lower() == "xl/workbook.xml" for one in members):
        _name_kind({one.filename.lower() for one in members})
    _weigh(sum(one.file_size for one in members if _is_read(one)), len(data))
    left = LARGEST
    texts, naming = Texts(), []
    for one in members:
        if one.flag_bits & _ENCRYPTED:
            raise Refused("the file is protected by a password", hint="save it without one")
        if not _is_read(one):
            continue
        seen = _read(data, one, left, texts)
        left -= seen.size
        _weigh(LARGEST - left, len(data))
        naming.append((one, seen.named))
    longest = texts.longest
    for one, cells in naming:
        if cells * longest > LARGEST:
            _weigh_copies(data, one, texts)


def _weigh_copies(data: bytes, one: zipfile.ZipInfo, texts: Texts) -> None:
    """Refuse a sheet whose texts, each cell having its own, would be larger than all that is read of a workbook."""
    copies = Copies(texts)
    for piece in _pieces(_unpacked(data, one)):
        copies.see(piece)
        if copies.size > LARGEST:
            raise Refused(
                f"the texts of the sheet come to more than {LARGEST >> 20:,} MB: it is not opened",
                hint="many cells have the same very long text: delete that column, or split the file",
            )


def _name_kind(names: set[str]) -> None:
    if "xl/workbook.bin" in names:
        raise Refused("XLSB files are not read", hint="save it as .xlsx")
    if "content.xml" in names:
        raise Refused("ODS files are not read", hint="save it as .xlsx")
    raise Refused("the file is an archive, not a spreadsheet", hint="unpack it and send the spreadsheet")


def _steps(one: zipfile.ZipInfo) -> list[str]:
    """Folders and name of a part as the reader compares them; the bare name ends at a NUL and says less."""
    return one.orig_filename.lower().replace("\\", "/").split("/")


def _is_sheet(one: zipfile.ZipInfo) -> bool:
    *folders, _ = _steps(one)
    return not _SHEETS.isdisjoint(folders) and _RELATIONS not in folders


def _is_read(one: zipfile.ZipInfo) -> bool:
    """Whether the reader may unpack it: all but pictures and macros, which it never looks at."""
    steps = _steps(one)
    return _is_sheet(one) or not (steps[:2] == _MEDIA or steps[-1] == _MACROS)


def _is_text(one: zipfile.ZipInfo) -> bool:
    return _is_sheet(one) or one.orig_filename.lower().endswith(_XML)


def _weigh(size: int, packed: int) -> None:
    if size > LARGEST or (size > HARMLESS and size > RATIO * packed):
        raise Refused(_BOMB, hint=f"{size >> 20:,} MB of {packed >> 10:,} kB")


@dataclass(slots=True)
class Seen:
    """What a part has come to so far."""

    size: int = 0
    named: int = 0
    """Cells that name a text, at most."""


def _read(data: bytes, one: zipfile.ZipInfo, most: int, texts: Texts) -> Seen:
    """Unpack one part to look at it: its true size, and what its cells and texts are."""
    seen, extent = Seen(), Extent() if _is_sheet(one) else None
    blocks = _bounded(data, one, most, seen)
    if not _is_text(one):
        for _ in blocks:
            pass
        return seen
    for piece in _pieces(blocks):
        if b"<!" in piece and _ENTITY.search(piece):
            raise Refused("the file defines entities, which no spreadsheet does: it is not opened")
        if extent is not None:
            extent.see(piece)
            seen.named += named(piece)
        else:
            texts.see(piece)
    texts.end()
    return seen


def _bounded(data: bytes, one: zipfile.ZipInfo, most: int, seen: Seen) -> Iterator[bytes]:
    for block in _unpacked(data, one):
        seen.size += len(block)
        if seen.size > most:
            raise Refused(_BOMB, hint=f"{one.filename} has more than {most >> 20:,} MB")
        yield block


def _pieces(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """XML in pieces that end between tags."""
    rest = b""
    for block in blocks:
        text = rest + block
        cut = text.rfind(b"<")
        cut = len(text) if cut < 0 else cut
        if len(text) - cut > LONGEST_TAG:
            raise Refused("the file is broken: one of its tags has no end")
        yield text[:cut]
        rest = text[cut:]
    yield rest


def _unpacked(data: bytes, one: zipfile.ZipInfo) -> Iterator[bytes]:
    """The bytes of a part in blocks, as far as they go, whatever size it declares."""
    at = one.header_offset
    name, extra = int.from_bytes(data[at + 26 : at + 28], "little"), int.from_bytes(data[at + 28 : at + 30], "little")
    begin = at + 30 + name + extra
    body = memoryview(data)[begin : begin + one.compress_size]
    if data[at : at + 4] != b"PK\x03\x04" or len(body) < one.compress_size:
        raise Refused("the file is cut off or broken", hint="save it again, or have it sent again")
    if one.compress_type == _STORED:
        yield from (bytes(body[start : start + BLOCK]) for start in range(0, len(body), BLOCK))
        return
    if one.compress_type != _DEFLATED:
        raise Refused("the file is packed in a way that no spreadsheet uses", hint="save it again as .xlsx")
    inflate = zlib.decompressobj(-15)
    fed: bytes | memoryview = body
    try:
        while not inflate.eof:
            block = inflate.decompress(fed, BLOCK)
            fed = inflate.unconsumed_tail
            if not block and not fed:
                break
            yield block
    except zlib.error as error:
        raise Refused("the file is cut off or broken", hint="save it again, or have it sent again") from error
    if not inflate.eof:
        raise Refused("the file is cut off or broken", hint="save it again, or have it sent again")


class Extent:
    """How far the cells of a sheet reach; told of its XML in pieces that end between tags.

    Where every cell says its place, as spreadsheets write it, one search finds what lies beyond all that was seen.
    """

    def __init__(self) -> None:
        self.columns = self.rows = 0
        self._row = self._column = 0
        self._farther = _beyond(0)

    def see(self, text: bytes) -> None:
        """Take the next piece, and refuse a sheet that has become too large."""
        tags = text.count(b"<c ") + text.count(b"<row ")
        if tags != text.count(b' r="') or _is_unusual(text):
            self._count(text)
        else:
            at = 0
            while found := self._farther.search(text, at):
                at = found.start()
                self._reach(found[1], found[2])
        bounded(self.rows, self.columns)

    def _reach(self, column: bytes, row: bytes) -> None:
        number = _number(column)
        self.columns = max(self.columns, number)
        self.rows = max(self.rows, int(row[:12] or 0))
        bounded(self.rows, self.columns)
        self._farther = _beyond(self.columns)

    def _count(self, text: bytes) -> None:
        """Some writers leave places out: then each row and cell stands after the one before it."""
        for found in _CELL.finditer(text):
            place = _PLACE.search(found[2])
            column, row = (place[1], place[2]) if place else (b"", b"")
            if found[1] == b"row":
                self._row, self._column = int(row[:12] or self._row + 1), 0
            else:
                self._column = _number(column) or self._column + 1
                self._row = int(row[:12]) if row else self._row
            self.columns, self.rows = max(self.columns, self._column), max(self.rows, self._row)
            if self._column > MOST_COLUMNS or self._row > MOST_ROWS:
                bounded(self.rows, self.columns)


def _is_unusual(text: bytes) -> bool:
    return any(one in text for one in _BARE) or any(
        sign in text and any(one in text for one in places) for sign, places in _UNUSUAL.items()
    )


def _beyond(columns: int) -> re.Pattern[bytes]:
    """Finds a place farther right than so many columns, or so far down that with them there would be too many cells."""
    rows = min(MOST_ROWS, MOST_CELLS // max(columns, 1))
    wide, tall = _wider(columns), _larger(rows)
    return re.compile(rb' r="(?:(?=%b)|(?=[A-Za-z]*%b"))([A-Za-z]*)([0-9]+)' % (wide, tall))


def _wider(columns: int) -> bytes:
    """A pattern of column names after the one of this number (0: any)."""
    name = letters(columns - 1) if columns else ""
    parts = [f"[A-Za-z]{{{len(name) + 1},}}"]
    for at, letter in enumerate(name):
        if letter < "Z":
            following = f"{chr(ord(letter) + 1)}-Z"
            parts.append(f"{name[:at]}[{following}{following.lower()}][A-Za-z]{{{len(name) - at - 1}}}[0-9]")
    return f"(?:{'|'.join(parts)})".encode()


def _larger(number: int) -> bytes:
    """A pattern of whole numbers above this one."""
    digits = str(number)
    parts = [f"[0-9]{{{len(digits) + 1},}}"]
    for at, digit in enumerate(digits):
        if digit < "9":
            parts.append(f"{digits[:at]}[{int(digit) + 1}-9][0-9]{{{len(digits) - at - 1}}}")
    return f"(?:{'|'.join(parts)})".encode()


def _number(name: bytes) -> int:
    """A column's number by its letters; more than any spreadsheet has where they are too many."""
    number = 0
    for letter in name[:8].upper():
        number = number * 26 + letter - 64
    return number
