"""Which of a market's brands and categories those of the malls are, said of many at once, with their review."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bobusang.catalog.reviews import CODES
from bobusang.catalog.tables import mall_brands, mall_categories
from bobusang.kit.errors import Invalid
from bobusang.kit.sql import Revise, Statement

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bobusang.catalog.model import Review
    from bobusang.kit.db import Tx

_PROPOSED_BRAND = Revise(
    mall_brands, "id", ("buyma_brand_id", "buyma_brand_name", "mapping_level", "is_mapped", "updated_at")
)
_REVIEWED_BRAND = Revise(mall_brands, "id", (*_PROPOSED_BRAND.columns, "is_active"))
_PROPOSED_CATEGORY = Revise(mall_categories, "id", ("buyma_category_id", "updated_at"))
_REVIEWED_CATEGORY = Revise(mall_categories, "id", (*_PROPOSED_CATEGORY.columns, "is_active"))

UNREVIEWED = Statement("select id from mall_brands where id in (:ids...) and is_active is null")
UNREVIEWED_CATEGORIES = Statement("select id from mall_categories where id in (:ids...) and is_active is null")
BRAND_LIVE = Statement("""
    select p.id, p.product_id, m.status from mall_brands b
      join products p on p.mall = b.mall_name and (p.brand = b.mall_brand_name_en or p.brand_ko = b.mall_brand_name_ko)
      join source_markets m on m.record_id = p.id and m.market = :market
    where b.id in (:ids...) order by p.id""")
CATEGORY_LIVE = Statement("""
    select p.id, p.product_id, m.status from mall_categories c
      join products p on p.mall = c.mall_name and p.category = c.full_path
      join source_markets m on m.record_id = p.id and m.market = :market
    where c.id in (:ids...) order by p.id""")


@dataclass(frozen=True, slots=True)
class Assigned:
    """A mall's brand or category, and the market's that it stands for; of a brand 0 means that the market lacks it."""

    id: int
    market_id: int | None
    market_name: str | None = None
    level: int = 1
    review: Review | None = None
    """None leaves the review as it is."""


@dataclass(frozen=True, slots=True)
class Live:
    """A product that a market has, and what it is there."""

    id: int
    product_id: str
    status: str


async def propose_brands(tx: Tx, rows: Sequence[Assigned]) -> int:
    """Write proposals beside brands that nobody has reviewed; what a person has decided is not touched."""
    free = {row["id"] for row in await tx.fetch(UNREVIEWED, ids=[one.id for one in rows])} if rows else set()
    kept = [one for one in rows if one.id in free]
    await tx.revise(_PROPOSED_BRAND, [_brand(tx, one) for one in kept])
    return len(kept)


async def propose_categories(tx: Tx, rows: Sequence[Assigned]) -> int:
    """Write proposals beside categories that nobody has reviewed."""
    _check_categories(rows)
    ids = [one.id for one in rows]
    free = {row["id"] for row in await tx.fetch(UNREVIEWED_CATEGORIES, ids=ids)} if rows else set()
    kept = [one for one in rows if one.id in free]
    await tx.revise(_PROPOSED_CATEGORY, [(one.id, one.market_id, tx.now) for one in kept])
    return len(kept)


async def review_brands(tx: Tx, rows: Sequence[Assigned]) -> None:
    """A person says what these brands are, and whether they may be listed."""
    told = [(*_brand(tx, one), CODES[one.review]) for one in rows if one.review is not None]
    await tx.revise(_REVIEWED_BRAND, told)


async def review_categories(tx: Tx, rows: Sequence[Assigned]) -> None:
    """A person says what these categories are, and whether they may be listed."""
    _check_categories(rows)
    told = [(one.id, one.market_id, tx.now, CODES[one.review]) for one in rows if one.review is not None]
    await tx.revise(_REVIEWED_CATEGORY, told)


def _brand(tx: Tx, one: Assigned) -> tuple[object, ...]:
    return one.id, one.market_id, one.market_name, one.level, one.market_id is not None, tx.now


def _check_categories(rows: Sequence[Assigned]) -> None:
    if any(one.market_id == 0 for one in rows):
        raise Invalid("0 is no market category", hint="leave it empty until one is chosen", field="market_id")


async def brands_live(tx: Tx, market: str, ids: Sequence[int]) -> list[Live]:
    """What the market already has of these brands: what a person should see who blocks them."""
    rows = await tx.fetch(BRAND_LIVE, market=market, ids=list(ids)) if ids else ()
    return [Live(row["id"], row["product_id"], row["status"]) for row in rows]


async def categories_live(tx: Tx, market: str, ids: Sequence[int]) -> list[Live]:
    """What the market already has of these categories."""
    rows = await tx.fetch(CATEGORY_LIVE, market=market, ids=list(ids)) if ids else ()
    return [Live(row["id"], row["product_id"], row["status"]) for row in rows]
