"""Listings that a person closed or whose source nobody has seen for long, and quotes below their floor.

Every statement may be run again: MariaDB commits each of them by itself, so an upgrade may have died half-way.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from bobusang.kit.schema import Instant

revision = "0019"
down_revision = "0018"

LOOKED_UP = {
    "ix_listings_closed": ("listings", ["closed_at"]),
    "ix_listings_unseen": ("listings", ["unseen_at"]),
    "ix_price_quotes_below": ("price_quotes", ["is_below_floor", "id"]),
}


def upgrade() -> None:
    known = {column["name"] for column in sa.inspect(op.get_bind()).get_columns("listings")}
    for column in (
        sa.Column("closed_at", Instant, nullable=True),
        sa.Column("closed_by", sa.String(200), nullable=True),
        sa.Column("closed_why", sa.String(500), nullable=True),
        sa.Column("unseen_at", Instant, nullable=True),
    ):
        if column.name not in known:  # SQLite has no `add column if not exists`
            op.add_column("listings", column)
    for name, (table, columns) in LOOKED_UP.items():
        op.create_index(name, table, columns, if_not_exists=True)
