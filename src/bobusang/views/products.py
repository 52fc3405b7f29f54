"""Products for the doors: one with its seller and what the source says of locked fields, and many by an index."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from bobusang.catalog import products
from bobusang.catalog.products import TAKEN, project
from bobusang.kit import json
from bobusang.kit.clock import utc
from bobusang.kit.db import Row, Tx
from bobusang.kit.sql import Statement

# One statement, for it is the one that is asked most; the source's document is only joined where something is locked.
ONE = Statement("""
    select p.id, p.mall, p.product_id, p.seller_id, p.brand, p.brand_ko, p.name, p.model, p.price, p.list_price,
      p.currency, p.url, p.image, p.in_stock, p.listed, p.category, p.gender, p.locked, p.version, p.created_at,
      p.updated_at, s.id as seller_number, s.name as seller_name, d.normalized_data
    from products p
      left join sellers s on s.mall = p.mall and s.seller_id = p.seller_id
      left join source_records r on r.id = p.id and p.locked is not null
      left join source_data d on d.id = r.version_id
    where p.id = :id""")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProductLine:
    """A product in a list; null is not known. Money is in minor units of its currency."""

    id: int
    mall: str
    product_id: str
    """The mall's own id."""
    sku: str
    """What markets call it by."""
    seller_id: str | None
    brand: str | None
    brand_ko: str | None
    name: str | None
    model: str | None
    price: int | None
    list_price: int | None
    currency: str | None
    url: str | None
    image: str | None
    in_stock: bool | None
    listed: bool | None
    category: str | None
    gender: str | None
    locked: list[str]
    """What a person has said: no crawl changes it."""
    version: int
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class SellerOfProduct:
    """Who sells it: a seller of the mall (`id` where we know it), else the mall itself."""

    id: int | None
    seller_id: str
    name: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProductDetail(ProductLine):
    """A product with its seller, and of its locked fields what the source says."""

    seller: SellerOfProduct
    source: dict[str, Any]


async def one(tx: Tx, id: int) -> ProductDetail:
    """A product; one that was deleted is told so."""
    row = await tx.first(ONE, id=id)
    if row is None:
        raise await products.missing(tx, id)
    return ProductDetail(**values(row), seller=_seller(row), source=_source(row))


def values(row: Row) -> dict[str, Any]:
    """A row of products as all doors show it."""
    mall, key, locked = row["mall"], row["product_id"], row["locked"]
    return {
        "id": row["id"],
        "mall": mall,
        "product_id": key,
        "sku": f"{mall}-{key}",
        "seller_id": row["seller_id"],
        "brand": row["brand"],
        "brand_ko": row["brand_ko"],
        "name": row["name"],
        "model": row["model"],
        "price": row["price"],
        "list_price": row["list_price"],
        "currency": row["currency"],
        "url": row["url"],
        "image": row["image"],
        "in_stock": None if row["in_stock"] is None else bool(row["in_stock"]),
        "listed": None if row["listed"] is None else bool(row["listed"]),
        "category": row["category"],
        "gender": row["gender"],
        "locked": json.loads(locked) if locked else [],
        "version": row["version"],
        "created_at": utc(row["created_at"]),
        "updated_at": utc(row["updated_at"]),
    }


def _seller(row: Row) -> SellerOfProduct:
    return SellerOfProduct(id=row["seller_number"], seller_id=row["seller_id"] or row["mall"], name=row["seller_name"])


def _source(row: Row) -> dict[str, Any]:
    if not row["locked"] or row["normalized_data"] is None:
        return {}
    said = dict(zip(TAKEN, project(json.loads(row["normalized_data"])), strict=True))
    return {name: said[name] for name in json.loads(row["locked"])}
