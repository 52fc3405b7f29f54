"""The register stage's tables: accounts, listings, calls from intent to read-back, holds, webhooks and the call ledger.

Every statement may be run again: MariaDB commits each of them by itself, so an upgrade may have died half-way.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.mysql import LONGBLOB

from bobusang.kit.schema import Id, Instant, Payload, key

revision = "0007"
down_revision = "0006"

Raw = sa.LargeBinary().with_variant(LONGBLOB(), "mysql", "mariadb")


def upgrade() -> None:
    make_market_accounts()
    make_listings()
    make_market_calls()
    make_listing_holds()
    make_webhook_inbox()
    make_call_ledger()
    for name in ("listing", "market_call"):
        match op.get_bind().dialect.name:
            case "sqlite":
                op.execute(f"insert into id_blocks (name, next) values ('{name}', 1)")
            case "postgresql":
                op.execute(f"create sequence {name}_ids as bigint increment by 1000")
            case _:
                op.execute(f"create sequence if not exists {name}_ids increment by 1000 nocache")


def make_market_accounts() -> None:
    op.create_table(
        "market_accounts",
        sa.Column("id", Id, autoincrement=True, nullable=False),
        sa.Column("market", key(50), nullable=False),
        sa.Column("name", key(100), nullable=False),
        sa.Column("buying_area", key(20), nullable=False),
        sa.Column("shipping_area", key(20), nullable=False),
        sa.Column("shipping_methods", Payload, nullable=False),
        sa.Column("shop_name", sa.String(length=100), server_default="", nullable=False),
        sa.Column("duty", key(20), server_default="", nullable=False),
        sa.Column("fee_tier", key(50), server_default="", nullable=False),
        sa.Column("token_ref", sa.String(length=200), server_default="", nullable=False),
        sa.Column("secret_ref", sa.String(length=200), server_default="", nullable=False),
        sa.Column("enabled", sa.Boolean(), server_default=sa.true(), nullable=False),
        sa.Column("stopped_why", sa.String(length=500), server_default="", nullable=False),
        sa.Column("blocked_until", Instant, nullable=True),
        sa.Column("policy", Payload, nullable=False),
        sa.Column("created_at", Instant, nullable=False),
        sa.Column("updated_at", Instant, nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("market", "name", name=op.f("uq_market_accounts_market_name")),
        sqlite_autoincrement=True,
        mariadb_default_charset="utf8mb4",
        if_not_exists=True,
    )


def make_listings() -> None:
    op.create_table(
        "listings",
        sa.Column("id", Id, autoincrement=False, nullable=False),
        sa.Column("account_id", Id, nullable=False),
        sa.Column("product_id", Id, nullable=False),
        sa.Column("sku", key(310), nullable=False),
        sa.Column("reference", key(40), nullable=True),
        sa.Column("market_id", key(40), nullable=True),
        sa.Column("state", key(20), server_default="NEW", nullable=False),
        sa.Column("confirmed", Payload, nullable=True),
        sa.Column("market_updated", key(40), server_default="", nullable=False),
        sa.Column("drift", Payload, nullable=True),
        sa.Column("open_call", Id, nullable=True),
        sa.Column("refusal_cause", key(20), nullable=True),
        sa.Column("refusal_digest", key(64), nullable=True),
        sa.Column("refusal_until", Instant, nullable=True),
        sa.Column("refusal_words", sa.String(length=500), nullable=True),
        sa.Column("day", key(10), nullable=True),
        sa.Column("day_price", Id, nullable=True),
        sa.Column("available_until", key(10), nullable=True),
        sa.Column("confirmed_at", Instant, nullable=True),
        sa.Column("created_at", Instant, nullable=False),
        sa.Column("updated_at", Instant, nullable=False),
        sa.CheckConstraint(
            "state in ('NEW', 'SENT', 'REJECTED', 'DRAFT', 'IN_REVIEW', 'NOT_APPROVED', "
            "'LIVE', 'SOLD_OUT', 'SUSPENDED', 'BLOCKED', 'DELETED', 'REMOVED')",
            name=op.f("ck_listings_ck_listings_state"),
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("reference", name=op.f("uq_listings_reference")),
        sa.UniqueConstraint("account_id", "product_id", name=op.f("uq_listings_account_id_product_id")),
        sa.UniqueConstraint("account_id", "market_id", name=op.f("uq_listings_account_id_market_id")),
        mariadb_default_charset="utf8mb4",
        if_not_exists=True,
    )
    op.create_index("ix_listings_sku", "listings", ["sku"], if_not_exists=True)
    op.create_index("ix_listings_state", "listings", ["account_id", "state", "id"], if_not_exists=True)
    op.create_index("ix_listings_until", "listings", ["account_id", "available_until"], if_not_exists=True)


def make_market_calls() -> None:
    op.create_table(
        "market_calls",
        sa.Column("id", Id, autoincrement=False, nullable=False),
        sa.Column("listing_id", Id, nullable=False),
        sa.Column("account_id", Id, nullable=False),
        sa.Column("run_id", key(100), nullable=False),
        sa.Column("kind", key(20), nullable=False),
        sa.Column("family", key(20), nullable=False),
        sa.Column("urgency", sa.Integer(), nullable=False),
        sa.Column("path", sa.String(length=200), nullable=False),
        sa.Column("payload", Payload, nullable=False),
        sa.Column("draft", Payload, nullable=False),
        sa.Column("state", key(20), server_default="INTENT", nullable=False),
        sa.Column("open_key", Id, nullable=True),
        sa.Column("token", Id, server_default=sa.text("1"), nullable=False),
        sa.Column("sends", sa.Integer(), server_default=sa.text("1"), nullable=False),
        sa.Column("due_at", Instant, nullable=False),
        sa.Column("request_uid", key(100), nullable=True),
        sa.Column("answer", Payload, nullable=True),
        sa.Column("problems", Payload, nullable=True),
        sa.Column("cause", key(20), nullable=True),
        sa.Column("drift", Payload, nullable=True),
        sa.Column("quote", key(100), server_default="", nullable=False),
        sa.Column("seen_at", Instant, nullable=True),
        sa.Column("changed_at", Instant, nullable=True),
        sa.Column("decided_at", Instant, nullable=True),
        sa.Column("created_at", Instant, nullable=False),
        sa.Column("sent_at", Instant, nullable=True),
        sa.Column("accepted_at", Instant, nullable=True),
        sa.Column("confirmed_at", Instant, nullable=True),
        sa.Column("read_back_at", Instant, nullable=True),
        sa.Column("updated_at", Instant, nullable=False),
        sa.CheckConstraint(
            "cause in ('data', 'mapping', 'outage', 'permanent')", name=op.f("ck_market_calls_ck_market_calls_cause")
        ),
        sa.CheckConstraint("family in ('product', 'stock')", name=op.f("ck_market_calls_ck_market_calls_family")),
        sa.CheckConstraint(
            "kind in ('CREATE', 'EDIT', 'STOCK', 'CLOSE', 'REVIVE', 'EXTEND')",
            name=op.f("ck_market_calls_ck_market_calls_kind"),
        ),
        sa.CheckConstraint(
            "state in ('INTENT', 'ACCEPTED', 'UNKNOWN', 'LOST', 'CONFIRMED', 'REJECTED', 'CANCELLED', 'SUPERSEDED')",
            name=op.f("ck_market_calls_ck_market_calls_state"),
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("open_key", name=op.f("uq_market_calls_open_key")),
        mariadb_default_charset="utf8mb4",
        if_not_exists=True,
    )
    op.create_index("ix_market_calls_due", "market_calls", ["account_id", "state", "due_at"], if_not_exists=True)
    op.create_index("ix_market_calls_kind", "market_calls", ["account_id", "kind", "created_at"], if_not_exists=True)
    op.create_index("ix_market_calls_listing", "market_calls", ["listing_id", "id"], if_not_exists=True)
    op.create_index("ix_market_calls_run", "market_calls", ["account_id", "run_id", "kind"], if_not_exists=True)


def make_listing_holds() -> None:
    op.create_table(
        "listing_holds",
        sa.Column("id", Id, autoincrement=True, nullable=False),
        sa.Column("account_id", Id, nullable=False),
        sa.Column("listing_id", Id, nullable=False),
        sa.Column("run_id", key(100), nullable=False),
        sa.Column("guard", key(50), nullable=False),
        sa.Column("reason", sa.String(length=500), nullable=False),
        sa.Column("digest", key(64), nullable=False),
        sa.Column("state", key(20), server_default="HELD", nullable=False),
        sa.Column("open_key", key(80), nullable=True),
        sa.Column("times", sa.Integer(), server_default=sa.text("1"), nullable=False),
        sa.Column("created_at", Instant, nullable=False),
        sa.Column("updated_at", Instant, nullable=False),
        sa.Column("decided_at", Instant, nullable=True),
        sa.Column("decided_by", sa.String(length=200), nullable=True),
        sa.CheckConstraint(
            "state in ('HELD', 'APPROVED', 'REJECTED', 'SUPERSEDED')",
            name=op.f("ck_listing_holds_ck_listing_holds_state"),
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("open_key", name=op.f("uq_listing_holds_open_key")),
        sqlite_autoincrement=True,
        mariadb_default_charset="utf8mb4",
        if_not_exists=True,
    )
    op.create_index("ix_listing_holds_listing", "listing_holds", ["listing_id", "state"], if_not_exists=True)
    op.create_index("ix_listing_holds_run", "listing_holds", ["account_id", "run_id", "guard"], if_not_exists=True)
    op.create_index("ix_listing_holds_state", "listing_holds", ["account_id", "state", "id"], if_not_exists=True)


def make_webhook_inbox() -> None:
    op.create_table(
        "webhook_inbox",
        sa.Column("id", Id, autoincrement=True, nullable=False),
        sa.Column("account_id", Id, nullable=False),
        sa.Column("dedupe", key(64), nullable=False),
        sa.Column("headers", Payload, nullable=False),
        sa.Column("body", Raw, nullable=False),
        sa.Column("genuine", sa.Boolean(), nullable=False),
        sa.Column("state", key(20), server_default="RECEIVED", nullable=False),
        sa.Column("times", sa.Integer(), server_default=sa.text("1"), nullable=False),
        sa.Column("listing_id", Id, nullable=True),
        sa.Column("call_id", Id, nullable=True),
        sa.Column("note", sa.String(length=500), server_default="", nullable=False),
        sa.Column("received_at", Instant, nullable=False),
        sa.Column("applied_at", Instant, nullable=True),
        sa.CheckConstraint(
            "state in ('RECEIVED', 'APPLIED', 'STALE', 'UNMATCHED', 'UNREADABLE', 'CONFLICT', 'OTHER', 'FORGED')",
            name=op.f("ck_webhook_inbox_ck_webhook_inbox_state"),
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("account_id", "dedupe", name=op.f("uq_webhook_inbox_account_id_dedupe")),
        sqlite_autoincrement=True,
        mariadb_default_charset="utf8mb4",
        if_not_exists=True,
    )
    op.create_index("ix_webhook_inbox_state", "webhook_inbox", ["account_id", "state", "id"], if_not_exists=True)


def make_call_ledger() -> None:
    op.create_table(
        "call_ledger",
        sa.Column("account_id", Id, autoincrement=False, nullable=False),
        sa.Column("slot", Instant, nullable=False),
        sa.Column("family", key(20), nullable=False),
        sa.Column("calls", sa.Integer(), nullable=False),
        sa.CheckConstraint("family in ('product', 'stock')", name=op.f("ck_call_ledger_ck_call_ledger_family")),
        sa.PrimaryKeyConstraint("account_id", "slot", "family"),
        mariadb_default_charset="utf8mb4",
        if_not_exists=True,
    )
