"""Where a task's queue entry stands, and why it waits."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import Select, Table, column, select, table

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
    if not ids:
        return {}
    found: dict[int, Standing] = {}
    for row in await _claimed(tx, ids):
        found[row["task_id"]] = _as_claimed(row)
    for row in await tx.fetch(_in(queue_delayed, ids)):
        why = row["reason"] or "it waits for its time or its next attempt"
        found[row["task_id"]] = _entry(
            row, Place.DELAYED, f"delayed until {words(utc(row['run_at']))}: {why}", "run_at"
        )
    for row in await tx.fetch(_in(queue_held, ids)):
        found[row["task_id"]] = _entry(row, Place.HELD, _why_held(row), "until")
    for row in await tx.fetch(_in(dead_letters, ids)):
        why = f"dead letter ({ReasonClass(row['reason_class'])}): mend it, then re-drive or discard it"
        found[row["task_id"]] = _entry(row, Place.DEAD, why, None, since=utc(row["created_at"]))
    ready = await tx.fetch(_in(queue_ready, ids))
    if ready:
        found |= await _as_ready(tx, ready, alive_since)
    return found


def _in(entries: Table, ids: Sequence[int]) -> Select[Any]:
    query = (
        select(entries, lanes.c.handler, lanes.c.pools)
        .outerjoin(lanes, lanes.c.id == entries.c.lane)
        .where(entries.c.task_id.in_(list(ids)))
    )
    if entries is not queue_held:
        return query
    return query.add_columns(workflow_steps.c.step_name).outerjoin(
        workflow_steps, workflow_steps.c.id == queue_held.c.step_id
    )


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


def _why_held(row: Row) -> str:
    match HeldReason(row["reason"]):
        case HeldReason.PAUSED:
            return "held because its job is paused"
        case HeldReason.BARRIER:
            return f"held by a barrier: step '{row['step_name']}' begins when the steps before it are over"
        case HeldReason.WAIT:
            until = utc(row["until"])
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
    return _entry(row, Place.READY, "; ".join(why), None, since=since)


def _entry(row: Row, place: Place, why: str, until: str | None, since: datetime | None = None) -> Standing:
    return Standing(
        place=place,
        why=why,
        since=since,
        until=None if until is None else utc(row[until]),
        queue=queue_name(row["queue"]),
        priority=row["priority"],
        handler=row["handler"],
        pools=_pools(row),
    )


def _pools(row: Row) -> list[str]:
    return [pool for pool in (row["pools"] or "").split(",") if pool]
