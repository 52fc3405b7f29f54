"""What the sandbox was asked: the last calls one by one, and all of them counted."""

from __future__ import annotations

import time
from collections import Counter, deque
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

KEPT = 100_000
RATE = "exchange"
"""The mall that is none: the rate of exchange."""


@dataclass(slots=True)
class Visit:
    """One call. Its status is 0 while it is not answered, and when it never was."""

    at: float
    mall: str
    endpoint: str
    path: str
    agent: str
    token: str
    status: int = 0
    fault: str = ""


class Journal:
    """Keeps the last calls, bounded, and the counts of all."""

    def __init__(self, now: Callable[[], float] = time.time, kept: int = KEPT) -> None:
        self._now = now
        self._kept = kept
        self.clear()

    def clear(self) -> None:
        """Forget everything."""
        self.total = 0
        self._visits: deque[Visit] = deque(maxlen=self._kept)
        self._counts: Counter[tuple[str, str, int]] = Counter()
        self._here: Counter[str] = Counter()
        self._most: Counter[str] = Counter()

    def begin(self, mall: str, endpoint: str, path: str, agent: str, token: str) -> Visit:
        """A call has come."""
        visit = Visit(self._now(), mall, endpoint, path, agent, token)
        self._visits.append(visit)
        self.total += 1
        self._here[mall] += 1
        self._most[mall] = max(self._most[mall], self._here[mall])
        return visit

    def end(self, visit: Visit) -> None:
        """It was answered, or given up."""
        self._here[visit.mall] -= 1
        self._counts[visit.mall, visit.endpoint, visit.status] += 1

    def log(self, *, mall: str = "", endpoint: str = "", since: float = 0.0, limit: int = KEPT) -> dict[str, Any]:
        """The calls of a mall and endpoint since an instant, oldest first, the latest `limit` of them."""
        found = [
            asdict(visit)
            for visit in self._visits
            if visit.at >= since and mall in ("", visit.mall) and endpoint in ("", visit.endpoint)
        ]
        return {"items": found[-limit:] if limit else [], "forgotten": self.total - len(self._visits)}

    def counts(self) -> dict[str, Any]:
        """All calls that have ended by mall, endpoint and status; kept calls by token; most at once by mall. `asked`
        leaves out the rate of exchange, which whoever starts asks for by itself."""
        return {
            "total": self.total,
            "asked": sum(count for (mall, _, _), count in self._counts.items() if mall != RATE),
            "requests": [
                {"mall": mall, "endpoint": endpoint, "status": status, "count": count}
                for (mall, endpoint, status), count in sorted(self._counts.items())
            ],
            "tokens": dict(Counter(visit.token for visit in self._visits if visit.token)),
            "most_in_flight": dict(self._most),
        }
