"""Conditions of asks, `new or changed(price) or older_than(24h)`: parsed once, then pure predicates."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from bobusang.connectors.sources.declared.known import Flaw
from bobusang.connectors.sources.declared.units import duration
from bobusang.kit.errors import Invalid
from bobusang.kit.nearest import did_you_mean

if TYPE_CHECKING:
    from datetime import timedelta

LONGEST = 300
DEEPEST = 10

WORDS = ("always", "new", "changed", "older_than", "due", "partial", "and", "or", "not")

_TOKEN = re.compile(r"\s*([A-Za-z_]+|\(|\)|,|[0-9][0-9.]*[a-z]*|\S)")


@dataclass(frozen=True, slots=True)
class Standing:
    """How an item stands when one of its pages could be asked for."""

    is_new: bool = False
    """It is not in the catalog yet."""
    changed: frozenset[str] = frozenset()
    """Groups that its list page has just changed."""
    age: timedelta | None = None
    """How long ago this stream was last read; None: never."""
    due: bool = False
    """Whether its adaptive interval is over."""
    partial: bool = False
    """Whether this run refreshes price and stock only."""


Predicate = Callable[[Standing], bool]


@dataclass(frozen=True, slots=True)
class When:
    """A compiled condition; an empty one always holds."""

    text: str
    _holds: Predicate = field(repr=False, compare=False)

    def holds(self, standing: Standing) -> bool:
        return self._holds(standing)


@lru_cache(maxsize=256)
def parse_when(text: str) -> When:
    """Read a condition; `Invalid` says what is not understood.

    Words: `new`, `changed` (any group), `changed(price, stock)`, `older_than(6h)` (also what was never read), `due`,
    `partial`, `always`; joined by `and`, `or`, `not` and parentheses.
    """
    try:
        return When(text, compile_when(text))
    except Flaw as flaw:
        raise Invalid(f"condition '{text[:100]}': {flaw.message}", hint=flaw.hint, field="when") from None


def compile_when(text: str) -> Predicate:
    """The predicate of a condition; a `Flaw` where it is none."""
    if len(text) > LONGEST:
        raise Flaw(f"a condition has at most {LONGEST} characters")
    if not text.strip():
        return lambda _: True
    parser = _Parser(_TOKEN.findall(text))
    found = parser.either(0)
    if parser.next is not None:
        raise Flaw(f"'{parser.next}' is one too many")
    return found


class _Parser:
    def __init__(self, tokens: list[str]) -> None:
        self.tokens = tokens
        self.at = 0

    @property
    def next(self) -> str | None:
        return self.tokens[self.at] if self.at < len(self.tokens) else None

    def took(self, token: str) -> bool:
        if self.next != token:
            return False
        self.at += 1
        return True

    def either(self, depth: int) -> Predicate:
        parts = [self.both(depth)]
        while self.took("or"):
            parts.append(self.both(depth))
        return parts[0] if len(parts) == 1 else lambda standing: any(part(standing) for part in parts)

    def both(self, depth: int) -> Predicate:
        parts = [self.single(depth)]
        while self.took("and"):
            parts.append(self.single(depth))
        return parts[0] if len(parts) == 1 else lambda standing: all(part(standing) for part in parts)

    def single(self, depth: int) -> Predicate:
        if depth > DEEPEST:
            raise Flaw(f"nested more than {DEEPEST} deep")
        if self.took("not"):
            inner = self.single(depth + 1)
            return lambda standing: not inner(standing)
        if self.took("("):
            inside = self.either(depth + 1)
            self._close()
            return inside
        return self.word()

    def word(self) -> Predicate:
        word = self.next
        self.at += 1
        match word:
            case "always":
                return lambda _: True
            case "new":
                return lambda standing: standing.is_new
            case "due":
                return lambda standing: standing.due
            case "partial":
                return lambda standing: standing.partial
            case "changed":
                return self._changed()
            case "older_than":
                return self._older()
            case None:
                raise Flaw("it breaks off", "as in new or older_than(24h)")
        raise Flaw(f"unknown word '{word[:50]}'", did_you_mean(word, WORDS))

    def _changed(self) -> Predicate:
        if not self.took("("):
            return lambda standing: bool(standing.changed)
        groups = {self._name()}
        while self.took(","):
            groups.add(self._name())
        self._close()
        return lambda standing: not groups.isdisjoint(standing.changed)

    def _older(self) -> Predicate:
        if not self.took("("):
            raise Flaw("older_than needs a time", "as in older_than(24h)")
        limit = duration(self._name())
        self._close()
        return lambda standing: standing.age is None or standing.age >= limit

    def _name(self) -> str:
        word = self.next or ""
        self.at += 1
        if not re.fullmatch(r"[A-Za-z0-9_.]+", word):
            raise Flaw(f"a name or a time is expected, not '{word}'", "as in changed(price) or older_than(24h)")
        return word

    def _close(self) -> None:
        if not self.took(")"):
            raise Flaw("a ) is missing")
