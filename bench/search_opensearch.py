"""Filling an OpenSearch: our bulk against the plain helper of its client, which is handed rows that are ready made."""

from __future__ import annotations

import asyncio
import time
from statistics import median
from typing import TYPE_CHECKING, Any

import msgspec
from opensearchpy import AsyncOpenSearch
from opensearchpy.helpers import async_bulk

from bench.looked_for import documents
from bench.report import Line, at_least, interleaved, rate
from bobusang.platform.searches.opensearch.index import OpenSearch
from bobusang.platform.searches.opensearch.names import Names
from bobusang.platform.searches.opensearch.place import place
from bobusang.platform.searches.opensearch.schema import row
from tests.servers import opensearch

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bobusang.platform.search import Document

COUNT = {"quick": 20_000, "full": 100_000}
ROUNDS = {"quick": 3, "full": 5}
OURS, PLAIN = "ours, from documents to what is found", "the client's own helper, rows ready made"


class Grown(opensearch.OpenSearch):
    """A server as in production: more memory, and a compiler that takes its time."""

    heap = "1g"
    tuning = ()


def run(size: str) -> Iterator[Line]:
    """Both into an index of the same template, in turn; the time ends when the last product is found."""
    batches = list(documents(COUNT[size]))
    rows = [msgspec.to_builtins(row(document)) for batch in batches for document in batch]
    with Grown() as server:
        contenders = {
            OURS: lambda: asyncio.run(_ours(server.url, batches)),
            PLAIN: lambda: asyncio.run(_plain(server.url, rows)),
        }
        interleaved(1, contenders)  # the first time the server's code is still being compiled
        found = interleaved(ROUNDS[size], contenders)
    for name, values in found.items():
        yield rate(f"{COUNT[size]:,} products: {name}", values)
    yield at_least("ours ÷ the helper", median(found[OURS]) / median(found[PLAIN]), 0.7)


async def _ours(url: str, batches: Sequence[Sequence[Document]]) -> float:
    count = sum(map(len, batches))
    with opensearch.fresh(url) as within:
        search = OpenSearch(within)
        try:
            await (await search.rebuild()).finish()
            begun = time.perf_counter()
            for batch in batches:
                await search.put(batch)
            taken = time.perf_counter() - begun
            assert await search.count() == count
        finally:
            await search.close()
    return count / taken


async def _plain(url: str, rows: Sequence[dict[str, Any]]) -> float:
    with opensearch.fresh(url) as within:
        search = OpenSearch(within)
        there, index = place(within), Names(place(within).prefix).serving
        client = AsyncOpenSearch(hosts=[{"host": there.host, "port": there.port}], timeout=60)
        try:
            await (await search.rebuild()).finish()
            begun = time.perf_counter()
            await async_bulk(client, ({"_index": index, "_id": str(one["id"]), "_source": one} for one in rows))
            await client.indices.refresh(index=index)
            taken = time.perf_counter() - begun
            assert await search.count() == len(rows)
        finally:
            await search.close()
            await client.close()
    return len(rows) / taken
