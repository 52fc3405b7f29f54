"""The malls' categories with their review, and the market's category that each stands for."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import func, or_, select

from bobusang.catalog import reviews
from bobusang.catalog.model import Review
from bobusang.catalog.tables import mall_categories
from bobusang.kit.clock import utc
from bobusang.kit.db import Row, Tx
from bobusang.kit.errors import Missing


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryLine:
    """A category of a mall by its whole path."""

    id: int
    mall: str
    path: str
    gender: str | None
    url: str | None
    review: Review
    buyma_category_id: int | None
    last_seen_at: datetime
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryFilter:
    """Which categories; what is not given does not matter. `text` is part of the path."""

    mall: str | None = None
    review: Review | None = None
    text: str | None = None
    ids: Sequence[int] = ()


async def listed(tx: Tx, wanted: CategoryFilter, *, after: int | None = None, limit: int) -> list[CategoryLine]:
    """Categories by number."""
    table = mall_categories.c
    query = select(mall_categories).where(*_where(wanted), table.id > (after or 0)).order_by(table.id).limit(limit)
    return [_category(row) for row in await tx.fetch(query)]


async def one(tx: Tx, id: int) -> CategoryLine:
    """One category."""
    row = await tx.first(select(mall_categories).where(mall_categories.c.id == id))
    if row is None:
        raise Missing(f"there is no category {id}", hint="`bobusang category list` shows them")
    return _category(row)


async def ids(tx: Tx, wanted: CategoryFilter, *, but: Review) -> list[int]:
    """The numbers of all categories that match and are not under this review yet."""
    code = reviews.CODES[but]
    table = mall_categories.c
    other = table.is_active.is_not(None) if code is None else or_(table.is_active.is_(None), table.is_active != code)
    return [row["id"] for row in await tx.fetch(select(table.id).where(*_where(wanted), other).order_by(table.id))]


def _where(wanted: CategoryFilter) -> list[Any]:
    table = mall_categories.c
    found: list[Any] = [*reviews.under(mall_categories, wanted.review)]
    if wanted.mall is not None:
        found.append(table.mall_name == wanted.mall)
    if wanted.ids:
        found.append(table.id.in_(sorted(set(wanted.ids))))
    if wanted.text:
        found.append(func.lower(table.full_path).contains(wanted.text.lower(), autoescape=True))
    return found


def _category(row: Row) -> CategoryLine:
    return CategoryLine(
        id=row["id"],
        mall=row["mall_name"],
        path=row["full_path"],
        gender=row["gender"],
        url=row["mall_category_url"],
        review=reviews.REVIEWS[row["is_active"]],
        buyma_category_id=row["buyma_category_id"],
        last_seen_at=utc(row["last_seen_at"]),
        created_at=utc(row["created_at"]),
    )
