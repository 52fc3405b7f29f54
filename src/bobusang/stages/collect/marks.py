"""Marks of time: up to when each stream of a source was followed, and the windows that follow from there."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import ceil, floor
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from bobusang.kit.clock import utc
from bobusang.kit.sql import Bulk, Statement
from bobusang.stages.collect.intake_tables import sync_marks

if TYPE_CHECKING:
    from bobusang.kit.db import Row, Tx

PERIOD = timedelta(hours=6)
"""How often a source is followed; what overlaps is never less."""
OLDEST = timedelta(days=60)
"""What was not followed for so long is collected whole again: windows that long are no quicker."""
MARGIN = timedelta(minutes=1)
"""A window is so much shorter than a source allows: who counts in whole seconds or days may round it up."""
MANY = 100_000
"""More marks than a source has."""
ZONE = ZoneInfo("Asia/Seoul")

OF_SOURCE = Statement("select * from sync_marks where source = :source order by stream, target limit :limit")
EVERY = Statement("select * from sync_marks order by source, stream, target limit :limit")
# Only forward, and only where the window begins before the mark: else something between them was not seen.
MOVE = Statement("""
    update sync_marks set until = :until, updated_at = :now
    where source = :source and stream = :stream and target = :target and until < :until and until >= :since""")
FORGET = Statement("delete from sync_marks where source = :source")

_EARLIEST = datetime(2000, 1, 1, tzinfo=UTC)
_NEW = Bulk(sync_marks, ("source", "stream", "target", "until", "updated_at"), keep=True)


@dataclass(frozen=True, slots=True)
class Mark:
    """All that happened before `until` is known."""

    source: str
    stream: str
    target: str
    """`kind:key` of what is followed by itself; empty: the whole source."""
    until: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class Span:
    """A window of time."""

    since: datetime
    until: datetime

    @property
    def data(self) -> dict[str, Any]:
        """As a target tells it: as ISO text, in whole milliseconds around it, and as days in Seoul."""
        return {
            "since": self.since.isoformat(),
            "until": self.until.isoformat(),
            "since_ms": floor(self.since.timestamp() * 1000),
            "until_ms": ceil(self.until.timestamp() * 1000),
            "since_date": self.since.astimezone(ZONE).date().isoformat(),
            "until_date": self.until.astimezone(ZONE).date().isoformat(),
        }


def spans(mark: datetime, now: datetime, *, most: timedelta | None = None, period: timedelta = PERIOD) -> list[Span]:
    """The windows from a mark until now, none longer than `most`.

    They begin before the mark by as much as has passed since, so that together they are twice that, and by a period at
    least: what a source enters late, or with a clock behind ours, is seen by the next one. A source that answers only
    short windows keeps a record of what happened, where a period is enough.
    """
    passed = max(now - mark, period)
    since = mark - (passed if most is None else period)
    if most is None:
        return [Span(since, now)]
    found = []
    while since < now:
        until = min(since + most - MARGIN, now)
        found.append(Span(since, until))
        since = until
    return found


async def of_source(tx: Tx, source: str) -> dict[tuple[str, str], datetime]:
    """By stream and target, up to when a source was followed."""
    rows = await tx.fetch(OF_SOURCE, source=source, limit=MANY)
    return {(row["stream"], row["target"]): utc(row["until"]) for row in rows}


async def listed(tx: Tx, source: str = "", *, limit: int) -> list[Mark]:
    """The first marks of all, or of a source."""
    rows = await (tx.fetch(OF_SOURCE, source=source, limit=limit) if source else tx.fetch(EVERY, limit=limit))
    return [_mark(row) for row in rows]


async def begin(tx: Tx, source: str, stream: str, target: str, until: datetime) -> None:
    """Everything was collected that there was at this moment: follow from here."""
    await tx.insert(_NEW, [(source, stream, target, until, tx.now)])
    await tx.execute(MOVE, source=source, stream=stream, target=target, until=until, since=_EARLIEST, now=tx.now)


async def move(tx: Tx, source: str, stream: str, target: str, span: Span) -> bool:
    """A window was seen to its end. False: the mark stays, for it is further already, or lies before the window."""
    told = {"source": source, "stream": stream, "target": target, "since": span.since, "until": span.until}
    return bool(await tx.execute(MOVE, **told, now=tx.now))


async def forget(tx: Tx, source: str) -> int:
    """Collect a source whole the next time it is followed."""
    return await tx.execute(FORGET, source=source)


def _mark(row: Row) -> Mark:
    return Mark(row["source"], row["stream"], row["target"], utc(row["until"]), utc(row["updated_at"]))
