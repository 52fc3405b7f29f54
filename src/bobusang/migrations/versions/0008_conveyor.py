"""The conveyor's tables: batches, the stages of their brands, and which brand is in which batch now.

Every statement may be run again: MariaDB commits each of them by itself, so an upgrade may have died half-way.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from bobusang.kit.schema import Id, Instant, Payload, key

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    make_batches()
    make_control()
    make_brands()


def make_batches() -> None:
    op.create_table(
        "pipeline_batches",
        sa.Column("id", Id, autoincrement=True, nullable=False),
        sa.Column("batch_id", key(50), nullable=False),
        sa.Column("run_mode", key(20), nullable=False),
        sa.Column("status", key(20), server_default="RUNNING", nullable=False),
        sa.Column("start_time", Instant, nullable=False),
        sa.Column("end_time", Instant, nullable=True),
        sa.Column("total_brands", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("success_brands", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.CheckConstraint("run_mode in ('FULL', 'PARTIAL')", name=op.f("ck_pipeline_batches_run_mode")),
        sa.CheckConstraint("status in ('RUNNING', 'COMPLETED', 'FAILED')", name=op.f("ck_pipeline_batches_status")),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("batch_id", name="uk_batch_id"),
        mariadb_default_charset="utf8mb4",
        if_not_exists=True,
    )
    op.create_index("idx_pipeline_batches_status", "pipeline_batches", ["status"], if_not_exists=True)
    op.create_index("idx_pipeline_batches_start_time", "pipeline_batches", ["start_time"], if_not_exists=True)


def make_control() -> None:
    op.create_table(
        "pipeline_control",
        sa.Column("id", Id, autoincrement=True, nullable=False),
        sa.Column("batch_id", key(50), nullable=False),
        sa.Column("mall_name", key(100), nullable=False),
        sa.Column("brand_name", key(200), nullable=False),
        sa.Column("run_mode", key(20), nullable=False),
        sa.Column("stage", key(20), nullable=False),
        sa.Column("status", key(20), server_default="PENDING", nullable=False),
        sa.Column("item_count", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("error_msg", Payload, nullable=True),
        sa.Column("started_at", Instant, nullable=True),
        sa.Column("updated_at", Instant, nullable=False),
        sa.Column("job_id", Id, nullable=True),
        sa.CheckConstraint("run_mode in ('FULL', 'PARTIAL')", name=op.f("ck_pipeline_control_run_mode")),
        sa.CheckConstraint(
            "stage in ('COLLECT', 'CONVERT', 'IMAGE', 'PRICE', 'REGISTER')", name=op.f("ck_pipeline_control_stage")
        ),
        sa.CheckConstraint(
            "status in ('PENDING', 'RUNNING', 'DONE', 'ERROR')", name=op.f("ck_pipeline_control_status")
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("batch_id", "mall_name", "brand_name", "stage", name="uk_batch_brand_stage"),
        mariadb_default_charset="utf8mb4",
        if_not_exists=True,
    )
    for name, columns in (
        ("batch_id", ["batch_id"]),
        ("status", ["status"]),
        ("mall_brand", ["mall_name", "brand_name"]),
        ("job", ["job_id"]),
    ):
        op.create_index(f"idx_pipeline_control_{name}", "pipeline_control", columns, if_not_exists=True)


def make_brands() -> None:
    op.create_table(
        "pipeline_brands",
        sa.Column("mall_name", key(100), nullable=False),
        sa.Column("brand_name", key(200), nullable=False),
        sa.Column("batch_id", key(50), nullable=False),
        sa.PrimaryKeyConstraint("mall_name", "brand_name"),
        mariadb_default_charset="utf8mb4",
        if_not_exists=True,
    )
    op.create_index("idx_pipeline_brands_batch", "pipeline_brands", ["batch_id"], if_not_exists=True)
