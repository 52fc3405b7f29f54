"""Our own offers among others: the name that buyers are shown, and what they pay for shipping beside the price.

Every statement may be run again: MariaDB commits each of them by itself, so an upgrade may have died half-way.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from bobusang.kit.schema import Id

revision = "0015"
down_revision = "0014"

COLUMNS = {
    "market_accounts": (
        sa.Column("seller_name", sa.String(100), server_default="", nullable=False),
        sa.Column("shipping_charge", Id, nullable=True),
    ),
    "listings": (sa.Column("shipping_charge", Id, nullable=True),),
}


def upgrade() -> None:
    for table, columns in COLUMNS.items():
        known = {column["name"] for column in sa.inspect(op.get_bind()).get_columns(table)}
        for column in columns:
            if column.name not in known:  # SQLite has no `add column if not exists`
                op.add_column(table, column)
