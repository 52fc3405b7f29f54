"""Queues and lanes: how much waits, how long, and what runs. A count stops at a bound and says so."""

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Table, column, func, literal, select, table

from bobusang.engine.model import QueueType, ready_ms
from bobusang.engine.tables import lanes, queue_claims, queue_delayed, queue_held, queue_ready
from bobusang.kit.db import Tx
from bobusang.kit.schema import Id
from bobusang.views import pools
from bobusang.views.pools import Pool

MOST_COUNTED = 100_000
MOST_LANES = 500

_claimed = table("claimed_tasks", column("queue", Id))


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """How many entries stand where."""

    waiting: int = 0
    delayed: int = 0
    held: int = 0
    running: int = 0
    oldest_wait_seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueLine(Counts):
    """A queue: HIGH_PRIORITY, NORMAL or LOW_PRIORITY."""

    queue: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneLine(Counts):
    """A lane: what one handler does within one set of pools; `job_id` where it belongs to one job."""

    lane: int
    handler: str
    job_id: int | None
    pools: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """All of it; `is_capped` when there was more than could be counted, so that the numbers are the least there is."""

    queues: list[QueueLine]
    lanes: list[LaneLine]
    pools: list[Pool]
    is_capped: bool


async def board(tx: Tx) -> Board:
    """Queues, lanes with something in them, and pools."""
    ready, delayed, held = [await tx.fetch(_counted(entries)) for entries in (queue_ready, queue_delayed, queue_held)]
    by_lane: dict[int, dict[str, Any]] = defaultdict(dict)
    by_queue: dict[int, dict[str, Any]] = {kind.value: {} for kind in QueueType}
    now_ms = tx.now.timestamp() * 1000
    for place, rows in (("waiting", ready), ("delayed", delayed), ("held", held)):
        for row in rows:
            for counts in (by_lane[row["lane"]], by_queue[row["queue"]]):
                counts[place] = counts.get(place, 0) + row["entries"]
                if place == "waiting":
                    waited = (now_ms - ready_ms(row["due"], row["queue"], row["priority"])) / 1000
                    counts["oldest_wait_seconds"] = max(counts.get("oldest_wait_seconds", 0.0), round(waited, 3))
    for row in await tx.fetch(_running_by_lane()):
        by_lane[row["lane"]]["running"] = int(row["entries"])
    for row in await tx.fetch(_running_by_queue()):
        by_queue[row["queue"]]["running"] = row["entries"]
    return Board(
        queues=[QueueLine(queue=kind.name, **by_queue[kind.value]) for kind in QueueType],
        lanes=await _lanes(tx, by_lane),
        pools=await pools.listed(tx),
        is_capped=any(sum(row["entries"] for row in rows) >= MOST_COUNTED for rows in (ready, delayed, held)),
    )


def _counted(entries: Table) -> Any:
    """How many of each lane, queue and priority, and the first sort key of each, over a bounded part."""
    columns = [entries.c.lane, entries.c.queue, entries.c.priority]
    due = entries.c.due if "due" in entries.c else literal(0).label("due")
    part = select(*columns, due).limit(MOST_COUNTED).subquery()
    by = (part.c.lane, part.c.queue, part.c.priority)
    return select(*by, func.count().label("entries"), func.min(part.c.due).label("due")).group_by(*by)


def _running_by_lane() -> Any:
    claims = queue_claims.c
    return select(claims.lane, func.sum(claims.size).label("entries")).group_by(claims.lane)


def _running_by_queue() -> Any:
    return select(_claimed.c.queue, func.count().label("entries")).group_by(_claimed.c.queue)


async def _lanes(tx: Tx, counts: dict[int, dict[str, Any]]) -> list[LaneLine]:
    busiest = sorted(counts, key=lambda lane: -sum(counts[lane].values()))[:MOST_LANES]
    if not busiest:
        return []
    rows = await tx.fetch(
        select(lanes).where(lanes.c.id.in_(busiest)).order_by(lanes.c.handler, lanes.c.job_id, lanes.c.id)
    )
    return [
        LaneLine(
            lane=row["id"],
            handler=row["handler"],
            job_id=row["job_id"] or None,
            pools=[pool for pool in row["pools"].split(",") if pool],
            **counts[row["id"]],
        )
        for row in rows
    ]
