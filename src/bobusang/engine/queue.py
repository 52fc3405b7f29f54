"""The queue: entries become ready, are claimed in batches, and are released by the token of their claim.

An entry stands in exactly one place: ready, delayed, held, inside one claim, or among the dead letters. Moving it is
always one transaction. A claim's token only ever grows; whoever deletes the claim row owned its entries, and a worker
that comes too late deletes nothing and so changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from bobusang.engine.model import Entry, HeldReason
from bobusang.engine.queues import mariadb, postgres, sqlite
from bobusang.engine.rules import is_suspect
from bobusang.engine.tables import queue_delayed, queue_held, queue_ready
from bobusang.kit.sql import Bulk, Dialect, Statement

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime, timedelta

    from bobusang.kit.db import Tx

PICKS = {Dialect.POSTGRES: postgres.pick, Dialect.SQLITE: sqlite.pick, Dialect.MARIADB: mariadb.pick}

READY = Bulk(queue_ready, ("task_id", "job_id", "lane", "due", "queue", "priority", "attempt", "dispatches"))
DELAYED = Bulk(
    queue_delayed, ("task_id", "job_id", "lane", "queue", "priority", "attempt", "dispatches", "run_at", "reason")
)
HELD = Bulk(
    queue_held,
    (
        "task_id",
        "job_id",
        "lane",
        "queue",
        "priority",
        "attempt",
        "dispatches",
        "step_id",
        "reason",
        "wait_key",
        "until",
    ),
)

OPEN = Statement("""
    insert into queue_claims (worker_id, lane, size, entries, claimed_at, deadline_at)
    values (:worker_id, :lane, :size, :entries, :now, :deadline_at) returning token as value""")
CLOSE = Statement("delete from queue_claims where token = :token returning size, entries")
KEEP = Statement("update queue_claims set size = :size, entries = :entries where token = :token")

MOST_URGENT = 10
"""The priority of what no lane is left to ripen for."""
NOW = ":now"
"""The end of a ring for something that urgent."""

_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(list[Entry])


@dataclass(frozen=True, slots=True, order=True)
class Cursor:
    """Where a lane's claims have got to. PostgreSQL starts there instead of stepping over the dead rows of all claims
    before: under an old open transaction those cannot be vacuumed, and throughput fell to a sixth without it."""

    due: int = -1
    task_id: int = -1


START = Cursor()


@dataclass(frozen=True, slots=True)
class Claim:
    """A batch that is ours until its deadline, or until we stop beating."""

    token: int
    lane: int
    entries: tuple[Entry, ...]
    claimed_at: datetime


def encode(entries: Iterable[Entry]) -> str:
    """Entries as they are kept inside a claim row."""
    return _encoder.encode(list(entries)).decode()


def decode(text: str) -> list[Entry]:
    """Entries as they were kept inside a claim row."""
    return _decoder.decode(text)


async def put(tx: Tx, entries: Sequence[Entry]) -> None:
    """Make entries runnable, and wake whoever waits for their lanes."""
    await tx.insert(READY, [msgspec.structs.astuple(entry) for entry in entries])
    ring(tx, entries)


def ring(tx: Tx, entries: Sequence[Entry]) -> None:
    """One ring a lane, with the smallest sort key, which is how far back a cursor has to go, and whether it hurries."""
    first: dict[int, int] = {}
    urgent: set[int] = set()
    for entry in entries:
        known = first.get(entry.lane)
        if known is None or entry.due < known:
            first[entry.lane] = entry.due
        if entry.priority >= MOST_URGENT:
            urgent.add(entry.lane)
    for lane, due in first.items():
        tx.ring(f"ready:{lane}:{due}{NOW if lane in urgent else ''}")


async def delay(tx: Tx, entries: Sequence[tuple[Entry, datetime, str | None]]) -> None:
    """Make entries runnable later."""
    await tx.insert(
        DELAYED,
        [
            (e.task_id, e.job_id, e.lane, e.queue, e.priority, e.attempt, e.dispatches, run_at, reason and reason[:200])
            for e, run_at, reason in entries
        ],
    )


async def hold(tx: Tx, entries: Sequence[tuple[Entry, int, HeldReason, str | None, datetime | None]]) -> None:
    """Keep entries aside (each with its step, and for a wait its key and time-out)."""
    await tx.insert(
        HELD,
        [
            (
                e.task_id,
                e.job_id,
                e.lane,
                e.queue,
                e.priority,
                e.attempt,
                e.dispatches,
                step_id,
                reason,
                wait_key,
                until,
            )
            for e, step_id, reason, wait_key, until in entries
        ],
    )


async def claim(
    tx: Tx, *, lane: int, worker_id: int, size: int, deadline: timedelta, cursor: Cursor = START
) -> Claim | None:
    """Take a batch out of a lane, or None when the lane has nothing beyond the cursor."""
    entries = await PICKS[tx.dialect](tx, lane, size, cursor)
    if not entries:
        return None
    entries.sort(key=_order)
    if any(is_suspect(entry.dispatches) for entry in entries):
        entries = await _apart(tx, entries)
    token = await tx.value(
        OPEN,
        worker_id=worker_id,
        lane=lane,
        size=len(entries),
        entries=encode(entries),
        now=tx.now,
        deadline_at=tx.now + deadline,
    )
    return Claim(token, lane, tuple(entries), tx.now)


async def _apart(tx: Tx, entries: list[Entry]) -> list[Entry]:
    """A suspect goes alone: if it is what kills its workers, nobody else may be taken for poison with it."""
    alone = is_suspect(entries[0].dispatches)
    kept = entries[:1] if alone else [entry for entry in entries if not is_suspect(entry.dispatches)]
    there = set(kept)
    back = [again(entry, entry.dispatches - 1) for entry in entries if entry not in there]
    if back:
        await put(tx, back)
    return kept


def again(entry: Entry, dispatches: int) -> Entry:
    """The same entry, handed out that often so far."""
    return msgspec.structs.replace(entry, dispatches=max(0, dispatches))


def _order(entry: Entry) -> tuple[int, int]:
    return entry.due, entry.task_id


async def release(tx: Tx, token: int, size: int) -> set[int] | None:
    """Give a claim up; the task ids that were still ours, or None when that is all of them (the usual case).

    Cancelling a job takes its entries out of other people's claims, and rescue takes whole claims: then less is ours.
    """
    row = await tx.first(CLOSE, token=token)
    if row is None:
        return set()
    if row["size"] == size:
        return None
    return {entry.task_id for entry in decode(row["entries"])}


async def keep(tx: Tx, token: int, entries: Sequence[Entry]) -> None:
    """Shrink a claim to these entries."""
    await tx.execute(KEEP, token=token, size=len(entries), entries=encode(entries))
