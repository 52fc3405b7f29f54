"""Held writes: readings that a guard stopped, kept until a person decides, or until a newer reading replaces them.

HELD ─ approve ─▶ APPROVED   the reading is written, with its evidence and who agreed
     ─ reject ──▶ REJECTED   the same is neither held nor written again for a while (`REMEMBERED`)
     ─ newer ───▶ SUPERSEDED the page says something else by now
Only one is open for each record and stream; the same reading of a later run counts up. A price that jumps to the same
in a list and on the item's own page is one jump: it is held once, by the page that tells more.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import msgspec

from bobusang.catalog.model import Change, Reading
from bobusang.catalog.rules import digest
from bobusang.kit import json
from bobusang.kit.clock import utc
from bobusang.kit.db import Contended, Duplicate
from bobusang.kit.errors import Missing
from bobusang.kit.sql import Bulk, Revise, Statement
from bobusang.platform.bus import Event, publish
from bobusang.stages.collect.guards import Guard, Held
from bobusang.stages.collect.tables import HeldState, held_writes

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from bobusang.kit.db import Row, Tx
    from bobusang.stages.collect.model import Run

REMEMBERED = timedelta(days=30)
"""How long a rejection counts: after that the mall still says so, and a person should look again."""
REASON_LENGTH = 500
SHOWN_KEYS = 50
LARGEST = 2_000_000

_NEW = Bulk(
    held_writes,
    (
        "source",
        "target",
        "record_key",
        "record_id",
        "stream",
        "digest",
        "guard",
        "reason",
        "reading",
        "before_data",
        "after_data",
        "raw_id",
        "job_id",
        "state",
        "open_key",
        "created_at",
    ),
)
_AGAIN = Revise(
    held_writes,
    "id",
    (
        *("readings", "job_id", "stream", "open_key", "raw_id", "reason"),
        *("reading", "before_data", "after_data"),
    ),
)
_COUNTED = Revise(held_writes, "id", ("readings", "job_id"))
ANY_OPEN = Statement("""
    select 1 as value from held_writes where state = 'HELD' and source = :source limit 1""")
OPEN = Statement("""
    select id, record_key, open_key, guard, digest, readings, job_id, after_data from held_writes
    where source = :source and record_key in (:keys...) and state = 'HELD'""")
DECIDE = Statement("""
    update held_writes set state = :state, open_key = null, decided_at = :now, decided_by = :who
    where id in (:ids...) and state = 'HELD'""")
REJECTED = Statement("""
    select record_key, stream, guard, digest from held_writes
    where source = :source and record_key in (:keys...) and state = 'REJECTED' and decided_at > :since""")
_PICK = """
    select * from held_writes where state = :state and id < :before and (:source = '' or source = :source)
      and (:target = '' or target = :target) and (:guard = '' or guard = :guard) and (:key = '' or record_key = :key)
    order by id desc limit :limit"""
PICK = Statement(_PICK)
ONE = Statement("select * from held_writes where id = :id")

_readings = msgspec.json.Decoder(Reading)


@dataclass(frozen=True, slots=True)
class Hold:
    """A change that a guard stopped, in its run."""

    run: Run
    change: Change
    held: Held

    @property
    def open_key(self) -> str:
        return open_key(self.change.reading)

    @property
    def digest(self) -> str:
        """What was read of the fields at issue: by this the same reading is known again."""
        fields = self.change.reading.snapshot.fields
        said = {name: fields.get(name) for name in self.held.fields}
        if self.held.guard is Guard.OPTION_FALL:  # which options are left, whatever the stock of those is
            said["options"] = sorted(str(option.get("code")) for option in said["options"] or ())
        return digest((self.held.guard, said))


@dataclass(frozen=True, slots=True)
class HeldWrite:
    """A held write as it is kept."""

    id: int
    source: str
    target: str
    key: str
    record_id: int | None
    guard: Guard
    reason: str
    reading: Reading
    before: Mapping[str, Any]
    """By field: what would be replaced."""
    after: Mapping[str, Any]
    raw_id: int | None
    job_id: int | None
    readings: int
    """How many runs have read the same."""
    state: HeldState
    created_at: datetime
    decided_at: datetime | None = None
    decided_by: str = ""


@dataclass(frozen=True, slots=True)
class Filter:
    """Which held writes; what is empty does not matter."""

    state: HeldState = HeldState.HELD
    source: str = ""
    target: str = ""
    guard: str = ""
    key: str = ""


ALL_OPEN = Filter()


@dataclass(frozen=True, slots=True)
class Open:
    """The open held write of a record and stream."""

    id: int
    record_key: str
    open_key: str
    guard: Guard
    digest: str
    readings: int
    job_id: int | None
    told: int
    """How many fields it would change."""


@dataclass(slots=True)
class Standing:
    """What is already held or rejected of the records of a batch."""

    open: dict[str, Open] = field(default_factory=dict)
    rejected: set[tuple[str, str, str]] = field(default_factory=set)

    def refused(self, hold: Hold) -> bool:
        """Whether a person has already said no to this."""
        reading = hold.change.reading
        return (reading.snapshot.key, _stream(hold.held.guard, reading.stream), hold.digest) in self.rejected

    def confirmed(self, hold: Hold, least: int) -> Open | None:
        """The open one of a price that by now enough runs have read; None while it is still to be held."""
        found = same(hold, self.open)
        if hold.held.guard is not Guard.PRICE_JUMP or found is None:
            return None
        return found if 0 < least <= found.readings + (found.job_id != hold.run.job_id) else None


def open_key(reading: Reading) -> str:
    """What makes an open held write the only one."""
    return f"{reading.snapshot.source}/{reading.stream}/{reading.snapshot.key}"


def _stream(guard: str, stream: str) -> str:
    """A person who says no to a price means it wherever it is told."""
    return "" if guard == Guard.PRICE_JUMP else stream


def same(hold: Hold, standing: Mapping[str, Open]) -> Open | None:
    """The open held write that is about the same: of the same stream, or of another that tells the same price."""
    found = standing.get(hold.open_key)
    if found is not None and found.digest == hold.digest:
        return found
    if hold.held.guard is not Guard.PRICE_JUMP:
        return None
    key = hold.change.reading.snapshot.key
    return next((one for one in standing.values() if (one.record_key, one.digest) == (key, hold.digest)), None)


async def standing_open(tx: Tx, source: str, readings: Iterable[Reading]) -> dict[str, Open]:
    """The open held writes of these readings' records, by `open_key`; costs next to nothing when there are none."""
    if await tx.value(ANY_OPEN, source=source) is None:
        return {}
    rows = await tx.fetch(OPEN, source=source, keys=sorted({reading.snapshot.key for reading in readings}))
    return {row["open_key"]: _open(row) for row in rows}


def _open(row: Row) -> Open:
    return Open(
        *(row["id"], row["record_key"], row["open_key"], Guard(row["guard"]), row["digest"], row["readings"]),
        job_id=row["job_id"],
        told=len(json.loads(row["after_data"])),
    )


async def standing_rejected(tx: Tx, source: str, holds: Sequence[Hold]) -> set[tuple[str, str, str]]:
    """What people have rejected of these records lately: (key, stream, digest); a price without its stream."""
    keys = sorted({hold.change.reading.snapshot.key for hold in holds})
    rows = await tx.fetch(REJECTED, source=source, keys=keys, since=tx.now - REMEMBERED) if keys else ()
    return {(row["record_key"], _stream(row["guard"], row["stream"]), row["digest"]) for row in rows}


async def hold(tx: Tx, holds: Sequence[Hold], standing: Mapping[str, Open]) -> None:
    """Keep these: the same reading again counts up, another one replaces what was open. Tells `source.held` of the
    new ones, once for each run and guard."""
    last = {one.open_key: one for one in holds}  # of two in a batch, the later
    matched = [(one, same(one, standing)) for _, one in sorted(last.items())]
    again = [(one, found) for one, found in matched if found is not None]
    fresh = [one for one, found in matched if found is None]
    kept = {found.id for _, found in again}
    old = (standing[key] for key in last if key in standing)
    await supersede(tx, [one.id for one in old if one.id not in kept])
    await tx.revise(_AGAIN, [_again_row(found, one) for one, found in again if _tells_more(one, found)])
    await tx.revise(_COUNTED, [_counted_row(found, one) for one, found in again if not _tells_more(one, found)])
    try:
        await tx.insert(_NEW, [_row(one, tx.now) for one in fresh])
    except Duplicate as error:
        raise Contended(f"someone else holds a reading of the same record: {error}") from error
    await publish(tx, *_events(fresh))


async def supersede(tx: Tx, ids: Sequence[int], *, who: str = "a newer reading") -> None:
    """These are moot."""
    if ids:
        await tx.execute(DECIDE, state=HeldState.SUPERSEDED, now=tx.now, who=who, ids=sorted(ids))


async def decide(tx: Tx, ids: Sequence[int], state: HeldState, who: str) -> int:
    """Close these; how many were still open."""
    return await tx.execute(DECIDE, state=state, now=tx.now, who=who, ids=sorted(ids)) if ids else 0


async def find(tx: Tx, which: Filter = ALL_OPEN, *, before: int | None = None, limit: int = 50) -> list[HeldWrite]:
    """Held writes, the newest first; `before` the id of the last one that was shown."""
    rows = await tx.fetch(
        PICK,
        state=which.state,
        before=before or 2**62,
        source=which.source,
        target=which.target,
        guard=which.guard,
        key=which.key,
        limit=limit,
    )
    return [held_write(row) for row in rows]


async def get(tx: Tx, id: int) -> HeldWrite:
    """One held write."""
    row = await tx.first(ONE, id=id)
    if row is None:
        raise Missing(f"there is no held write {id}")
    return held_write(row)


def held_write(row: Row) -> HeldWrite:
    """A held write as its row tells it."""
    return HeldWrite(
        row["id"],
        row["source"],
        row["target"],
        row["record_key"],
        row["record_id"],
        Guard(row["guard"]),
        row["reason"],
        _readings.decode(row["reading"]),
        json.loads(row["before_data"]),
        json.loads(row["after_data"]),
        row["raw_id"],
        row["job_id"],
        row["readings"],
        HeldState(row["state"]),
        utc(row["created_at"]),
        utc(row["decided_at"]),
        row["decided_by"] or "",
    )


def _row(one: Hold, now: datetime) -> tuple[object, ...]:
    change = one.change
    reading = change.reading
    return (
        one.run.source,
        one.run.target,
        reading.snapshot.key,
        change.record_id or None,
        reading.stream,
        one.digest,
        one.held.guard,
        one.held.reason[:REASON_LENGTH],
        *_told(change),
        reading.raw_id,
        one.run.job_id,
        HeldState.HELD,
        one.open_key,
        now,
    )


def _tells_more(one: Hold, found: Open) -> bool:
    """The newest reading is the one to be written; but a list does not take the place of what the item's page said."""
    return one.open_key == found.open_key or len(one.change.fields) > found.told


def _again_row(found: Open, one: Hold) -> tuple[object, ...]:
    reading = one.change.reading
    told = (reading.stream, one.open_key, reading.raw_id, one.held.reason[:REASON_LENGTH], *_told(one.change))
    return (*_counted_row(found, one), *told)


def _counted_row(found: Open, one: Hold) -> tuple[object, ...]:
    """A run counts once, however often and wherever it reads the same."""
    return (found.id, found.readings + (found.job_id != one.run.job_id), one.run.job_id)


def _told(change: Change) -> tuple[str, str, str]:
    """The reading, and what it would replace by what."""
    before = {one.field: one.old for one in change.fields}
    after = {one.field: one.new for one in change.fields} or change.reading.snapshot.fields
    return (
        json.payload(change.reading, limit=LARGEST, name="the reading"),
        json.dumps(before),
        json.dumps(after),
    )


def _events(holds: Sequence[Hold]) -> list[Event]:
    parts: dict[tuple[int, Guard], list[Hold]] = {}
    for one in holds:
        parts.setdefault((one.run.job_id, one.held.guard), []).append(one)
    return [
        Event(
            "source.held",
            f"{part[0].run.source}:{part[0].run.target}"[:200],
            {
                "source": part[0].run.source,
                "target": part[0].run.target,
                "job_id": job_id,
                "guard": guard,
                "count": len(part),
                "reason": part[0].held.reason,
                "keys": [one.change.reading.snapshot.key for one in part[:SHOWN_KEYS]],
            },
        )
        for (job_id, guard), part in parts.items()
    ]
