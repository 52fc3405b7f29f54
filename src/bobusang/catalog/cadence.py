"""A cadence as people write it, `30m`, `6h` or `2d`, and as it is kept: in minutes."""

from __future__ import annotations

import re

from bobusang.kit.errors import Invalid

UNITS = {"m": 1, "h": 60, "d": 1440}
_WORDS = {"분": "m", "시": "h", "일": "d"}
_SHAPE = re.compile(r"(\d{1,6})\s*(m|min|minutes?|분|h|hours?|시간|d|days?|일)", re.IGNORECASE)


def minutes(text: str) -> int:
    """How many minutes a cadence has."""
    found = _SHAPE.fullmatch(text.strip())
    if found is None:
        raise Invalid(f"'{text[:50]}' is no cadence", hint="write minutes, hours or days: 30m, 6h, 2d", field="cadence")
    letter = found[2][0].lower()
    return int(found[1]) * UNITS[_WORDS.get(letter, letter)]


def words(minutes: int) -> str:
    """A cadence in the largest unit that says it whole."""
    name, size = next((name, size) for name, size in reversed(UNITS.items()) if minutes % size == 0)
    return f"{minutes // size}{name}"
