"""Each test here runs on SQLite, PostgreSQL and MariaDB, with a clock of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from sqlalchemy import Column, Table
from sqlalchemy.schema import CreateIndex, CreateTable, MetaData

from bobusang.kit.db import connect
from bobusang.kit.schema import Id, key
from bobusang.kit.sql import SQLALCHEMY
from bobusang.platform import tables
from tests.integration.platform.manual import ManualClock
from tests.integration.platform.receiver import Receiver, receiving

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from bobusang.kit.db import Database

TABLES = (
    tables.outbox,
    tables.subscriptions,
    tables.deliveries,
    tables.delivery_keys,
    tables.audit_log,
    tables.alerts,
    tables.api_replies,
)

effects = Table(
    "effects",
    MetaData(),
    Column("id", Id, primary_key=True, autoincrement=True),
    Column("event_id", Id, nullable=False),
    Column("event_key", key(200), nullable=False),
)


async def create_tables(db: Database) -> None:
    dialect = SQLALCHEMY[db.dialect]
    async with db.begin() as tx:
        for table in (*TABLES, effects):
            await tx._execute(str(CreateTable(table).compile(dialect=dialect)), ())
            for index in table.indexes:
                await tx._execute(str(CreateIndex(index).compile(dialect=dialect)), ())


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture(params=["sqlite", "postgres", "mariadb"])
def url(request: pytest.FixtureRequest) -> str:
    found: str = request.getfixturevalue(f"fresh_{request.param}")
    return found


@pytest.fixture
async def db(url: str, clock: ManualClock) -> AsyncIterator[Database]:
    database = await connect(url, clock=clock)
    await create_tables(database)
    yield database
    await database.close()


@pytest.fixture
async def other_db(db: Database, clock: ManualClock) -> AsyncIterator[Database]:
    """A second process's view of the same database."""
    database = await connect(db.url, clock=clock)
    yield database
    await database.close()


@pytest.fixture
async def small_db(fresh_sqlite: str, clock: ManualClock) -> AsyncIterator[Database]:
    """For what has nothing to do with the database's dialect."""
    database = await connect(fresh_sqlite, clock=clock)
    await create_tables(database)
    yield database
    await database.close()


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    async with receiving() as found:
        yield found
