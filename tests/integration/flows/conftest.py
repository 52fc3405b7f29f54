"""The whole application over a sandbox, on each database."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bobusang.sandbox.world import World
from bobusang.testing.yard import Yard

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


@pytest.fixture(params=["sqlite", "postgres", "mariadb"])
def database_url(request: pytest.FixtureRequest) -> str:
    found: str = request.getfixturevalue(f"empty_{request.param}")
    return found


@pytest.fixture(autouse=True)
def home(empty_sqlite: str, tmp_path: Path) -> Path:
    """Where applications that are told of no database find one that needs no migrating."""
    return tmp_path


@pytest.fixture
def world() -> World:
    return World(seed=5, size=240, brands=6)


@pytest.fixture
async def yard(tmp_path: Path, world: World) -> AsyncIterator[Yard]:
    """On SQLite, working."""
    async with Yard.opened(tmp_path, world=world) as found, found.working():
        yield found


@pytest.fixture
async def any_yard(tmp_path: Path, world: World, database_url: str) -> AsyncIterator[Yard]:
    """On each database, working."""
    async with Yard.opened(tmp_path, world=world, database_url=database_url) as found, found.working():
        yield found


@pytest.fixture
async def idle(tmp_path: Path) -> AsyncIterator[Yard]:
    """On SQLite, with nobody working: what is done is done by hand."""
    async with Yard.opened(tmp_path, world=World(seed=5, size=20, brands=2)) as found:
        yield found
