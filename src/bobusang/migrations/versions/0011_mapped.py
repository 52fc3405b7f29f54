"""By which mappings and words each product was converted, and which product an account sells of the same goods.

Every statement may be run again: MariaDB commits each of them by itself, so an upgrade may have died half-way.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from bobusang.kit.schema import Id, Instant, key

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    add_stamp()
    make_claims()


def add_stamp() -> None:
    """Empty: nobody knows by what it was made, so the next FULL makes it anew."""
    known = {column["name"] for column in sa.inspect(op.get_bind()).get_columns("conversions")}
    if "stamp" not in known:  # SQLite has no `add column if not exists`
        op.add_column("conversions", sa.Column("stamp", key(64), server_default="", nullable=False))


def make_claims() -> None:
    op.create_table(
        "listing_claims",
        sa.Column("account_id", Id, autoincrement=False, nullable=False),
        sa.Column("goods", key(310), nullable=False),
        sa.Column("product_id", Id, nullable=False),
        sa.Column("mall", key(100), nullable=False),
        sa.Column("claimed_at", Instant, nullable=False),
        sa.PrimaryKeyConstraint("account_id", "goods"),
        mariadb_default_charset="utf8mb4",
        if_not_exists=True,
    )
    op.create_index("ix_listing_claims_product", "listing_claims", ["account_id", "product_id"], if_not_exists=True)
