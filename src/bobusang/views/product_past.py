"""What became of a product: its versions with what changed in each and who said so, its price and stock over time, and
what differs between any two versions."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from bobusang.catalog import history, rules
from bobusang.catalog.model import SourceType
from bobusang.kit import json
from bobusang.kit.clock import utc
from bobusang.kit.db import Row, Tx
from bobusang.kit.sql import Statement
from bobusang.views.product_page import matrix_said
from bobusang.views.products import ProductDetail
from bobusang.views.record import FieldChanged

MOST_CHANGES = 2_000
"""Of one page of versions; beyond it the diff of two versions has them all."""
CHARTED = 40
"""Versions that a chart shows."""

VERSIONS = Statement("""
    select d.version, d.created_at, d.workflow_id, f.field, f.group_name, f.old_value, f.new_value, f.raw_id, f.reader,
      f.stream
    from (select version, created_at, workflow_id from source_data
        where source_type = :type and source_system = :mall and source_id = :key and version < :before
        order by version desc limit :limit) d
      left join field_changes f on f.record_id = :id and f.version = d.version
    order by d.version desc, f.id limit :most""")
SERIES = Statement("""
    select created_at, normalized_data from source_data
    where source_type = :type and source_system = :mall and source_id = :key order by version desc limit :limit""")
PAGES = Statement("""
    select d.version, l.raw_id, l.reader, l.transformation_type as kind, l.created_at, p.source, p.endpoint, p.url,
      p.status, p.media, p.size, p.fetched_at
    from (select id, version from source_data
        where source_type = :type and source_system = :mall and source_id = :key order by version desc limit :limit) d
      join data_lineage l on l.child_id = d.id left join raw_pages p on p.id = l.raw_id
    order by d.version desc, l.id""")


@dataclass(frozen=True, slots=True, kw_only=True)
class PastVersion:
    """A version: what changed with it, and by which archived page, reader and stream."""

    version: int
    at: datetime
    job: str | None
    raw_id: int | None
    reader: str
    stream: str
    changes: list[FieldChanged]


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """What a source said at a time; `available` are the options that could be bought."""

    at: datetime
    price: int | None
    list_price: int | None
    available: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The archived page that a version was read from, and by which reader."""

    version: int
    raw_id: int | None
    reader: str
    kind: str
    url: str | None
    endpoint: str | None
    status: int | None
    media: str | None
    size: int | None
    fetched_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """A field in two versions."""

    field: str
    old: Any
    new: Any
    changed: bool


async def versions(tx: Tx, product: ProductDetail, before: int | None, limit: int) -> list[PastVersion]:
    """From the newest, in one statement."""
    rows = await tx.fetch(
        VERSIONS,
        **_key(product),
        id=product.id,
        before=history.LAST if before is None else before,
        limit=limit,
        most=MOST_CHANGES,
    )
    by_version: dict[int, list[Row]] = {}
    for row in rows:
        by_version.setdefault(row["version"], []).append(row)
    return [_version(number, found) for number, found in by_version.items()]


async def series(tx: Tx, product: ProductDetail) -> list[Point]:
    """Price and stock of its last versions, the oldest first."""
    rows = await tx.fetch(SERIES, **_key(product), limit=CHARTED)
    return [_point(row) for row in reversed(rows)]


async def evidence(tx: Tx, product: ProductDetail, limit: int) -> list[Evidence]:
    """The pages behind its last versions."""
    same = ("version", "raw_id", "reader", "kind", "url", "endpoint", "status", "media", "size")
    return [
        Evidence(**{name: row[name] for name in same}, fetched_at=utc(row["fetched_at"]))
        for row in await tx.fetch(PAGES, **_key(product), limit=limit)
    ]


async def compared(tx: Tx, id: int, old: int, new: int, groups: Mapping[str, str]) -> list[Compared]:
    """All fields of two versions: what differs by its path, then what is alike."""
    before, after = await history.documents(tx, id, old), await history.documents(tx, id, new)
    changed = rules.diff(before.normalized, after.normalized, groups)
    touched = {one.field.partition(".")[0] for one in changed}
    alike = [name for name in sorted(after.normalized) if name not in touched]
    return [
        *(Compared(field=one.field, old=one.old, new=one.new, changed=True) for one in changed),
        *(Compared(field=name, old=None, new=after.normalized[name], changed=False) for name in alike),
    ]


def _key(product: ProductDetail) -> dict[str, str]:
    return {"type": SourceType.SUPPLIER_PRODUCT.value, "mall": product.mall, "key": product.product_id}


def _version(number: int, rows: list[Row]) -> PastVersion:
    first = rows[0]
    return PastVersion(
        version=number,
        at=utc(first["created_at"]),
        job=first["workflow_id"],
        raw_id=first["raw_id"],
        reader=first["reader"] or "",
        stream=first["stream"] or "",
        changes=[
            FieldChanged(
                field=row["field"],
                group=row["group_name"],
                old=json.loads(row["old_value"]),
                new=json.loads(row["new_value"]),
            )
            for row in rows
            if row["field"] is not None
        ],
    )


def _point(row: Row) -> Point:
    said = json.loads(row["normalized_data"])
    price, before = (said.get(name) for name in ("price", "list_price"))
    return Point(
        at=utc(row["created_at"]),
        price=price if isinstance(price, int) else None,
        list_price=before if isinstance(before, int) else None,
        available=_available(said),
    )


def _available(said: Mapping[str, Any]) -> int | None:
    """None until a page has said anything of stock."""
    if said.get("options"):
        return matrix_said(said["options"]).available
    sold_out = said.get("sold_out")
    return None if sold_out is None else int(not sold_out)
