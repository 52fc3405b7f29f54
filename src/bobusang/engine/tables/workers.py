"""Who works: workers, leaders, and what the engine knows of itself."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, Double, Index, String, Table, false

from bobusang.kit.schema import Id, Instant, at, key, metadata, serial

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

engine_history = Table(
    "engine_history",
    metadata,
    Column("name", key(100), primary_key=True),
    Column("label", key(200), primary_key=True),
    Column("at", Instant, primary_key=True),
    Column("value", Double, nullable=False),
    Index("ix_engine_history_at", "at"),
)
"""What was measured, minute by minute, for as long as charts look back."""

id_blocks = Table(
    "id_blocks",
    metadata,
    Column("name", key(50), primary_key=True),
    Column("next", Id, nullable=False),
)
