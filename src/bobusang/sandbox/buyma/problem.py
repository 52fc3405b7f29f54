"""What is wrong with a request, in the nested shape in which BUYMA says it."""

from __future__ import annotations

from typing import Any

Told = dict[str, Any]


class Problems:
    """Collects errors: a field's texts, or texts by the index of an entry and its field."""

    __slots__ = ("_flat", "_nested")

    def __init__(self) -> None:
        self._flat: dict[str, list[str]] = {}
        self._nested: dict[str, dict[str, dict[str, list[str]]]] = {}

    def add(self, field: str, text: str) -> None:
        """Something is wrong with a field."""
        self._flat.setdefault(field, []).append(text)

    def at(self, field: str, index: int, part: str, text: str) -> None:
        """Something is wrong with one entry of a list."""
        self._nested.setdefault(field, {}).setdefault(str(index), {}).setdefault(part, []).append(text)

    def told(self) -> Told:
        """As it is sent: where a whole list is wrong, nothing is said of its entries."""
        return {**self._nested, **self._flat}

    def __bool__(self) -> bool:
        return bool(self._flat or self._nested)
