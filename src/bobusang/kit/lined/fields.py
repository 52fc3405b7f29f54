"""The fields of one mapping in a definition, read one by one; what is wrong is noted, and reading goes on."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from bobusang.kit.lined.located import MOST_SHOWN, Located, Place, Problem, written
from bobusang.kit.nearest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

T = TypeVar("T")

# Joiners and other invisible signs belong to emoji and names; these do not belong to any name.
_CONTROL = re.compile("[\0-\x1f\x7f-\x9f\u2028\u2029]")


@dataclass(slots=True)
class Notes:
    """The problems found so far, each with its key and line."""

    source: Located
    problems: list[Problem] = field(default_factory=list)

    def add(self, place: Place, message: str, hint: str = "", near: Place | None = None) -> None:
        """Note a problem at a place, whose line is that of the place near it where it has none of its own."""
        self.problems.append(Problem(message, written(place), self.source.line(near or place), hint=hint))


@dataclass(slots=True)
class Fields:
    """One mapping. Null is the same as absent; a field may have a second name, but only one at a time."""

    notes: Notes
    place: Place
    values: Mapping[str, object]
    _known: list[str] = field(default_factory=list)

    def required(self, *names: str) -> None:
        """Note what is not there."""
        for name in names:
            if self.values.get(name) is None:
                self.notes.add((*self.place, name), "is missing")

    def text(self, name: str, *, most: int, lines: bool = False) -> str | None:
        """A text of 1 to `most` characters, on one line unless lines are allowed."""
        value = self._get(name)
        if value is None:
            return None
        if not isinstance(value, str):
            return self._wrong(name, f"a text is expected, not {_kind(value)}", None, "put it in quotes")
        if not 1 <= len(value) <= most:
            return self._wrong(name, f"1 to {most} characters are allowed, not {len(value)}", None)
        if not lines and (value != value.strip() or _CONTROL.search(value)):
            return self._wrong(name, "spaces at the ends and control characters are not allowed", None)
        return value

    def choice(self, name: str, options: Mapping[str, T], default: T, *, what: str, also: str = "") -> T:
        """One of a closed set of words."""
        value = self._get(name, also)
        if value is None:
            return default
        if isinstance(value, str) and value in options:
            return options[value]
        said = f"'{value[:50]}'" if isinstance(value, str) else _kind(value)
        return self._wrong(
            self._spelt(name, also), f"unknown {what} {said}", default, did_you_mean(str(value), options)
        )

    def whole(self, name: str, default: int, allowed: range) -> int:
        """A whole number of a range."""
        value = self._get(name)
        if value is None:
            return default
        if not isinstance(value, int) or isinstance(value, bool) or value not in allowed:
            span = f"{allowed.start} to {allowed.stop - 1:,}"
            return self._wrong(name, f"a whole number from {span} is expected, not {_kind(value)}", default)
        return value

    def share(self, name: str, default: float) -> float:
        """A number from 0 to 1."""
        value = self._get(name)
        if value is None:
            return default
        if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= 1:
            return self._wrong(name, f"a number from 0 to 1 is expected, not {_kind(value)}", default)
        return float(value)

    def flag(self, name: str, *, default: bool) -> bool:
        """True or false."""
        value = self._get(name)
        if value is None:
            return default
        return (
            value
            if isinstance(value, bool)
            else self._wrong(name, f"true or false is expected, not {_kind(value)}", default)
        )

    def mapping(self, name: str, also: str = "") -> dict[str, object] | None:
        """Names with values of any kind."""
        value = self._get(name, also)
        if value is None or isinstance(value, dict):
            return value
        return self._wrong(self._spelt(name, also), f"names with values are expected, not {_kind(value)}", None)

    def items(self, name: str, most: int) -> list[object]:
        """A list of 1 to `most`."""
        value = self._get(name)
        if value is None:
            return []
        if not isinstance(value, list):
            return self._wrong(name, "a list is expected", [], f"as {name}: with one item a line, each after -")
        if not 1 <= len(value) <= most:
            return self._wrong(name, f"1 to {most} are allowed, not {len(value)}", [])
        return value

    def at(self, name: str, also: str = "") -> Place:
        """The place of a field, by the name it was given."""
        return (*self.place, self._spelt(name, also))

    def refuse_others(self) -> None:
        """Note every field that nobody asked for: a mistyped one would be ignored in silence."""
        unknown = [name for name in self.values if name not in self._known]
        for name in unknown[:MOST_SHOWN]:
            self.notes.add((*self.place, name), "unknown key", did_you_mean(name, self._known))

    def _get(self, name: str, also: str = "") -> object:
        self._known += filter(None, (name, also))
        if also and self.values.get(name) is not None and self.values.get(also) is not None:
            self.notes.add((*self.place, also), f"{name} and {also} are the same", "give one of them")
        value = self.values.get(name)
        return self.values.get(also) if value is None and also else value

    def _spelt(self, name: str, also: str) -> str:
        return also if also and self.values.get(name) is None and also in self.values else name

    def _wrong(self, name: str, message: str, default: T, hint: str = "") -> T:
        self.notes.add((*self.place, name), message, hint)
        return default


def named(values: Iterable[T]) -> dict[str, T]:
    """The words of an enumeration, as options of a choice."""
    return {str(value): value for value in values}


def _kind(value: object) -> str:
    match value:
        case None:
            return "nothing"
        case bool():
            return str(value).lower()
        case int() | float():
            return f"{value}"
        case str():
            return f"'{value[:50]}'"
        case list():
            return "a list"
    return "a mapping"
