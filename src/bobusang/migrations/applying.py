"""The history applied by Alembic; not imported where the database is current already, for it takes 20 MB."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine, event, text
from sqlalchemy.exc import DBAPIError

from bobusang.catalog import views as catalog_views
from bobusang.engine import views as engine_views
from bobusang.kit.db import dialect_of
from bobusang.kit.dbs.lane import with_log
from bobusang.kit.dbs.sqlite import place
from bobusang.kit.errors import Unavailable
from bobusang.kit.sql import Dialect
from bobusang.views import first_conveyor

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from sqlalchemy import Connection

HERE = Path(__file__).parent
LOCK = 824_119
"""Two processes that start together must not both migrate: the second waits for the first, …"""
PATIENCE = 60
"""… for so many seconds."""


def scripts() -> ScriptDirectory:
    """The history itself."""
    return ScriptDirectory.from_config(_config())


async def apply(url: str, revision: str) -> None:
    """Bring the database to a revision, one process at a time."""
    await _with_connection(url, lambda connection: _upgrade(connection, revision))


def _upgrade(connection: Connection, revision: str) -> None:
    dialect = connection.dialect.name
    if dialect == "postgresql":
        connection.execute(text(f"select pg_advisory_xact_lock({LOCK})"))
    elif dialect != "sqlite":
        connection.execute(text("set session sql_notes = 0"))
        connection.execute(text(f"select get_lock('bobusang-{LOCK}', {PATIENCE})"))
    try:
        _drop_views(connection)
        command.upgrade(_config(connection), revision)
        if revision in ("head", scripts().get_current_head()):
            _make_views(connection)
    finally:
        if dialect not in ("postgresql", "sqlite"):
            connection.execute(text(f"select release_lock('bobusang-{LOCK}')"))


def _drop_views(connection: Connection) -> None:
    """Views are not part of the history: they are made anew by each upgrade, so that a table they show may change."""
    for name in reversed((*engine_views.NAMES, *catalog_views.DEFINITIONS, *first_conveyor.NAMES)):
        connection.execute(text(f"drop view if exists {name}"))


def _make_views(connection: Connection) -> None:
    name = connection.dialect.name
    dialect = Dialect.MARIADB if name in ("mysql", "mariadb") else Dialect(name)
    shown = engine_views.definitions(dialect) | catalog_views.DEFINITIONS | first_conveyor.definitions(dialect)
    for view, select in shown.items():
        connection.exec_driver_sql(
            f"create view {view} as {select}".replace("%", "%%" if dialect is Dialect.MARIADB else "%")
        )


def _config(connection: Connection | None = None) -> Config:
    config = Config()
    config.set_main_option("script_location", str(HERE).replace("%", "%%"))
    config.attributes["connection"] = connection
    return config


async def _with_connection(url: str, work: Callable[[Connection], Any]) -> Any:
    try:
        if dialect_of(url) is Dialect.SQLITE:
            place(url)
            return await asyncio.to_thread(_with_sqlite, url, work)
        async with _engine(url) as engine, engine.begin() as connection:
            return await connection.run_sync(work)
    except (DBAPIError, OSError) as error:
        cause = getattr(error, "orig", None) or error
        raise Unavailable(
            f"the database cannot be read or upgraded: {cause}", hint="check BOBUSANG_DATABASE_URL"
        ) from error


@asynccontextmanager
async def _engine(url: str) -> AsyncIterator[Any]:
    from sqlalchemy.ext.asyncio import create_async_engine  # needs greenlet, which the base install does not have

    parts = urlsplit(url)
    driver = "postgresql+asyncpg" if dialect_of(url) is Dialect.POSTGRES else "mariadb+asyncmy"
    engine = create_async_engine(parts._replace(scheme=driver).geturl())
    try:
        yield engine
    finally:
        await engine.dispose()


def _with_sqlite(url: str, work: Callable[[Connection], Any]) -> Any:
    engine = create_engine(url, connect_args={"timeout": PATIENCE})

    @event.listens_for(engine, "connect")
    def connected(connection: Any, _record: object) -> None:
        connection.isolation_level = None  # so that DDL too is inside the transaction begun below
        with_log(connection)

    @event.listens_for(engine, "begin")
    def begun(connection: Connection) -> None:
        connection.exec_driver_sql("begin immediate")

    try:
        with engine.begin() as connection:
            return work(connection)
    finally:
        engine.dispose()
