"""Paths into data, as mappings use them: `$.items[*].name`, `$target.key`, `$results[0]["a b"]`, `$.note?`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import EllipsisType
from typing import NoReturn

from bobusang.kit.errors import Invalid
from bobusang.kit.nearest import did_you_mean

# What a path may begin with: `$` is the value handed over.
ROOTS = ("$", "$job", "$target", "$config", "$results")

LONGEST = 500

EACH = ...
Part = str | int | EllipsisType
Scope = Mapping[str, object]

_ROOT = re.compile(r"\$[^\W\d]*")
_QUOTED = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
_PART = re.compile(
    rf"\.(?P<name>[\w-]+)|\.(?P<quoted>{_QUOTED})|\[(?P<key>{_QUOTED})\]|\[(?P<index>-?[0-9]{{1,9}})\]|\[(?P<each>\*)\]",
    re.DOTALL,
)
_LITERALLY = "a text that begins with $ is written with $$"
_NAMED = (dict, Mapping)  # a dict is known by its type at once, which counts on the way of every task
_LISTED = (list, tuple)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


class Absent(Exception):
    """Nothing is there: how far the way went, and what was found at its end."""

    def __init__(self, trail: tuple[Part, ...], found: object) -> None:
        super().__init__()
        self.trail = trail
        self.found = found


@dataclass(frozen=True, slots=True)
class Path:
    """A compiled path. An optional one may lead nowhere."""

    text: str
    root: str
    parts: tuple[Part, ...]
    optional: bool = False

    def read(self, scope: Scope) -> object:
        """What the path leads to; `Absent` where it leads nowhere."""
        return _walk(scope.get(self.root), self.parts)

    def explain(self, absent: Absent) -> str:
        """In words, where the way ended and what was there."""
        start = self.root if self.root == "$" else f"${self.root}"
        return f"{self.text} is missing: {start}{written(absent.trail)} {_described(absent.found)}"


def parse(text: str) -> Path:
    """Read a path; a syntax error says where and what was expected."""
    body = text.removesuffix("?")
    match = _ROOT.match(body)
    if match is None or len(text) > LONGEST:
        raise Invalid(f"a path begins with $ and has at most {LONGEST} characters: {text[:50]!r}")
    if match[0] not in ROOTS:
        raise Invalid(
            f"{text!r} begins with the unknown {match[0]}", hint=f"{did_you_mean(match[0], ROOTS)}; {_LITERALLY}"
        )
    parts, at = [], match.end()
    while at < len(body):
        found = _PART.match(body, at)
        if found is None:
            _refuse(text, at)
        parts.append(_part(found))
        at = found.end()
    return Path(text, match[0].removeprefix("$") or "$", tuple(parts), optional=body != text)


def written(parts: Sequence[Part]) -> str:
    """Parts as one would write them."""
    return "".join(_written(part) for part in parts)


def _part(found: re.Match[str]) -> Part:
    match found.lastgroup:
        case "name":
            return found["name"]
        case "index":
            return int(found["index"])
        case "each":
            return EACH
    quoted = found["quoted"] or found["key"]
    return _ESCAPED.sub(r"\1", quoted[1:-1])


def _walk(value: object, parts: tuple[Part, ...]) -> object:
    for at, part in enumerate(parts):
        if isinstance(part, str):
            if not isinstance(value, _NAMED) or part not in value:
                raise Absent(parts[:at], value)
            value = value[part]
        elif not isinstance(value, _LISTED):
            raise Absent(parts[:at], value)
        elif isinstance(part, int):
            if not -len(value) <= part < len(value):
                raise Absent(parts[:at], value)
            value = value[part]
        else:
            return _walk_each(value, parts, at)
    return value


def _walk_each(values: Sequence[object], parts: tuple[Part, ...], at: int) -> list[object]:
    found: list[object] = []
    try:
        for value in values:
            found.append(_walk(value, parts[at + 1 :]))  # noqa: PERF401 - how many were found is needed below
    except Absent as absent:
        raise Absent((*parts[:at], len(found), *absent.trail), absent.found) from None
    return found


def _refuse(text: str, at: int) -> NoReturn:
    raise Invalid(
        f"{text!r} is not a path: {text[at:][:10]!r} at character {at + 1} is not understood",
        hint=f"a root goes on with .name, .'any name', [\"any name\"], [0], [-1] or [*]; {_LITERALLY}",
    )


def _written(part: Part) -> str:
    if not isinstance(part, str):
        return "[*]" if part is EACH else f"[{part}]"
    if re.fullmatch(r"[\w-]+", part):
        return f".{part}"
    escaped = part.replace("\\", r"\\").replace('"', r"\"")
    return f'["{escaped}"]'


def _described(value: object) -> str:
    match value:
        case None:
            return "is null"
        case Mapping():
            names = sorted(map(str, value))
            return f"has {', '.join(names[:8])}{', …' if len(names) > 8 else ''}"[:200] if names else "is empty"
        case list() | tuple():
            return f"is a list of {len(value)}"
        case str():
            return "is a text"
        case bool():
            return "is true or false"
        case int() | float():
            return "is a number"
    return f"is a {type(value).__name__}"
