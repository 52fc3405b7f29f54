"""One migrated database a session on each server, emptied for each test; SQLite's file is simply copied."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from bobusang import migrations
from bobusang.testing.clock import ManualClock
from bobusang.testing.workshop import Workshop
from tests.integration.engine.emptying import emptied
from tests.servers import mariadb, postgres
from tests.servers.server import wait_for

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

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
    """An address with the engine's tables, all of them empty."""
    found: str = request.getfixturevalue(f"empty_{request.param}")
    return found


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def shop(url: str, clock: ManualClock) -> AsyncIterator[Workshop]:
    """An engine on a clock that stands still."""
    async with Workshop.opened(url, clock=clock) as opened:
        yield opened


@pytest.fixture
async def other(shop: Workshop, clock: ManualClock) -> AsyncIterator[Workshop]:
    """A second process on the same database and the same clock."""
    async with Workshop.opened(shop.db.url, clock=clock) as opened:
        yield opened


@pytest.fixture
async def live(url: str) -> AsyncIterator[Workshop]:
    """An engine on the database's own time, for whole flows with real workers."""
    async with Workshop.opened(url) as opened:
        yield opened
