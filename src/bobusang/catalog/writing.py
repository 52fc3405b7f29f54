"""Changes become versions: records, versions, field changes, lineage, products, events and what was seen, in bulk."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bobusang.catalog import drafts, products, rules, seen
from bobusang.catalog.comparing import FIELDS, Key, key_of
from bobusang.catalog.drafts import Draft, Version
from bobusang.catalog.model import ChangeKind, ProcessingStatus, SourceType
from bobusang.catalog.tables import data_lineage, field_changes, source_data, source_records
from bobusang.catalog.tables.records import FIELD_LENGTH
from bobusang.kit import json
from bobusang.kit.db import Contended, Duplicate
from bobusang.kit.errors import Invalid
from bobusang.kit.ids import sequence
from bobusang.kit.sql import Bulk, Revise, Statement
from bobusang.platform.bus import Event, publish

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime

    from bobusang.catalog.model import Change
    from bobusang.kit.db import Tx

LARGEST = 1_500_000
"""Characters of a record's fields: more than ten thousand options need, less than a server takes at once."""
NAMED = 100
"""How many changed fields an event names; the history has all of them."""
COLLECTED = "collect"

LOCK = Statement(
    """select id, source_type, source_system, source_id, version, version_id, digests, hashes, last_changed_at
    from source_records where id in (:ids...) order by id for update""",
    sqlite="""select id, source_type, source_system, source_id, version, version_id, digests, hashes, last_changed_at
    from source_records where id in (:ids...) order by id""",
)
LEARNED = Statement("""
    select id, market_data, ai_data from source_data
    where id in (:ids...) and (market_data is not null or ai_data is not null)""")

_RECORDS = Bulk(
    source_records,
    (
        *("id", "source_type", "source_system", "source_id", "version", "version_id", "digests", "hashes"),
        *("last_changed_at", "created_at"),
    ),
)
_RENEWED = Revise(source_records, "id", ("version", "version_id", "digests", "hashes", "last_changed_at"))
_VERSIONS = Bulk(
    source_data,
    (
        *("id", "record_id", "source_type", "source_system", "source_id", "version", "raw_data", "normalized_data"),
        *("market_data", "ai_data", "hash", "processing_status", "workflow_id"),
        *("created_at", "updated_at", "last_changed_at"),
    ),
)
_LINEAGE = Bulk(
    data_lineage,
    ("child_id", "parent_id", "transformation_type", "transformation_metadata", "raw_id", "reader", "created_at"),
)
_CHANGES = Bulk(
    field_changes,
    (
        *("record_id", "version", "field", "group_name", "old_value", "new_value"),
        *("changed_at", "raw_id", "reader", "stream"),
    ),
)


@dataclass(frozen=True, slots=True)
class Written:
    """What became of the changes."""

    ids: tuple[int, ...]
    """The record of each change, in their order; 0 for one that was left out."""
    new: int
    changed: int
    same: int


async def write(
    tx: Tx,
    changes: Sequence[Change],
    *,
    run: int,
    now: datetime,
    groups: Mapping[str, str] | None = None,
    pace: seen.Pace = seen.PACE,
    sighted: bool = True,
) -> Written:
    """Write what `compare` found in the same transaction, or those of it that no guard holds.

    New records and versions, field changes (of CHANGED), lineage, products (what a person has edited stays), one
    `source.registered` or `source.changed` event a version, and for all of them that they were seen. Someone else who
    wrote one of the records meanwhile makes it raise `Contended`, and `Database.transact` begin again. A change that
    builds on a new record which was left out is left out too. `sighted=False`: a held reading is applied later, or an
    absence is written; nothing was seen just now.
    """
    found = await _drafts(tx, changes)
    kinds = drafts.fold(changes, found, groups or {})
    written = [draft for _, draft in sorted(found.items()) if draft.versions]
    versions = [version for draft in written for version in draft.versions]
    await _number(tx, written, versions)
    with _someone_was_first():
        await _store_records(tx, list(found.values()), now)
        await _store_versions(tx, versions, run, now)
        await _store_products(tx, written, now)
    await _store_evidence(tx, versions, now)
    await publish(tx, *(_event(version) for version in versions))
    ids = tuple(_id(change, found) for change in changes)
    if sighted:
        await _touch(tx, changes, kinds, ids, run=run, now=now, pace=pace)
    for draft in written:
        draft.versions.clear()  # each names its draft: a circle, which would keep all that was read of the batch
    return Written(ids, *(kinds.count(kind) for kind in (ChangeKind.NEW, ChangeKind.CHANGED, ChangeKind.SAME)))


@contextmanager
def _someone_was_first() -> Iterator[None]:
    try:
        yield
    except Duplicate as error:
        raise Contended(f"a record was made by someone else meanwhile: {error}") from error


async def _drafts(tx: Tx, changes: Sequence[Change]) -> dict[Key, Draft]:
    """The records that are there already, locked."""
    ids = drafts.locked_ids(changes)
    rows = await tx.fetch(LOCK, ids=ids) if ids else ()
    keys = [(SourceType(row["source_type"]), row["source_system"], row["source_id"]) for row in rows]
    found = {key: Draft(key, row) for key, row in zip(keys, rows, strict=True)}
    broken = {draft.version_id: draft for draft in drafts.broken(changes, found)}
    if broken:
        for row in await tx.fetch(FIELDS, ids=sorted(broken)):
            broken[row["id"]].fields = json.loads(row["normalized_data"])
    return found


async def _number(tx: Tx, written: Sequence[Draft], versions: Sequence[Version]) -> None:
    """Give ids to new records and to all versions, each of which follows the one before it."""
    created = [draft for draft in written if draft.created]
    for draft, id in zip(created, await sequence(tx, "source_record").take(tx, len(created)), strict=True):
        draft.id = id
    for version, id in zip(versions, await sequence(tx, "source_data").take(tx, len(versions)), strict=True):
        version.id = id
        version.parent_id = version.draft.version_id or None
        version.draft.version_id = id


async def _store_records(tx: Tx, found: Sequence[Draft], now: datetime) -> None:
    created = [draft for draft in found if draft.created]
    await tx.insert(
        _RECORDS,
        [
            (draft.id, *draft.names, draft.version, draft.version_id, *_said(draft), now, now)
            for draft in sorted(created, key=lambda draft: draft.id)
        ],
    )
    renewed = sorted((draft for draft in found if not draft.created), key=lambda draft: draft.id)
    await tx.revise(
        _RENEWED,
        [
            (draft.id, draft.version, draft.version_id, *_said(draft), now if draft.versions else draft.changed_at)
            for draft in renewed
        ],
    )


def _said(draft: Draft) -> tuple[str, str]:
    return json.dumps(draft.digests), json.dumps(draft.hashes)


async def _store_versions(tx: Tx, versions: Sequence[Version], run: int, now: datetime) -> None:
    learned = await _learned(tx, versions)
    tail = (ProcessingStatus.RAW.value, str(run) if run else None, now, now, now)
    rows = []
    for version in versions:
        draft, said = version.draft, version.change.reading.snapshot.fields
        normalized = rules.canonical(version.fields)
        text = _text(normalized, draft)
        raw = text if said == version.fields else _text(rules.canonical(said), draft)
        known = learned.get(draft.id, (None, None))
        head = (version.id, draft.id, *draft.names, version.number)
        rows.append((*head, raw, text, *known, rules.fingerprint(normalized), *tail))
    await tx.insert(_VERSIONS, rows)


def _text(encoded: bytes, draft: Draft) -> str:
    """A document as every database can keep it."""
    text = encoded.decode()
    if len(text) > LARGEST or json.NUL in text:
        wrong = "a NUL character" if json.NUL in text else f"{len(text):,} characters, more than {LARGEST:,}"
        raise Invalid(
            f"the fields of {draft.key[1]} {draft.key[2]} have {wrong}", hint="mend the reader of this source"
        )
    return text


async def _learned(tx: Tx, versions: Sequence[Version]) -> dict[int, tuple[str | None, str | None]]:
    """What markets and models have said of the present versions goes over to the next ones."""
    first = {version.parent_id: version.draft.id for version in reversed(versions) if version.parent_id}
    rows = await tx.fetch(LEARNED, ids=sorted(first)) if first else ()
    return {first[row["id"]]: (row["market_data"], row["ai_data"]) for row in rows}


async def _store_products(tx: Tx, written: Sequence[Draft], now: datetime) -> None:
    mine = [draft for draft in written if draft.key[0] is SourceType.SUPPLIER_PRODUCT]
    created = [(draft.id, *draft.key[1:], draft.fields, draft.version) for draft in mine if draft.created]
    renewed = [(draft.id, draft.fields, draft.version) for draft in mine if not draft.created]
    await products.add(tx, created, now)
    await products.renew(tx, sorted(renewed, key=lambda row: row[0]), now)


async def _store_evidence(tx: Tx, versions: Sequence[Version], now: datetime) -> None:
    """Where each version came from, and each value that changed."""
    lineage, changed = [], []
    streams: dict[str, str] = {}
    for version in versions:
        reading = version.change.reading
        told = streams.get(reading.stream) or streams.setdefault(reading.stream, json.dumps({"stream": reading.stream}))
        lineage.append((version.id, version.parent_id, COLLECTED, told, reading.raw_id, reading.reader, now))
        source = (now, reading.raw_id, reading.reader, reading.stream)
        changed += [
            (version.draft.id, version.number, field_name(one.field), one.group, *_values(one.old, one.new), *source)
            for one in version.changes
        ]
    await tx.insert(_LINEAGE, lineage)
    await tx.insert(_CHANGES, changed)


def _values(old: Any, new: Any) -> tuple[str, str]:
    return json.dumps(old), json.dumps(new)


def field_name(path: str) -> str:
    """A field as its column can keep it: an option may be called anything, at any length."""
    if len(path) <= FIELD_LENGTH:
        return path
    mark = rules.digest(path)
    return f"{path[: FIELD_LENGTH - len(mark) - 1]}~{mark}"


def _event(version: Version) -> Event:
    type, system, key = version.draft.names
    registered = version.number == 1
    names = sorted(version.fields) if registered else [change.field for change in version.changes]
    groups = version.draft.hashes if registered else {change.group for change in version.changes}
    payload = {
        "record_id": version.draft.id,
        "type": type,
        "system": system,
        "id": key,
        "version": version.number,
        "groups": sorted(groups),
        "fields": names[:NAMED],
    }
    return Event("source.registered" if registered else "source.changed", f"{system}:{key}", payload)


def _id(change: Change, found: Mapping[Key, Draft]) -> int:
    draft = found.get(key_of(change.reading.snapshot))
    return draft.id if draft else change.record_id


async def _touch(
    tx: Tx,
    changes: Sequence[Change],
    kinds: Sequence[ChangeKind | None],
    ids: Sequence[int],
    *,
    run: int,
    now: datetime,
    pace: seen.Pace,
) -> None:
    """Everything that was read was seen, in one statement a scope and kind."""
    places: dict[str, dict[str, dict[int, ChangeKind]]] = {}
    for change, kind, id in zip(changes, kinds, ids, strict=True):
        if kind is None:
            continue
        reading = change.reading
        in_scope = places.setdefault(reading.snapshot.source, {}).setdefault(reading.scope or reading.stream, {})
        if in_scope.get(id, ChangeKind.SAME) is ChangeKind.SAME:
            in_scope[id] = kind
    for system, named in sorted(places.items()):
        numbers = await seen.scopes(tx, system, named)
        for name in sorted(named):
            for kind in ChangeKind:
                touched = [id for id, its in named[name].items() if its is kind]
                await seen.touch(tx, numbers[name], touched, run=run, now=now, kind=kind, pace=pace)
