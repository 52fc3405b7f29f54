"""`door` is the API on all three databases, `small` on SQLite alone, for what no database has a say in."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from bobusang import migrations
from bobusang.entry.tables import api_keys
from bobusang.kit.db import connect
from tests.integration.api.door import Door, opened
from tests.integration.api.shopfront import Shopfront, trading
from tests.integration.engine.emptying import emptied
from tests.servers import mariadb, postgres
from tests.servers.server import wait_for

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("api") / "bobusang.db"
    wait_for(migrations.upgrade(f"sqlite:///{path}"))
    return path


@pytest.fixture(scope="session")
def api_postgres(postgres_url: str) -> Iterator[str]:
    with postgres.fresh(postgres_url) as url:
        wait_for(migrations.upgrade(url))
        yield url


@pytest.fixture(scope="session")
def api_mariadb(mariadb_url: str) -> Iterator[str]:
    with mariadb.fresh(mariadb_url) as url:
        wait_for(migrations.upgrade(url))
        yield url


@pytest.fixture
def empty_sqlite(template: Path, tmp_path: Path) -> str:
    return f"sqlite:///{shutil.copy(template, tmp_path / 'bobusang.db')}"


@pytest.fixture
async def empty_postgres(api_postgres: str) -> str:
    return await without_rows(api_postgres)


@pytest.fixture
async def empty_mariadb(api_mariadb: str) -> str:
    return await without_rows(api_mariadb)


async def without_rows(url: str) -> str:
    await emptied(url)
    db = await connect(url, pool=1)
    await db.transact(lambda tx: tx.execute(api_keys.delete()))
    await db.close()
    return url


@pytest.fixture(params=["sqlite", "postgres", "mariadb"])
def url(request: pytest.FixtureRequest) -> str:
    found: str = request.getfixturevalue(f"empty_{request.param}")
    return found


@pytest.fixture
async def door(url: str, tmp_path: Path) -> AsyncIterator[Door]:
    async with opened(url, tmp_path) as found:
        yield found


@pytest.fixture
async def small(empty_sqlite: str, tmp_path: Path) -> AsyncIterator[Door]:
    async with opened(empty_sqlite, tmp_path) as found:
        yield found


@pytest.fixture
async def front(empty_sqlite: str, tmp_path: Path) -> AsyncIterator[Shopfront]:
    """The API over a running sandbox."""
    async with trading(empty_sqlite, tmp_path) as found:
        yield found
