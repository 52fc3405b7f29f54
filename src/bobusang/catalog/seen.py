"""When a record was last seen, and in what: a list of a target or a stream, called a scope.

A scope is known here by its number (`scope`). A record is in it from the first time it was seen there until it is
forgotten. `missed` counts the proved runs that did not list it; being seen sets it back.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

from bobusang.catalog.model import ChangeKind, SourceType
from bobusang.catalog.tables import seen_scopes, source_seen
from bobusang.catalog.tables.records import SCOPE_LENGTH
from bobusang.kit.clock import utc
from bobusang.kit.errors import Invalid
from bobusang.kit.sql import Bulk, Statement

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from bobusang.kit.db import Row, Tx

SCOPES = Statement("select id, name from seen_scopes where source_system = :system and name in (:names...)")
# The interval first: MariaDB sets one after the other, and each sees what was set before it.
_TOUCH = """
    update source_seen set interval_seconds = {interval}, last_seen_at = :now, last_run = :run, missed = 0
    where scope_id = :scope and record_id in (:ids...)"""
# A page that is read twice in a run (it was repeated, or its worker died) is not twice as quiet.
_QUIET = """case when last_run = :run then interval_seconds
    else {greatest}(:least, {least}(:most, interval_seconds + interval_seconds {div} 2)) end"""
_LIVELY = "{greatest}(:least, {least}(:most, interval_seconds {div} 2))"
_WORDS = {
    "sqlite": {"least": "min", "greatest": "max", "div": "/"},
    "postgres": {"least": "least", "greatest": "greatest", "div": "/"},
    "mariadb": {"least": "least", "greatest": "greatest", "div": "div"},
}


def _touching(interval: str) -> Statement:
    return Statement(**{name: _TOUCH.format(interval=interval.format(**words)) for name, words in _WORDS.items()})


TOUCH = {ChangeKind.SAME: _touching(_QUIET), ChangeKind.CHANGED: _touching(_LIVELY)}
COUNT = Statement("""
    select count(*) as known, coalesce(sum(case when last_run = :run then 1 else 0 end), 0) as listed
    from source_seen where scope_id = :scope""")
MISSING = Statement("""
    select record_id from source_seen where scope_id = :scope and last_run < :run order by record_id""")
MISS = Statement("""
    update source_seen set missed = missed + 1, missed_run = :run
    where scope_id = :scope and record_id in (:ids...) and last_run < :run and missed_run < :run""")
MISSES = Statement("select record_id, missed from source_seen where scope_id = :scope and record_id in (:ids...)")
MISSED = Statement("""
    select s.record_id, r.source_id, s.missed from source_seen s join source_records r on r.id = s.record_id
    where s.scope_id = :scope and s.missed >= :least order by s.record_id""")
FORGET = Statement("delete from source_seen where scope_id = :scope and record_id in (:ids...)")
RECORDS = Statement("""
    select id, source_id, version from source_records
    where source_type = :type and source_system = :system and source_id in (:keys...)""")
KNOWN = Statement("""
    select r.id, r.source_id, r.version, p.listed from source_records r left join products p on p.id = r.id
    where r.source_type = :type and r.source_system = :system and r.source_id in (:keys...)""")
STATES = Statement("""
    select record_id, scope_id, last_seen_at, interval_seconds, missed from source_seen
    where scope_id in (:scopes...) and record_id in (:ids...)""")
SYSTEM = Statement("select source_system as value from seen_scopes where id = :scope")
LISTED = Statement("""
    select record_id from source_seen where scope_id = :scope and record_id in (:ids...) and last_run = :run""")

_NEW_SCOPES = Bulk(seen_scopes, ("source_system", "name"), keep=True)
_NEW = Bulk(
    source_seen,
    ("record_id", "scope_id", "last_seen_at", "last_run", "missed", "missed_run", "interval_seconds"),
    keep=True,
)


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds until a record is due again: at first, and between which bounds it adapts."""

    first: int = 86_400
    least: int = 3_600
    most: int = 604_800


PACE = Pace()


@dataclass(frozen=True, slots=True)
class Counts:
    """How many records a scope knows, and how many of them this run has listed."""

    known: int
    listed: int


@dataclass(frozen=True, slots=True)
class Missed:
    """A record that proved runs did not list."""

    record_id: int
    key: str
    missed: int


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a record before it is asked for again."""

    record_id: int
    version: int
    last_seen: Mapping[str, datetime] = field(default_factory=dict)
    """By name of the scopes asked for; one in which it was never seen is not there."""
    missed: Mapping[str, int] = field(default_factory=dict)
    due: datetime | None = None
    """When the first of these scopes wants it again; None when it was seen in none of them."""
    absent: bool = False
    """Whether it was gone, by its list or its own page."""

    def is_due(self, now: datetime) -> bool:
        """Whether it should be looked at: its time has come, or it was never seen there."""
        return self.due is None or self.due <= now


async def scope(tx: Tx, system: str, name: str) -> int:
    """The number of a scope, made if need be."""
    return (await scopes(tx, system, [name]))[name]


async def scopes(tx: Tx, system: str, names: Iterable[str]) -> dict[str, int]:
    """The numbers of scopes by name, made if need be."""
    wanted = sorted(set(names))
    for name in wanted:
        if not 0 < len(name) <= SCOPE_LENGTH or "\0" in name:
            raise Invalid(f"a scope has 1 to {SCOPE_LENGTH} characters and no NUL", hint=f"not '{name[:50]}'")
    found = await _found(tx, system, wanted)
    if len(found) < len(wanted):
        await tx.insert(_NEW_SCOPES, [(system, name) for name in wanted if name not in found])
        found = await _found(tx, system, wanted)
    return found


async def _found(tx: Tx, system: str, names: Sequence[str]) -> dict[str, int]:
    return {row["name"]: row["id"] for row in await tx.fetch(SCOPES, system=system, names=list(names))}


async def touch(
    tx: Tx,
    scope: int,
    ids: Sequence[int],
    *,
    run: int,
    now: datetime,
    kind: ChangeKind = ChangeKind.SAME,
    pace: Pace = PACE,
) -> None:
    """Records were seen in a scope: unchanged ones are due later than before (×1.5), changed ones sooner (×0.5)."""
    wanted = sorted(set(ids))
    if not wanted:
        return
    touched = 0
    if kind is not ChangeKind.NEW:
        touched = await tx.execute(
            TOUCH[kind], now=now, run=run, scope=scope, ids=wanted, least=pace.least, most=pace.most
        )
    if touched < len(wanted):  # those that were not there; MariaDB also leaves out those that were touched before
        await tx.insert(_NEW, [(id, scope, now, run, 0, 0, pace.first) for id in wanted])


async def counts(tx: Tx, scope: int, run: int) -> Counts:
    """How many records a scope knows and how many of them this run has listed."""
    row = await tx.first(COUNT, scope=scope, run=run)
    assert row is not None
    return Counts(int(row["known"]), int(row["listed"]))


async def missing(tx: Tx, scope: int, run: int) -> list[int]:
    """Records that the scope knows and this run (or a later one) did not list."""
    return [row["record_id"] for row in await tx.fetch(MISSING, scope=scope, run=run)]


async def miss(tx: Tx, scope: int, run: int, ids: Sequence[int]) -> dict[int, int]:
    """Count that a proved run did not list these; how often each was missed by now. The same run counts once."""
    if not ids:
        return {}
    await tx.execute(MISS, scope=scope, run=run, ids=sorted(ids))
    return {row["record_id"]: row["missed"] for row in await tx.fetch(MISSES, scope=scope, ids=sorted(ids))}


async def missed(tx: Tx, scope: int, *, least: int = 1) -> list[Missed]:
    """Records of a scope that were missed at least so often and not seen since."""
    rows = await tx.fetch(MISSED, scope=scope, least=least)
    return [Missed(row["record_id"], row["source_id"], row["missed"]) for row in rows]


async def forget(tx: Tx, scope: int, ids: Sequence[int]) -> None:
    """These are no longer expected in a scope: call it once an absence is written, or it is missed for ever."""
    if ids:
        await tx.execute(FORGET, scope=scope, ids=sorted(ids))


async def listed_in_run(
    tx: Tx, scope: int, run: int, keys: Sequence[str], *, type: SourceType = SourceType.SUPPLIER_PRODUCT
) -> set[str]:
    """Which of these keys the run has already seen in the scope."""
    system = await tx.value(SYSTEM, scope=scope) if keys else None
    if system is None:
        return set()
    rows = await tx.fetch(RECORDS, type=type.value, system=system, keys=sorted(set(keys)))
    known = {row["id"]: row["source_id"] for row in rows}
    listed = await tx.fetch(LISTED, scope=scope, ids=sorted(known), run=run) if known else ()
    return {known[row["record_id"]] for row in listed}


async def states(
    tx: Tx,
    system: str,
    keys: Sequence[str],
    scopes: Sequence[str],
    *,
    type: SourceType = SourceType.SUPPLIER_PRODUCT,
) -> dict[str, Known]:
    """What is known of these keys, and when they were seen in these scopes; a key that is not there is not known."""
    if not keys:
        return {}
    rows = await tx.fetch(KNOWN, type=type.value, system=system, keys=sorted(set(keys)))
    names = {number: name for name, number in (await _found(tx, system, scopes)).items()} if rows else {}
    seen: dict[int, list[tuple[str, datetime, datetime, int]]] = {}
    if names:
        ids = sorted(row["id"] for row in rows)
        for row in await tx.fetch(STATES, scopes=sorted(names), ids=ids):
            at = utc(row["last_seen_at"])
            due = at + timedelta(seconds=row["interval_seconds"])
            seen.setdefault(row["record_id"], []).append((names[row["scope_id"]], at, due, row["missed"]))
    return {row["source_id"]: _known(row, seen.get(row["id"], [])) for row in rows}


def _known(row: Row, seen: list[tuple[str, datetime, datetime, int]]) -> Known:
    last = {name: at for name, at, _, _ in seen}
    missed = {name: times for name, _, _, times in seen}
    due = min((due for _, _, due, _ in seen), default=None)
    return Known(row["id"], row["version"], last, missed, due, absent=row["listed"] in (False, 0))
