"""Pictures that a person should look at, products whose pictures are looked at again, and by what right a source's
pictures are shown.

Every statement may be run again: MariaDB commits each of them by itself, so an upgrade may have died half-way.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from bobusang.kit.schema import Id, Instant, key

revision = "0024"
down_revision = "0023"


def upgrade() -> None:
    op.create_table(
        "image_doubts",
        sa.Column("id", Id, autoincrement=True, nullable=False),
        sa.Column("kind", key(20), nullable=False),
        sa.Column("sha256", key(64), nullable=False),
        sa.Column("product_id", Id, nullable=False),
        sa.Column("reason", sa.String(length=500), nullable=False),
        sa.Column("raised_at", Instant, nullable=False),
        sa.Column("allowed_at", Instant, nullable=True),
        sa.Column("allowed_by", key(100), nullable=True),
        sa.CheckConstraint("kind in ('SHARED', 'LIKE', 'COVER')", name=op.f("ck_image_doubts_kind")),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("sha256", "kind", "product_id", name="uq_image_doubts"),
        mariadb_default_charset="utf8mb4",
        if_not_exists=True,
    )
    op.create_table(
        "image_revisits",
        sa.Column("id", Id, autoincrement=True, nullable=False),
        sa.Column("product_id", Id, nullable=False),
        sa.Column("refresh", sa.Boolean(), nullable=False),
        sa.Column("asked_at", Instant, nullable=False),
        sa.PrimaryKeyConstraint("id"),
        mariadb_default_charset="utf8mb4",
        if_not_exists=True,
    )
    op.create_index("ix_image_revisits_product_id", "image_revisits", ["product_id"], if_not_exists=True)
    known = {column["name"] for column in sa.inspect(op.get_bind()).get_columns("source_decisions")}
    if "rights" not in known:  # SQLite has no `add column if not exists`
        op.add_column("source_decisions", sa.Column("rights", key(20), nullable=True))
