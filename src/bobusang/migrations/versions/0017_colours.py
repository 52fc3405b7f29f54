"""Which colours a product comes in, for searching; one that was collected before tells them when it changes next.

Every statement may be run again: MariaDB commits each of them by itself, so an upgrade may have died half-way.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    known = {column["name"] for column in sa.inspect(op.get_bind()).get_columns("products")}
    if "colours" not in known:  # SQLite has no `add column if not exists`
        op.add_column("products", sa.Column("colours", sa.String(500), nullable=True))
