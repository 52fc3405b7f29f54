"""Replaying: archived pages are read again by the present reader, and what it reads is held against what is stored.

Of each record and stream the newest page counts. What that page says otherwise than is stored is the reader's doing
where the page was stored by an earlier reader; it is the mall's where the page was never stored (nobody could read it
then, or a guard holds it). Nothing is written.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import msgspec

from bobusang.catalog import records, rules
from bobusang.catalog.model import Change, ChangeKind, Reading, Snapshot
from bobusang.connectors.sources.declared import asking
from bobusang.engine.model import TaskOutcome
from bobusang.flows.collect.asks import ask_of
from bobusang.kit import json
from bobusang.kit.clock import utc
from bobusang.kit.errors import BobusangError, Conflict, Missing
from bobusang.kit.http import Answer
from bobusang.kit.sql import Statement
from bobusang.stages.collect.guards import believable
from bobusang.stages.collect.pages import is_gone
from bobusang.stages.collect.policy import Reaction
from bobusang.stages.collect.reading import page_of
from bobusang.stages.collect.responses import classify
from bobusang.stages.collect.source import Ask, Target

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime

    from bobusang.flows.collect.collector import Collector
    from bobusang.kit.db import Row, Tx
    from bobusang.stages.collect.source import Reads, Source

AT_ONCE = 50
"""Pages whose bytes are held in memory together."""
UNKNOWN = "unknown"
WHOLE = "*"
"""Stands for all fields, of a record that is not stored at all."""

ENDPOINTS = Statement("select distinct endpoint from raw_pages where source = :source order by endpoint")
PAGES = Statement("""
    select r.id, r.endpoint, r.url, r.sha256, r.status, r.headers, r.media, r.fetched_at,
      t.id as task, t.input_data, t.output_data, t.outcome, c.target, p.page
    from raw_pages r left join tasks t on t.id = r.task_id
      left join collect_runs c on c.job_id = r.job_id
      left join list_pages p on p.job_id = r.job_id and p.raw_id = r.id
    where r.source = :source and r.endpoint = :endpoint and r.fetched_at >= :since and r.job_id is not null
    order by r.fetched_at desc, r.id desc limit :limit""")
HELD = Statement("""
    select raw_id, record_key, after_data from held_writes
    where source = :source and record_key in (:keys...) and state = 'HELD'""")

KEYS = Statement("""
    select l.raw_id, d.source_id from data_lineage l join source_data d on d.id = l.child_id
    where l.raw_id in (:ids...)""")


class Whose(StrEnum):
    """Who has changed: we, or they."""

    READER = "reader"
    MALL = "mall"


@dataclass(frozen=True, slots=True)
class Difference:
    """One field of one record: as it is stored, and as it is read now."""

    key: str
    stream: str
    field: str
    """`*`: the record is not stored at all."""
    group: str
    stored: Any
    read: Any
    """`unknown`: the page no longer says it with certainty, and what is stored stays."""
    whose: Whose
    raw_id: int


@dataclass(frozen=True, slots=True)
class Trouble:
    """A page that is not read as it was."""

    url: str
    stream: str
    message: str
    raw_id: int


@dataclass(slots=True)
class Replayed:
    """What reading again would change."""

    source: str
    reader: str
    pages: int = 0
    items: int = 0
    """Records as the newest page of each stream shows them."""
    same: int = 0
    skipped: int = 0
    """Pages of which the bytes, or what they were asked for, are no longer known."""
    differences: list[Difference] = field(default_factory=list)
    troubles: list[Trouble] = field(default_factory=list)

    @property
    def differs(self) -> bool:
        return bool(self.differences or self.troubles)

    def by_field(self) -> list[dict[str, Any]]:
        """How often each field would change, and whose doing it is; options of all codes together."""
        found: dict[tuple[str, str], Counter[Whose]] = {}
        for one in self.differences:
            found.setdefault((_spread(one.field), one.group), Counter())[one.whose] += 1
        return [
            {"field": name, "group": group, "reader": counts[Whose.READER], "mall": counts[Whose.MALL]}
            for (name, group), counts in sorted(found.items())
        ]


@dataclass(frozen=True, slots=True)
class _Raw:
    """An archived page with the ask that it answers."""

    id: int
    ask: Ask
    url: str
    sha256: str
    status: int
    headers: dict[str, str]
    media: str
    at: datetime
    stored: bool
    items: int | None
    """How many were read of it when it was stored."""


async def replay(collector: Collector, name: str, *, since: datetime, limit: int = 1000) -> Replayed:
    """Read again what was fetched since then, at most so many pages of each stream, the newest first."""
    source = collector.source(name)
    if not source.policy.trusted:
        raise Conflict(f"{name} contains code that nobody has agreed to run", hint="read its hooks.py, then trust it")
    found = Replayed(name, source.version)
    async with collector.db.read() as tx:
        endpoints = [row["endpoint"] for row in await tx.fetch(ENDPOINTS, source=name)]
    for endpoint in endpoints:
        async with collector.db.read() as tx:
            rows = await tx.fetch(PAGES, source=name, endpoint=endpoint, since=since, limit=limit)
        seen: set[str] = set()
        for start in range(0, len(rows), AT_ONCE):
            await _part(collector, source, rows[start : start + AT_ONCE], seen, found)
    return found


async def _part(collector: Collector, source: Source, rows: Sequence[Row], seen: set[str], found: Replayed) -> None:
    """Some pages of one stream; `seen` are the records that a newer page has told of."""
    async with collector.db.read() as tx:
        keys = await _keys(tx, rows)
    raws = [raw for row in rows if (raw := _raw(source, row, keys)) is not None]
    bodies = {raw.id: body for raw in raws if (body := await _bytes(collector, raw.sha256)) is not None}
    kept = [raw for raw in raws if raw.id in bodies]
    found.skipped += len(rows) - len(kept)
    found.pages += len(kept)
    read = await asyncio.to_thread(lambda: [_read(source, raw, bodies[raw.id]) for raw in kept])
    readings = []
    for raw, said in zip(kept, read, strict=True):
        snapshots = [one for one in said if isinstance(one, Snapshot)] if not isinstance(said, str) else []
        newest = [one for one in snapshots if one.key not in seen]
        if trouble := _trouble(raw, said, len(snapshots)):
            found.troubles.append(trouble)
        seen |= {one.key for one in newest}
        readings += [Reading(_closed(believable(one)), raw.ask.endpoint, source.version, raw.id) for one in newest]
    await _compare(collector, source, {raw.id: raw for raw in kept}, readings, found)


async def _compare(
    collector: Collector, source: Source, raws: dict[int, _Raw], readings: Sequence[Reading], found: Replayed
) -> None:
    async with collector.db.read() as tx:
        changes = await records.compare(tx, readings, groups=source.policy.groups)
        keys = sorted({reading.snapshot.key for reading in readings})
        held = await tx.fetch(HELD, source=source.name, keys=keys) if keys else ()
    for change in changes:
        raw_id = change.reading.raw_id or 0
        whose = Whose.READER if raws[raw_id].stored and not _is_held(change, held) else Whose.MALL
        differences = list(_differences(change, whose, source.policy.groups))
        found.items += 1
        found.same += not differences
        found.differences += differences


def _is_held(change: Change, held: Sequence[Row]) -> bool:
    """Whether a guard holds this very page, or the same of another: one jump is held once, wherever it is told."""
    reading = change.reading
    told = {one.field: one.new for one in change.fields}
    return any(
        row["raw_id"] == reading.raw_id or (told and told.items() <= json.loads(row["after_data"]).items())
        for row in held
        if row["record_key"] == reading.snapshot.key
    )


def _differences(change: Change, whose: Whose, groups: Mapping[str, str]) -> Iterator[Difference]:
    reading = change.reading
    key, stream, raw_id = reading.snapshot.key, reading.stream, reading.raw_id or 0
    if change.kind is ChangeKind.NEW:
        yield Difference(key, stream, WHOLE, "", None, reading.snapshot.fields, whose, raw_id)
        return
    for one in change.fields:
        yield Difference(key, stream, one.field, one.group, one.old, one.new, whose, raw_id)
    for name in reading.snapshot.unknown if change.before else ():
        if change.before and change.before.get(name) is not None:
            group = rules.group_of(name, groups)
            yield Difference(key, stream, name, group, change.before[name], UNKNOWN, whose, raw_id)


def _read(source: Source, raw: _Raw, body: bytes) -> Sequence[Reads] | str:
    """What the present reader finds, or why it finds nothing."""
    answer = Answer(raw.url, raw.status, raw.headers, body)
    verdict = classify(source.policy, raw.url, answer, now=raw.at, kind=raw.ask.kind)
    if verdict.reaction is Reaction.GONE:
        return (Snapshot(source.name, raw.ask.item, {"gone": True}, type=source.policy.type),) if raw.ask.item else ()
    if verdict.reaction is not Reaction.READ:
        return verdict.reason
    try:
        return tuple(source.read(page_of(source, raw.ask, answer, raw.media, raw.at)))
    except BobusangError as error:
        return str(error)
    except KeyError as error:
        return f"it was asked for without {error}, which its stream needs now"
    except RecursionError:
        return "the page is nested too deep to be read"


def _trouble(raw: _Raw, said: Sequence[Reads] | str, items: int) -> Trouble | None:
    """Only what was read before can have become worse."""
    if not raw.stored:
        return None
    if isinstance(said, str):
        return Trouble(raw.url, raw.ask.endpoint, said, raw.id)
    if raw.items is not None and items < raw.items:
        return Trouble(raw.url, raw.ask.endpoint, f"{items} records are read, {raw.items} were", raw.id)
    return None


def _closed(snapshot: Snapshot) -> Snapshot:
    """As saving does: an item that is no more is not listed either."""
    if not is_gone(snapshot):
        return snapshot
    return msgspec.structs.replace(snapshot, fields={"listed": False, **snapshot.fields})


async def _bytes(collector: Collector, sha256: str) -> bytes | None:
    try:
        return await collector.service.archive.get(sha256)
    except Missing:
        return None


async def _keys(tx: Tx, rows: Sequence[Row]) -> dict[int, str]:
    """The item of each page whose task is archived: that of the version which came from it."""
    ids = [row["id"] for row in rows if row["input_data"] is None]
    return {row["raw_id"]: row["source_id"] for row in await tx.fetch(KEYS, ids=ids)} if ids else {}


def _raw(source: Source, row: Row, keys: dict[int, str]) -> _Raw | None:
    ask = _ask(source, row, keys)
    if ask is None:
        return None
    output = json.loads(row["output_data"]) if row["output_data"] else {}
    return _Raw(
        id=row["id"],
        ask=ask,
        url=row["url"],
        sha256=row["sha256"],
        status=row["status"],
        headers=json.loads(row["headers"]) if row["headers"] else {},
        media=row["media"] or "",
        at=utc(row["fetched_at"]),
        stored=row["task"] is None or row["outcome"] == TaskOutcome.DONE,
        items=output.get("items") if isinstance(output, dict) else None,
    )


def _ask(source: Source, row: Row, keys: dict[int, str]) -> Ask | None:
    """The ask of the task; where that is archived, as the run and the versions of the page tell it."""
    try:
        if row["input_data"] is not None:
            return ask_of(json.loads(row["input_data"]))
        return _rebuilt(source, row, keys.get(row["id"], ""))
    except (BobusangError, TypeError, KeyError, ValueError):
        return None


def _rebuilt(source: Source, row: Row, item: str) -> Ask | None:
    """The ask of an item by its key, that of a list by the target of its run."""
    kind, _, key = (row["target"] or "").partition(":")
    target = Target("item", item, {kind: key}) if item and row["page"] is None else Target(kind, key)
    found = next((ask for ask in source.seeds(target) if ask.endpoint == row["endpoint"]), None)
    if found is None:
        return None
    given = found.given if row["page"] is None else {**found.given, asking.PAGE: row["page"]}
    return replace(found, url=row["url"], given=given)


def _spread(name: str) -> str:
    """`options.B1.stock` as `options.*.stock`."""
    first, *rest = name.split(".")
    return name if first != "options" or not rest else f"options.*.{rest[-1]}" if len(rest) > 1 else "options.*"
