"""Sellers: how often each is crawled, when next, how its last runs went, and how good its data is."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, func, literal, or_, select

from bobusang.catalog import sellers as catalog
from bobusang.catalog.cadence import words
from bobusang.catalog.model import SellerStatus
from bobusang.catalog.sellers import Seller
from bobusang.catalog.tables import sellers
from bobusang.engine.tables import crawling_schedules
from bobusang.kit import json
from bobusang.kit.clock import utc
from bobusang.kit.db import Row, Tx
from bobusang.kit.errors import Conflict, Missing
from bobusang.kit.sql import Statement
from bobusang.stages.collect.model import RunMode, RunState
from bobusang.stages.collect.runs import recent
from bobusang.stages.collect.tables import collect_runs
from bobusang.views.product_lists import EPOCH, MICROSECOND

LAST = 5
KIND = "seller"
MOST = 1000
"""Products counted so far."""

GRADES = Statement("select id, quality from sellers where id in (:ids...) and quality is not null")
PRODUCTS = Statement("""
    select count(*) as value from (
      select id from products where mall = :mall and seller_id = :seller limit :most) p""")


class Sort(StrEnum):
    """By what a list goes; `newest` are those that were added last, `changed` those that changed last."""

    NEWEST = "newest"
    ID = "id"
    SELLER_ID = "seller_id"
    CHANGED = "changed"


Place = tuple[int | str, int]
"""What a list goes by, and the id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SellerLine:
    """A seller in a list."""

    id: int
    mall: str
    seller_id: str
    name: str | None
    company: str | None
    contact: str | None
    email: str | None
    status: SellerStatus
    paused_reason: str | None
    cadence: str
    """As it was asked for."""
    adaptive: bool
    interval_minutes: float | None
    """What an adaptive cadence has become."""
    quality: float | None
    """0 to 100; None before its first crawl."""
    next_run_at: datetime | None
    last_run_at: datetime | None
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class SellerRun:
    """How one of its runs went."""

    job_id: int
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
class SellerDetail(SellerLine):
    """A seller with the parts of its quality and its last runs."""

    quality_parts: dict[str, Any]
    target_id: int | None
    schedule_id: int | None
    runs: list[SellerRun]


@dataclass(frozen=True, slots=True, kw_only=True)
class SellerFilter:
    """Which sellers; what is not given does not matter."""

    mall: str | None = None
    status: SellerStatus | None = None
    seller_id: str | None = None
    text: str | None = None
    """A part of name, company or id; there are few sellers."""
    ids: Sequence[int] | None = None


def _query() -> Select[Any]:
    """Its last run is that of its list, whoever started it: the index over (source, scope, started_at) finds it."""
    plans, runs = crawling_schedules.c, collect_runs.c
    scope = literal(f"list:{KIND}:") + sellers.c.seller_id
    last = select(func.max(runs.started_at)).where(runs.source == sellers.c.mall, runs.scope == scope)
    columns = (plans.next_run_at, plans.interval_s, plans.is_active, last.scalar_subquery().label("last_run_at"))
    return select(sellers, *columns).outerjoin(crawling_schedules, plans.id == sellers.c.schedule_id)


async def listed(tx: Tx, wanted: SellerFilter, before: int | None, limit: int) -> list[SellerLine]:
    """Sellers, newest first."""
    return await ordered(tx, wanted, Sort.NEWEST, None if before is None else (0, before), limit)


async def ordered(tx: Tx, wanted: SellerFilter, sort: Sort, after: Place | None, limit: int) -> list[SellerLine]:
    """Sellers in an order; to go on, pass the `place` of the last one."""
    table = sellers.c
    query = _query().where(*_after(sort, after))
    for column, value in (
        (table.mall, wanted.mall),
        (table.status, wanted.status),
        (table.seller_id, wanted.seller_id),
    ):
        if value is not None:
            query = query.where(column == str(value))
    if wanted.ids is not None:
        query = query.where(table.id.in_(wanted.ids))
    if wanted.text is not None:
        names = (table.name, table.company, table.seller_id)
        query = query.where(or_(*(name.icontains(wanted.text, autoescape=True) for name in names)))
    return [SellerLine(**_line(row)) for row in await tx.fetch(query.order_by(*_order(sort)).limit(limit))]


def place(sort: Sort, line: SellerLine) -> Place:
    """Where a seller stands in an order."""
    match sort:
        case Sort.SELLER_ID:
            return line.seller_id, line.id
        case Sort.CHANGED:
            return (line.updated_at - EPOCH) // MICROSECOND, line.id
    return 0, line.id


def _order(sort: Sort) -> tuple[Any, ...]:
    table = sellers.c
    match sort:
        case Sort.ID:
            return (table.id,)
        case Sort.NEWEST:
            return (table.id.desc(),)
        case Sort.SELLER_ID:
            return table.seller_id, table.id
        case Sort.CHANGED:
            return table.updated_at.desc(), table.id.desc()


def _after(sort: Sort, after: Place | None) -> list[ColumnElement[bool]]:
    if after is None:
        return []
    table, (first, id) = sellers.c, after
    match sort:
        case Sort.ID:
            return [table.id > id]
        case Sort.NEWEST:
            return [table.id < id]
        case Sort.SELLER_ID:
            return [or_(table.seller_id > first, and_(table.seller_id == first, table.id > id))]
        case Sort.CHANGED:
            at = EPOCH + int(first) * MICROSECOND
            return [or_(table.updated_at < at, and_(table.updated_at == at, table.id < id))]


async def one(tx: Tx, id: int) -> SellerDetail:
    """A seller with its last runs."""
    row = await tx.first(_query().where(sellers.c.id == id))
    if row is None:
        raise Missing(f"there is no seller {id}", hint="`bobusang seller list` shows them", field="seller_id")
    return SellerDetail(
        **_line(row),
        quality_parts=json.loads(row["quality"] or "{}"),
        target_id=row["target_id"],
        schedule_id=row["schedule_id"],
        runs=await _runs(tx, row["mall"], f"{KIND}:{row['seller_id']}"),
    )


async def grades(tx: Tx, ids: Sequence[int]) -> dict[int, dict[str, Any]]:
    """The parts of the quality of these sellers, of those that were crawled."""
    rows = await tx.fetch(GRADES, ids=list(ids)) if ids else ()
    return {row["id"]: json.loads(row["quality"]) for row in rows}


async def products(tx: Tx, mall: str, seller_id: str) -> int:
    """How many products are of a seller, counted to `MOST`."""
    return int(await tx.value(PRODUCTS, mall=mall, seller=seller_id, most=MOST))


async def named(tx: Tx, wanted: str, mall: str | None = None) -> Seller:
    """A seller by the mall's own name for it; digits are our own number, unless a seller is called so."""
    query = select(sellers.c.id).where(sellers.c.seller_id == wanted).limit(2)
    found = [row["id"] for row in await tx.fetch(query if mall is None else query.where(sellers.c.mall == mall))]
    if len(found) > 1:
        raise Conflict(f"several malls have a seller '{wanted}'", hint="say which mall", field="mall")
    if found:
        return await catalog.get(tx, found[0])
    if mall is None and wanted.isascii() and wanted.isdecimal() and len(wanted) < 19:
        return await catalog.get(tx, int(wanted))
    of = f"{mall} has no seller" if mall else "there is no seller"
    raise Missing(f"{of} '{wanted}' that we know", hint=f"`bobusang seller add {wanted}` adds it", field="seller_id")


async def _runs(tx: Tx, mall: str, target: str) -> list[SellerRun]:
    same = ("job_id", "mode", "state", "listed", "new", "changed", "held", "reason", "started_at", "closed_at")
    runs = await recent(tx, source=mall, target=target, limit=LAST)
    return [SellerRun(**{name: getattr(run, name) for name in same}) for run in runs]


def _line(row: Row) -> dict[str, Any]:
    same = ("id", "mall", "seller_id", "name", "company", "contact", "email", "paused_reason")
    quality = json.loads(row["quality"] or "{}")
    return {
        **{name: row[name] for name in same},
        "status": SellerStatus(row["status"]),
        "cadence": words(row["cadence_minutes"]),
        "adaptive": bool(row["adaptive"]),
        "interval_minutes": None if row["interval_s"] is None else row["interval_s"] / 60,
        "quality": quality.get("score"),
        "next_run_at": utc(row["next_run_at"]) if row["is_active"] else None,
        "last_run_at": utc(row["last_run_at"]),
        "created_at": utc(row["created_at"]),
        "updated_at": utc(row["updated_at"]),
    }
