"""What the tests of indexing do: collect and edit products, let the relay work, search."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from bobusang.catalog import products
from bobusang.flows.indexing import watching
from bobusang.flows.indexing.indexer import Indexer
from bobusang.kit import json
from bobusang.kit.errors import Unavailable
from bobusang.platform.bus import Event, publish
from bobusang.platform.buses.inprocess import InProcess
from bobusang.platform.caches.memory import MemoryCache
from bobusang.platform.caching import Caching
from bobusang.platform.relay import Relay
from bobusang.platform.search import Query
from bobusang.platform.searches.elsewhere import Elsewhere
from bobusang.platform.searches.embedded import EmbeddedSearch
from bobusang.testing.catalog import collect, reading
from bobusang.views.searching import Searching

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from pathlib import Path

    from bobusang.kit.db import Database, Tx
    from bobusang.platform.search import Document, Found
    from bobusang.platform.searches.embedded.rebuilding import EmbeddedRebuild
    from bobusang.testing.clock import ManualClock


class Slow(EmbeddedSearch):
    """An index whose answers and writes can be held back on their way, and whose writes can fail when they are done."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, idle=0)
        self.open, self.found = asyncio.Event(), asyncio.Event()
        self.open.set()
        self.lets_write, self.asked = asyncio.Event(), asyncio.Event()
        self.lets_write.set()
        self.lets_fill, self.filling = asyncio.Event(), asyncio.Event()
        self.lets_fill.set()
        self.fails = False
        self._under_way: set[asyncio.Task[None]] = set()

    async def put(self, documents: Sequence[Document]) -> None:
        """What was begun is written, whether or not anybody waits for it any more: so it is in a thread or a server."""
        self.asked.set()
        writing = asyncio.create_task(self._slowly(documents))
        self._under_way.add(writing)
        await asyncio.shield(writing)
        if self.fails:
            raise Unavailable("half of it is written")

    def hold(self) -> None:
        """Let the next rebuild come as far as its first page, and no further until `lets_fill`."""
        self.lets_fill.clear()
        self.filling.clear()

    async def written(self) -> None:
        """Until what was begun is written."""
        self.lets_write.set()
        await asyncio.gather(*self._under_way)

    async def _slowly(self, documents: Sequence[Document]) -> None:
        await self.lets_write.wait()
        await super().put(documents)

    async def rebuild(self) -> EmbeddedRebuild:
        self.filling.set()
        await self.lets_fill.wait()
        return await super().rebuild()

    async def search(self, query: Query) -> Found:
        found = await super().search(query)
        self.found.set()
        await self.open.wait()
        return found


class Deaf(MemoryCache):
    """A cache that all processes share, and that can be slow to be told something."""

    def __init__(self, clock: ManualClock) -> None:
        super().__init__(clock)
        self.listens, self.told = asyncio.Event(), asyncio.Event()
        self.listens.set()

    async def bump(self, tags: Sequence[str]) -> None:
        self.told.set()
        await self.listens.wait()
        await super().bump(tags)


@dataclass(frozen=True, slots=True)
class Library:
    """A database with its index."""

    db: Database
    clock: ManualClock
    index: Slow
    indexer: Indexer
    relay: Relay
    searching: Searching

    async def collect(self, key: str = "A1", **fields: Any) -> int:
        """A page said this of a product; its number."""
        told: dict[str, Any] = {
            "name": "나이키 구스다운 패딩",
            "brand": "NIKE",
            "brand_ko": "나이키",
            "price": 100,
            "currency": "KRW",
        }
        _, written = await collect(self.db, reading(key, **(told | fields)))
        return written.ids[0]

    async def edit(self, id: int, **values: object) -> None:
        """A person edits a product."""

        async def work(tx: Tx) -> None:
            await products.edit(tx, id, values)
            await publish(tx, Event("product.changed", f"okmall:{id}", {"id": id}))

        await self.db.transact(work)

    async def deliver(self) -> None:
        """Let events reach whoever waits for them."""
        while await self.relay.step():
            pass

    async def deliver_all(self) -> None:
        """The same, until none waits any more: another process may have to give the index back first."""
        async with asyncio.timeout(30):
            while True:
                await self.deliver()
                async with self.db.read() as tx:
                    if not (await watching.lag(tx)).waiting:
                        return
                self.clock.advance(seconds=1)
                await asyncio.sleep(0.01)

    async def ask(self, keyword: str) -> tuple[list[dict[str, Any]], str]:
        """The products found, and how the answer came about."""
        answer = await self.searching.find(Query(keyword))
        return json.loads(answer.body)["items"], answer.served.value

    async def find(self, keyword: str) -> tuple[list[int], str]:
        """The same by number."""
        found, served = await self.ask(keyword)
        return [item["id"] for item in found], served


@asynccontextmanager
async def opened(
    db: Database,
    clock: ManualClock,
    folder: Path,
    shared: MemoryCache | None = None,
    index: Slow | None = None,
) -> AsyncIterator[Library]:
    """A process on a database and the folder of an index, with a cache of its own or one that all share."""
    index = index or Slow(folder)
    caching = Caching(shared or MemoryCache(clock), clock)
    elsewhere = Elsewhere(index, caching, shared=shared is not None, every=0)
    indexer = Indexer(db, index, caching, elsewhere, market="buyma", answers_live=timedelta(minutes=6))
    consumers = InProcess()
    indexer.subscribe(consumers)
    await consumers.install(db)
    try:
        yield Library(db, clock, index, indexer, Relay(db, [consumers]), Searching(index, caching, elsewhere))
    finally:
        await caching.close()
        await index.close()
