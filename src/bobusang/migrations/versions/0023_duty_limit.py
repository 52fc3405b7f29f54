"""Simplified rates of duty hold up to a value; above it another row of the same goods may.

Every statement may be run again: MariaDB commits each of them by itself, so an upgrade may have died half-way.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from bobusang.kit.schema import Id

revision = "0023"
down_revision = "0022"

TABLE, NAME = "duty_rates", "uq_duty_rates_row"
ROW = ("country", "category", "material", "construction", "up_to", "valid_from")


def upgrade() -> None:
    if op.get_bind().dialect.name != "sqlite":
        op.execute(f"""
            alter table {TABLE} add column if not exists up_to bigint default 0 not null,
              drop constraint if exists {NAME}, add constraint {NAME} unique ({", ".join(ROW)})""")
        return
    with op.batch_alter_table(TABLE) as table:  # SQLite changes no constraint: the table is made anew
        table.add_column(sa.Column("up_to", Id, server_default=sa.text("0"), nullable=False))
        table.drop_constraint(op.f(NAME), type_="unique")
        table.create_unique_constraint(op.f(NAME), list(ROW))
