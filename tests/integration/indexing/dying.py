"""The program that dies in the middle of a rebuild: `python -m tests.integration.indexing.dying URL FOLDER NOW`."""

from __future__ import annotations

import asyncio
import sys
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from bobusang.flows.indexing import asking
from bobusang.flows.indexing.running import Rebuilding
from bobusang.kit.db import connect
from bobusang.platform.searches.embedded.rebuilding import EmbeddedRebuild
from bobusang.testing.clock import ManualClock
from tests.integration.indexing.library import Slow, opened

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bobusang.platform.search import Document


class Stuck(EmbeddedRebuild):
    """A new index that takes the first page and never ends."""

    async def put(self, documents: Sequence[Document]) -> None:
        await super().put(documents)
        print(len(documents), flush=True)
        await asyncio.Event().wait()


class Stalling(Slow):
    """An index whose rebuild never ends."""

    async def rebuild(self) -> EmbeddedRebuild:
        new = await super().rebuild()
        return Stuck(new._filling, new._off_loop, new._end)


async def die(url: str, folder: Path, now: datetime) -> None:
    """Ask for a rebuild, begin it, and go no further."""
    clock = ManualClock(now)
    db = await connect(url, clock=clock)
    async with opened(db, clock, folder, index=Stalling(folder)) as found:
        await db.transact(asking.ask)
        await Rebuilding(found.indexer).heal()


if __name__ == "__main__":
    asyncio.run(die(sys.argv[1], Path(sys.argv[2]), datetime.fromisoformat(sys.argv[3])))
