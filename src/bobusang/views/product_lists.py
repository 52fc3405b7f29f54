"""Lists of products: each walks an index in its order; what no index finds is looked for within bounds."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, exists, false, not_, or_, select, true

from bobusang.catalog.tables import products, source_markets
from bobusang.kit.clock import utc
from bobusang.kit.db import Row, Tx
from bobusang.views.products import ProductLine, values

WINDOW = 10_000
"""How many products one request looks through for what no index finds."""
EXPORTED = 1_000
"""How many products an export reads at once."""
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)


class Sort(StrEnum):
    """By what a list goes; `newest` are those that were first seen last, `changed` those that changed last."""

    ID = "id"
    NEWEST = "newest"
    PRICE = "price"
    DEAREST = "-price"
    CHANGED = "changed"


class Quality(StrEnum):
    """Whether a product has all that selling it needs (`LACKS`)."""

    COMPLETE = "complete"
    INCOMPLETE = "incomplete"


class Lack(StrEnum):
    """What a product may lack."""

    NAME = "name"
    BRAND = "brand"
    MODEL = "model"
    PRICE = "price"
    PICTURE = "picture"
    CATEGORY = "category"
    STOCK = "stock"


_row = products.c
LACKS = {
    Lack.NAME: "name",
    Lack.BRAND: "brand",
    Lack.MODEL: "model",
    Lack.PRICE: "price",
    Lack.PICTURE: "image",
    Lack.CATEGORY: "category",
    Lack.STOCK: "in_stock",
}
PLACED = {
    Sort.PRICE: (_row.price,),
    Sort.DEAREST: (_row.price,),
    Sort.CHANGED: (_row.updated_at,),
}
"""What a place in a list is told by besides the id: all of it in the index that is walked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProductFilter:
    """Which products; what is not given does not matter."""

    mall: str | None = None
    product_id: str | None = None
    url: str | None = None
    brand: str | None = None
    seller: str | None = None
    category: str | None = None
    min_price: int | None = None
    max_price: int | None = None
    in_stock: bool | None = None
    market: str = "buyma"
    market_state: str | None = None
    changed_since: datetime | None = None
    quality: Quality | None = None
    lacks: Lack | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Products, and where to go on (None: there are no more)."""

    lines: list[ProductLine]
    resume: tuple[int, int] | None


async def listed(
    tx: Tx, wanted: ProductFilter, sort: Sort, after: tuple[int, int] | None, limit: int, *, window: int = WINDOW
) -> Found:
    """Products in an order. Where no index helps, one call looks through a bounded number and says where to go on."""
    walk, rest = ranged(wanted, sort, after)
    end = None
    if rest is None:
        part = walk.limit(limit + 1).subquery()
        query = select(products).join(part, part.c.id == _row.id).order_by(*_order(sort, _row))
    else:
        end = await tx.first(walk.limit(1).offset(window - 1))
        # Filtered as they come: joined to their table again, one database would rather read that as a whole.
        part = walk.with_only_columns(*_row).limit(window).subquery()
        query = select(part).where(*_conditions(rest, part.c)).order_by(*_order(sort, part.c))
    rows = await tx.fetch(query.limit(limit + 1))
    lines = [ProductLine(**values(row)) for row in rows[:limit]]
    if len(rows) > limit:
        return Found(lines=lines, resume=_place(sort, rows[limit - 1]))
    return Found(lines=lines, resume=None if end is None else _place(sort, end))


async def some(tx: Tx, ids: Sequence[int]) -> list[ProductLine]:
    """These by id; one that is deleted is left out."""
    rows = await tx.fetch(select(products).where(_row.id.in_(ids)).order_by(_row.id))
    return [ProductLine(**values(row)) for row in rows]


async def exported(
    read: Callable[[], AbstractAsyncContextManager[Tx]], wanted: ProductFilter
) -> AsyncIterator[list[ProductLine]]:
    """All of them by id, a bounded part at a time and none of it under one long transaction."""
    after: tuple[int, int] | None = None
    while True:
        async with read() as tx:
            found = await listed(tx, wanted, Sort.ID, after, EXPORTED)
        yield found.lines
        if found.resume is None:
            return
        after = found.resume


def ranged(
    wanted: ProductFilter, sort: Sort, after: tuple[int, int] | None
) -> tuple[Select[Any], ProductFilter | None]:
    """The part of one index that is walked, in its order, and what of the filter it does not answer."""
    walk, answered = _walk(wanted, sort)
    nothing: dict[str, Any] = dict.fromkeys(answered)
    rest = replace(wanted, **nothing)
    return walk.where(*_after(sort, after)).order_by(*_order(sort, _row)), rest if _conditions(rest, _row) else None


def _walk(wanted: ProductFilter, sort: Sort) -> tuple[Select[Any], tuple[str, ...]]:
    """An index that has the order and as much of the filter as any, and what of the filter it answers."""
    ids = select(_row.id, *PLACED.get(sort, ()))
    if sort in (Sort.PRICE, Sort.DEAREST):
        return ids.where(_row.price >= (wanted.min_price or 0), *_most(wanted, _row)), ("min_price", "max_price")
    if sort is Sort.CHANGED:
        since = wanted.changed_since
        return (ids if since is None else ids.where(_row.updated_at >= since)), ("changed_since",)
    if wanted.url is not None:
        return ids.where(_row.url == wanted.url), ("url",)
    if wanted.product_id is not None and wanted.mall is not None:
        return ids.where(_row.mall == wanted.mall, _row.product_id == wanted.product_id), ("mall", "product_id")
    if wanted.mall is not None and wanted.brand is not None:
        return ids.where(_row.mall == wanted.mall, _row.brand == wanted.brand), ("mall", "brand")
    if wanted.mall is not None and wanted.seller is not None:
        return ids.where(_row.mall == wanted.mall, _row.seller_id == wanted.seller), ("mall", "seller")
    if wanted.brand is not None:
        return ids.where(_row.brand == wanted.brand), ("brand",)
    if wanted.mall is not None:
        return ids.where(_row.mall == wanted.mall), ("mall",)
    return ids, ()


def _most(wanted: ProductFilter, columns: Any) -> list[ColumnElement[bool]]:
    return [] if wanted.max_price is None else [columns.price <= wanted.max_price]


def _conditions(wanted: ProductFilter, columns: Any) -> list[ColumnElement[bool]]:
    same = (
        (columns.mall, wanted.mall),
        (columns.product_id, wanted.product_id),
        (columns.url, wanted.url),
        (columns.brand, wanted.brand),
        (columns.seller_id, wanted.seller),
    )
    found: list[ColumnElement[bool]] = [column == value for column, value in same if value is not None]
    if wanted.category is not None:
        below = columns.category.startswith(f"{wanted.category} > ", autoescape=True)
        found.append(or_(columns.category == wanted.category, below))
    if wanted.min_price is not None:
        found.append(columns.price >= wanted.min_price)
    found += _most(wanted, columns)
    if wanted.in_stock is not None:
        found.append(columns.in_stock == (true() if wanted.in_stock else false()))
    if wanted.market_state is not None:
        found.append(_on_market(wanted.market, wanted.market_state, columns))
    if wanted.changed_since is not None:
        found.append(columns.updated_at >= wanted.changed_since)
    if wanted.lacks is not None:
        found.append(columns[LACKS[wanted.lacks]].is_(None))
    if wanted.quality is not None:
        whole = and_(*(columns[name].is_not(None) for name in LACKS.values()))
        found.append(whole if wanted.quality is Quality.COMPLETE else not_(whole))
    return found


def _on_market(market: str, state: str, columns: Any) -> ColumnElement[bool]:
    """`none`: the market has never had it."""
    there = source_markets.c
    known = exists().where(there.market == market, there.record_id == columns.id)
    return not_(known) if state == "none" else known.where(there.status == state)


def _order(sort: Sort, columns: Any) -> tuple[Any, ...]:
    match sort:
        case Sort.ID:
            return (columns.id,)
        case Sort.NEWEST:
            return (columns.id.desc(),)
        case Sort.PRICE:
            return columns.price, columns.id
        case Sort.DEAREST:
            return columns.price.desc(), columns.id.desc()
        case Sort.CHANGED:
            return columns.updated_at.desc(), columns.id.desc()


def _after(sort: Sort, after: tuple[int, int] | None) -> list[ColumnElement[bool]]:
    """What comes behind a place; a bound on the first column alone is what makes an index begin there."""
    if after is None:
        return []
    first, id = after
    match sort:
        case Sort.ID:
            return [_row.id > id]
        case Sort.NEWEST:
            return [_row.id < id]
        case Sort.PRICE:
            return [_row.price >= first, or_(_row.price > first, _row.id > id)]
        case Sort.DEAREST:
            return [_row.price <= first, or_(_row.price < first, _row.id < id)]
        case Sort.CHANGED:
            at = EPOCH + first * MICROSECOND
            return [_row.updated_at <= at, or_(_row.updated_at < at, _row.id < id)]


def _place(sort: Sort, row: Row) -> tuple[int, int]:
    match sort:
        case Sort.PRICE | Sort.DEAREST:
            return row["price"], row["id"]
        case Sort.CHANGED:
            return (utc(row["updated_at"]) - EPOCH) // MICROSECOND, row["id"]
    return 0, row["id"]
