"""What other processes write into the index, of which a cache of this process alone is not told: then all that it has
kept is made old."""

from __future__ import annotations

import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from bobusang.platform.searches.tags import EVERY

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from bobusang.platform.caching import Caching
    from bobusang.platform.search import Search

LOOK_EVERY = 0.5
"""Seconds between two looks whether another process has written."""


class Elsewhere:
    """Knows up to which write of the index the cache was told. `shared`: the cache is everybody's, so that whoever
    writes tells it himself, and there is nothing to look for."""

    def __init__(self, index: Search, caching: Caching, *, shared: bool, every: float = LOOK_EVERY) -> None:
        self._index = index
        self._caching = caching
        self._shared = shared
        self._every = every
        self._told: int | None = None
        self._looked = float("-inf")
        self._writing = 0

    async def look(self) -> None:
        """Now and then, before an answer is taken from the cache."""
        now = time.monotonic()
        if self._shared or self._writing or now - self._looked < self._every:
            return
        self._looked = now
        try:
            await self._compare()
        except BaseException:
            self._looked = float("-inf")  # nobody may take what was kept for true before one has looked
            raise

    @asynccontextmanager
    async def our_own(self) -> AsyncIterator[None]:
        """A write of this process, which tells the cache of it by itself; others do not write meanwhile."""
        if self._shared:
            yield
            return
        await self._compare()
        self._writing += 1
        try:
            yield
            self._told = await self._index.renew()
        finally:
            self._writing -= 1

    async def _compare(self) -> None:
        written = await self._index.renew()
        if self._told is not None and self._told != written and not self._writing:
            await self._caching.bump([EVERY])
        if not self._writing:
            self._told = written
