"""Sellers of a mall: how often each is crawled, whether it is, and how good its data is ([B])."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import delete, insert, select, update

from bobusang.catalog.model import SellerStatus
from bobusang.catalog.tables import products, sellers
from bobusang.catalog.tables.records import ID_LENGTH, SYSTEM_LENGTH
from bobusang.kit import json
from bobusang.kit.clock import utc
from bobusang.kit.errors import Conflict, Invalid, Missing
from bobusang.kit.sql import Statement

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from bobusang.kit.db import Row, Tx

SHORTEST = 5
LONGEST = 60 * 24 * 365
DAILY = 60 * 24
"""Minutes."""

HOLD = Statement(
    "select id as value from sellers where id = :id for update",
    sqlite="select id as value from sellers where id = :id",
)

EDITABLE = frozenset({"name", "company", "contact", "email", "cadence_minutes", "adaptive"})


@dataclass(frozen=True, slots=True)
class Seller:
    """A seller as it is stored."""

    id: int
    mall: str
    seller_id: str
    name: str | None
    company: str | None
    contact: str | None
    email: str | None
    status: SellerStatus
    cadence_minutes: int
    adaptive: bool
    quality: Mapping[str, Any]
    paused_reason: str | None
    target_id: int | None
    schedule_id: int | None
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class NewSeller:
    """A seller as it is asked for."""

    mall: str
    seller_id: str
    name: str | None = None
    company: str | None = None
    contact: str | None = None
    email: str | None = None
    cadence_minutes: int = DAILY
    adaptive: bool = False


async def create(tx: Tx, new: NewSeller) -> int:
    """Add a seller; a mall has each of its sellers once."""
    _check_key(new.mall, "mall", SYSTEM_LENGTH)
    _check_key(new.seller_id, "seller_id", ID_LENGTH)
    values = {name: getattr(new, name) for name in ("mall", "seller_id", *sorted(EDITABLE))}
    _check(values)
    if await find(tx, new.mall, new.seller_id) is not None:
        hint = "change that one instead"
        raise Conflict(f"{new.mall} has a seller '{new.seller_id}' already", hint=hint, field="seller_id")
    fixed = {"status": SellerStatus.ACTIVE.value, "created_at": tx.now, "updated_at": tx.now}
    return await tx.create(insert(sellers).values(**values, **fixed))


async def hold(tx: Tx, id: int) -> Seller:
    """A seller that nobody else changes until this transaction ends."""
    await tx.value(HOLD, id=id)
    return await get(tx, id)


async def get(tx: Tx, id: int) -> Seller:
    """A seller by our own number."""
    row = await tx.first(select(sellers).where(sellers.c.id == id))
    if row is None:
        raise Missing(f"there is no seller {id}")
    return _seller(row)


async def find(tx: Tx, mall: str, seller_id: str) -> Seller | None:
    """A seller by the mall's own name for it."""
    row = await tx.first(select(sellers).where(sellers.c.mall == mall, sellers.c.seller_id == seller_id))
    return None if row is None else _seller(row)


async def listed(
    tx: Tx, *, mall: str | None = None, status: SellerStatus | None = None, after: int = 0, limit: int = 100
) -> list[Seller]:
    """Sellers by number; to go on, pass the last one as `after`."""
    query = select(sellers).where(sellers.c.id > after).order_by(sellers.c.id).limit(limit)
    if mall is not None:
        query = query.where(sellers.c.mall == mall)
    if status is not None:
        query = query.where(sellers.c.status == status.value)
    return [_seller(row) for row in await tx.fetch(query)]


async def change(tx: Tx, id: int, values: Mapping[str, Any]) -> Seller:
    """Change what is known of a seller, or its cadence (the flow lets that count from the next fire)."""
    _check(values)
    return await _set(tx, id, **values)


async def pause(tx: Tx, id: int, reason: str) -> Seller:
    """Crawl it no more until resumed, by a person or by a probe that succeeds."""
    if (await get(tx, id)).status is SellerStatus.DISABLED:
        raise Conflict(f"seller {id} is disabled", hint="enable it first")
    return await _set(tx, id, status=SellerStatus.PAUSED.value, paused_reason=reason[:500])


async def resume(tx: Tx, id: int) -> Seller:
    """Crawl it again."""
    return await _set(tx, id, status=SellerStatus.ACTIVE.value, paused_reason=None)


async def disable(tx: Tx, id: int) -> Seller:
    """Crawl it no more: a person's decision that no probe undoes."""
    return await _set(tx, id, status=SellerStatus.DISABLED.value, paused_reason=None)


async def bind(tx: Tx, id: int, *, target_id: int | None, schedule_id: int | None) -> Seller:
    """Say which target and schedule of the engine are this seller's."""
    return await _set(tx, id, target_id=target_id, schedule_id=schedule_id)


async def remove(tx: Tx, id: int) -> None:
    """Take a seller away that no product is of: whoever looks at one must find out who sells it."""
    seller = await get(tx, id)
    named = (products.c.mall == seller.mall, products.c.seller_id == seller.seller_id)
    row = await tx.first(select(products.c.id).where(*named).limit(1))
    if row is not None:
        hint = "disable it instead, or delete its products first"
        raise Conflict(
            f"product {row['id']} is of seller {seller.mall}/{seller.seller_id}", hint=hint, field="seller_id"
        )
    await tx.execute(delete(sellers).where(sellers.c.id == id))


async def set_quality(tx: Tx, id: int, quality: Mapping[str, Any]) -> Seller:
    """Keep a seller's quality score with its parts."""
    return await _set(tx, id, quality=json.payload(dict(quality), limit=10_000, name="quality"))


async def _set(tx: Tx, id: int, **values: Any) -> Seller:
    await get(tx, id)
    await tx.execute(update(sellers).where(sellers.c.id == id).values(**values, updated_at=tx.now))
    return await get(tx, id)


def _check(values: Mapping[str, Any]) -> None:
    unknown = sorted(set(values) - EDITABLE - {"mall", "seller_id"})
    if unknown:
        raise Invalid(f"a seller has no '{unknown[0]}' to change", hint=f"one of {', '.join(sorted(EDITABLE))}")
    for name in ("name", "company", "contact", "email"):
        if len(values.get(name) or "") > 200 or "\0" in (values.get(name) or ""):
            raise Invalid(f"a seller's {name} has at most 200 characters and no NUL", field=name)
    cadence = values.get("cadence_minutes", DAILY)
    if not SHORTEST <= cadence <= LONGEST:
        hint = f"{SHORTEST} minutes to a year"
        raise Invalid(f"a cadence of {cadence} minutes is not possible", hint=hint, field="cadence_minutes")


def _check_key(text: str, name: str, limit: int) -> None:
    if not 0 < len(text) <= limit or "\0" in text:
        raise Invalid(f"a {name} has 1 to {limit} characters and no NUL", field=name)


def _seller(row: Row) -> Seller:
    values = {name: row[name] for name in Seller.__slots__}
    values |= {
        "status": SellerStatus(row["status"]),
        "adaptive": bool(row["adaptive"]),
        "quality": json.loads(row["quality"] or "{}"),
        "created_at": utc(row["created_at"]),
        "updated_at": utc(row["updated_at"]),
    }
    return Seller(**values)
