"""The malls' brands with their review: what collecting proposed, what a person accepted or blocked."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import func, or_, select

from bobusang.catalog import reviews
from bobusang.catalog.model import Review
from bobusang.catalog.tables import mall_brands
from bobusang.kit.clock import utc
from bobusang.kit.db import Row, Tx
from bobusang.kit.errors import Missing


@dataclass(frozen=True, slots=True, kw_only=True)
class BrandLine:
    """A brand of a mall; `key` is what the mall is asked for it by."""

    id: int
    mall: str
    key: str
    name_ko: str | None
    name_en: str | None
    url: str | None
    review: Review
    buyma_brand_id: int | None
    buyma_brand_name: str | None
    last_seen_at: datetime
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class BrandFilter:
    """Which brands; what is not given does not matter. `text` is part of the key or of a name."""

    mall: str | None = None
    review: Review | None = None
    text: str | None = None
    ids: Sequence[int] = ()


async def listed(tx: Tx, wanted: BrandFilter, *, after: int | None = None, limit: int) -> list[BrandLine]:
    """Brands by number."""
    table = mall_brands.c
    query = select(mall_brands).where(*_where(wanted), table.id > (after or 0)).order_by(table.id).limit(limit)
    return [_brand(row) for row in await tx.fetch(query)]


async def one(tx: Tx, id: int) -> BrandLine:
    """One brand."""
    row = await tx.first(select(mall_brands).where(mall_brands.c.id == id))
    if row is None:
        raise Missing(f"there is no brand {id}", hint="`bobusang brand list` shows them")
    return _brand(row)


async def ids(tx: Tx, wanted: BrandFilter, *, but: Review) -> list[int]:
    """The numbers of all brands that match and are not under this review yet."""
    code = reviews.CODES[but]
    table = mall_brands.c
    other = table.is_active.is_not(None) if code is None else or_(table.is_active.is_(None), table.is_active != code)
    return [row["id"] for row in await tx.fetch(select(table.id).where(*_where(wanted), other).order_by(table.id))]


def _where(wanted: BrandFilter) -> list[Any]:
    table = mall_brands.c
    found: list[Any] = [*reviews.under(mall_brands, wanted.review)]
    if wanted.mall is not None:
        found.append(table.mall_name == wanted.mall)
    if wanted.ids:
        found.append(table.id.in_(sorted(set(wanted.ids))))
    if wanted.text:
        text = wanted.text.lower()
        names = (table.mall_brand_no, table.mall_brand_name_ko, table.mall_brand_name_en)
        found.append(or_(*(func.lower(name).contains(text, autoescape=True) for name in names)))
    return found


def _brand(row: Row) -> BrandLine:
    return BrandLine(
        id=row["id"],
        mall=row["mall_name"],
        key=row["mall_brand_no"],
        name_ko=row["mall_brand_name_ko"],
        name_en=row["mall_brand_name_en"],
        url=row["mall_brand_url"],
        review=reviews.REVIEWS[row["is_active"]],
        buyma_brand_id=row["buyma_brand_id"],
        buyma_brand_name=row["buyma_brand_name"],
        last_seen_at=utc(row["last_seen_at"]),
        created_at=utc(row["created_at"]),
    )
