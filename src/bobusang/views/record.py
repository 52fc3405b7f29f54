"""One source record: all that is known of it, its past, and which page and reader made each value."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import select

from bobusang.catalog import history, lineage, products
from bobusang.catalog.model import ProcessingStatus, SourceType
from bobusang.catalog.tables import seen_scopes, source_seen
from bobusang.kit import json
from bobusang.kit.clock import utc
from bobusang.kit.db import Row, Tx
from bobusang.kit.errors import Missing
from bobusang.kit.sql import Statement

CHANGES = Statement("""
    select version, field, group_name, old_value, new_value, raw_id, reader, stream from field_changes
    where record_id = :id and version between :first and :last order by version desc, id limit :limit""")
MOST_CHANGES = 5_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """Where and when a record was last seen; `missed` counts proved runs since that did not list it."""

    scope: str
    last_seen_at: datetime
    last_run: int
    missed: int
    interval_seconds: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A version came from another, or from an archived page alone."""

    version_id: int
    parent_id: int | None
    transformation: str
    metadata: dict[str, Any]
    raw_id: int | None
    reader: str
    created_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordDetail:
    """A record's current version with all that is known of it."""

    id: int
    source: str
    type: SourceType
    key: str
    version: int
    version_id: int
    hash: str
    processing_status: ProcessingStatus
    workflow_id: str | None
    last_seen_at: datetime | None
    last_changed_at: datetime
    normalized: dict[str, Any]
    raw: dict[str, Any]
    market: dict[str, Any]
    ai: dict[str, Any]
    product: dict[str, Any] | None
    seen: list[Sighting]
    lineage: list[Link]


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldChanged:
    """One field, before and after."""

    field: str
    group: str
    old: Any
    new: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """One change of one field, with the archived page, the reader and the stream that made it."""

    version: int
    old: Any
    new: Any
    changed_at: datetime
    raw_id: int | None
    reader: str
    stream: str


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionLine:
    """A version in a record's history, with what changed in it; the first has changed nothing."""

    version: int
    version_id: int
    hash: str
    processing_status: ProcessingStatus
    workflow_id: str | None
    created_at: datetime
    changes: list[FieldChanged]


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldStory:
    """What a field is now, since which version, and which archived page, reader and stream made it so."""

    field: str
    value: Any
    version: int
    at: datetime
    raw_id: int | None
    reader: str
    stream: str
    changes: list[Evidence]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lineage:
    """What a version was made of, and what was made of it."""

    version: int
    version_id: int
    parents: list[Link]
    children: list[Link]


async def one(tx: Tx, record_id: int) -> RecordDetail:
    """A record's current version with its product, sightings and lineage."""
    found = await history.documents(tx, record_id)
    seen = await _seen(tx, record_id)
    version = found.version
    return RecordDetail(
        id=record_id,
        source=found.system,
        type=found.type,
        key=found.key,
        version=version.number,
        version_id=version.id,
        hash=version.hash,
        processing_status=version.status,
        workflow_id=version.workflow_id,
        last_seen_at=max((sighting.last_seen_at for sighting in seen), default=None),
        last_changed_at=version.created_at,
        normalized=dict(found.normalized),
        raw=dict(found.raw),
        market=dict(found.market),
        ai=dict(found.ai),
        product=await _product(tx, record_id),
        seen=seen,
        lineage=[_link(link) for link in await lineage.parents(tx, version.id)],
    )


async def _product(tx: Tx, record_id: int) -> dict[str, Any] | None:
    try:
        return await products.get(tx, record_id)
    except Missing:  # a record of another type has none
        return None


async def _seen(tx: Tx, record_id: int) -> list[Sighting]:
    rows = await tx.fetch(
        select(source_seen, seen_scopes.c.name)
        .join(seen_scopes, seen_scopes.c.id == source_seen.c.scope_id)
        .where(source_seen.c.record_id == record_id)
        .order_by(seen_scopes.c.name)
    )
    same = ("last_run", "missed", "interval_seconds")
    return [
        Sighting(scope=row["name"], last_seen_at=utc(row["last_seen_at"]), **{name: row[name] for name in same})
        for row in rows
    ]


async def versions(tx: Tx, record_id: int, before: int | None, limit: int) -> list[VersionLine]:
    """A record's versions from the newest, each with what changed in it."""
    found = await history.versions(tx, record_id, before=history.LAST if before is None else before, limit=limit)
    if not found:
        return []
    span = {"first": found[-1].number, "last": found[0].number}
    rows = await tx.fetch(CHANGES, id=record_id, **span, limit=MOST_CHANGES)
    by_version: dict[int, list[FieldChanged]] = {}
    for row in rows:
        by_version.setdefault(row["version"], []).append(_changed(row))
    return [
        VersionLine(
            version=one.number,
            version_id=one.id,
            hash=one.hash,
            processing_status=one.status,
            workflow_id=one.workflow_id,
            created_at=one.created_at,
            changes=by_version.get(one.number, []),
        )
        for one in found
    ]


async def diff(tx: Tx, record_id: int, old: int, new: int, groups: dict[str, str]) -> list[FieldChanged]:
    """What differs between two versions, in either direction."""
    found = await history.diff(tx, record_id, old, new, groups=groups)
    return [FieldChanged(field=one.field, group=one.group, old=one.old, new=one.new) for one in found]


async def field(tx: Tx, record_id: int, name: str, before: int | None, limit: int) -> FieldStory:
    """What a field is now and what made it so, with its changes from the newest."""
    now = await history.origin(tx, record_id, name)
    past = await history.field_history(
        tx, record_id, name, before=history.LAST if before is None else before, limit=limit
    )
    return FieldStory(
        field=name,
        value=now.value,
        version=now.version,
        at=now.at,
        raw_id=now.raw_id,
        reader=now.reader,
        stream=now.stream,
        changes=[
            Evidence(
                version=one.version,
                old=one.change.old,
                new=one.change.new,
                changed_at=one.changed_at,
                raw_id=one.raw_id,
                reader=one.reader,
                stream=one.stream,
            )
            for one in past
        ],
    )


async def links(tx: Tx, record_id: int, version: int | None, limit: int) -> Lineage:
    """What a version (the current one unless said) was made of, and what was made of it."""
    found = (await history.documents(tx, record_id, version)).version
    return Lineage(
        version=found.number,
        version_id=found.id,
        parents=[_link(link) for link in await lineage.parents(tx, found.id)],
        children=[_link(link) for link in await lineage.children(tx, found.id, limit=limit)],
    )


def _link(link: lineage.Link) -> Link:
    return Link(
        version_id=link.child_id,
        parent_id=link.parent_id,
        transformation=link.transformation,
        metadata=dict(link.metadata),
        raw_id=link.raw_id,
        reader=link.reader,
        created_at=link.created_at,
    )


def _changed(row: Row) -> FieldChanged:
    return FieldChanged(
        field=row["field"], group=row["group_name"], old=json.loads(row["old_value"]), new=json.loads(row["new_value"])
    )
