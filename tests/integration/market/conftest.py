"""The application over a sandbox, for what runs at the market's side."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bobusang.sandbox.world import World
from bobusang.testing.yard import Yard

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


@pytest.fixture
async def yard(empty_sqlite: str, tmp_path: Path) -> AsyncIterator[Yard]:
    """The application over a sandbox, on SQLite."""
    async with Yard.opened(tmp_path, world=World(seed=5, size=240, brands=6), database_url=empty_sqlite) as found:
        yield found
