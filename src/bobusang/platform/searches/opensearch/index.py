"""The index in OpenSearch as the contract of search has it."""

from __future__ import annotations

from contextlib import asynccontextmanager, suppress
from hashlib import blake2b
from typing import TYPE_CHECKING

from bobusang.kit import json
from bobusang.kit.clock import SystemClock
from bobusang.kit.errors import BobusangError, Conflict, Drifted
from bobusang.platform.searches.opensearch import searching, suggesting
from bobusang.platform.searches.opensearch.bulk import Bulk, deletes, puts
from bobusang.platform.searches.opensearch.lease import Lease
from bobusang.platform.searches.opensearch.names import Names
from bobusang.platform.searches.opensearch.place import place
from bobusang.platform.searches.opensearch.reading import Reading
from bobusang.platform.searches.opensearch.rebuilding import Indices, OpenSearchRebuild
from bobusang.platform.searches.opensearch.schema import read
from bobusang.platform.searches.opensearch.server import SECONDS, Server

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator, Sequence

    from bobusang.kit.clock import Clock
    from bobusang.platform.search import Document, Found, Query, Suggestion
    from bobusang.platform.searches.opensearch.lease import Rhythm

WRITTEN = "indices.*.uuid,indices.*.shards.*.seq_no.max_seq_no"


class OpenSearch:
    """An index of products behind an alias, which any number of processes search and one at a time writes."""

    def __init__(
        self, url: str, *, clock: Clock | None = None, seconds: float = SECONDS, rhythm: Rhythm | None = None
    ) -> None:
        there = place(url)
        self._names = Names(there.prefix)
        self._server = Server(there, seconds=seconds)
        self._reading = Reading(self._server, self._names.serving)
        self._indices = Indices(self._server, self._names)
        self._lease = Lease(self._server, self._names.writer, clock or SystemClock(), rhythm)
        self._bulk = Bulk(self._server, self._lease)
        self._building = ""

    async def put(self, documents: Sequence[Document]) -> None:
        latest = {document.id: document for document in documents}.values()
        if latest:
            await self._both(lambda targets: puts(latest, targets))

    async def delete(self, ids: Sequence[int]) -> None:
        if ids:
            await self._both(lambda targets: deletes(dict.fromkeys(ids), targets))

    async def get(self, ids: Sequence[int]) -> dict[int, Document]:
        found = map(read, await self._reading.sources(ids))
        return {document.id: document for document in found}

    async def search(self, query: Query) -> Found:
        return await searching.search(self._reading, query)

    async def suggest(self, typed: str, limit: int = 10) -> tuple[Suggestion, ...]:
        return await suggesting.suggest(self._reading, typed, limit)

    async def renew(self) -> int:
        """Nothing to do: what is written is seen at once, by all. The number is made of what was written last."""
        written = await self._reading.call("GET", "_stats/docs", level="shards", filter_path=WRITTEN)
        return int.from_bytes(blake2b(json.dumps(written).encode(), digest_size=7).digest())

    async def count(self) -> int:
        return int((await self._reading.call("GET", "_count"))["count"])

    def digests(self) -> AsyncIterator[tuple[int, str]]:
        return self._reading.digests()

    async def rebuild(self) -> OpenSearchRebuild:
        if self._building:
            raise Conflict("a rebuild of the search index is under way", hint="wait for its end")
        async with self._writing():
            self._building = await self._indices.begin()
        index = self._building

        async def end(serve: bool) -> None:
            if serve:
                async with self._writing():
                    await self._indices.switch(index)
                    self._building = ""
            else:
                self._building = ""
                self._lease.rest()
                await self._indices.drop(index)

        return OpenSearchRebuild(self._bulk, self._names.building, end)

    async def check(self) -> None:
        await self.renew()

    async def close(self) -> None:
        with suppress(BobusangError):  # what is left behind is dropped by the next rebuild
            if self._building:
                await self._indices.drop(self._building)
        await self._lease.give_back()
        await self._server.close()

    async def _both(self, changes: Callable[[Sequence[str]], Iterator[bytes]]) -> None:
        """Into the index that serves, and into the one that is built; while that is done the old one may be broken."""
        async with self._writing():
            if self._building:
                await self._bulk.send(changes([self._names.building]))
            try:
                await self._bulk.send(changes([self._names.serving]), refreshed=[self._names.serving])
            except Drifted:
                if not self._building:
                    raise

    @asynccontextmanager
    async def _writing(self) -> AsyncIterator[None]:
        try:
            await self._lease.take()
        except Conflict:
            await self.check()  # an index that is not there is the worse news
            raise
        try:
            yield
        finally:
            if not self._building:
                self._lease.rest()
