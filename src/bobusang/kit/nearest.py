"""Did you mean …? The known word nearest to one that was not understood."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

# difflib is quadratic in the length of the word, and nobody mistypes a name of this length.
LONGEST = 100


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word most like this one, whatever its case."""
    by_lower = {name.lower(): name for name in sorted(known)}
    found = get_close_matches(word[:LONGEST].lower(), by_lower, n=1, cutoff=0.6)
    return by_lower[found[0]] if found else None


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A hint for an error: the nearest word, or else the known ones, or nothing when none is known."""
    names = sorted(known)
    near = nearest(word, names)
    if near is not None:
        return f"did you mean {near}?"
    return f"known: {', '.join(names[:10])}{', …' if len(names) > 10 else ''}" if names else ""
