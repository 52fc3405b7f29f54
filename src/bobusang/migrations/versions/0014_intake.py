"""What comes in other than by our asking: suppliers' files and webhooks; marks of time; and what pages look up by.

Every statement may be run again: MariaDB commits each of them by itself, so an upgrade may have died half-way.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from bobusang.kit.schema import Id, Instant, Payload, key

revision = "0014"
down_revision = "0013"

FILE_STATE = "state in ('RECEIVED', 'PREVIEWED', 'IMPORTING', 'DONE', 'FAILED', 'DISCARDED')"
EVENT_STATE = "state in ('RECEIVED', 'DONE', 'FAILED')"
LOOKED_UP = {
    "ix_raw_pages_task": ("raw_pages", ["task_id"]),
    "ix_fetch_counts_source": ("fetch_counts", ["source", "at"]),
    "ix_collect_runs_target": ("collect_runs", ["source", "target", "job_id"]),
    "ix_image_fetches_sha256": ("image_fetches", ["sha256"]),
    "ix_crawling_jobs_target": ("crawling_jobs", ["target_id", "id"]),
    "ix_dead_letters_fingerprint": ("dead_letters", ["fingerprint", "task_id"]),
    "ix_fx_quotes_state": ("fx_quotes", ["state", "id"]),
    "ix_listing_holds_open": ("listing_holds", ["state", "id"]),
}


def upgrade() -> None:
    op.create_table(
        "sync_marks",
        sa.Column("source", key(50), nullable=False),
        sa.Column("stream", key(50), nullable=False),
        sa.Column("target", key(255), server_default="", nullable=False),
        sa.Column("until", Instant, nullable=False),
        sa.Column("updated_at", Instant, nullable=False),
        sa.PrimaryKeyConstraint("source", "stream", "target"),
        mariadb_default_charset="utf8mb4",
        if_not_exists=True,
    )
    op.create_table(
        "supplier_files",
        sa.Column("id", Id, autoincrement=True, nullable=False),
        sa.Column("supplier", key(50), nullable=False),
        sa.Column("name", sa.String(255), nullable=False),
        sa.Column("sha256", key(64), nullable=False),
        sa.Column("size", Id, nullable=False),
        sa.Column("state", key(20), server_default="RECEIVED", nullable=False),
        sa.Column("sheet", sa.String(100), server_default="", nullable=False),
        sa.Column("rows", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("accepted", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("refused", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("mapping", Payload, nullable=True),
        sa.Column("report", Payload, nullable=True),
        sa.Column("job_id", Id, nullable=True),
        sa.Column("created_by", sa.String(100), nullable=False),
        sa.Column("created_at", Instant, nullable=False),
        sa.Column("updated_at", Instant, nullable=False),
        sa.CheckConstraint(FILE_STATE, name="state"),
        sa.PrimaryKeyConstraint("id"),
        sqlite_autoincrement=True,
        mariadb_default_charset="utf8mb4",
        if_not_exists=True,
    )
    op.create_index("ix_supplier_files_supplier", "supplier_files", ["supplier", "id"], if_not_exists=True)
    op.create_index("ix_supplier_files_content", "supplier_files", ["supplier", "sha256"], if_not_exists=True)
    op.create_index("ix_supplier_files_state", "supplier_files", ["state", "id"], if_not_exists=True)
    op.create_table(
        "inbound_events",
        sa.Column("id", Id, autoincrement=True, nullable=False),
        sa.Column("source", key(50), nullable=False),
        sa.Column("event", key(200), nullable=False),
        sa.Column("sha256", key(64), nullable=False),
        sa.Column("state", key(20), server_default="RECEIVED", nullable=False),
        sa.Column("attempts", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("error", sa.String(500), nullable=True),
        sa.Column("received_at", Instant, nullable=False),
        sa.Column("done_at", Instant, nullable=True),
        sa.CheckConstraint(EVENT_STATE, name="state"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("source", "event"),
        sqlite_autoincrement=True,
        mariadb_default_charset="utf8mb4",
        if_not_exists=True,
    )
    op.create_index("ix_inbound_events_state", "inbound_events", ["state", "id"], if_not_exists=True)
    for name, (table, columns) in LOOKED_UP.items():
        op.create_index(name, table, columns, if_not_exists=True)
