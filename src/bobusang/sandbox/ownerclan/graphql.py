"""As much of GraphQL as sellers send: one operation, arguments, variables, selections; no fragments, no directives."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bobusang.kit import json

if TYPE_CHECKING:
    from collections.abc import Mapping

LONGEST = 20_000
DEEPEST = 12

_TOKEN = re.compile(r'[\s,]+|#[^\n]*|("(?:[^"\\\n]|\\.)*")|(-?\d+(?:\.\d+)?)|([A-Za-z_]\w*)|([{}()\[\]:$=!|@.])')


class GraphError(Exception):
    """What the API says in `errors`."""


@dataclass(frozen=True, slots=True)
class Variable:
    """A value that stands in `variables`."""

    name: str


@dataclass(frozen=True, slots=True)
class Field:
    """One name of a selection."""

    name: str
    alias: str
    arguments: Mapping[str, Any]
    inner: tuple[Field, ...] = ()


@dataclass(frozen=True, slots=True)
class Operation:
    """What is asked for."""

    kind: str
    fields: tuple[Field, ...]
    defaults: Mapping[str, Any] = field(default_factory=dict)


def parse(text: str) -> Operation:
    """The operation of a document."""
    if len(text) > LONGEST:
        raise GraphError(f"Syntax Error: the document has more than {LONGEST} characters")
    return _Parser(_tokens(text)).operation()


def filled(arguments: Mapping[str, Any], operation: Operation, variables: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments with their variables; one that is null is as if it were not there."""

    def value(found: Any) -> Any:
        match found:
            case Variable(name):
                return variables.get(name, operation.defaults.get(name))
            case list():
                return [value(each) for each in found]
            case dict():
                return {name: value(each) for name, each in found.items()}
        return found

    told = {name: value(each) for name, each in arguments.items()}
    return {name: each for name, each in told.items() if each is not None}


def selected(value: Any, fields: tuple[Field, ...], type_name: str) -> Any:
    """Of a value what is asked for. An object has every name of its type, so a name that it lacks is a mistake."""
    match value:
        case list():
            return [selected(each, fields, type_name) for each in value]
        case dict() if "__typename" in value:
            if not fields:
                raise GraphError(f'Field of type "{type_name}" must have a selection of subfields.')
            return {each.alias: _one(value, each) for each in fields}
    if fields and value is not None:
        raise GraphError(f'Field must not have a selection since type "{type_name}" has no subfields.')
    return value


def _one(value: Mapping[str, Any], each: Field) -> Any:
    kind = str(value["__typename"])
    if each.name not in value:
        raise GraphError(f'Cannot query field "{each.name}" on type "{kind}".')
    return selected(value[each.name], each.inner, f"{kind}.{each.name}")


def _tokens(text: str) -> list[str]:
    found, at = [], 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise GraphError(f'Syntax Error: Unexpected character "{text[at]}".')
        if match.lastindex:
            found.append(match[0])
        at = match.end()
    return found


class _Parser:
    def __init__(self, tokens: list[str]) -> None:
        self._tokens = tokens
        self._at = 0

    def operation(self) -> Operation:
        kind, defaults = "query", {}
        if self._next in ("query", "mutation"):
            kind = self._take()
            if self._next not in ("{", "("):
                self._take()
            if self._next == "(":
                defaults = self._declared()
        found = Operation(kind, self._selection(0), defaults)
        if self._next:
            raise GraphError(f'Syntax Error: Unexpected "{self._next}".')
        return found

    @property
    def _next(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _take(self, wanted: str = "") -> str:
        found = self._next
        if not found or (wanted and found != wanted):
            raise GraphError(f'Syntax Error: Expected "{wanted or "Name"}", found "{found or "<EOF>"}".')
        self._at += 1
        return found

    def _declared(self) -> dict[str, Any]:
        defaults = {}
        self._take("(")
        while self._next != ")":
            self._take("$")
            name = self._take()
            self._take(":")
            self._type()
            if self._next == "=":
                self._take()
                defaults[name] = self._value()
        self._take(")")
        return defaults

    def _type(self) -> None:
        if self._next == "[":
            self._take()
            self._type()
            self._take("]")
        else:
            self._take()
        if self._next == "!":
            self._take()

    def _selection(self, depth: int) -> tuple[Field, ...]:
        if depth > DEEPEST:
            raise GraphError("Syntax Error: the document is nested too deep")
        self._take("{")
        found = []
        while self._next != "}":
            found.append(self._field(depth))
        self._take("}")
        return tuple(found)

    def _field(self, depth: int) -> Field:
        name = alias = self._take()
        if not name.isidentifier():
            raise GraphError(f'Syntax Error: Expected Name, found "{name}".')
        if self._next == ":":
            self._take()
            name = self._take()
        arguments = {}
        if self._next == "(":
            self._take()
            while self._next != ")":
                argument = self._take()
                self._take(":")
                arguments[argument] = self._value()
            self._take(")")
        return Field(name, alias, arguments, self._selection(depth + 1) if self._next == "{" else ())

    def _value(self) -> Any:
        token = self._take()
        match token[0]:
            case "$":
                return Variable(self._take())
            case '"':
                return json.loads(token)
            case "[":
                return self._several("]")
            case "{":
                return self._named()
        words = {"true": True, "false": False, "null": None}
        if token in words:
            return words[token]
        if token[0] == "-" or token[0].isdigit():
            return float(token) if "." in token else int(token)
        return token  # an enum's word

    def _several(self, end: str) -> list[Any]:
        found = []
        while self._next != end:
            found.append(self._value())
        self._take(end)
        return found

    def _named(self) -> dict[str, Any]:
        found = {}
        while self._next != "}":
            name = self._take()
            self._take(":")
            found[name] = self._value()
        self._take("}")
        return found
