"""A database, an embedded index and a cache with the indexer between them, on each database."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bobusang.flows.indexing.rebuilding import rebuild
from tests.integration.indexing.library import opened

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from bobusang.kit.db import Database
    from bobusang.testing.clock import ManualClock
    from tests.integration.indexing.library import Library


@pytest.fixture
async def library(db: Database, clock: ManualClock, tmp_path: Path) -> AsyncIterator[Library]:
    """With an index that is there, and empty."""
    async with opened(db, clock, tmp_path / "search") as found:
        async for _ in rebuild(found.indexer):
            pass
        clock.advance(seconds=1)
        yield found


@pytest.fixture
async def branch(library: Library, other: Database, clock: ManualClock) -> AsyncIterator[Library]:
    """Another process on the same database and folder, with a cache of its own."""
    async with opened(other, clock, library.index.folder) as found:
        yield found
