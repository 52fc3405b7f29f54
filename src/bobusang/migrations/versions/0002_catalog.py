"""The catalog's tables: the versioned truth, what was seen, products, sellers, suppliers, the malls' names.

Every statement may be run again: MariaDB commits each of them by itself, so an upgrade may have died half-way.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from bobusang.kit.schema import Id, Instant, Json, Payload, key

revision = "0002"
down_revision = "0001"

SEQUENCES = ("source_record", "source_data")
TYPES = "'supplier_product', 'market_listing', 'order', 'inventory', 'pricing', 'customer', 'analytics'"


def upgrade() -> None:
    make_records()
    make_history()
    make_seen()
    make_products()
    make_malls()
    match op.get_bind().dialect.name:
        case "sqlite":
            _finish_sqlite()
        case "postgresql":
            _finish_postgres()
        case _:
            _finish_mariadb()


def _finish_sqlite() -> None:
    for name in SEQUENCES:
        op.execute(f"insert into id_blocks (name, next) values ('{name}', 1)")


def _finish_postgres() -> None:
    for name in SEQUENCES:
        op.execute(f"create sequence {name}_ids as bigint increment by 1000")
    # `jsonb_path_ops` (containment and paths) costs a third less to write than `jsonb_ops`: DECISIONS 17.
    for column in ("normalized_data", "market_data"):
        op.execute(f"create index ix_source_data_{column} on source_data using gin ({column} jsonb_path_ops)")
    # Room on each page for the next touch, which then needs no new index entry; vacuum often, for all of it is touched.
    op.execute("alter table source_seen set (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05)")
    op.execute("alter table source_records set (fillfactor = 85)")


def _finish_mariadb() -> None:
    for name in SEQUENCES:
        op.execute(f"create sequence if not exists {name}_ids increment by 1000 nocache")


def make_records() -> None:
    op.create_table(
        "source_records",
        sa.Column("id", Id, autoincrement=False, nullable=False),
        sa.Column("source_type", key(20), nullable=False),
        sa.Column("source_system", key(50), nullable=False),
        sa.Column("source_id", key(100), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("version_id", Id, nullable=False),
        sa.Column("digests", Payload, nullable=False),
        sa.Column("hashes", Payload, nullable=False),
        sa.Column("quality", sa.Double(), nullable=True),
        sa.Column("last_changed_at", Instant, nullable=False),
        sa.Column("created_at", Instant, nullable=False),
        sa.CheckConstraint(
            f"source_type in ({TYPES})",
            name=op.f("ck_source_records_source_type"),
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("source_type", "source_system", "source_id", name="uq_source_records_key"),
        mariadb_default_charset="utf8mb4",
        if_not_exists=True,
    )
    op.create_index(
        "ix_source_records_changed", "source_records", ["source_system", "last_changed_at", "id"], if_not_exists=True
    )
    op.create_index("ix_source_records_quality", "source_records", ["quality", "id"], if_not_exists=True)
    op.create_table(
        "source_data",
        sa.Column("id", Id, autoincrement=False, nullable=False),
        sa.Column("record_id", Id, nullable=False),
        sa.Column("source_type", key(20), nullable=False),
        sa.Column("source_system", key(50), nullable=False),
        sa.Column("source_id", key(100), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("raw_data", Json, nullable=False),
        sa.Column("normalized_data", Json, nullable=False),
        sa.Column("market_data", Json, nullable=True),
        sa.Column("ai_data", Json, nullable=True),
        sa.Column("hash", key(64), nullable=False),
        sa.Column("processing_status", key(20), nullable=False),
        sa.Column("workflow_id", key(100), nullable=True),
        sa.Column("created_at", Instant, nullable=False),
        sa.Column("updated_at", Instant, nullable=False),
        sa.Column("last_changed_at", Instant, nullable=False),
        sa.CheckConstraint(
            "processing_status in ('raw', 'processing', 'processed', 'error', 'archived')",
            name=op.f("ck_source_data_processing_status"),
        ),
        sa.CheckConstraint(
            f"source_type in ({TYPES})",
            name=op.f("ck_source_data_source_type"),
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("source_type", "source_system", "source_id", "version", name="uq_source_data_version"),
        mariadb_default_charset="utf8mb4",
        if_not_exists=True,
    )
    op.create_index("ix_source_data_source", "source_data", ["source_system", "source_id"], if_not_exists=True)
    op.create_index("ix_source_data_status", "source_data", ["processing_status", "created_at"], if_not_exists=True)
    op.create_index("ix_source_data_workflow", "source_data", ["workflow_id", "processing_status"], if_not_exists=True)


def make_history() -> None:
    op.create_table(
        "field_changes",
        sa.Column("id", Id, autoincrement=True, nullable=False),
        sa.Column("record_id", Id, nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("field", key(255), nullable=False),
        sa.Column("group_name", key(50), nullable=False),
        sa.Column("old_value", Payload, nullable=False),
        sa.Column("new_value", Payload, nullable=False),
        sa.Column("changed_at", Instant, nullable=False),
        sa.Column("raw_id", Id, nullable=True),
        sa.Column("reader", key(100), nullable=False),
        sa.Column("stream", key(50), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        mariadb_default_charset="utf8mb4",
        if_not_exists=True,
    )
    op.create_index("ix_field_changes_field", "field_changes", ["record_id", "field", "version"], if_not_exists=True)
    op.create_index("ix_field_changes_record", "field_changes", ["record_id", "version", "id"], if_not_exists=True)
    op.create_table(
        "data_lineage",
        sa.Column("id", Id, autoincrement=True, nullable=False),
        sa.Column("parent_id", Id, nullable=True),
        sa.Column("child_id", Id, nullable=False),
        sa.Column("transformation_type", key(50), nullable=False),
        sa.Column("transformation_metadata", Payload, nullable=False),
        sa.Column("raw_id", Id, nullable=True),
        sa.Column("reader", key(100), nullable=False),
        sa.Column("created_at", Instant, nullable=False),
        sa.PrimaryKeyConstraint("id"),
        mariadb_default_charset="utf8mb4",
        if_not_exists=True,
    )
    op.create_index("ix_data_lineage_child", "data_lineage", ["child_id", "id"], if_not_exists=True)
    op.create_index("ix_data_lineage_parent", "data_lineage", ["parent_id", "id"], if_not_exists=True)
    op.create_index("ix_data_lineage_raw", "data_lineage", ["raw_id"], if_not_exists=True)


def make_seen() -> None:
    op.create_table(
        "seen_scopes",
        sa.Column("id", Id, autoincrement=True, nullable=False),
        sa.Column("source_system", key(50), nullable=False),
        sa.Column("name", key(255), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("source_system", "name", name="uq_seen_scopes_name"),
        mariadb_default_charset="utf8mb4",
        if_not_exists=True,
    )
    op.create_table(
        "source_seen",
        sa.Column("scope_id", Id, autoincrement=False, nullable=False),
        sa.Column("record_id", Id, autoincrement=False, nullable=False),
        sa.Column("last_seen_at", Instant, nullable=False),
        sa.Column("last_run", Id, nullable=False),
        sa.Column("missed", sa.Integer(), nullable=False),
        sa.Column("missed_run", Id, nullable=False),
        sa.Column("interval_seconds", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("scope_id", "record_id"),
        mariadb_default_charset="utf8mb4",
        sqlite_with_rowid=False,
        if_not_exists=True,
    )
    op.create_index("ix_source_seen_record", "source_seen", ["record_id"], if_not_exists=True)
    op.create_table(
        "source_markets",
        sa.Column("market", key(50), nullable=False),
        sa.Column("record_id", Id, autoincrement=False, nullable=False),
        sa.Column("status", key(50), nullable=False),
        sa.Column("last_sync", Instant, nullable=False),
        sa.PrimaryKeyConstraint("market", "record_id"),
        mariadb_default_charset="utf8mb4",
        if_not_exists=True,
    )
    op.create_index("ix_source_markets_record", "source_markets", ["record_id"], if_not_exists=True)
    op.create_index("ix_source_markets_status", "source_markets", ["market", "status", "record_id"], if_not_exists=True)
    op.create_index(
        "ix_source_markets_sync", "source_markets", ["market", "last_sync", "record_id"], if_not_exists=True
    )


def make_products() -> None:
    op.create_table(
        "products",
        sa.Column("id", Id, autoincrement=False, nullable=False),
        sa.Column("mall", key(50), nullable=False),
        sa.Column("product_id", key(100), nullable=False),
        sa.Column("seller_id", key(100), nullable=True),
        sa.Column("brand", key(200), nullable=True),
        sa.Column("brand_ko", key(200), nullable=True),
        sa.Column("name", sa.String(length=500), nullable=True),
        sa.Column("model", key(200), nullable=True),
        sa.Column("price", sa.BigInteger(), nullable=True),
        sa.Column("list_price", sa.BigInteger(), nullable=True),
        sa.Column("currency", key(3), nullable=True),
        sa.Column("url", sa.String(length=1000), nullable=True),
        sa.Column("image", sa.String(length=1000), nullable=True),
        sa.Column("in_stock", sa.Boolean(), nullable=True),
        sa.Column("listed", sa.Boolean(), nullable=True),
        sa.Column("category", sa.String(length=500), nullable=True),
        sa.Column("gender", key(20), nullable=True),
        sa.Column("locked", Payload, nullable=True),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("created_at", Instant, nullable=False),
        sa.Column("updated_at", Instant, nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("mall", "product_id", name="uq_products_key"),
        mariadb_default_charset="utf8mb4",
        if_not_exists=True,
    )
    op.create_index("ix_products_brand", "products", ["mall", "brand", "id"], if_not_exists=True)
    op.create_index("ix_products_changed", "products", ["updated_at", "id"], if_not_exists=True)
    op.create_index("ix_products_model", "products", ["model"], if_not_exists=True)
    op.create_index("ix_products_seller", "products", ["mall", "seller_id", "id"], if_not_exists=True)


def make_malls() -> None:
    op.create_table(
        "sellers",
        sa.Column("id", Id, autoincrement=True, nullable=False),
        sa.Column("mall", key(50), nullable=False),
        sa.Column("seller_id", key(100), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=True),
        sa.Column("company", sa.String(length=200), nullable=True),
        sa.Column("contact", sa.String(length=200), nullable=True),
        sa.Column("email", sa.String(length=200), nullable=True),
        sa.Column("status", key(20), server_default="Active", nullable=False),
        sa.Column("cadence_minutes", sa.Integer(), nullable=False),
        sa.Column("adaptive", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("quality", Payload, nullable=True),
        sa.Column("paused_reason", sa.String(length=500), nullable=True),
        sa.Column("target_id", Id, nullable=True),
        sa.Column("schedule_id", Id, nullable=True),
        sa.Column("created_at", Instant, nullable=False),
        sa.Column("updated_at", Instant, nullable=False),
        sa.CheckConstraint("status in ('Active', 'Paused', 'Disabled')", name=op.f("ck_sellers_status")),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("mall", "seller_id", name="uq_sellers_key"),
        mariadb_default_charset="utf8mb4",
        sqlite_autoincrement=True,
        if_not_exists=True,
    )
    op.create_index("ix_sellers_status", "sellers", ["status", "id"], if_not_exists=True)
    op.create_table(
        "suppliers",
        sa.Column("id", Id, autoincrement=True, nullable=False),
        sa.Column("name", key(50), nullable=False),
        sa.Column("kind", key(20), nullable=False),
        sa.Column("base_url", sa.String(length=1000), nullable=True),
        sa.Column("settings", Payload, nullable=False),
        sa.Column("secret_name", sa.String(length=200), nullable=True),
        sa.Column("is_active", sa.Boolean(), server_default=sa.true(), nullable=False),
        sa.Column("created_at", Instant, nullable=False),
        sa.Column("updated_at", Instant, nullable=False),
        sa.CheckConstraint("kind in ('api', 'excel', 'webhook')", name=op.f("ck_suppliers_kind")),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("name", name="uq_suppliers_name"),
        mariadb_default_charset="utf8mb4",
        sqlite_autoincrement=True,
        if_not_exists=True,
    )
    op.create_table(
        "mall_brands",
        sa.Column("id", Id, autoincrement=True, nullable=False),
        sa.Column("mall_name", key(50), nullable=False),
        sa.Column("mall_brand_no", key(200), nullable=False),
        sa.Column("mall_brand_name_ko", sa.String(length=200), nullable=True),
        sa.Column("mall_brand_name_en", sa.String(length=200), nullable=True),
        sa.Column("raw_brand_name", sa.String(length=200), nullable=True),
        sa.Column("mall_brand_url", sa.String(length=1000), nullable=True),
        sa.Column("buyma_brand_id", Id, nullable=True),
        sa.Column("buyma_brand_name", sa.String(length=200), nullable=True),
        sa.Column("mapping_level", sa.Integer(), nullable=True),
        sa.Column("is_mapped", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("is_active", sa.SmallInteger(), nullable=True),
        sa.Column("last_seen_at", Instant, nullable=False),
        sa.Column("created_at", Instant, nullable=False),
        sa.Column("updated_at", Instant, nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("mall_name", "mall_brand_no", name="uq_mall_brands_key"),
        mariadb_default_charset="utf8mb4",
        sqlite_autoincrement=True,
        if_not_exists=True,
    )
    op.create_index("ix_mall_brands_review", "mall_brands", ["mall_name", "is_active", "id"], if_not_exists=True)
    op.create_table(
        "mall_categories",
        sa.Column("id", Id, autoincrement=True, nullable=False),
        sa.Column("mall_name", key(50), nullable=False),
        sa.Column("full_path", key(500), nullable=False),
        sa.Column("category_id", key(100), nullable=True),
        sa.Column("gender", key(20), nullable=True),
        sa.Column("depth1", sa.String(length=200), nullable=True),
        sa.Column("depth2", sa.String(length=200), nullable=True),
        sa.Column("depth3", sa.String(length=200), nullable=True),
        sa.Column("depth4", sa.String(length=200), nullable=True),
        sa.Column("mall_category_url", sa.String(length=1000), nullable=True),
        sa.Column("buyma_category_id", Id, nullable=True),
        sa.Column("is_active", sa.SmallInteger(), nullable=True),
        sa.Column("last_seen_at", Instant, nullable=False),
        sa.Column("created_at", Instant, nullable=False),
        sa.Column("updated_at", Instant, nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("mall_name", "full_path", name="uq_mall_categories_path"),
        mariadb_default_charset="utf8mb4",
        sqlite_autoincrement=True,
        if_not_exists=True,
    )
    op.create_index(
        "ix_mall_categories_review", "mall_categories", ["mall_name", "is_active", "id"], if_not_exists=True
    )
