"""What the texts of a sheet come to when each cell has its own: a workbook keeps a text once, cells name it by number,
and the reader copies it for each of them."""

from __future__ import annotations

import re
from array import array

from bobusang.connectors.sources.sheets.grid import MOST_CELLS, Refused

_TEXT = re.compile(rb"<(?:[\w.-]+:)?si[\s/>]")
_PART = re.compile(rb"""<(?:[\w.-]+:)?(c|v)\b((?:[^>"']|"[^"]*"|'[^']*')*)>([^<]*)""")
_NAMING = re.compile(rb"""(?:^|\s)t\s*=\s*["']s["']""")
_BLANKS = (b" ", b"\t", b"\n", b"\r")
_UNUSUAL = (b"='", *(one for blank in _BLANKS for one in (blank + b"=", b"=" + blank)))
"""How no spreadsheet writes that a cell names a text."""


class Texts:
    """How long the texts are that a workbook keeps; told of the XML of its parts in pieces that end between tags.

    Of several parts that keep some, the longest of each number counts: nobody knows here which of them will be read.
    """

    def __init__(self) -> None:
        self.lengths = array("I")
        self._at = -1
        self._size = 0

    @property
    def longest(self) -> int:
        return max(self.lengths, default=0)

    def see(self, text: bytes) -> None:
        """Take the next piece. A length is that of all up to the next text: never too small."""
        begin = 0
        for found in _TEXT.finditer(text):
            self._size += found.start() - begin
            self._keep()
            begin, self._at = found.start(), self._at + 1
        self._size += len(text) - begin
        if len(self.lengths) > MOST_CELLS:
            raise Refused(f"the file keeps more than {MOST_CELLS:,} texts", hint="split the file")

    def end(self) -> None:
        """The part is over."""
        self._keep()
        self._at = -1

    def _keep(self) -> None:
        if self._at == len(self.lengths):
            self.lengths.append(self._size)
        elif self._at >= 0:
            self.lengths[self._at] = max(self.lengths[self._at], self._size)
        self._size = 0


def named(text: bytes) -> int:
    """How many cells of a piece of a sheet name a text, at most."""
    return text.count(b"</") if any(one in text for one in _UNUSUAL) else text.count(b't="s"')


class Copies:
    """What all texts of a sheet come to; told of its XML in pieces that end between tags."""

    def __init__(self, texts: Texts) -> None:
        self.size = 0
        self._lengths, self._longest = texts.lengths, texts.longest
        self._is_text = False

    def see(self, text: bytes) -> None:
        """Take the next piece."""
        for found in _PART.finditer(text):
            if found[1] == b"c":
                self._is_text = _NAMING.search(found[2]) is not None
            elif self._is_text:
                self.size += self._length(found[3].strip())

    def _length(self, number: bytes) -> int:
        """Of a number that is written in an odd way, the most that it could mean."""
        if not (number.isdigit() and len(number) < 12):
            return self._longest
        at = int(number)
        return self._lengths[at] if at < len(self._lengths) else 0
