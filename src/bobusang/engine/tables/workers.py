"""Who works: workers, leaders, and what the engine knows of itself."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, Double, String, Table, false

from bobusang.kit.schema import Id, at, key, metadata, serial

workers = Table(
    "workers",
    metadata,
    serial(),
    Column("name", String(200), nullable=False),
    at("started_at"),
    at("beat_at"),
    Column("draining", Boolean, nullable=False, server_default=false()),
    sqlite_autoincrement=True,  # a restarted process must not look like its predecessor
)

leaders = Table(
    "leaders",
    metadata,
    Column("name", key(100), primary_key=True),
    Column("holder", key(100), nullable=False),
    Column("term", Id, nullable=False),
    at("expires_at"),
)

engine_statistics = Table(
    "engine_statistics",
    metadata,
    Column("name", key(100), primary_key=True),
    Column("label", key(200), primary_key=True),
    Column("value", Double, nullable=False),
    at("measured_at"),
)

id_blocks = Table(
    "id_blocks",
    metadata,
    Column("name", key(50), primary_key=True),
    Column("next", Id, nullable=False),
)
