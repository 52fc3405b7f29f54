"""When things happened, by the clock on the wall: what a supplier with windows of time calls created and updated.

The world ages in leaps. Whatever changed in one could be seen from the moment of the leap on and not before, so that
moment is when it changed. What was so at the start has been so for as long as the world's hours say.
"""

from __future__ import annotations

from bisect import bisect_left
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def _now() -> datetime:
    return datetime.now(UTC)


class Chronicle:
    """The leaps of one world, and when somebody said how a product is."""

    def __init__(self, now: Callable[[], datetime] = _now) -> None:
        self._now = now
        self._hours: list[float] = []
        self._moments: list[datetime] = []
        self._told: dict[tuple[str, int], datetime] = {}
        self.begin(0.0)

    def begin(self, hours: float) -> None:
        """Forget all: it is this hour of the world."""
        self._hours, self._moments = [hours], [self._now()]
        self._told.clear()

    def leap(self, hours: float) -> None:
        """The world is this old from now on."""
        self._hours.append(hours)
        self._moments.append(max(self._now(), self._moments[-1] + timedelta(milliseconds=1)))

    def tell(self, mall: str, no: int) -> None:
        """Somebody says now how this product is."""
        self._told[mall, no] = self._now()

    def told(self, mall: str, no: int) -> datetime | None:
        """When somebody last said how it is."""
        return self._told.get((mall, no))

    @property
    def leaps(self) -> Sequence[tuple[float, float, datetime]]:
        """From which hour to which the world leapt, and when."""
        return list(zip(self._hours[:-1], self._hours[1:], self._moments[1:], strict=True))

    def at(self, hour: float) -> datetime:
        """When something of this hour happened."""
        place = bisect_left(self._hours, hour)
        if place == 0:
            return self._moments[0] - timedelta(hours=self._hours[0] - hour)
        return self._moments[min(place, len(self._moments) - 1)]
