"""Where versions come from: other versions, and archived pages."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bobusang.catalog.tables import data_lineage
from bobusang.kit import json
from bobusang.kit.clock import utc
from bobusang.kit.sql import Bulk, Statement

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from bobusang.kit.db import Row, Tx

LARGEST = 65_536

_LINK = "parent_id, child_id, transformation_type, transformation_metadata, raw_id, reader, created_at"
PARENTS = Statement(f"select {_LINK} from data_lineage where child_id = :id order by id")
CHILDREN = Statement(f"select {_LINK} from data_lineage where parent_id = :id order by id limit :limit")
REFERRED = Statement("select distinct raw_id from data_lineage where raw_id in (:ids...)")

_LINKS = Bulk(
    data_lineage,
    ("child_id", "parent_id", "transformation_type", "transformation_metadata", "raw_id", "reader", "created_at"),
)


@dataclass(frozen=True, slots=True)
class Link:
    """One version came from another (`source_data` ids), or from a page alone, by a named transformation."""

    child_id: int
    parent_id: int | None
    transformation: str
    metadata: Mapping[str, Any] = field(default_factory=dict)
    raw_id: int | None = None
    reader: str = ""
    created_at: datetime | None = None


async def add(tx: Tx, links: Sequence[Link]) -> None:
    """Remember where versions came from; collecting does so by itself."""
    rows = [
        (
            link.child_id,
            link.parent_id,
            link.transformation,
            json.payload(dict(link.metadata), limit=LARGEST, name="metadata"),
            link.raw_id,
            link.reader,
            tx.now,
        )
        for link in links
    ]
    await tx.insert(_LINKS, rows)


async def parents(tx: Tx, version_id: int) -> list[Link]:
    """What a version was made of."""
    return [_link(row) for row in await tx.fetch(PARENTS, id=version_id)]


async def children(tx: Tx, version_id: int, *, limit: int = 100) -> list[Link]:
    """What was made of a version."""
    return [_link(row) for row in await tx.fetch(CHILDREN, id=version_id, limit=limit)]


async def referred(tx: Tx, raw_ids: Sequence[int]) -> set[int]:
    """Which of these archived pages some version came from: they must be kept."""
    rows = await tx.fetch(REFERRED, ids=sorted(set(raw_ids))) if raw_ids else ()
    return {row["raw_id"] for row in rows}


def _link(row: Row) -> Link:
    return Link(
        row["child_id"],
        row["parent_id"],
        row["transformation_type"],
        json.loads(row["transformation_metadata"]),
        row["raw_id"],
        row["reader"],
        utc(row["created_at"]),
    )
