"""JSON read with the line of each key, and without what JSON's own reader lets pass: doubled keys, NaN, any depth."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from json import JSONDecodeError, JSONDecoder
from typing import NoReturn

from bobusang.kit.lined.located import DEEPEST, UNSTORABLE, WHOLE, Located, Place, Unreadable, spot

_SPACE = re.compile(r"[ \t\r\n]*")
_SCALAR = re.compile(r'["\-0-9tfn]')
_SCALARS = JSONDecoder()


def read(text: str) -> Located:
    """The data of a JSON text; `Unreadable` with line and column where it is none."""
    return _Reader(text).read()


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.lines: dict[Place, int] = {}
        self.breaks = [found.start() for found in re.finditer("\n", text)]

    def read(self) -> Located:
        value = self._value((), 0)
        if self._next():
            self._refuse("there is more after the end")
        return Located(value, self.lines)

    def _value(self, place: Place, depth: int) -> object:
        if depth > DEEPEST:
            self._refuse(f"nested more than {DEEPEST} deep")
        match self._next():
            case "{":
                return self._object(place, depth + 1)
            case "[":
                return self._array(place, depth + 1)
        return self._scalar()

    def _object(self, place: Place, depth: int) -> dict[str, object]:
        value: dict[str, object] = {}
        self.at += 1
        if self._took("}"):
            return value
        while True:
            if self._next() != '"':
                self._refuse("a name in double quotes is expected")
            line, start = self._line(), self.at
            name = str(self._scalar())
            if name in value:
                self.at = start
                self._refuse(f"the key {name[:100]!r} is there twice")
            self.lines[*place, name] = line
            if not self._took(":"):
                self._refuse("a colon is expected")
            value[name] = self._value((*place, name), depth)
            if self._took("}"):
                return value
            if not self._took(","):
                self._refuse("a comma or } is expected")

    def _array(self, place: Place, depth: int) -> list[object]:
        value: list[object] = []
        self.at += 1
        if self._took("]"):
            return value
        while True:
            self._next()
            self.lines[*place, len(value)] = self._line()
            value.append(self._value((*place, len(value)), depth))
            if self._took("]"):
                return value
            if not self._took(","):
                self._refuse("a comma or ] is expected")

    def _scalar(self) -> object:
        if not _SCALAR.match(self.text, self.at):
            self._refuse("a value is expected")
        try:
            value, end = _SCALARS.raw_decode(self.text, self.at)
        except JSONDecodeError as error:
            self.at = error.pos
            self._refuse(error.msg)
        except ValueError:  # a number of thousands of digits
            self._refuse("the number is too large")
        match value:
            case str() if UNSTORABLE.search(value):
                self._refuse("a text has a NUL or a lone surrogate")
            case bool():
                pass
            case int() if value not in WHOLE:
                self._refuse("the number is too large")
            case float() if not math.isfinite(value):
                self._refuse("the number is too large")
        self.at = end
        return value

    def _next(self) -> str:
        found = _SPACE.match(self.text, self.at)
        assert found is not None
        self.at = found.end()
        return self.text[self.at : self.at + 1]

    def _took(self, sign: str) -> bool:
        if self._next() != sign:
            return False
        self.at += 1
        return True

    def _line(self) -> int:
        return bisect_right(self.breaks, self.at) + 1

    def _refuse(self, message: str) -> NoReturn:
        raise Unreadable(message, *spot(self.text, self.at))
