"""A number of a dated row is never given again: by the highest of them running processes know that rows have changed.

Every statement may be run again: MariaDB commits each of them by itself, so an upgrade may have died half-way.
"""

from __future__ import annotations

from alembic import op

revision = "0026"
down_revision = "0025"

COLUMN, KEYED = "id INTEGER NOT NULL", "PRIMARY KEY (id), \n\t"
TABLES = ("market_fees", "freight_rates", "duty_rates", "import_taxes")


def upgrade() -> None:
    if op.get_bind().dialect.name != "sqlite":
        return  # their counters never go back
    for name in TABLES:
        make_anew(name)


def make_anew(name: str) -> None:
    """SQLite changes no key of a table that is there; all of this is one transaction."""
    found = op.get_bind().exec_driver_sql("select sql from sqlite_master where type = 'table' and name = ?", (name,))
    before = found.scalar_one()
    op.execute(f"alter table {name} rename to {name}_before")
    op.execute(before.replace(KEYED, "").replace(COLUMN, f"{COLUMN} PRIMARY KEY AUTOINCREMENT", 1))
    op.execute(f"insert into {name} select * from {name}_before")
    op.execute(f"drop table {name}_before")
