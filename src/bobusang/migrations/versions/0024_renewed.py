"""Listings that are retired: a product that begins anew has another one beside them.

Every statement may be run again: MariaDB commits each of them by itself, so an upgrade may have died half-way.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from bobusang.kit.schema import Id

revision = "0024"
down_revision = "0023"

TABLE, OLD, NEW = "listings", "uq_listings_account_id_product_id", "uq_listings_account_id_product_id_retired"
ROW = ("account_id", "product_id", "retired")


def upgrade() -> None:
    if op.get_bind().dialect.name != "sqlite":
        op.execute(f"""
            alter table {TABLE} add column if not exists retired bigint default 0 not null,
              drop constraint if exists {OLD}, drop constraint if exists {NEW},
              add constraint {NEW} unique ({", ".join(ROW)})""")
        return
    with op.batch_alter_table(TABLE) as table:  # SQLite changes no constraint: the table is made anew
        table.add_column(sa.Column("retired", Id, server_default=sa.text("0"), nullable=False))
        table.drop_constraint(op.f(OLD), type_="unique")
        table.create_unique_constraint(op.f(NEW), list(ROW))
