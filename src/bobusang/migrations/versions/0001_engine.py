"""The engine's tables and views, the outbox, audit log and alerts."""

from __future__ import annotations

from alembic import op

from bobusang.engine import views
from bobusang.kit.schema import metadata
from bobusang.kit.sql import Dialect

revision = "0001"
down_revision = None


def upgrade() -> None:
    bind = op.get_bind()
    metadata.create_all(bind)
    name = bind.dialect.name
    dialect = Dialect.MARIADB if name in ("mysql", "mariadb") else Dialect(name)
    for view, select in views.definitions(dialect).items():
        op.execute(
            f"create view {view} as {select}"
            if dialect is Dialect.SQLITE
            else f"create or replace view {view} as {select}"
        )
    if dialect is Dialect.POSTGRES:
        op.execute("create sequence if not exists task_ids as bigint minvalue 1 start 1 increment by 1000")
    if dialect is Dialect.MARIADB:
        op.execute("create sequence if not exists task_ids minvalue 1 start with 1 increment by 1000 nocache")
    if dialect is Dialect.SQLITE:
        op.execute("insert into id_blocks (name, next) values ('task', 1)")
