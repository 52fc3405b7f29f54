"""Suppliers: how the goods of each come, when something last came, how much is known of them, and what is wrong."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from bobusang.catalog import suppliers as catalog
from bobusang.catalog.model import SupplierKind
from bobusang.catalog.suppliers import Supplier
from bobusang.kit.clock import utc
from bobusang.kit.db import Row, Tx
from bobusang.kit.sql import Statement
from bobusang.stages.collect import decisions, events
from bobusang.stages.collect.events import Standing
from bobusang.stages.collect.intake_tables import FileState
from bobusang.stages.collect.model import RunMode, RunState
from bobusang.stages.collect.runs import recent
from bobusang.views import inbound
from bobusang.views.inbound import EventLine

MOST = 100_000
"""Records counted so far."""
LAST = 5
TRIPPED = "UNPROVED"

RUNS = Statement("""
    select r.source, r.state, r.reason, r.started_at, r.closed_at, r.held from collect_runs r
    join (select source, max(job_id) as job_id from collect_runs where source in (:names...) group by source) l
      on l.job_id = r.job_id""")
FILES = Statement("""
    select supplier, state, count(*) as many, max(updated_at) as last_at from supplier_files
    where supplier in (:names...) group by supplier, state""")
LAST_FILES = Statement(
    """
    select id, name, state, rows, accepted, refused, created_by, created_at from supplier_files
    where supplier = :name order by id desc limit :limit""",
    mariadb="""
    select id, name, state, `rows`, accepted, refused, created_by, created_at from supplier_files
    where supplier = :name order by id desc limit :limit""",
)
KEPT = Statement("""
    select
      (select count(*) from (select id from source_records where source_system = :name limit :most) r) as records,
      (select count(*) from (
        select id from held_writes where source = :name and state = 'HELD' limit :most) h) as held""")


@dataclass(frozen=True, slots=True, kw_only=True)
class SupplierLine:
    """A supplier in a list."""

    name: str
    kind: SupplierKind
    base_url: str | None
    active: bool
    known: bool
    """Whether there is a source of its name."""
    enabled: bool
    """Whether a person has decided that its source may be collected."""
    last_sync_at: datetime | None
    """When something of it was last collected, received or imported."""
    problems: list[str]
    updated_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class SupplierRun:
    """How one of its runs went."""

    job_id: int
    target: str
    mode: RunMode
    state: RunState
    listed: int
    new: int
    changed: int
    held: int
    reason: str
    started_at: datetime
    closed_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SupplierFileLine:
    """One of its files."""

    id: int
    name: str
    state: FileState
    rows: int
    accepted: int
    refused: int
    created_by: str
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class EventCounts:
    """How many of its webhooks are in which state."""

    received: int
    done: int
    failed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SupplierDetail(SupplierLine):
    """A supplier with all that is set, and what came of it lately."""

    settings: dict[str, Any]
    secret: str | None
    """Where its secret is, never what it is."""
    records: int
    """Counted to 100,000."""
    held: int
    events: EventCounts
    runs: list[SupplierRun] = field(default_factory=list)
    last_events: list[EventLine] = field(default_factory=list)
    files: list[SupplierFileLine] = field(default_factory=list)
    created_at: datetime


@dataclass(frozen=True, slots=True)
class _Facts:
    """What is known of some suppliers, by name."""

    enabled: Collection[str]
    runs: Mapping[str, Row]
    files: Mapping[str, Sequence[Row]]
    events: Mapping[str, Standing]


async def listed(
    tx: Tx, shelf: Collection[str], *, kind: SupplierKind | None = None, active: bool | None = None
) -> list[SupplierLine]:
    """All suppliers by name, in five statements; there are few."""
    found = [one for one in await catalog.listed(tx, active=active) if kind in (None, one.kind)]
    facts = await _facts(tx, [one.name for one in found])
    return [SupplierLine(**_line(one, facts, shelf)) for one in found]


async def one(tx: Tx, shelf: Collection[str], name: str) -> SupplierDetail:
    """A supplier with what came of it lately."""
    supplier = await catalog.get(tx, name)
    facts = await _facts(tx, [name])
    runs = await recent(tx, source=name, limit=LAST)
    [kept] = await tx.fetch(KEPT, name=name, most=MOST)
    same = tuple(SupplierRun.__dataclass_fields__)
    return SupplierDetail(
        **_line(supplier, facts, shelf),
        settings=dict(supplier.settings),
        secret=supplier.secret_name,
        records=int(kept["records"]),
        held=int(kept["held"]),
        events=_counts(facts.events.get(name, Standing())),
        runs=[SupplierRun(**{each: getattr(run, each) for each in same}) for run in runs],
        last_events=await inbound.listed(tx, source=name, limit=LAST) if supplier.kind is SupplierKind.WEBHOOK else [],
        files=[_file(row) for row in await tx.fetch(LAST_FILES, name=name, limit=LAST)],
        created_at=supplier.created_at,
    )


async def _facts(tx: Tx, names: Sequence[str]) -> _Facts:
    if not names:
        return _Facts((), {}, {}, {})
    files: dict[str, list[Row]] = {}
    for row in await tx.fetch(FILES, names=list(names)):
        files.setdefault(row["supplier"], []).append(row)
    return _Facts(
        {one.source for one in await decisions.all_decided(tx) if one.enabled},
        {row["source"]: row for row in await tx.fetch(RUNS, names=list(names))},
        files,
        await events.standings(tx, names),
    )


def _line(supplier: Supplier, facts: _Facts, shelf: Collection[str]) -> dict[str, Any]:
    name = supplier.name
    run, files = facts.runs.get(name), facts.files.get(name, ())
    standing = facts.events.get(name, Standing())
    times = [utc(row["last_at"]) for row in files]
    times += [] if run is None else [utc(run["started_at"])]
    times += [] if standing.last_at is None else [standing.last_at]
    return {
        "name": name,
        "kind": supplier.kind,
        "base_url": supplier.base_url,
        "active": supplier.is_active,
        "known": name in shelf,
        "enabled": name in facts.enabled,
        "last_sync_at": max(times, default=None),
        "problems": _problems(supplier, facts, shelf),
        "updated_at": supplier.updated_at,
    }


def _problems(supplier: Supplier, facts: _Facts, shelf: Collection[str]) -> list[str]:
    """What a person should look at, the gravest first."""
    name, found = supplier.name, list[str]()
    if supplier.kind is not SupplierKind.EXCEL and name not in shelf:
        found.append("no source of this name is known")
    elif supplier.kind is not SupplierKind.EXCEL and name not in facts.enabled:
        found.append("its source is off")
    failed = sum(row["many"] for row in facts.files.get(name, ()) if row["state"] == FileState.FAILED)
    if failed:
        found.append(f"{failed:,} files failed")
    if unread := facts.events.get(name, Standing()).failed:
        found.append(f"{unread:,} webhooks could not be read")
    run = facts.runs.get(name)
    if run is not None and run["state"] == TRIPPED:
        found.append(run["reason"] or "the last run was not seen to its end")
    return found


def _counts(standing: Standing) -> EventCounts:
    return EventCounts(received=standing.received, done=standing.done, failed=standing.failed)


def _file(row: Row) -> SupplierFileLine:
    same = ("id", "name", "rows", "accepted", "refused", "created_by")
    return SupplierFileLine(
        **{name: row[name] for name in same}, state=FileState(row["state"]), created_at=utc(row["created_at"])
    )
