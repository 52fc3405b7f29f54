"""Products that a person has deleted, known again by their address.

Every statement may be run again: MariaDB commits each of them by itself, so an upgrade may have died half-way.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from bobusang.kit.schema import Id, Instant

revision = "0018"
down_revision = "0017"


def upgrade() -> None:
    op.create_table(
        "removed_products",
        sa.Column("id", Id, autoincrement=False, nullable=False),
        sa.Column("url", sa.String(1000), nullable=True),
        sa.Column("removed_at", Instant, nullable=False),
        sa.PrimaryKeyConstraint("id"),
        mariadb_default_charset="utf8mb4",
        if_not_exists=True,
    )
    prefix = {"url": 190}
    op.create_index(
        "ix_removed_url",
        "removed_products",
        ["url"],
        if_not_exists=True,
        postgresql_using="hash",
        mysql_length=prefix,
        mariadb_length=prefix,
    )
