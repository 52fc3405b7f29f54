"""Prices: rates of exchange, dated rows of what things cost, other offers, policies and quotes.

Every statement may be run again: MariaDB commits each of them by itself, so an upgrade may have died half-way.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from bobusang.kit.schema import Id, Instant, Payload, key

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    make_exchange()
    make_rates()
    make_others()
    make_quotes()


def make_exchange() -> None:
    op.create_table(
        "fx_quotes",
        sa.Column("id", Id, autoincrement=True, nullable=False),
        sa.Column("base", key(3), nullable=False),
        sa.Column("quote", key(3), nullable=False),
        sa.Column("rate", key(40), nullable=False),
        sa.Column("spread", key(40), nullable=False),
        sa.Column("source", key(300), nullable=False),
        sa.Column("quoted_at", Instant, nullable=False),
        sa.Column("state", key(20), server_default="TRUSTED", nullable=False),
        sa.Column("reason", sa.String(length=500), server_default="", nullable=False),
        sa.Column("decided_by", sa.String(length=200), nullable=True),
        sa.Column("decided_at", Instant, nullable=True),
        sa.Column("created_at", Instant, nullable=False),
        sa.CheckConstraint("state in ('TRUSTED', 'HELD', 'REJECTED')", name=op.f("ck_fx_quotes_state")),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint(
            "base", "quote", "source", "quoted_at", name=op.f("uq_fx_quotes_base_quote_source_quoted_at")
        ),
        sqlite_autoincrement=True,
        mariadb_default_charset="utf8mb4",
        if_not_exists=True,
    )
    op.create_index("ix_fx_quotes_pair", "fx_quotes", ["base", "quote", "state", "quoted_at"], if_not_exists=True)


def make_rates() -> None:
    op.create_table(
        "market_fees",
        sa.Column("id", Id, autoincrement=True, nullable=False),
        sa.Column("market", key(50), nullable=False),
        sa.Column("kind", key(20), nullable=False),
        sa.Column("tier", key(50), server_default="", nullable=False),
        sa.Column("category", key(200), server_default="", nullable=False),
        sa.Column("valid_from", key(10), nullable=False),
        sa.Column("rate", key(40), nullable=False),
        sa.Column("amount", Id, server_default=sa.text("0"), nullable=False),
        sa.Column("currency", key(3), nullable=False),
        sa.Column("source", sa.String(length=300), nullable=False),
        sa.CheckConstraint("kind in ('sale', 'payout')", name=op.f("ck_market_fees_kind")),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("market", "kind", "tier", "category", "valid_from", name=op.f("uq_market_fees_row")),
        mariadb_default_charset="utf8mb4",
        if_not_exists=True,
    )
    op.create_table(
        "freight_rates",
        sa.Column("id", Id, autoincrement=True, nullable=False),
        sa.Column("leg", key(20), nullable=False),
        sa.Column("route", key(50), nullable=False),
        sa.Column("category", key(200), server_default="", nullable=False),
        sa.Column("up_to_grams", sa.Integer(), nullable=False),
        sa.Column("valid_from", key(10), nullable=False),
        sa.Column("amount", Id, server_default=sa.text("0"), nullable=False),
        sa.Column("currency", key(3), nullable=False),
        sa.Column("source", sa.String(length=300), nullable=False),
        sa.CheckConstraint("leg in ('domestic', 'international')", name=op.f("ck_freight_rates_leg")),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("leg", "route", "category", "up_to_grams", "valid_from", name=op.f("uq_freight_rates_row")),
        mariadb_default_charset="utf8mb4",
        if_not_exists=True,
    )
    op.create_table(
        "duty_rates",
        sa.Column("id", Id, autoincrement=True, nullable=False),
        sa.Column("country", key(2), nullable=False),
        sa.Column("category", key(200), server_default="", nullable=False),
        sa.Column("material", key(50), server_default="", nullable=False),
        sa.Column("construction", key(50), server_default="", nullable=False),
        sa.Column("valid_from", key(10), nullable=False),
        sa.Column("rate", key(40), nullable=False),
        sa.Column("least", Id, server_default=sa.text("0"), nullable=False),
        sa.Column("is_exemptable", sa.Boolean(), server_default=sa.true(), nullable=False),
        sa.Column("source", sa.String(length=300), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint(
            "country", "category", "material", "construction", "valid_from", name=op.f("uq_duty_rates_row")
        ),
        mariadb_default_charset="utf8mb4",
        if_not_exists=True,
    )
    op.create_table(
        "import_taxes",
        sa.Column("id", Id, autoincrement=True, nullable=False),
        sa.Column("country", key(2), nullable=False),
        sa.Column("valid_from", key(10), nullable=False),
        sa.Column("taxable_share", key(40), nullable=False),
        sa.Column("exempt_up_to", Id, server_default=sa.text("0"), nullable=False),
        sa.Column("consumption_rate", key(40), nullable=False),
        sa.Column("clearance", Id, server_default=sa.text("0"), nullable=False),
        sa.Column("currency", key(3), nullable=False),
        sa.Column("source", sa.String(length=300), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("country", "valid_from", name=op.f("uq_import_taxes_country_valid_from")),
        mariadb_default_charset="utf8mb4",
        if_not_exists=True,
    )


def make_others() -> None:
    op.create_table(
        "competitor_prices",
        sa.Column("id", Id, autoincrement=True, nullable=False),
        sa.Column("market", key(50), nullable=False),
        sa.Column("model", key(100), nullable=False),
        sa.Column("search", key(20), server_default="NEVER", nullable=False),
        sa.Column("total", Id, nullable=True),
        sa.Column("currency", key(3), nullable=True),
        sa.Column("seller", sa.String(length=200), server_default="", nullable=False),
        sa.Column("title", sa.String(length=500), server_default="", nullable=False),
        sa.Column("offers", Id, server_default=sa.text("0"), nullable=False),
        sa.Column("comparable", Id, server_default=sa.text("0"), nullable=False),
        sa.Column("excluded", Payload, nullable=True),
        sa.Column("found_at", Instant, nullable=True),
        sa.Column("checked_at", Instant, nullable=True),
        sa.Column("failures", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("interval_seconds", sa.Integer(), nullable=False),
        sa.Column("due_at", Instant, nullable=False),
        sa.CheckConstraint("search in ('FOUND', 'EMPTY', 'FAILED', 'NEVER')", name=op.f("ck_competitor_prices_search")),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("market", "model", name=op.f("uq_competitor_prices_market_model")),
        mariadb_default_charset="utf8mb4",
        if_not_exists=True,
    )
    op.create_index("ix_competitor_prices_due", "competitor_prices", ["market", "due_at", "id"], if_not_exists=True)


def make_quotes() -> None:
    op.create_table(
        "price_policies",
        sa.Column("id", Id, autoincrement=True, nullable=False),
        sa.Column("market", key(50), nullable=False),
        sa.Column("account", key(100), server_default="", nullable=False),
        sa.Column("policy", Payload, nullable=False),
        sa.Column("decided_by", sa.String(length=200), nullable=False),
        sa.Column("decided_at", Instant, nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("market", "account", name=op.f("uq_price_policies_market_account")),
        mariadb_default_charset="utf8mb4",
        if_not_exists=True,
    )
    op.create_table(
        "price_quotes",
        sa.Column("id", Id, autoincrement=True, nullable=False),
        sa.Column("product_id", Id, nullable=False),
        sa.Column("sku", key(200), nullable=False),
        sa.Column("market", key(50), nullable=False),
        sa.Column("account", key(100), nullable=False),
        sa.Column("decision", key(20), nullable=False),
        sa.Column("reason", key(40), nullable=False),
        sa.Column("detail", sa.String(length=500), server_default="", nullable=False),
        sa.Column("price", Id, nullable=True),
        sa.Column("floor", Id, nullable=True),
        sa.Column("ceiling", Id, nullable=True),
        sa.Column("confirmed", Id, nullable=True),
        sa.Column("currency", key(3), nullable=False),
        sa.Column("is_below_floor", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("fx_quote_id", Id, nullable=True),
        sa.Column("competitor", Payload, nullable=True),
        sa.Column("steps", Payload, nullable=False),
        sa.Column("rules", key(20), nullable=False),
        sa.Column("created_at", Instant, nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sqlite_autoincrement=True,
        mariadb_default_charset="utf8mb4",
        if_not_exists=True,
    )
    op.create_index(
        "ix_price_quotes_product", "price_quotes", ["product_id", "market", "account", "id"], if_not_exists=True
    )
    op.create_index("ix_price_quotes_sku", "price_quotes", ["sku", "id"], if_not_exists=True)
