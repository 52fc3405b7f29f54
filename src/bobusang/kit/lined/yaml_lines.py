"""YAML read with the line of each key, as far as it is JSON in other clothes.

No tags, anchors or aliases, so there is nothing to construct and nothing to multiply. Unquoted words mean what
YAML 1.2 and JSON say: `no`, `on`, `12:30` and `2026-01-01` are texts, and so is `007`.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any, NoReturn

import yaml

from bobusang.kit.lined.located import DEEPEST, UNSTORABLE, WHOLE, Located, Place, Unreadable, spot

if TYPE_CHECKING:
    from collections.abc import Iterator

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # ten times faster, where PyYAML was built with it

_FORBIDDEN = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_WORDS = {
    word: value
    for value, key in ((True, "true"), (False, "false"), (None, "null"))
    for word in (key, key.title(), key.upper())
} | {"~": None, "": None}
_INT = re.compile(r"[-+]?(0|[1-9][0-9]*)")
_FLOAT = re.compile(r"[-+]?([0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))([eE][-+]?[0-9]+)?")


def read(text: str) -> Located:
    """The data of a YAML text; `Unreadable` with line and column where it is none."""
    if found := _FORBIDDEN.search(text):
        raise Unreadable(f"the character {found[0]!r} is not allowed", *spot(text, found.start()))
    try:
        return _Reader(yaml.parse(text, Loader=_LOADER)).read()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        said = ", ".join(part for part in (error.problem, error.context) if part)
        raise Unreadable(said, *((mark.line + 1, mark.column + 1) if mark else (1, 1))) from None
    except yaml.YAMLError as error:
        raise Unreadable(str(error), 1) from None


class _Reader:
    def __init__(self, events: Iterator[Any]) -> None:
        self.events = events
        self.lines: dict[Place, int] = {}

    def read(self) -> Located:
        next(self.events)  # the stream begins
        if isinstance(next(self.events), yaml.StreamEndEvent):
            return Located(None)
        value = self._value(next(self.events), (), 0)
        next(self.events)  # the document ends
        if not isinstance(event := next(self.events), yaml.StreamEndEvent):
            _refuse(event, "there is a second document")
        return Located(value, self.lines)

    def _value(self, event: Any, place: Place, depth: int) -> object:
        if depth > DEEPEST:
            _refuse(event, f"nested more than {DEEPEST} deep")
        _check(event)
        match event:
            case yaml.MappingStartEvent():
                return self._mapping(place, depth + 1)
            case yaml.SequenceStartEvent():
                return self._sequence(place, depth + 1)
        return _scalar(event)

    def _mapping(self, place: Place, depth: int) -> dict[str, object]:
        value: dict[str, object] = {}
        while not isinstance(event := next(self.events), yaml.MappingEndEvent):
            name = _name(event)
            if name in value:
                _refuse(event, f"the key {name[:100]!r} is there twice")
            self.lines[*place, name] = event.start_mark.line + 1
            value[name] = self._value(next(self.events), (*place, name), depth)
        return value

    def _sequence(self, place: Place, depth: int) -> list[object]:
        value: list[object] = []
        while not isinstance(event := next(self.events), yaml.SequenceEndEvent):
            self.lines[*place, len(value)] = event.start_mark.line + 1
            value.append(self._value(event, (*place, len(value)), depth))
        return value


def _check(event: Any) -> None:
    if isinstance(event, yaml.AliasEvent) or event.anchor is not None:
        _refuse(event, "anchors and aliases are not allowed", hint="write it out, or begin a text with a quote")
    if event.tag is not None:
        _refuse(event, f"the tag {event.tag} is not allowed", hint="plain texts, numbers, lists and mappings only")


def _name(event: Any) -> str:
    _check(event)
    if not isinstance(event, yaml.ScalarEvent):
        _refuse(event, "a key is a text")
    return _storable(event)


def _scalar(event: Any) -> object:
    text = _storable(event)
    if not event.implicit[0]:  # in quotes, or a block
        return text
    if text in _WORDS:
        return _WORDS[text]
    if _INT.fullmatch(text):
        if len(text) > 20 or int(text) not in WHOLE:
            _refuse(event, "the number is too large", hint="put it in quotes")
        return int(text)
    if _FLOAT.fullmatch(text):
        if not math.isfinite(float(text)):
            _refuse(event, "the number is too large", hint="put it in quotes")
        return float(text)
    return text


def _storable(event: Any) -> str:
    text = str(event.value)
    if UNSTORABLE.search(text):
        _refuse(event, "a text has a NUL or a lone surrogate")
    return text


def _refuse(event: Any, message: str, hint: str = "") -> NoReturn:
    mark = event.start_mark
    raise Unreadable(message, mark.line + 1, mark.column + 1, hint)
