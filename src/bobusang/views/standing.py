"""Where a task's queue entry stands, and why it waits."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import Select, String, Table, cast, column, literal_column, select, table, union_all

from bobusang.engine.model import HeldReason, ReasonClass, ready_ms
from bobusang.engine.tables import (
    dead_letters,
    lanes,
    queue_claims,
    queue_delayed,
    queue_held,
    queue_ready,
    workers,
    workflow_steps,
)
from bobusang.kit.clock import utc
from bobusang.kit.db import Row, Tx
from bobusang.kit.schema import Id
from bobusang.views.columns import queue_name, words
from bobusang.views.pools import hindrances
from bobusang.views.workers import any_alive

claimed_tasks = table("claimed_tasks", *(column(name, Id) for name in ("task_id", "job_id", "token")))
"""A view: the entries inside claims."""


class Place(StrEnum):
    """The one place where an entry is."""

    READY = "READY"
    DELAYED = "DELAYED"
    HELD = "HELD"
    CLAIMED = "CLAIMED"
    DEAD = "DEAD"
    NONE = "NONE"


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """An entry's place, and in words why it is there."""

    place: Place
    why: str
    since: datetime | None = None
    until: datetime | None = None
    queue: str | None = None
    priority: int | None = None
    handler: str | None = None
    pools: list[str] = field(default_factory=list)
    worker_id: int | None = None
    worker: str | None = None
    token: int | None = None


NOWHERE = Standing(place=Place.NONE, why="it has no queue entry: it is over, or about to move")


async def standings(tx: Tx, ids: Sequence[int], alive_since: datetime) -> dict[int, Standing]:
    """Where these tasks stand; one that is over stands nowhere."""
    found: dict[int, Standing] = {}
    if ids and (ready := await tx.fetch(_ready(ids))):
        found |= await _as_ready(tx, ready, alive_since)
    if left := [id for id in ids if id not in found]:
        found |= {row["task_id"]: _as_claimed(row) for row in await _claimed(tx, left)}
    if left := [id for id in ids if id not in found]:
        found |= {row["task_id"]: _as_set_aside(row) for row in await tx.fetch(_set_aside(left))}
    return found


def _ready(ids: Sequence[int]) -> Select[Any]:
    return (
        select(queue_ready, lanes.c.handler, lanes.c.pools)
        .outerjoin(lanes, lanes.c.id == queue_ready.c.lane)
        .where(queue_ready.c.task_id.in_(list(ids)))
    )


def _set_aside(ids: Sequence[int]) -> Select[Any]:
    """Those that are delayed, held or dead, in one statement."""
    parts = union_all(
        _part(Place.DELAYED, queue_delayed, ids, "run_at", "reason"),
        _part(Place.HELD, queue_held, ids, "until", "reason"),
        _part(Place.DEAD, dead_letters, ids, "created_at", "reason_class"),
    ).subquery()
    return (
        select(parts, lanes.c.handler, lanes.c.pools, workflow_steps.c.step_name)
        .outerjoin(lanes, lanes.c.id == parts.c.lane)
        .outerjoin(workflow_steps, workflow_steps.c.id == parts.c.step_id)
    )


def _part(place: Place, entries: Table, ids: Sequence[int], at: str, reason: str) -> Select[Any]:
    """One of them; texts are cast, because a union takes no columns of different collations."""
    columns = entries.c
    wait_key = columns.wait_key if "wait_key" in columns else literal_column("''")
    return select(
        literal_column(f"'{place}'").label("place"),
        columns.task_id,
        columns.lane,
        columns.queue,
        columns.priority,
        columns[at].label("at"),
        cast(columns[reason], String(200)).label("reason"),
        cast(wait_key, String(200)).label("wait_key"),
        (columns.step_id if "step_id" in columns else literal_column("0")).label("step_id"),
    ).where(columns.task_id.in_(list(ids)))


async def _claimed(tx: Tx, ids: Sequence[int]) -> Sequence[Row]:
    claims = queue_claims.c
    query = (
        select(
            claimed_tasks.c.task_id,
            claims.token,
            claims.worker_id,
            claims.claimed_at,
            claims.deadline_at,
            lanes.c.handler,
            lanes.c.pools,
            workers.c.name.label("worker"),
        )
        .join(queue_claims, claims.token == claimed_tasks.c.token)
        .outerjoin(workers, workers.c.id == claims.worker_id)
        .outerjoin(lanes, lanes.c.id == claims.lane)
        .where(claimed_tasks.c.task_id.in_(list(ids)))
    )
    return await tx.fetch(query)


def _as_claimed(row: Row) -> Standing:
    since = utc(row["claimed_at"])
    who = f"worker {row['worker_id']}" + (f" ({row['worker']})" if row["worker"] else "")
    return Standing(
        place=Place.CLAIMED,
        why=f"claimed by {who} since {words(since)}",
        since=since,
        until=utc(row["deadline_at"]),
        handler=row["handler"],
        pools=_pools(row),
        worker_id=row["worker_id"],
        worker=row["worker"],
        token=row["token"],
    )


def _as_set_aside(row: Row) -> Standing:
    place, at = Place(row["place"]), utc(row["at"])
    match place:
        case Place.DELAYED:
            why = row["reason"] or "it waits for its time or its next attempt"
            return _entry(row, place, f"delayed until {words(at)}: {why}", until=at)
        case Place.HELD:
            return _entry(row, place, _why_held(row, at), until=at)
        case _:
            why = f"dead letter ({ReasonClass(row['reason'])}): mend it, then re-drive or discard it"
            return _entry(row, place, why, since=at)


def _why_held(row: Row, until: datetime | None) -> str:
    match HeldReason(row["reason"]):
        case HeldReason.PAUSED:
            return "held because its job is paused"
        case HeldReason.BARRIER:
            return f"held by a barrier: step '{row['step_name']}' begins when the steps before it are over"
        case HeldReason.WAIT:
            limit = f", at the latest {words(until)}" if until else ""
            return f"waits for '{row['wait_key']}'{limit}"


async def _as_ready(tx: Tx, rows: Sequence[Row], alive_since: datetime) -> dict[int, Standing]:
    hindered = await hindrances(tx, {pool for row in rows for pool in _pools(row)})
    alive = await any_alive(tx, alive_since)
    return {row["task_id"]: _one_ready(row, hindered, alive=alive) for row in rows}


def _one_ready(row: Row, hindered: Mapping[str, str], *, alive: bool) -> Standing:
    since = datetime.fromtimestamp(ready_ms(row["due"], row["queue"], row["priority"]) / 1000, UTC)
    why = [hindered[pool] for pool in _pools(row) if pool in hindered]
    if not why:
        why = ["ready: the next free slot takes it in its turn" if alive else "ready, but no worker is running"]
    return _entry(row, Place.READY, "; ".join(why), since=since)


def _entry(
    row: Row, place: Place, why: str, *, since: datetime | None = None, until: datetime | None = None
) -> Standing:
    return Standing(
        place=place,
        why=why,
        since=since,
        until=until,
        queue=queue_name(row["queue"]),
        priority=row["priority"],
        handler=row["handler"],
        pools=_pools(row),
    )


def _pools(row: Row) -> list[str]:
    return [pool for pool in (row["pools"] or "").split(",") if pool]
