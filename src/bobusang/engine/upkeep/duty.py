"""What a duty is: something to do every so often, or at once when a bell rings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from datetime import timedelta


@dataclass(frozen=True, slots=True)
class Duty:
    """`run` does one bounded pass and says how much it did; as long as it did something it is called again."""

    name: str
    every: timedelta
    run: Callable[[], Awaitable[int]]
    rings: frozenset[str] = frozenset()
    """The bells (first word of a note) that call it before its time."""
    pause: timedelta | None = None
    """The least time between two passes, for one that every batch rings for."""
    leader: bool = True
    """Whether only the leader does it."""
