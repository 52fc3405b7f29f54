"""`door` is the API on all three databases, `small` on SQLite alone, for what no database has a say in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.integration.api.door import Door, opened
from tests.integration.api.shopfront import Shopfront, trading

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


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
