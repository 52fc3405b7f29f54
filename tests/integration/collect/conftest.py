"""The engine's databases and its clock, for the collect stage."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bobusang.kit.db import connect
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

    from bobusang.kit.db import Database
    from bobusang.testing.clock import ManualClock


@pytest.fixture
async def db(url: str, clock: ManualClock) -> AsyncIterator[Database]:  # noqa: F811
    """A database on a clock that stands still."""
    opened = await connect(url, clock=clock)
    yield opened
    await opened.close()


@pytest.fixture
async def other(db: Database, clock: ManualClock) -> AsyncIterator[Database]:  # noqa: F811
    """A second process on the same database."""
    opened = await connect(db.url, clock=clock)
    yield opened
    await opened.close()
