"""Paths into JSON (`a.b`, `[0]`, `[*]`, `[type=X]`, `a.*`), compiled to closures."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from bobusang.connectors.sources.declared.known import NOTHING, UNCLEAR, Flaw

LONGEST = 300
MOST_STEPS = 20

HINT = "as in a.b, items[*].name, list[0], modules[type=Info].data, english.*"

_PART = re.compile(r"\.?([^.\[\]\s|][^.\[\]|]*)|\[(\*|-?\d{1,6}|[^=\[\]*]+=[^\[\]]+)\]")


@dataclass(frozen=True, slots=True)
class Where:
    """The element whose `key` is this text."""

    key: str
    value: str


EACH = object()
VALUES = object()

Step = str | int | Where | object
Follow = Callable[[Any], Any]


def parse(text: str) -> tuple[Step, ...]:
    """The steps of a path; none for an empty one, which is the record itself."""
    text = text.removeprefix("$")
    if len(text) > LONGEST:
        raise Flaw(f"a path has at most {LONGEST} characters")
    steps: list[Step] = []
    at = 0
    while at < len(text):
        found = _PART.match(text, at)
        if found is None or (at and found[1] and text[at] != "."):
            raise Flaw(f"'{text}' is no path: it breaks at character {at + 1}", HINT)
        steps.append(_step(found))
        at = found.end()
    if len(steps) > MOST_STEPS:
        raise Flaw(f"a path has at most {MOST_STEPS} steps")
    return tuple(steps)


def _step(found: re.Match[str]) -> Step:
    key, inside = found.groups()
    if key is not None:
        return VALUES if key == "*" else key.strip()
    if inside == "*":
        return EACH
    if "=" in inside:
        name, _, value = inside.partition("=")
        return Where(name.strip(), value.strip().strip("\"'"))
    return int(inside)


def one(text: str) -> Follow:
    """A closure that follows a path to one value: of `[type=X]` the first, of `[*]` all as a list.

    A step that is not there, and a null, is `NOTHING`. Where `[*]` finds an element without the rest of the path the
    whole is `UNCLEAR`: a list with holes is no list.
    """
    follow: Follow = _itself
    for step in reversed(parse(text)):
        follow = _one(step, follow)
    return follow


def many(text: str) -> Follow:
    """A closure that follows a path to records: a list, or `NOTHING` where the path leads nowhere.

    Of `[type=X]` all; an object in place of a list is one record.
    """
    steps = parse(text)
    follow: Follow = _listed
    for step in reversed(steps):
        follow = _many(step, follow)
    return _unless_empty(follow) if steps[:1] == (EACH,) else follow


def _unless_empty(follow: Follow) -> Follow:
    """An answer that is nothing but `{}` is no list, though inside of an answer it may stand for one."""
    return lambda value: NOTHING if value == {} else follow(value)


def _itself(value: Any) -> Any:
    return NOTHING if value is None else value


def _listed(value: Any) -> Any:
    if value is None or value is NOTHING:
        return NOTHING
    return value if type(value) is list else [value]


def _one(step: Step, rest: Follow) -> Follow:
    match step:
        case str():
            return _last_key(step) if rest is _itself else _key(step, rest)
        case int():
            return _index(step, rest)
        case Where():
            return _first(step, rest)
    return _every(_elements if step is EACH else _values, rest)


def _last_key(name: str) -> Follow:
    def follow(value: Any) -> Any:
        if type(value) is not dict:
            return NOTHING
        found = value.get(name)
        return NOTHING if found is None else found

    return follow


def _key(name: str, rest: Follow) -> Follow:
    def follow(value: Any) -> Any:
        found = value.get(name) if type(value) is dict else None
        return NOTHING if found is None else rest(found)

    return follow


def _index(at: int, rest: Follow) -> Follow:
    def follow(value: Any) -> Any:
        found = value if type(value) is list else [value]
        return rest(found[at]) if -len(found) <= at < len(found) else NOTHING

    return follow


def _first(where: Where, rest: Follow) -> Follow:
    def follow(value: Any) -> Any:
        for each in _elements(value):
            if _matches(each, where):
                return rest(each)
        return NOTHING

    return follow


def _every(inside: Follow, rest: Follow) -> Follow:
    def follow(value: Any) -> Any:
        found: list[Any] = []
        for each in inside(value):
            inner = rest(each)
            if inner is NOTHING or inner is UNCLEAR:
                return UNCLEAR
            found += inner if type(inner) is list and rest is not _itself else [inner]
        return found or NOTHING

    return follow


def _many(step: Step, rest: Follow) -> Follow:
    match step:
        case str():
            return _key(step, rest)
        case int():
            return _index(step, rest)
        case Where():
            return _gather(lambda value: [each for each in _elements(value) if _matches(each, step)], rest)
    return _gather(_elements if step is EACH else _values, rest)


def _gather(inside: Follow, rest: Follow) -> Follow:
    def follow(value: Any) -> Any:
        found: list[Any] = []
        for each in inside(value):
            inner = rest(each)
            if inner is NOTHING:
                return NOTHING
            found += inner
        return found

    return follow


def _elements(value: Any) -> list[Any]:
    """Of a list its elements; an object stands for a list of one, an empty one for an empty list."""
    return value if type(value) is list else [value] if value != {} else []


def _values(value: Any) -> list[Any]:
    return list(value.values()) if type(value) is dict else []


def _matches(value: Any, where: Where) -> bool:
    return type(value) is dict and str(value.get(where.key)) == where.value
