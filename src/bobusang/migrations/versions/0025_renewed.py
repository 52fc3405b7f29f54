"""Listings that are retired: a product that begins anew has another one beside them.

Every statement may be run again: MariaDB commits each of them by itself, so an upgrade may have died half-way.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from bobusang.kit.schema import Id

revision = "0025"
down_revision = "0024"

TABLE, OLD, NEW = "listings", "uq_listings_account_id_product_id", "uq_listings_account_id_product_id_retired"


def upgrade() -> None:
    if op.get_bind().dialect.name == "sqlite":
        make_anew()
        return
    op.execute(f"""
        alter table {TABLE} add column if not exists retired bigint default 0 not null,
          drop constraint if exists {OLD}, drop constraint if exists {NEW},
          add constraint {NEW} unique (account_id, product_id, retired)""")


def make_anew() -> None:
    """SQLite changes no constraint. Alembic would make the table anew, but its six indexes in another order each time,
    and `embedded.sql` is compared."""
    op.add_column(TABLE, sa.Column("retired", Id, server_default=sa.text("0"), nullable=False))
    (table,), indexes = _sql("table"), _sql("index")
    before, after = f"{OLD} UNIQUE (account_id, product_id)", f"{NEW} UNIQUE (account_id, product_id, retired)"
    op.execute(f"alter table {TABLE} rename to {TABLE}_before")
    op.execute(table.replace(before, after))
    op.execute(f"insert into {TABLE} select * from {TABLE}_before")
    op.execute(f"drop table {TABLE}_before")
    for index in indexes:
        op.execute(index)


def _sql(kind: str) -> list[str]:
    """How the table, or its indexes, were made; those of constraints come with it."""
    rows = op.get_bind().exec_driver_sql(
        "select sql from sqlite_master where type = ? and tbl_name = ? and sql is not null order by rowid",
        (kind, TABLE),
    )
    return [row[0] for row in rows]
