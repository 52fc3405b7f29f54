"""The embedded index as the contract of search has it: threads, the searcher of the moment, the one writer."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from tantivy import FieldType, Order, Query

from bobusang.kit import cores
from bobusang.kit.errors import Conflict, Drifted
from bobusang.platform.search import COUNTED, MOST, Found, Hit
from bobusang.platform.searches.embedded.asking import ask
from bobusang.platform.searches.embedded.clauses import every, of_brand, one_of
from bobusang.platform.searches.embedded.facets import Counted, counted
from bobusang.platform.searches.embedded.paging import LARGEST, page, price_between, stocked, stretches
from bobusang.platform.searches.embedded.rebuilding import EmbeddedRebuild, Filling
from bobusang.platform.searches.embedded.schema import SCHEMA, read, unsigned
from bobusang.platform.searches.embedded.serving import Serving, stamp
from bobusang.platform.searches.embedded.shelf import Shelf, told
from bobusang.platform.searches.embedded.suggesting import suggest
from bobusang.platform.searches.embedded.writing import Writing
from bobusang.platform.searches.words import compact, folded

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence
    from pathlib import Path

    from bobusang.platform.search import Document, Suggestion
    from bobusang.platform.search import Query as Wanted
    from bobusang.platform.searches.embedded.asking import Asked

THREADS = 2
IDLE = 2.0
"""Seconds without a write after which another process may write."""
AT_ONCE = 20_000

Given = ParamSpec("Given")
Result = TypeVar("Result")


class EmbeddedSearch:
    """An index of products in a folder, which several processes may search and one at a time may write."""

    def __init__(self, folder: Path, *, idle: float = IDLE) -> None:
        self.folder = folder
        self._shelf = Shelf(folder)
        self._serving: Serving | None = None
        self._writing = Writing(self._shelf)
        self._filling: Filling | None = None
        self._readers = ThreadPoolExecutor(THREADS, thread_name_prefix="search", initializer=cores.free)
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="search-writer")
        self._rest_after = idle
        self._closed = False
        self._resting: asyncio.TimerHandle | None = None

    async def put(self, documents: Sequence[Document]) -> None:
        if documents:
            await self._written(self._put, documents)

    async def delete(self, ids: Sequence[int]) -> None:
        if ids:
            await self._written(self._delete, ids)

    async def get(self, ids: Sequence[int]) -> dict[int, Document]:
        return await self._read(self._get, ids)

    async def search(self, query: Wanted) -> Found:
        return await self._read(self._search, query)

    async def suggest(self, typed: str, limit: int = 10) -> tuple[Suggestion, ...]:
        return await self._read(lambda: suggest(self._now(), typed, limit))

    async def renew(self) -> int:
        return await self._read(self._renew)

    async def count(self) -> int:
        return await self._read(lambda: self._now().searcher.num_docs)

    async def digests(self) -> AsyncIterator[tuple[int, str]]:
        serving = await self._read(self._now)
        last = -1
        while found := await self._read(_digests, serving, last):
            for one in found:
                yield one
            last = found[-1][0]

    async def rebuild(self) -> EmbeddedRebuild:
        filling = await self._written(self._begin)

        async def end(finished: bool) -> None:
            await self._written(self._end, filling, finished)

        async def off_loop(work: Callable[..., None], *args: object) -> None:
            await self._written(work, *args)

        return EmbeddedRebuild(filling, off_loop, end)

    async def check(self) -> None:
        await self._read(self._renew)

    async def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        if self._resting is not None:
            self._resting.cancel()
        await self._run(self._writer, self._release)
        for threads in (self._readers, self._writer):
            await asyncio.to_thread(threads.shutdown)

    # --- in a reader's thread ---

    def _now(self) -> Serving:
        """The index as it stood at the last commit of ours or the last `renew`; made anew where its folder is gone."""
        serving = self._serving
        if serving is None or not serving.is_there():
            serving = self._serving = Serving(self._shelf.current())
        return serving

    def _renew(self) -> int:
        path = self._shelf.current()
        serving = self._serving
        if serving is None or serving.path != path or serving.stamp != stamp(path):
            serving = self._serving = Serving(path)
        return serving.stamp

    def _get(self, ids: Sequence[int]) -> dict[int, Document]:
        searcher = self._now().searcher
        wanted = Query.term_set_query(SCHEMA, "id", list(ids))
        hits = searcher.search(wanted, max(len(ids), 1), count=False).hits if ids else []
        documents = (read(searcher.doc(address)) for _, address in hits)
        return {document.id: document for document in documents}

    def _search(self, query: Wanted) -> Found:
        serving = self._now()
        filters = _filters(query)
        asked: Asked = serving.remembered(query.keyword, lambda: ask(serving, query.keyword))
        limit = min(max(query.limit, 1), MOST)
        every_one: Counted = serving.remembered(
            (query.keyword, query.min_price, query.max_price, query.brands, query.malls, query.in_stock, query.facets),
            lambda: counted(serving.searcher, every((asked.anything, *filters)), facets=query.facets),
        )
        parts = stretches(asked, filters, query.sort)
        steps = page(serving, parts, query.after, limit + 1, every_one.total)
        hits = []
        for step in steps[:limit]:
            document = read(serving.searcher.doc(step.address))
            hits.append(Hit(document, 1 / (1 + step.rank), asked.marker.marked(document)))
        last = steps[limit - 1] if len(steps) > limit else None
        return Found(
            tuple(hits),
            min(every_one.total, COUNTED),
            more=every_one.total > COUNTED,
            facets=every_one.facets,
            prices=every_one.prices,
            next=(last.rank, last.value, last.id) if last else (),
            loose=asked.loose,
        )

    # --- in the writer's thread ---

    def _put(self, documents: Sequence[Document]) -> None:
        self._both(lambda where: where.replace(documents))

    def _delete(self, ids: Sequence[int]) -> None:
        self._both(lambda where: where.remove(ids))

    def _both(self, write: Callable[[Writing | Filling], None]) -> None:
        """Into the index that serves, and into the one that is built; while that is done the old one may be broken."""
        if self._filling is not None:
            write(self._filling)
        try:
            with told(self.folder):
                write(self._writing)
        except Drifted:
            if self._filling is None:
                raise
            return
        self._renew()

    def _begin(self) -> Filling:
        if self._filling is not None:
            raise Conflict("a rebuild of the search index is under way", hint="wait for its end")
        self._writing.take()
        self._filling = Filling(self._shelf)
        return self._filling

    def _end(self, filling: Filling, finished: bool) -> None:
        if self._filling is not filling:
            raise Conflict("this rebuild of the search index has ended", hint="begin another")
        self._writing.drop()
        if finished:
            filling.finish()
        else:
            filling.abandon()
        self._filling = None
        if finished:
            self._renew()

    def _release(self) -> None:
        if self._filling is not None:
            self._filling.abandon()
            self._filling = None
        self._writing.give_back()

    # --- from the loop ---

    async def _read(self, work: Callable[Given, Result], *args: Given.args, **kwargs: Given.kwargs) -> Result:
        return await self._run(self._readers, work, *args, **kwargs)

    async def _written(self, work: Callable[Given, Result], *args: Given.args, **kwargs: Given.kwargs) -> Result:
        if self._resting is not None:
            self._resting.cancel()
        try:
            return await self._run(self._writer, work, *args, **kwargs)
        finally:
            if not self._closed:
                loop = asyncio.get_running_loop()
                self._resting = loop.call_later(self._rest_after, lambda: self._writer.submit(self._rest))

    def _rest(self) -> None:
        if self._filling is None:
            self._writing.give_back()

    async def _run(
        self, threads: ThreadPoolExecutor, work: Callable[Given, Result], *args: Given.args, **kwargs: Given.kwargs
    ) -> Result:
        def safely() -> Result:
            with told(self.folder):
                return work(*args, **kwargs)

        return await asyncio.get_running_loop().run_in_executor(threads, safely)


def _filters(query: Wanted) -> list[Query]:
    "".join((query.keyword, *query.brands, *query.malls)).encode()  # half a character would look like a broken index
    filters = []
    if query.min_price or query.max_price:
        filters.append(price_between(query.min_price, query.max_price))
    if query.brands:
        filters.append(of_brand([compact(folded(brand)) for brand in query.brands]))
    if query.malls:
        filters.append(one_of("mall", query.malls))
    if query.in_stock is not None:
        filters.append(stocked(query.in_stock))
    return filters


def _digests(serving: Serving, after: int) -> list[tuple[int, str]]:
    searcher = serving.searcher
    beyond = Query.range_query(SCHEMA, "id", FieldType.Integer, after + 1, LARGEST)
    hits = searcher.search(beyond, AT_ONCE, count=False, order_by_field="id", order=Order.Asc).hits
    kept = searcher.fast_field_values("digest", [address for _, address in hits]) if hits else []
    return [(id, unsigned(int(digest or 0))) for (id, _), digest in zip(hits, kept, strict=True)]
