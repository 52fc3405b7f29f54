"""What a record was, when it changed, and which page and reader said so; every question is a walk over one index."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bobusang.catalog import options, rules
from bobusang.catalog.model import FieldChange, ProcessingStatus, SourceType
from bobusang.catalog.writing import field_name
from bobusang.kit import json
from bobusang.kit.clock import utc
from bobusang.kit.errors import Missing
from bobusang.kit.sql import Statement

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from bobusang.kit.db import Row, Tx

LAST = 2**31 - 1
"""Above every version."""

RECORD = Statement("select source_type, source_system, source_id, version from source_records where id = :id")
_OF_RECORD = "source_type = :type and source_system = :system and source_id = :key"
_SHORT = "id, record_id, version, hash, processing_status, workflow_id, created_at"
VERSIONS = Statement(f"""
    select {_SHORT} from source_data where {_OF_RECORD} and version < :before order by version desc limit :limit""")
VERSION = Statement(f"""
    select {_SHORT}, raw_data, normalized_data, market_data, ai_data from source_data
    where {_OF_RECORD} and version = :version""")
_CHANGE = "record_id, version, field, group_name, old_value, new_value, changed_at, raw_id, reader, stream"
CHANGES = Statement(f"""
    select {_CHANGE} from field_changes where record_id = :id and version = :version order by id limit :limit""")
OF_FIELD = Statement(f"""
    select {_CHANGE} from field_changes where record_id = :id and field = :field and version < :before
    order by version desc limit :limit""")
# Two statements, because MariaDB would step over all rows of the instant to find those after an id in one.
_CHANGED = "select id, source_type, source_system, source_id, version, last_changed_at from source_records where"
CHANGED_THEN = Statement(f"""
    {_CHANGED} source_system = :system and last_changed_at = :since and id > :after order by id limit :limit""")
CHANGED_LATER = Statement(f"""
    {_CHANGED} source_system = :system and last_changed_at > :since order by last_changed_at, id limit :limit""")
CAME_FROM = Statement("""
    select raw_id, reader, transformation_type, transformation_metadata, parent_id, created_at from data_lineage
    where child_id = :child order by id""")


@dataclass(frozen=True, slots=True)
class Version:
    """One version of a record, without its documents."""

    id: int
    record_id: int
    number: int
    hash: str
    status: ProcessingStatus
    workflow_id: str | None
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Documents:
    """One version with all that is known in it."""

    version: Version
    type: SourceType
    system: str
    key: str
    raw: Mapping[str, Any]
    normalized: Mapping[str, Any]
    market: Mapping[str, Any]
    ai: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Past:
    """A field's change with its evidence: since when, from which archived page, by which reader and stream."""

    record_id: int
    version: int
    change: FieldChange
    changed_at: datetime
    raw_id: int | None
    reader: str
    stream: str


@dataclass(frozen=True, slots=True)
class Changed:
    """A record that changed, and when it did so last."""

    record_id: int
    type: SourceType
    system: str
    key: str
    version: int
    last_changed_at: datetime


@dataclass(frozen=True, slots=True)
class Origin:
    """Which archived page and which reader made a value, in which version."""

    value: Any
    version: int
    at: datetime
    raw_id: int | None
    reader: str
    stream: str


async def versions(tx: Tx, record_id: int, *, before: int = LAST, limit: int = 50) -> list[Version]:
    """A record's versions from the newest; to go on, pass the last number as `before`."""
    key = await _key(tx, record_id)
    return [_version(row) for row in await tx.fetch(VERSIONS, **key, before=before, limit=limit)]


async def documents(tx: Tx, record_id: int, version: int | None = None) -> Documents:
    """One version with its documents; the current one unless said otherwise."""
    record = await _record(tx, record_id)
    number = record["version"] if version is None else version
    row = await tx.first(VERSION, **_named(record), version=number)
    if row is None:
        raise Missing(f"record {record_id} has no version {number}", hint=f"the newest is {record['version']}")
    names = (SourceType(record["source_type"]), record["source_system"], record["source_id"])
    found = [json.loads(row[name] or "{}") for name in ("raw_data", "normalized_data", "market_data", "ai_data")]
    return Documents(_version(row), *names, *found)


async def diff(
    tx: Tx, record_id: int, old: int, new: int, *, groups: Mapping[str, str] | None = None
) -> tuple[FieldChange, ...]:
    """What differs between two versions of a record, in either direction."""
    before, after = await documents(tx, record_id, old), await documents(tx, record_id, new)
    return rules.diff(before.normalized, after.normalized, groups or {})


async def changes(tx: Tx, record_id: int, version: int, *, limit: int = 500) -> list[Past]:
    """What changed with a version; nothing for the first."""
    return [_past(row) for row in await tx.fetch(CHANGES, id=record_id, version=version, limit=limit)]


async def field_history(tx: Tx, record_id: int, field: str, *, before: int = LAST, limit: int = 100) -> list[Past]:
    """How one field changed, from the newest; to go on, pass the last version as `before`."""
    rows = await tx.fetch(OF_FIELD, id=record_id, field=field_name(field), before=before, limit=limit)
    return [_past(row) for row in rows]


async def changed_since(tx: Tx, system: str, since: datetime, *, after: int = 0, limit: int = 100) -> list[Changed]:
    """Records of a system that changed at that instant or later, oldest first.

    To go on, pass the last instant as `since` and the last id as `after`. A change that is committed late may have an
    instant that was passed already: who must not miss one subscribes to `source.changed`.
    """
    rows = list(await tx.fetch(CHANGED_THEN, system=system, since=since, after=after, limit=limit))
    if len(rows) < limit:
        rows += await tx.fetch(CHANGED_LATER, system=system, since=since, limit=limit - len(rows))
    return [
        Changed(
            row["id"],
            SourceType(row["source_type"]),
            row["source_system"],
            row["source_id"],
            row["version"],
            utc(row["last_changed_at"]),
        )
        for row in rows
    ]


async def origin(tx: Tx, record_id: int, field: str, *, version: int | None = None) -> Origin:
    """Which page and which reader made a value (`price`, `options.B1.stock`) as it stood in a version."""
    at = await documents(tx, record_id, version)
    value = _value(at.normalized, field)
    made = [
        past
        for name in _paths(field)
        for past in await field_history(tx, record_id, name, before=at.version.number + 1, limit=1)
    ]
    if made:
        last = max(made, key=lambda past: past.version)
        return Origin(value, last.version, last.changed_at, last.raw_id, last.reader, last.stream)
    first = at if at.version.number == 1 else await documents(tx, record_id, 1)
    row = await tx.first(CAME_FROM, child=first.version.id)
    if row is None:
        raise Missing(f"record {record_id} has no lineage")
    stream = json.loads(row["transformation_metadata"]).get("stream", "")
    return Origin(value, 1, utc(row["created_at"]), row["raw_id"], row["reader"], stream)


def _paths(field: str) -> list[str]:
    """Where a value may have come from: an attribute's own change, its option's coming, the first options'."""
    if not field.startswith(options.PREFIX):
        return [field]
    return [field, field.rpartition(".")[0], "options"]


def _value(fields: Mapping[str, Any], field: str) -> Any:
    if not field.startswith(options.PREFIX):
        found = field in fields
        value = fields.get(field)
    else:
        by_code = options.by_code(fields.get("options") or ())
        path = field.removeprefix(options.PREFIX)
        code, _, attribute = path.rpartition(".")
        found = path in by_code or attribute in by_code.get(code, {})
        value = by_code[path] if path in by_code else by_code.get(code, {}).get(attribute)
    if not found:
        raise Missing(
            f"there is no '{field}' in this version", hint=f"it has {', '.join(sorted(fields))}", field="field"
        )
    return value


async def _record(tx: Tx, record_id: int) -> Row:
    row = await tx.first(RECORD, id=record_id)
    if row is None:
        raise Missing(f"there is no source record {record_id}")
    return row


async def _key(tx: Tx, record_id: int) -> dict[str, str]:
    return _named(await _record(tx, record_id))


def _named(record: Row) -> dict[str, str]:
    return {"type": record["source_type"], "system": record["source_system"], "key": record["source_id"]}


def _version(row: Row) -> Version:
    return Version(
        row["id"],
        row["record_id"],
        row["version"],
        row["hash"],
        ProcessingStatus(row["processing_status"]),
        row["workflow_id"],
        utc(row["created_at"]),
    )


def _past(row: Row) -> Past:
    change = FieldChange(row["field"], row["group_name"], json.loads(row["old_value"]), json.loads(row["new_value"]))
    at = utc(row["changed_at"])
    return Past(row["record_id"], row["version"], change, at, row["raw_id"], row["reader"], row["stream"])
