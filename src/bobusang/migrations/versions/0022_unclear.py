"""A search whose offers cannot be compared is told from one that shows nobody.

Every statement may be run again: MariaDB commits each of them by itself, so an upgrade may have died half-way.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"

TABLE, NAME = "competitor_prices", "ck_competitor_prices_search"
ALLOWED = "search in ('FOUND', 'EMPTY', 'UNCLEAR', 'FAILED', 'NEVER')"


def upgrade() -> None:
    if op.get_bind().dialect.name != "sqlite":
        op.execute(f"alter table {TABLE} drop constraint if exists {NAME}, add constraint {NAME} check ({ALLOWED})")
        return
    with op.batch_alter_table(TABLE) as table:  # SQLite changes no constraint: the table is made anew
        table.drop_constraint(op.f(NAME), type_="check")
        table.create_check_constraint(op.f(NAME), sa.text(ALLOWED))
