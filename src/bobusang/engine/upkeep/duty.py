"""What a duty is: something to do every so often, or at once when a bell rings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from datetime import timedelta


@dataclass(frozen=True, slots=True)
class Crowd:
    """A pass that did so much is followed by so long a pause: as much again is on its way, and can be done together."""

    least: int
    pause: timedelta


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
    crowd: Crowd | None = None
    """What is a crowd, where a pass over one costs hardly more than over a few."""
    leader: bool = True
    """Whether only the leader does it."""

    def rest_after(self, done: int) -> timedelta | None:
        """The least time between a pass that did so much and the next one."""
        return self.crowd.pause if self.crowd is not None and done >= self.crowd.least else self.pause
