"""The embedded index by itself: how quickly it is filled, how much memory that takes, how long a search takes."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from statistics import quantiles
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import psutil

from bench.looked_for import documents, queries
from bench.report import Line, at_least, at_most
from bobusang.platform.search import Query
from bobusang.platform.searches.embedded import EmbeddedSearch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bobusang.platform.search import Document

COUNT = {"quick": 100_000, "full": 1_000_000}
SECONDS = {"quick": 10, "full": 60}
EACH_SECOND = 50
MEGABYTE = 1 << 20


def run(size: str) -> Iterator[Line]:
    with TemporaryDirectory() as folder:
        yield from asyncio.run(_measured(Path(folder), COUNT[size], SECONDS[size]))


async def _measured(folder: Path, count: int, seconds: int) -> list[Line]:
    search = EmbeddedSearch(folder)
    try:
        lines = await _filled(search, count)
        stored = await asyncio.to_thread(_size, folder)
        lines.append(Line("bytes of the index a product", f"{stored / count:.0f}"))
        return lines + await searched(search, seconds) + await _changed(search)
    finally:
        await search.close()


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


async def _filled(search: EmbeddedSearch, count: int) -> list[Line]:
    """Documents are made outside of the time that counts."""
    process, taken, highest = psutil.Process(), 0.0, 0
    before = process.memory_info().rss
    rebuild = await search.rebuild()
    for batch in documents(count):
        begun = time.perf_counter()
        await rebuild.put(batch)
        taken += time.perf_counter() - begun
        highest = max(highest, process.memory_info().rss)
    begun = time.perf_counter()
    await rebuild.finish()
    taken += time.perf_counter() - begun
    highest = max(highest, process.memory_info().rss)
    return [
        at_least(f"filling it with {count:,} products", count / taken, 20_000, "/s"),
        at_most("memory that filling takes", (highest - before) / MEGABYTE, 1_000, "MB"),
    ]


async def searched(search: EmbeddedSearch, seconds: int) -> list[Line]:
    """Each search begins at its time, whether or not the one before has ended."""
    wanted = queries(EACH_SECOND * seconds)
    for query in wanted[:50]:
        await search.search(query)
    begun = time.perf_counter()
    waits = await asyncio.gather(
        *(_timed(search, query, begun + 0.1 + place / EACH_SECOND) for place, query in enumerate(wanted))
    )
    cuts = quantiles(waits, n=100)
    what = f"search with facets, {EACH_SECOND}/s"
    return [
        at_most(f"{what}, p50", cuts[49] * 1000, 5, "ms"),
        Line(f"{what}, p90", f"{cuts[89] * 1000:.3g} ms"),
        at_most(f"{what}, p99", cuts[98] * 1000, 20, "ms"),
    ]


async def _timed(search: EmbeddedSearch, query: Query, at: float) -> float:
    await asyncio.sleep(at - time.perf_counter())
    await search.search(query)
    return time.perf_counter() - at


async def _changed(search: EmbeddedSearch) -> list[Line]:
    """A change of ten products, until it is found."""
    batch: list[Document] = next(documents(10))
    waits = []
    for _ in range(20):
        begun = time.perf_counter()
        await search.put(batch)
        await search.search(Query(batch[0].model))
        waits.append(time.perf_counter() - begun)
    return [Line("from a change of ten products to finding it, median", f"{sorted(waits)[10] * 1000:.3g} ms")]
