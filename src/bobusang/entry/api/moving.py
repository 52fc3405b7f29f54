"""Batches as they move: how fast, and how long what is left takes by that."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, fields
from datetime import datetime

from bobusang.flows.conveyor import watching
from bobusang.flows.conveyor.watching import BatchDetail
from bobusang.kit.db import Tx

WINDOW_SECONDS = 60.0
MOST_KNOWN = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveBatch(BatchDetail):
    """A batch as it moves: `rate` is tasks a minute over the last minute of looking (at first: since it began),
    `eta_seconds` how long what is left takes by that; null: nothing moves."""

    rate: float
    eta_seconds: float | None


@dataclass(slots=True)
class Rates:
    """How fast batches move, by what this process has seen of them: asking the database would mean counting tasks."""

    _seen: dict[str, deque[tuple[datetime, int]]] = field(default_factory=dict)

    def of(self, batch: BatchDetail, now: datetime) -> float:
        """Tasks a minute: over the last minute of looking, or since it began where nobody has looked for so long."""
        end = batch.end_time or now
        first, done = (batch.start_time, 0) if batch.end_time else self._seen_first(batch, now)
        return round(max(0, batch.done - done) / max((end - first).total_seconds(), 1.0) * 60, 1)

    async def live(self, tx: Tx, batch_id: str) -> LiveBatch:
        """A batch as it moves."""
        found = await watching.one(tx, batch_id)
        rate = self.of(found, tx.now)
        eta = round(found.left / rate * 60, 1) if rate and found.end_time is None else None
        return LiveBatch(**{one.name: getattr(found, one.name) for one in fields(found)}, rate=rate, eta_seconds=eta)

    def _seen_first(self, batch: BatchDetail, now: datetime) -> tuple[datetime, int]:
        if batch.batch_id not in self._seen and len(self._seen) >= MOST_KNOWN:
            del self._seen[next(iter(self._seen))]
        seen = self._seen.setdefault(batch.batch_id, deque([(batch.start_time, 0)]))
        seen.append((now, batch.done))
        while (now - seen[1][0]).total_seconds() >= WINDOW_SECONDS:
            seen.popleft()
        return seen[0]
