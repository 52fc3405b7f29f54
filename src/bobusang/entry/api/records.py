"""Source records: looked up, with their history, differences, lineage, and what made each value."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from pydantic import BaseModel, Field

from bobusang.catalog import history
from bobusang.catalog.model import SourceType
from bobusang.entry.api.desk import Desk, Viewer
from bobusang.entry.api.fields import LARGEST_WHOLE, Form, Instant, Name, PathId
from bobusang.entry.api.pages import Page, Paged, pack, page, unpack, unpacked
from bobusang.entry.api.resource import Resource
from bobusang.kit.errors import Invalid, Missing
from bobusang.views import record as view
from bobusang.views import records
from bobusang.views.record import FieldChanged, FieldStory, Lineage, RecordDetail, VersionLine
from bobusang.views.records import RecordFilter, RecordLine

router = Resource("records", "/records")

Key = Annotated[str, Field(min_length=1, max_length=100, description="the source's own id")]
Text = Annotated[str, Field(min_length=1, max_length=100, description="a part of name, brand, model or id")]
Version = Annotated[int, Field(ge=1, le=LARGEST_WHOLE)]
FieldPath = Annotated[str, Field(min_length=1, max_length=1000, examples=["price", "options.B1.stock"])]


class RecordQuery(Paged):
    """Which records."""

    source: Annotated[Name | None, Field(examples=["mustit"])] = None
    type: SourceType | None = None
    key: Key | None = None
    changed_since: Annotated[Instant | None, Field(description="with a source: from then on, the oldest first")] = None
    q: Text | None = None


class FieldQuery(Form):
    """How many changes of a field."""

    limit: Annotated[int, Field(ge=1, le=500)] = 50
    before: Annotated[Version | None, Field(description="only changes before this version")] = None


class DiffQuery(Form):
    """Which two versions; the last two unless said otherwise."""

    from_: Annotated[Version | None, Field(alias="from")] = None
    to: Version | None = None


class LineageQuery(Form):
    """Of which version; the current one unless said otherwise."""

    version: Version | None = None
    limit: Annotated[int, Field(ge=1, le=500)] = 100


class Difference(BaseModel):
    """What differs between two versions."""

    id: int
    from_version: int
    to_version: int
    changes: list[FieldChanged]


@router.get("", summary="List source records")
async def list_records(desk: Viewer, query: Annotated[RecordQuery, Query()]) -> Page[RecordLine]:
    """Those of a source by their last change, the newest first; without a source, the youngest first. A `type` or `q`
    that no index helps looks through a bounded number a call, so a page may be short or even empty while `next` is not
    null: go on until it is."""
    for name in ("key", "changed_since"):
        if getattr(query, name) is not None and query.source is None:
            raise Invalid(f"{name} needs a source", hint="say which: --source, or source= in a query", field="source")
    wanted = RecordFilter(
        source=query.source, type=query.type, key=query.key, changed_since=query.changed_since, text=query.q
    )
    after = unpacked("records", query.cursor, int, int)
    async with desk.read() as tx:
        found = await records.listed(tx, wanted, None if after is None else (after[0], after[1]), query.limit)
    return Page(items=found.lines, next=None if found.resume is None else pack("records", *found.resume))


@router.get("/{record_id}", summary="Show a source record")
async def show_record(desk: Viewer, record_id: PathId) -> RecordDetail:
    """Its current version, when it was last seen, its product and where it came from."""
    async with desk.read() as tx:
        return await view.one(tx, record_id)


@router.get("/{record_id}/history", summary="List a record's versions")
async def list_record_versions(desk: Viewer, record_id: PathId, query: Annotated[Paged, Query()]) -> Page[VersionLine]:
    """Newest first, each with what changed in it."""
    kind = f"records/{record_id}/history"
    before = unpack(kind, query.cursor)
    async with desk.read() as tx:
        found = await view.versions(tx, record_id, before, query.limit + 1)
    return page(kind, found, query.limit, lambda version: version.version)


@router.get("/{record_id}/diff", summary="Compare two versions of a record")
async def show_difference(desk: Viewer, record_id: PathId, query: Annotated[DiffQuery, Query()]) -> Difference:
    """In either direction."""
    async with desk.read() as tx:
        newest = await history.documents(tx, record_id)
        new = query.to or newest.version.number
        old = query.from_ or max(1, new - 1)
        changes = await view.diff(tx, record_id, old, new, groups_of(desk, newest.system))
    return Difference(id=record_id, from_version=old, to_version=new, changes=changes)


@router.get("/{record_id}/fields/{field:path}", summary="Say why a field is what it is")
async def explain_field(
    desk: Viewer, record_id: PathId, field: FieldPath, query: Annotated[FieldQuery, Query()]
) -> FieldStory:
    """Which archived page, reader and stream made its value, and all its changes from the newest."""
    async with desk.read() as tx:
        return await view.field(tx, record_id, field, query.before, query.limit)


@router.get("/{record_id}/lineage", summary="Show where a version came from")
async def show_lineage(desk: Viewer, record_id: PathId, query: Annotated[LineageQuery, Query()]) -> Lineage:
    """And what was made of it."""
    async with desk.read() as tx:
        return await view.links(tx, record_id, query.version, query.limit)


def groups_of(desk: Desk, source: str) -> dict[str, str]:
    """Which group each field of a source belongs to; a source that is no longer known has none."""
    try:
        return dict(desk.app.collector.source(source).policy.groups)
    except Missing:
        return {}
