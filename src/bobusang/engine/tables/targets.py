"""What is crawled: sources, types of target, targets."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, ForeignKey, String, Table, UniqueConstraint, true

from bobusang.kit.schema import Id, Json, at, key, metadata, serial

crawl_sources = Table(
    "crawl_sources",
    metadata,
    serial(),
    Column("name", key(100), nullable=False, unique=True),
    Column("base_url", String(1000)),
    Column("settings", Json),
    Column("is_active", Boolean, nullable=False, server_default=true()),
    at("created_at"),
    at("updated_at"),
)

target_types = Table(
    "target_types",
    metadata,
    serial(),
    Column("name", key(100), nullable=False, unique=True),
    Column("description", String(500)),
    at("created_at"),
)

crawl_targets = Table(
    "crawl_targets",
    metadata,
    serial(),
    Column("source_id", Id, ForeignKey(crawl_sources.c.id)),
    Column("target_type_id", Id, ForeignKey(target_types.c.id), nullable=False),
    Column("target_key", key(200), nullable=False),
    Column("name", String(200)),
    Column("data", Json),
    Column("is_active", Boolean, nullable=False, server_default=true()),
    at("created_at"),
    at("updated_at"),
    UniqueConstraint("source_id", "target_type_id", "target_key"),
)
