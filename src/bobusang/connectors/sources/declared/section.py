"""Sections of a shop: mappings with times, shares and rates in them; what is wrong is noted where it stands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from bobusang.connectors.sources.declared.known import Flaw
from bobusang.kit.lined.fields import Fields

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

MOST = 100
TEXT = 1000


@dataclass(slots=True)
class Section(Fields):
    """One mapping of a shop."""

    def inner(self, name: str) -> Section | None:
        """A mapping inside it."""
        found = self.mapping(name)
        return None if found is None else Section(self.notes, self.at(name), found)

    def anything(self, name: str) -> object:
        """A value of any kind."""
        return self._get(name)

    def measured(self, name: str, read: Callable[[str], T], default: T) -> T:
        """A text with a unit, such as `24h` or `10%`."""
        value = self._get(name)
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            self.notes.add(self.at(name), "a text is expected", "put it in quotes")
            return default
        try:
            return read(str(value))
        except Flaw as flaw:
            self.notes.add(self.at(name), flaw.message, flaw.hint)
            return default

    def words(self, name: str) -> tuple[str, ...]:
        """One text, or a list of them."""
        value = self._get(name)
        found = value if isinstance(value, list) else [] if value is None else [value]
        if len(found) > MOST or not all(isinstance(each, str) and 0 < len(each) <= TEXT for each in found):
            self.notes.add(self.at(name), "a text, or a list of texts, is expected")
            return ()
        return tuple(str(each) for each in found)

    def numbers(self, name: str, allowed: range) -> tuple[int, ...]:
        """One whole number, or a list of them."""
        value = self._get(name)
        found = value if isinstance(value, list) else [] if value is None else [value]
        if len(found) > MOST or not all(type(each) is int and each in allowed for each in found):
            span = f"{allowed.start} to {allowed.stop - 1}"
            self.notes.add(self.at(name), f"a whole number from {span}, or a list of them, is expected")
            return ()
        return tuple(found)

    def texts(self, name: str) -> dict[str, str]:
        """Names with texts or numbers."""
        found: dict[str, str] = {}
        for key, value in (self.mapping(name) or {}).items():
            if isinstance(value, bool) or not isinstance(value, str | int | float):
                self.notes.add((*self.at(name), key), "a text is expected")
            else:
                found[key] = str(value)
        return found

    def refuse(self, name: str, message: str, hint: str = "") -> None:
        """Note that the value of a field cannot be."""
        self.notes.add(self.at(name), message, hint)
