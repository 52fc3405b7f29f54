"""One migrated database a session on each server, emptied for each test; SQLite's file is simply copied."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from bobusang import migrations
from bobusang.kit.db import connect
from bobusang.testing.clock import ManualClock
from tests.integration.engine.emptying import emptied
from tests.servers import mariadb, postgres
from tests.servers.server import wait_for

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    from bobusang.kit.db import Database

DATABASES = ["sqlite", "postgres", "mariadb"]


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("template") / "bobusang.db"
    wait_for(migrations.upgrade(f"sqlite:///{path}"))
    return path


@pytest.fixture(scope="session")
def migrated_postgres(postgres_url: str) -> Iterator[str]:
    with postgres.fresh(postgres_url) as url:
        wait_for(migrations.upgrade(url))
        yield url


@pytest.fixture(scope="session")
def migrated_mariadb(mariadb_url: str) -> Iterator[str]:
    with mariadb.fresh(mariadb_url) as url:
        wait_for(migrations.upgrade(url))
        yield url


@pytest.fixture
def empty_sqlite(sqlite_template: Path, tmp_path: Path) -> str:
    path = shutil.copy(sqlite_template, tmp_path / "bobusang.db")
    return f"sqlite:///{path}"


@pytest.fixture
async def empty_postgres(migrated_postgres: str) -> str:
    return await emptied(migrated_postgres)


@pytest.fixture
async def empty_mariadb(migrated_mariadb: str) -> str:
    return await emptied(migrated_mariadb)


@pytest.fixture(params=DATABASES)
def url(request: pytest.FixtureRequest) -> str:
    """An address with all our tables, each of them empty."""
    found: str = request.getfixturevalue(f"empty_{request.param}")
    return found


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def db(url: str, clock: ManualClock) -> AsyncIterator[Database]:
    """A database on a clock that stands still."""
    opened = await connect(url, clock=clock)
    yield opened
    await opened.close()


@pytest.fixture
async def other(db: Database, clock: ManualClock) -> AsyncIterator[Database]:
    """A second process on the same database."""
    opened = await connect(db.url, clock=clock)
    yield opened
    await opened.close()
