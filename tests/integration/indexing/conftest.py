"""A database, an embedded index and a cache with the indexer between them, on each database."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from bobusang.flows.indexing.indexer import Indexer
from bobusang.flows.indexing.rebuilding import rebuild
from bobusang.platform.buses.inprocess import InProcess
from bobusang.platform.caches.memory import MemoryCache
from bobusang.platform.caching import Caching
from bobusang.platform.relay import Relay
from bobusang.platform.searches.embedded import EmbeddedSearch
from bobusang.views.searching import Searching
from tests.integration.indexing.library import Library

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from bobusang.kit.db import Database
    from bobusang.testing.clock import ManualClock


@pytest.fixture
async def library(db: Database, clock: ManualClock, tmp_path: Path) -> AsyncIterator[Library]:
    """With an index that is there, and empty."""
    index = EmbeddedSearch(tmp_path / "search")
    caching = Caching(MemoryCache(clock), clock)
    indexer = Indexer(db, index, caching, market="buyma", answers_live=timedelta(minutes=6))
    consumers = InProcess()
    indexer.subscribe(consumers)
    await consumers.install(db)
    async for _ in rebuild(indexer):
        pass
    clock.advance(seconds=1)
    searching = Searching(index, caching, shared=True, own_writes=lambda: indexer.writes)
    yield Library(db, index, indexer, Relay(db, [consumers]), searching)
    await caching.close()
    await index.close()
