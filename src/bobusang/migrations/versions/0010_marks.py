"""Marks: which version of a product is right on the market, so that a run need not look at it.

Every statement may be run again: MariaDB commits each of them by itself, so an upgrade may have died half-way.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from bobusang.kit.schema import Id, Instant, key

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    op.create_table(
        "conveyor_marks",
        sa.Column("product_id", Id, autoincrement=False, nullable=False),
        sa.Column("market", key(50), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("stamp", key(64), nullable=False),
        sa.Column("model", key(100), nullable=False),
        sa.Column("due_at", Instant, nullable=False),
        sa.Column("marked_at", Instant, nullable=False),
        sa.PrimaryKeyConstraint("product_id", "market"),
        mariadb_default_charset="utf8mb4",
        if_not_exists=True,
    )
