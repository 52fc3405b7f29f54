"""Whether what was kept may still be believed: nobody takes an answer before one has looked."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from bobusang.kit.errors import Drifted
from bobusang.platform.caches.memory import MemoryCache
from bobusang.platform.caching import Caching
from bobusang.platform.searches.elsewhere import Elsewhere
from bobusang.platform.searches.embedded import EmbeddedSearch
from bobusang.testing.clock import ManualClock

if TYPE_CHECKING:
    from pathlib import Path


async def test_while_the_index_is_lost_everybody_is_told_and_not_only_the_first(tmp_path: Path) -> None:
    index, clock = EmbeddedSearch(tmp_path), ManualClock()
    elsewhere = Elsewhere(index, Caching(MemoryCache(clock), clock), shared=False, every=3600)
    building = await index.rebuild()
    await building.finish()
    shutil.rmtree(tmp_path)

    for _ in range(3):
        with pytest.raises(Drifted):
            await elsewhere.look()

    building = await index.rebuild()
    await building.finish()
    await elsewhere.look()
    shutil.rmtree(tmp_path)
    await elsewhere.look()  # it has looked a moment ago
    await index.close()
