"""The embedded index, with facets, against `ILIKE` over a trigram index on PostgreSQL: the same products and searches.

A page and its total are asked of PostgreSQL, no facets and no relevance; every word must stand somewhere in the text.
What is mistyped, abbreviated or in another script it does not find, and is not asked to.
"""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import asyncpg

from bench.catalogue import filled
from bench.looked_for import documents, queries
from bench.report import Line, at_least
from bench.searching import searched
from bench.servers import FRESH
from bobusang.platform.search import Sort
from bobusang.platform.searches.embedded import EmbeddedSearch

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bobusang.platform.search import Query

COUNT = {"quick": 50_000, "full": 1_000_000}
SECONDS = {"quick": 5, "full": 60}
ASKED = {"quick": 100, "full": 500}
TEXT = "coalesce(name,'') || ' ' || coalesce(brand,'') || ' ' || coalesce(brand_ko,'') || ' ' || coalesce(model,'')"
PREPARED = (
    "create extension if not exists pg_trgm",
    f"create index ix_bench_text on products using gin (({TEXT}) gin_trgm_ops)",
    "vacuum analyze products",
)
ORDERS = {
    Sort.RELEVANCE: "id",
    Sort.CHEAPEST: "price, id",
    Sort.DEAREST: "price desc, id",
    Sort.NEWEST: "updated_at desc, id",
}


def run(size: str) -> Iterator[Line]:
    wanted = queries(ASKED[size])
    with TemporaryDirectory() as folder:
        ours = asyncio.run(_ours(Path(folder), COUNT[size], wanted, SECONDS[size]))
    with FRESH["postgresql"]() as url:
        filled(url, COUNT[size])
        theirs = asyncio.run(_theirs(url, wanted))
    what = f"{len(wanted)} searches in {COUNT[size]:,} products"
    yield from ours[1]
    yield Line(f"{what}: embedded, with facets", f"{ours[0]:.2f} s")
    yield Line(f"{what}: ILIKE, page and total", f"{theirs:.2f} s")
    yield at_least("ILIKE ÷ embedded", theirs / ours[0], 5)


async def _ours(folder: Path, count: int, wanted: Sequence[Query], seconds: int) -> tuple[float, list[Line]]:
    search = EmbeddedSearch(folder)
    try:
        rebuild = await search.rebuild()
        for batch in documents(count):
            await rebuild.put(batch)
        await rebuild.finish()
        for query in wanted[:20]:
            await search.search(query)
        await search.put(next(documents(1)))  # another commit, of which nothing is remembered
        begun = time.perf_counter()
        for query in wanted:
            await search.search(query)
        return time.perf_counter() - begun, await searched(search, seconds)
    finally:
        await search.close()


async def _theirs(url: str, wanted: Sequence[Query]) -> float:
    connection = await asyncpg.connect(url)
    try:
        for statement in PREPARED:
            await connection.execute(statement, timeout=1200)
        for query in wanted[:20]:
            await _asked(connection, query)
        begun = time.perf_counter()
        for query in wanted:
            await _asked(connection, query)
        return time.perf_counter() - begun
    finally:
        await connection.close()


async def _asked(connection: asyncpg.Connection, query: Query) -> None:
    given: list[object] = [f"%{word}%" for word in query.keyword.split()]
    where = [f"({TEXT}) ilike ${place}" for place in range(1, len(given) + 1)]
    for clause, value in (
        ("price >= ${}", query.min_price or None),
        ("price <= ${}", query.max_price or None),
        ("mall = any(${})", list(query.malls) or None),
        ("in_stock = ${}", query.in_stock),
    ):
        if value is not None:
            given.append(value)
            where.append(clause.format(len(given)))
    having = " and ".join(where)
    await connection.fetch(f"select * from products where {having} order by {ORDERS[query.sort]} limit 20", *given)
    await connection.fetchval(f"select count(*) from (select 1 from products where {having} limit 10001) found", *given)
