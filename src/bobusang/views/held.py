"""Held writes: readings that a guard stopped, with what they would replace and the evidence behind them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from bobusang.kit.clock import utc
from bobusang.kit.db import Tx
from bobusang.kit.sql import Statement
from bobusang.stages.collect import held as stage
from bobusang.stages.collect.guards import Guard
from bobusang.stages.collect.held import Filter, HeldWrite
from bobusang.stages.collect.tables import HeldState

COUNT = Statement("""
    select count(*) as value from (
      select id from held_writes where state = :state and (:source = '' or source = :source)
        and (:target = '' or target = :target) and (:guard = '' or guard = :guard) and (:key = '' or record_key = :key)
      limit :most) as matching""")
OPEN = Statement("""
    select source, guard, count(*) as writes from held_writes where state = 'HELD'
    group by source, guard order by source, guard""")
SOME = Statement("select * from held_writes where id in (:ids...) and state = 'HELD' order by id desc")
CALLED = Statement("select id, name, brand, currency from products where id in (:ids...)")
LATEST = Statement("select guard, created_at from held_writes order by id desc limit :most")


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldLine:
    """A held write in a list."""

    id: int
    source: str
    target: str
    key: str
    record_id: int | None
    guard: Guard
    reason: str
    readings: int
    """How many runs have read the same."""
    state: HeldState
    job_id: int | None
    raw_id: int | None
    created_at: datetime
    decided_at: datetime | None
    decided_by: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldChange:
    """One field that a held write would change."""

    field: str
    before: Any
    after: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldDetail(HeldLine):
    """A held write with what it would change, and the page, reader and stream that say so."""

    before: dict[str, Any]
    after: dict[str, Any]
    diff: list[HeldChange]
    stream: str
    reader: str
    scope: str
    unknown: list[str]
    """What the page should have said and could not be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Called:
    """What the product of a held write is called."""

    id: int
    name: str | None
    brand: str | None
    currency: str | None


async def listed(tx: Tx, which: Filter, before: int | None, limit: int) -> list[HeldLine]:
    """Held writes, the newest first."""
    return [HeldLine(**_line(one)) for one in await stage.find(tx, which, before=before, limit=limit)]


async def detailed(tx: Tx, which: Filter, before: int | None, limit: int) -> list[HeldDetail]:
    """The same with what each would change."""
    return [_detail(one) for one in await stage.find(tx, which, before=before, limit=limit)]


async def some(tx: Tx, ids: Sequence[int]) -> list[HeldLine]:
    """Those of these that are still open."""
    rows = await tx.fetch(SOME, ids=sorted(set(ids))) if ids else ()
    return [HeldLine(**_line(stage.held_write(row))) for row in rows]


async def called(tx: Tx, ids: Iterable[int | None]) -> dict[int, Called]:
    """What the products of held writes are called, by number."""
    wanted = sorted({id for id in ids if id is not None})
    rows = await tx.fetch(CALLED, ids=wanted) if wanted else ()
    return {row["id"]: Called(**{name: row[name] for name in ("id", "name", "brand", "currency")}) for row in rows}


async def latest(tx: Tx, most: int) -> list[tuple[Guard, datetime]]:
    """Which guard stopped something when: the newest, whatever became of them."""
    rows = await tx.fetch(LATEST, most=most)
    return [(Guard(row["guard"]), utc(row["created_at"])) for row in rows]


async def one(tx: Tx, id: int) -> HeldDetail:
    """One held write with its evidence."""
    return _detail(await stage.get(tx, id))


def _detail(found: HeldWrite) -> HeldDetail:
    names = sorted({*found.before, *found.after})
    return HeldDetail(
        **_line(found),
        before=dict(found.before),
        after=dict(found.after),
        diff=[HeldChange(field=name, before=found.before.get(name), after=found.after.get(name)) for name in names],
        stream=found.reading.stream,
        reader=found.reading.reader,
        scope=found.reading.scope,
        unknown=list(found.reading.snapshot.unknown),
    )


async def count(tx: Tx, which: Filter, most: int) -> int:
    """How many match, counted up to a bound."""
    asked = {"source": which.source, "target": which.target, "guard": which.guard, "key": which.key}
    return int(await tx.value(COUNT, state=which.state.value, most=most, **asked))


async def open_by_guard(tx: Tx) -> dict[tuple[str, str], int]:
    """How many are open, by source and guard."""
    return {(row["source"], row["guard"]): row["writes"] for row in await tx.fetch(OPEN)}


def _line(one: HeldWrite) -> dict[str, Any]:
    same = ("id", "source", "target", "key", "record_id", "guard", "reason", "readings", "state", "job_id", "raw_id")
    return {
        **{name: getattr(one, name) for name in same},
        "created_at": one.created_at,
        "decided_at": one.decided_at,
        "decided_by": one.decided_by or None,
    }
