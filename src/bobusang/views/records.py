"""Lists of source records: by source and last change, and searched within bounds where no index helps."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import Select, or_, select

from bobusang.catalog.model import SourceType
from bobusang.catalog.tables import products as product_rows
from bobusang.catalog.tables import source_records
from bobusang.kit.clock import utc
from bobusang.kit.db import Row, Tx

WINDOW = 10_000
"""How many records one request looks through for a type or a text that no index finds."""
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordLine:
    """A record in a list; what a product has none of is null."""

    id: int
    source: str
    type: SourceType
    key: str
    version: int
    name: str | None
    brand: str | None
    price: int | None
    currency: str | None
    in_stock: bool | None
    listed: bool | None
    quality: float | None
    last_changed_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordFilter:
    """Which records; what is not given does not matter. `key` and `changed_since` go with a source."""

    source: str | None = None
    type: SourceType | None = None
    key: str | None = None
    changed_since: datetime | None = None
    text: str | None = None

    @property
    def is_searching(self) -> bool:
        """Whether it asks for something that no index finds."""
        return self.text is not None or (self.type is not None and self.key is None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Records, and where to go on (None: there are no more)."""

    lines: list[RecordLine]
    resume: tuple[int, int] | None


async def listed(
    tx: Tx, wanted: RecordFilter, after: tuple[int, int] | None, limit: int, *, window: int = WINDOW
) -> Found:
    """Records of a source by their last change, the newest first, or with `changed_since` from then on; without a
    source the youngest first. Where no index helps, one call looks through a bounded number and says where to go on."""
    part = _ordered(wanted, after)
    end = None
    if wanted.is_searching:
        end = await tx.first(part.limit(1).offset(window - 1))
        slice_ = part.limit(window).subquery()
        part = select(slice_).where(slice_.c.id.in_(_searched(wanted, slice_)))
        part = part.order_by(*_order(wanted, slice_.c))
    rows = await tx.fetch(_shown(wanted, part.limit(limit + 1)))
    lines = [_line(row) for row in rows[:limit]]
    if len(rows) > limit:
        return Found(lines=lines, resume=_place(wanted, rows[limit - 1]))
    return Found(lines=lines, resume=None if end is None else _place(wanted, end))


def _ordered(wanted: RecordFilter, after: tuple[int, int] | None) -> Select[Any]:
    """The ids of an index's range, in its order."""
    table = source_records.c
    query = select(table.id, table.source_type, table.last_changed_at).order_by(*_order(wanted, table))
    if wanted.source is None:
        return query if after is None else query.where(table.id < after[1])
    query = query.where(table.source_system == wanted.source)
    if wanted.key is not None:
        query = query.where(table.source_id == wanted.key, table.source_type.in_(_types(wanted)))
    if wanted.changed_since is not None:
        query = query.where(table.last_changed_at >= wanted.changed_since)
    if after is None:
        return query
    at, id = EPOCH + after[0] * MICROSECOND, after[1]
    if wanted.changed_since is not None:
        return query.where(table.last_changed_at >= at, or_(table.last_changed_at > at, table.id > id))
    return query.where(table.last_changed_at <= at, or_(table.last_changed_at < at, table.id < id))


def _types(wanted: RecordFilter) -> list[str]:
    return [wanted.type.value] if wanted.type is not None else [one.value for one in SourceType]


def _order(wanted: RecordFilter, columns: Any) -> tuple[Any, ...]:
    if wanted.source is None:
        return (columns.id.desc(),)
    if wanted.changed_since is not None:
        return columns.last_changed_at, columns.id
    return columns.last_changed_at.desc(), columns.id.desc()


def _searched(wanted: RecordFilter, part: Any) -> Select[Any]:
    """Those of a slice that match what no index finds."""
    query = select(part.c.id)
    if wanted.type is not None:
        query = query.where(part.c.source_type == wanted.type.value)
    if wanted.text is not None:
        goods = product_rows.c
        names = (goods.name, goods.brand, goods.brand_ko, goods.model, goods.product_id)
        query = query.join(product_rows, goods.id == part.c.id)
        query = query.where(or_(*(name.icontains(wanted.text, autoescape=True) for name in names)))
    return query


def _shown(wanted: RecordFilter, part: Select[Any]) -> Select[Any]:
    chosen, table, goods = part.subquery(), source_records.c, product_rows.c
    names = ("name", "brand", "price", "currency", "in_stock", "listed")
    return (
        select(source_records, *(goods[name] for name in names))
        .join(chosen, chosen.c.id == table.id)
        .outerjoin(product_rows, goods.id == table.id)
        .order_by(*_order(wanted, table))
    )


def _place(wanted: RecordFilter, row: Row) -> tuple[int, int]:
    return (utc(row["last_changed_at"]) - EPOCH) // MICROSECOND, row["id"]


def _line(row: Row) -> RecordLine:
    return RecordLine(
        id=row["id"],
        source=row["source_system"],
        type=SourceType(row["source_type"]),
        key=row["source_id"],
        version=row["version"],
        last_changed_at=utc(row["last_changed_at"]),
        quality=row["quality"],
        in_stock=_flag(row["in_stock"]),
        listed=_flag(row["listed"]),
        **{name: row[name] for name in ("name", "brand", "price", "currency")},
    )


def _flag(value: Any) -> bool | None:
    return None if value is None else bool(value)
