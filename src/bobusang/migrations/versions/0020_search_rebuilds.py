"""A rebuild of the search index is asked for by a row, and tells there how far it is.

Every statement may be run again: MariaDB commits each of them by itself, so an upgrade may have died half-way.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from bobusang.kit.schema import Id, Instant, key

revision = "0020"
down_revision = "0019"


def upgrade() -> None:
    op.create_table(
        "search_rebuilds",
        sa.Column("name", key(100), nullable=False),
        sa.Column("number", Id, nullable=False),
        sa.Column("phase", key(20), nullable=False),
        sa.Column("done", Id, nullable=False),
        sa.Column("total", Id, nullable=False),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("asked_at", Instant, nullable=False),
        sa.Column("ended_at", Instant, nullable=True),
        sa.PrimaryKeyConstraint("name"),
        mariadb_default_charset="utf8mb4",
        if_not_exists=True,
    )
