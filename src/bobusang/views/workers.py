"""Who works, and who leads."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select

from bobusang.engine.tables import leaders, queue_claims, workers
from bobusang.kit.clock import utc
from bobusang.kit.db import Tx

MOST = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerLine:
    """A worker process; one that is silent for too long is taken for dead, and its claims go to others."""

    id: int
    name: str
    started_at: datetime
    beat_at: datetime
    is_alive: bool
    is_draining: bool
    batches: int
    tasks: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Office:
    """Who leads upkeep: the term grows with each change."""

    holder: str
    term: int
    expires_at: datetime
    is_held: bool


async def listed(tx: Tx, alive_since: datetime) -> list[WorkerLine]:
    """The workers the database knows, newest first."""
    claims = queue_claims.c
    held = (
        select(claims.worker_id, func.count().label("batches"), func.sum(claims.size).label("tasks"))
        .group_by(claims.worker_id)
        .subquery()
    )
    query = (
        select(workers, held.c.batches, held.c.tasks)
        .outerjoin(held, held.c.worker_id == workers.c.id)
        .order_by(workers.c.id.desc())
        .limit(MOST)
    )
    return [
        WorkerLine(
            id=row["id"],
            name=row["name"],
            started_at=utc(row["started_at"]),
            beat_at=utc(row["beat_at"]),
            is_alive=utc(row["beat_at"]) > alive_since,
            is_draining=bool(row["draining"]),
            batches=int(row["batches"] or 0),
            tasks=int(row["tasks"] or 0),
        )
        for row in await tx.fetch(query)
    ]


async def any_alive(tx: Tx, alive_since: datetime) -> bool:
    """Whether anybody works at all."""
    return await alive(tx, alive_since) > 0


async def alive(tx: Tx, alive_since: datetime) -> int:
    """How many work."""
    query = select(func.count().label("value")).select_from(workers).where(workers.c.beat_at > alive_since)
    return int(await tx.value(query))


async def leader(tx: Tx) -> Office | None:
    """Who leads upkeep; None when nobody ever did."""
    row = await tx.first(select(leaders).where(leaders.c.name == "upkeep"))
    if row is None:
        return None
    expires = utc(row["expires_at"])
    return Office(holder=row["holder"], term=row["term"], expires_at=expires, is_held=expires > tx.now)
