"""Options and variants of products, conversions, the market's master lists, translation memory and glossary.

Every statement may be run again: MariaDB commits each of them by itself, so an upgrade may have died half-way.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from bobusang.kit.schema import Id, Instant, Payload, key

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    make_variants()
    make_conversions()
    make_translations()


def make_variants() -> None:
    op.create_table(
        "product_options",
        sa.Column("id", Id, autoincrement=True, nullable=False),
        sa.Column("product_id", Id, nullable=False),
        sa.Column("market", key(50), nullable=False),
        sa.Column("axis", key(20), nullable=False),
        sa.Column("source_key", key(200), nullable=False),
        sa.Column("source_code", key(200), nullable=True),
        sa.Column("source_text", sa.String(length=200), nullable=False),
        sa.Column("market_text", sa.String(length=200), nullable=False),
        sa.Column("master_id", Id, nullable=True),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("details", Payload, nullable=False),
        sa.Column("gone", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("created_at", Instant, nullable=False),
        sa.Column("updated_at", Instant, nullable=False),
        sa.CheckConstraint("axis in ('color', 'size')", name=op.f("ck_product_options_axis")),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("product_id", "market", "axis", "source_key", name=op.f("uq_product_options_key")),
        sqlite_autoincrement=True,
        mariadb_default_charset="utf8mb4",
        if_not_exists=True,
    )
    op.create_table(
        "product_variants",
        sa.Column("id", Id, autoincrement=True, nullable=False),
        sa.Column("product_id", Id, nullable=False),
        sa.Column("market", key(50), nullable=False),
        sa.Column("source_key", key(200), nullable=False),
        sa.Column("source_code", key(200), nullable=True),
        sa.Column("source_text", sa.String(length=200), nullable=False),
        sa.Column("color_key", key(200), nullable=False),
        sa.Column("size_key", key(200), nullable=False),
        sa.Column("stock_kind", key(20), nullable=False),
        sa.Column("stock_count", sa.Integer(), nullable=True),
        sa.Column("price", sa.BigInteger(), nullable=True),
        sa.Column("filler", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("gone", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("created_at", Instant, nullable=False),
        sa.Column("updated_at", Instant, nullable=False),
        sa.CheckConstraint(
            "stock_kind in ('count', 'in', 'out', 'unknown')", name=op.f("ck_product_variants_stock_kind")
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("product_id", "market", "source_key", name=op.f("uq_product_variants_key")),
        sqlite_autoincrement=True,
        mariadb_default_charset="utf8mb4",
        if_not_exists=True,
    )


def make_conversions() -> None:
    op.create_table(
        "conversions",
        sa.Column("product_id", Id, autoincrement=False, nullable=False),
        sa.Column("market", key(50), nullable=False),
        sa.Column("generation", sa.Integer(), server_default=sa.text("1"), nullable=False),
        sa.Column("source_version", sa.Integer(), nullable=False),
        sa.Column("data_version", sa.Integer(), nullable=True),
        sa.Column("converter_version", key(50), nullable=False),
        sa.Column("data", Payload, nullable=True),
        sa.Column("state", key(20), nullable=False),
        sa.Column("reasons", Payload, nullable=False),
        sa.Column("created_at", Instant, nullable=False),
        sa.Column("updated_at", Instant, nullable=False),
        sa.CheckConstraint("state in ('READY', 'HELD')", name=op.f("ck_conversions_state")),
        sa.PrimaryKeyConstraint("product_id", "market"),
        mariadb_default_charset="utf8mb4",
        if_not_exists=True,
    )
    op.create_index("ix_conversions_state", "conversions", ["market", "state", "product_id"], if_not_exists=True)
    op.create_table(
        "market_masters",
        sa.Column("id", Id, autoincrement=True, nullable=False),
        sa.Column("market", key(50), nullable=False),
        sa.Column("kind", key(50), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("checksum", key(64), nullable=False),
        sa.Column("row_count", sa.Integer(), nullable=False),
        sa.Column("content", Payload, nullable=False),
        sa.Column("created_at", Instant, nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("market", "kind", "version", name=op.f("uq_market_masters_version")),
        sqlite_autoincrement=True,
        mariadb_default_charset="utf8mb4",
        if_not_exists=True,
    )


def make_translations() -> None:
    op.create_table(
        "translation_memory",
        sa.Column("id", Id, autoincrement=True, nullable=False),
        sa.Column("source_lang", key(10), nullable=False),
        sa.Column("target_lang", key(10), nullable=False),
        sa.Column("source_hash", key(64), nullable=False),
        sa.Column("source_text", Payload, nullable=False),
        sa.Column("target_text", Payload, nullable=False),
        sa.Column("origin", key(20), nullable=False),
        sa.Column("model", key(100), nullable=True),
        sa.Column("cost_micros", Id, server_default=sa.text("0"), nullable=False),
        sa.Column("created_at", Instant, nullable=False),
        sa.Column("used_at", Instant, nullable=True),
        sa.CheckConstraint(
            "origin in ('glossary', 'memory', 'model', 'person')", name=op.f("ck_translation_memory_origin")
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("source_lang", "target_lang", "source_hash", name=op.f("uq_translation_memory_source")),
        sqlite_autoincrement=True,
        mariadb_default_charset="utf8mb4",
        if_not_exists=True,
    )
    op.create_table(
        "glossary_terms",
        sa.Column("id", Id, autoincrement=True, nullable=False),
        sa.Column("source_lang", key(10), nullable=False),
        sa.Column("target_lang", key(10), nullable=False),
        sa.Column("term", key(200), nullable=False),
        sa.Column("translation", key(200), nullable=False),
        sa.Column("kind", key(50), nullable=False),
        sa.Column("case_sensitive", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("created_at", Instant, nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("source_lang", "target_lang", "term", name=op.f("uq_glossary_terms_term")),
        sqlite_autoincrement=True,
        mariadb_default_charset="utf8mb4",
        if_not_exists=True,
    )
