"""Sellers, suppliers, and the malls' own brands and categories with their review."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, Index, Integer, SmallInteger, String, Table, UniqueConstraint, false, true

from bobusang.catalog.model import SellerStatus, SupplierKind
from bobusang.catalog.tables.products import LONG_LENGTH, NAME_LENGTH, URL_LENGTH
from bobusang.catalog.tables.records import ID_LENGTH, SYSTEM_LENGTH
from bobusang.kit.schema import Id, Payload, allowed, at, choice, key, metadata, serial

sellers = Table(
    "sellers",
    metadata,
    serial(),
    Column("mall", key(SYSTEM_LENGTH), nullable=False),
    Column("seller_id", key(ID_LENGTH), nullable=False),
    Column("name", String(NAME_LENGTH)),
    Column("company", String(NAME_LENGTH)),
    Column("contact", String(NAME_LENGTH)),
    Column("email", String(NAME_LENGTH)),
    choice("status", SellerStatus, default=SellerStatus.ACTIVE),
    Column("cadence_minutes", Integer, nullable=False),
    Column("adaptive", Boolean, nullable=False, server_default=false()),
    Column("quality", Payload),  # the score and its parts
    Column("paused_reason", String(LONG_LENGTH)),
    Column("target_id", Id),
    Column("schedule_id", Id),
    at("created_at"),
    at("updated_at"),
    allowed("status", SellerStatus),
    UniqueConstraint("mall", "seller_id", name="uq_sellers_key"),
    Index("ix_sellers_status", "status", "id"),
    sqlite_autoincrement=True,
)

# Settings only ([C]); secrets by the name of where they are kept.
suppliers = Table(
    "suppliers",
    metadata,
    serial(),
    Column("name", key(SYSTEM_LENGTH), nullable=False),
    choice("kind", SupplierKind),
    Column("base_url", String(URL_LENGTH)),
    Column("settings", Payload, nullable=False),
    Column("secret_name", String(NAME_LENGTH)),
    Column("is_active", Boolean, nullable=False, server_default=true()),
    at("created_at"),
    at("updated_at"),
    allowed("kind", SupplierKind),
    UniqueConstraint("name", name="uq_suppliers_name"),
    sqlite_autoincrement=True,
)

mall_brands = Table(
    "mall_brands",
    metadata,
    serial(),
    Column("mall_name", key(SYSTEM_LENGTH), nullable=False),
    Column("mall_brand_no", key(NAME_LENGTH), nullable=False),
    Column("mall_brand_name_ko", String(NAME_LENGTH)),
    Column("mall_brand_name_en", String(NAME_LENGTH)),
    Column("raw_brand_name", String(NAME_LENGTH)),
    Column("mall_brand_url", String(URL_LENGTH)),
    Column("buyma_brand_id", Id),
    Column("buyma_brand_name", String(NAME_LENGTH)),
    Column("mapping_level", Integer),
    Column("is_mapped", Boolean, nullable=False, server_default=false()),
    Column("is_active", SmallInteger),  # NULL proposed, 1 accepted, 0 blocked
    at("last_seen_at"),
    at("created_at"),
    at("updated_at"),
    UniqueConstraint("mall_name", "mall_brand_no", name="uq_mall_brands_key"),
    Index("ix_mall_brands_review", "mall_name", "is_active", "id"),
    sqlite_autoincrement=True,
)

mall_categories = Table(
    "mall_categories",
    metadata,
    serial(),
    Column("mall_name", key(SYSTEM_LENGTH), nullable=False),
    Column("full_path", key(LONG_LENGTH), nullable=False),
    Column("category_id", key(ID_LENGTH)),
    Column("gender", key(20)),
    Column("depth1", String(NAME_LENGTH)),
    Column("depth2", String(NAME_LENGTH)),
    Column("depth3", String(NAME_LENGTH)),
    Column("depth4", String(NAME_LENGTH)),
    Column("mall_category_url", String(URL_LENGTH)),
    Column("buyma_category_id", Id),
    Column("is_active", SmallInteger),
    at("last_seen_at"),
    at("created_at"),
    at("updated_at"),
    UniqueConstraint("mall_name", "full_path", name="uq_mall_categories_path"),
    Index("ix_mall_categories_review", "mall_name", "is_active", "id"),
    sqlite_autoincrement=True,
)
