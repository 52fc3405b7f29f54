"""Webhooks in SQL: each event kept once with where its bytes are, what became of it, and what was heard last of what.

The marks of a record tell when the newest event happened that was believed of it, by stream. What comes late does not
undo what happened after it; of a record that is no more nothing older counts, whatever it is about.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bobusang.kit.clock import utc
from bobusang.kit.errors import Missing
from bobusang.kit.sql import Bulk, Revise, Statement
from bobusang.stages.collect.intake_tables import ERROR_LENGTH, EventState, inbound_events

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from datetime import datetime

    from bobusang.kit.db import Row, Tx

DOORBELL = "inbound"
AT_ONCE = 500
LAST = 2**62
GONE = "*gone"
"""The stream of the mark of an end: no stream is called so."""

ADD = Bulk(inbound_events, ("source", "event", "sha256", "state", "attempts", "received_at"), keep=True)
KNOWN = Statement("select event, sha256, state from inbound_events where source = :source and event in (:events...)")
WAITING = Statement("select distinct source from inbound_events where state = 'RECEIVED'")
TAKE = Statement("""
    select * from inbound_events where state = 'RECEIVED' and source = :source and id > :after
    order by id limit :limit""")
STILL = Statement(
    "select id from inbound_events where id in (:ids...) and state = 'RECEIVED' order by id for update",
    sqlite="select id from inbound_events where id in (:ids...) and state = 'RECEIVED'",
)
ONE = Statement("select * from inbound_events where id = :id")
LISTED = Statement("""
    select * from inbound_events where (:source = '' or source = :source) and (:state = '' or state = :state)
      and id < :before order by id desc limit :limit""")
COUNTED = Statement("""
    select source, state, count(*) as many, max(received_at) as last_at from inbound_events
    where source in (:sources...) group by source, state""")
AGAIN = Statement("""
    update inbound_events set state = 'RECEIVED', attempts = 0, error = null, done_at = null
    where state = 'FAILED' and source = :source and (:id = 0 or id = :id)""")
OLD = Statement("""
    select id from inbound_events where state = 'DONE' and done_at < :before order by id limit :limit""")
FORGET = Statement("delete from inbound_events where id in (:ids...)")
MARKS = Statement(
    "select stream, target, until from sync_marks where source = :source and target in (:keys...) for update",
    sqlite="select stream, target, until from sync_marks where source = :source and target in (:keys...)",
)
_MARK = """
    insert into sync_marks (source, stream, target, until, updated_at)
    values (:source, :stream, :target, :until, :now)"""
MARK = Statement(
    f"""{_MARK} on conflict (source, stream, target)
      do update set until = excluded.until, updated_at = excluded.updated_at""",
    mariadb=f"{_MARK} on duplicate key update until = values(until), updated_at = values(updated_at)",
)

BEGIN = Statement("update inbound_events set attempts = attempts + 1 where id in (:ids...)")

_END = Revise(inbound_events, "id", ("state", "error", "done_at"))


@dataclass(frozen=True, slots=True)
class Kept:
    """An event as it is kept."""

    id: int
    source: str
    event: str
    sha256: str
    state: EventState
    attempts: int
    error: str | None
    received_at: datetime
    done_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Ended:
    """What became of an event; why it could not be read, or was not needed."""

    kept: Kept
    state: EventState
    note: str = ""


@dataclass(frozen=True, slots=True)
class Standing:
    """How many of a source's events are in which state, and when the last one came."""

    received: int = 0
    done: int = 0
    failed: int = 0
    last_at: datetime | None = None


async def known(tx: Tx, source: str, events: Collection[str]) -> dict[str, str]:
    """Of these events those that are kept: the digest of what each said."""
    rows = await tx.fetch(KNOWN, source=source, events=sorted(set(events))) if events else ()
    return {row["event"]: row["sha256"] for row in rows}


async def store(tx: Tx, source: str, events: Sequence[tuple[str, str]]) -> int:
    """Keep events (their key, and where their bytes are) that are not kept yet; how many those are."""
    rows = [(source, event, sha256, EventState.RECEIVED, 0, tx.now) for event, sha256 in events]
    new = await tx.insert(ADD, rows) if rows else 0
    if new:
        tx.ring(DOORBELL)
    return new


async def waiting(tx: Tx) -> list[str]:
    """The sources of which events wait to be read."""
    return sorted(row["source"] for row in await tx.fetch(WAITING))


async def take(tx: Tx, source: str, *, after: int = 0, limit: int) -> list[Kept]:
    """Events that wait to be read, oldest first."""
    return [kept_of(row) for row in await tx.fetch(TAKE, source=source, after=after, limit=limit)]


async def begin(tx: Tx, ids: Collection[int]) -> None:
    """Note that events are about to be read: one that ends the program whenever it is read is known by that."""
    await tx.execute(BEGIN, ids=sorted(ids))


async def still(tx: Tx, ids: Collection[int]) -> set[int]:
    """Of these events those that nobody has read meanwhile, locked."""
    return {row["id"] for row in await tx.fetch(STILL, ids=sorted(ids))} if ids else set()


async def end(tx: Tx, ended: Sequence[Ended]) -> None:
    """Keep what became of events."""
    rows = [
        (one.kept.id, one.state, one.note[:ERROR_LENGTH] or None, tx.now)
        for one in sorted(ended, key=lambda one: one.kept.id)
    ]
    await tx.revise(_END, rows)


async def get(tx: Tx, id: int) -> Kept:
    """One event."""
    row = await tx.first(ONE, id=id)
    if row is None:
        raise Missing(f"there is no event {id}", hint="`bobusang inbound list` shows them", field="event_id")
    return kept_of(row)


async def listed(
    tx: Tx, *, source: str = "", state: EventState | None = None, before: int | None = None, limit: int = 50
) -> list[Kept]:
    """Events, the newest first."""
    told = "" if state is None else state.value
    return [
        kept_of(row) for row in await tx.fetch(LISTED, source=source, state=told, before=before or LAST, limit=limit)
    ]


async def standings(tx: Tx, sources: Collection[str]) -> dict[str, Standing]:
    """How the events of sources stand."""
    found: dict[str, dict[str, int]] = {}
    last: dict[str, datetime] = {}
    for row in await tx.fetch(COUNTED, sources=sorted(sources)) if sources else ():
        found.setdefault(row["source"], {})[row["state"].lower()] = row["many"]
        at = utc(row["last_at"])
        last[row["source"]] = max(at, last.get(row["source"], at))
    return {source: Standing(**counts, last_at=last[source]) for source, counts in found.items()}


async def again(tx: Tx, source: str, id: int = 0) -> int:
    """Read again what could not be read, all of a source or one; how many."""
    many = await tx.execute(AGAIN, source=source, id=id)
    if many:
        tx.ring(DOORBELL)
    return many


async def forget(tx: Tx, before: datetime, *, limit: int = AT_ONCE) -> int:
    """Forget events that were read before then, in one bounded pass; how many."""
    ids = [row["id"] for row in await tx.fetch(OLD, before=before, limit=limit)]
    if ids:
        await tx.execute(FORGET, ids=ids)
    return len(ids)


class Marks:
    """When the newest believed event of each of some records happened, by record and stream."""

    def __init__(self, source: str, known: Iterable[tuple[str, str, datetime]] = ()) -> None:
        self._source = source
        self._known: dict[str, dict[str, datetime]] = {}
        self._moved: dict[tuple[str, str], datetime] = {}
        for key, stream, until in known:
            self._known.setdefault(key, {})[stream] = until

    @classmethod
    async def load(cls, tx: Tx, source: str, keys: Collection[str]) -> Marks:
        """Those of some records of a source, locked."""
        rows = await tx.fetch(MARKS, source=source, keys=sorted(keys)) if keys else ()
        return cls(source, [(row["target"], row["stream"], utc(row["until"])) for row in rows])

    def take(self, key: str, stream: str, at: datetime, *, gone: bool) -> bool:
        """Whether what happened then is news of this record; if so it is the newest from now on."""
        known = self._known.setdefault(key, {})
        if any(at < until for name, until in known.items() if gone or name in (stream, GONE)):
            return False
        place = GONE if gone else stream
        known[place] = self._moved[key, place] = at
        return True

    async def save(self, tx: Tx) -> None:
        """Write those that moved, in one order everywhere."""
        await tx.execute_each(
            MARK,
            [
                {"source": self._source, "stream": stream, "target": key, "until": at, "now": tx.now}
                for (key, stream), at in sorted(self._moved.items())
            ],
        )


def kept_of(row: Row) -> Kept:
    """An event as its row tells it."""
    return Kept(
        row["id"],
        row["source"],
        row["event"],
        row["sha256"],
        EventState(row["state"]),
        row["attempts"],
        row["error"],
        utc(row["received_at"]),
        utc(row["done_at"]),
    )
