"""What other processes write into the index. A cache of this process alone is not told of it, so that all it has kept
is made old; one that all share was told by whoever wrote, unless that one died on the way."""

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
    writes tells it himself, and there is nothing to look for before an answer."""

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
    async def our_own(self) -> AsyncIterator[bool]:
        """A write of this process, which tells the cache of it by itself; others do not write meanwhile. Says whether
        another may have written since our last one, and not have come to tell of it."""
        others = await self._compare()
        self._writing += 1
        try:
            yield others
            self._told = await self._index.renew()
        finally:
            self._writing -= 1

    async def _compare(self) -> bool:
        """Whether the index is another one than at our last write or look, or we never looked."""
        written = await self._index.renew()
        others = self._told != written
        if others and self._told is not None and not self._shared and not self._writing:
            await self._caching.bump([EVERY])
        if not self._writing:
            self._told = written
        return others
