"""Text that was read together with the line of each of its keys, so that what is wrong can be pointed at."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from bobusang.kit.errors import Invalid

LARGEST = 2**20
DEEPEST = 30

# How many problems one error shows; who has more begins with these.
MOST_SHOWN = 20

# What no database of ours keeps: PostgreSQL has no NUL, and a lone surrogate is not text.
UNSTORABLE = re.compile("[\0\ud800-\udfff]")

# Wider numbers would come back from a database or a browser as something else.
WHOLE = range(-(2**63), 2**63)

Place = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Located:
    """Plain data (JSON's kinds only), and the line where each place of it was written."""

    value: object
    lines: dict[Place, int] = field(default_factory=dict)

    def line(self, place: Place) -> int | None:
        """The line of this place, or of the nearest around it."""
        for end in range(len(place), -1, -1):
            if place[:end] in self.lines:
                return self.lines[place[:end]]
        return None


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong: where, and what to do."""

    message: str
    key: str = ""
    line: int | None = None
    column: int | None = None
    hint: str = ""

    def said(self, origin: str) -> str:
        """`shop.yaml:12: steps[1].type: unknown step type 'FETSH'`."""
        place = ":".join(str(part) for part in (origin, self.line, self.column) if part not in (None, ""))
        return ": ".join(part for part in (place, self.key, self.message) if part)


class BadText(Invalid):
    """A text with problems; all of them are in the message, one a line."""

    def __init__(self, origin: str, problems: list[Problem]) -> None:
        self.problems = tuple(problems)
        first, *others = problems
        if others:
            lines = [_with_hint(problem, origin) for problem in problems[:MOST_SHOWN]]
            more = [f"and {len(problems) - MOST_SHOWN} more"] if len(problems) > MOST_SHOWN else []
            super().__init__("\n".join([*lines, *more]), field=first.key)
        else:
            super().__init__(first.said(origin), hint=first.hint, field=first.key)


class Unreadable(Exception):
    """The text breaks off here, or holds what may not be in it."""

    def __init__(self, message: str, line: int, column: int = 1, hint: str = "") -> None:
        super().__init__(message)
        self.problem = Problem(message, line=line, column=column, hint=hint)


def spot(text: str, at: int) -> tuple[int, int]:
    """The line and column of a character, both from 1."""
    return text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)


def written(place: Place) -> str:
    """`steps[1].config.url`; of a very long name the beginning."""
    parts = (f"[{part}]" if isinstance(part, int) else f".{part[:100]}" for part in place)
    return "".join(parts).removeprefix(".")


def _with_hint(problem: Problem, origin: str) -> str:
    return f"{problem.said(origin)} ({problem.hint})" if problem.hint else problem.said(origin)
