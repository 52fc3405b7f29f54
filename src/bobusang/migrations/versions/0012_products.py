"""Products found by mall, brand, price and address in lists that are walked by an index; replies to be given again.

Every statement may be run again: MariaDB commits each of them by itself, so an upgrade may have died half-way.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from bobusang.kit.schema import Instant, Payload, key

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    for name, columns in (
        ("ix_products_mall", ["mall", "id"]),
        ("ix_products_any_brand", ["brand", "id"]),
        ("ix_products_price", ["price", "id"]),
    ):
        op.create_index(name, "products", columns, if_not_exists=True)
    prefix = {"url": 190}
    op.create_index(
        "ix_products_url",
        "products",
        ["url"],
        if_not_exists=True,
        postgresql_using="hash",
        mysql_length=prefix,
        mariadb_length=prefix,
    )
    op.create_table(
        "api_replies",
        sa.Column("actor", key(100), nullable=False),
        sa.Column("name", key(200), nullable=False),
        sa.Column("digest", key(64), nullable=False),
        sa.Column("status", sa.Integer(), nullable=False),
        sa.Column("headers", Payload, nullable=False),
        sa.Column("body", Payload, nullable=False),
        sa.Column("created_at", Instant, nullable=False),
        sa.PrimaryKeyConstraint("actor", "name"),
        mariadb_default_charset="utf8mb4",
        if_not_exists=True,
    )
    op.create_index("ix_api_replies_created", "api_replies", ["created_at"], if_not_exists=True)
