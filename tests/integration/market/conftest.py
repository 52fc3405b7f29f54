"""The engine's databases and its clock, for what runs at the market's side."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bobusang.kit.db import connect
from bobusang.sandbox.world import World
from bobusang.testing.yard import Yard
from tests.integration.engine.conftest import (  # noqa: F401
    clock,
    empty_mariadb,
    empty_postgres,
    empty_sqlite,
    migrated_mariadb,
    migrated_postgres,
    sqlite_template,
    url,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from bobusang.kit.db import Database
    from bobusang.testing.clock import ManualClock


@pytest.fixture
async def db(url: str, clock: ManualClock) -> AsyncIterator[Database]:  # noqa: F811
    """A database on a clock that stands still."""
    opened = await connect(url, clock=clock)
    yield opened
    await opened.close()


@pytest.fixture
async def yard(tmp_path: Path) -> AsyncIterator[Yard]:
    """The application over a sandbox, on SQLite."""
    async with Yard.opened(tmp_path, world=World(seed=5, size=240, brands=6)) as found:
        yield found
