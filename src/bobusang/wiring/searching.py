"""Searching, put together: index, cache, the consumer that keeps the index true, and what doors ask."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from bobusang.flows.indexing import running, watching
from bobusang.flows.indexing.indexer import Indexer
from bobusang.flows.indexing.running import Rebuilding
from bobusang.platform import caches, searches
from bobusang.platform.caching import Caching, Times
from bobusang.platform.searches.elsewhere import Elsewhere
from bobusang.views.searching import Searching

if TYPE_CHECKING:
    from bobusang.engine.upkeep.duty import Duty
    from bobusang.kit.db import Database
    from bobusang.platform.search import Search
    from bobusang.settings import Settings

FOLDER = "search"
STALE = 60.0
"""Seconds that an answer is served beyond its time, while a new one is made."""
EMPTY = 30.0
"""Seconds that nothing found is believed; a product that comes ends it at once anyway."""


@dataclass(frozen=True, slots=True)
class Finder:
    """The index of one process and everything around it."""

    index: Search
    caching: Caching
    indexer: Indexer
    rebuilding: Rebuilding
    searching: Searching

    def duties(self) -> list[Duty]:
        """What upkeep does for searching."""
        return [running.look(self.rebuilding), watching.watch(self.indexer.db)]

    async def close(self) -> None:
        """Give up what is under way, and everything back."""
        await self.rebuilding.stop()
        await self.caching.close()
        await self.index.close()


def finder(settings: Settings, database: Database, market: str) -> Finder:
    """Everything that searching needs; nothing is reached yet."""
    index = searches.opened(settings.search_url, folder=Path(settings.home) / FOLDER)
    times = Times(fresh=settings.cache_seconds, stale=STALE, empty=min(EMPTY, settings.cache_seconds))
    caching = Caching(caches.opened(settings.cache_url, database.clock), database.clock, times)
    live = timedelta(seconds=times.fresh + times.stale)
    elsewhere = Elsewhere(index, caching, shared=bool(settings.cache_url))
    indexer = Indexer(database, index, caching, elsewhere, market=market, answers_live=live)
    searching = Searching(index, caching, elsewhere)
    return Finder(index, caching, indexer, Rebuilding(indexer), searching)
