"""Who was on the way to an index of a real server when a rebuild dropped it is answered by the one that serves now."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from bobusang.kit.errors import Drifted
from bobusang.platform.search import Query
from bobusang.platform.searches.opensearch.index import OpenSearch
from bobusang.platform.searches.opensearch.names import Names
from bobusang.platform.searches.opensearch.place import place
from bobusang.testing.search_suite import GOODS, build, ids
from tests.servers import opensearch

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

NOWHERE = {"settings": {"index.routing.allocation.include._name": "nobody", "number_of_replicas": 0}}
ASKED: dict[str, Callable[[OpenSearch], Awaitable[Any]]] = {
    "search": lambda search: _found(search),
    "suggest": lambda search: search.suggest("나이"),
    "get": lambda search: search.get([1, 2]),
    "count": lambda search: search.count(),
    "digests": lambda search: _numbers(search),
}


async def _found(search: OpenSearch) -> list[int]:
    return ids(await search.search(Query("나이키 패딩")))


async def _numbers(search: OpenSearch) -> list[int]:
    return [id async for id, _ in search.digests()]


class Way:
    """Before a server: leads some questions about what serves to another index, as if that still did."""

    def __init__(self, url: str) -> None:
        there = place(url)
        self.prefix = there.prefix
        self._target = f"http://{there.host}:{there.port}"
        self._serving = Names(there.prefix).serving
        self.astray = 0
        self.asked = 0

    async def answer(self, request: web.Request) -> web.Response:
        path, body = request.path_qs, await request.read()
        if not request.path.startswith("/_alias"):
            self.asked += 1
            if self.asked <= self.astray:
                path = path.replace(f"/{self._serving}/", f"/{self.old}/")
                body = body.replace(f'"{self._serving}"'.encode(), f'"{self.old}"'.encode())
        return await self._sent(request.method, path, body, request.headers.get("content-type", "application/json"))

    async def _sent(self, method: str, path: str, body: bytes, kind: str) -> web.Response:
        async with (
            aiohttp.ClientSession() as session,
            session.request(method, self._target + path, data=body, headers={"content-type": kind}) as answer,
        ):
            return web.Response(status=answer.status, body=await answer.read(), content_type=answer.content_type)

    @property
    def old(self) -> str:
        return f"{self._serving}-old"

    async def leave_old(self) -> None:
        """An index that serves no more, without a shard that answers, as it is just before it is dropped."""
        async with aiohttp.ClientSession() as session:
            made = await session.put(f"{self._target}/{self.old}?wait_for_active_shards=0", json=NOWHERE)
            made.raise_for_status()


@pytest.fixture
async def way(fresh_opensearch: str) -> AsyncIterator[tuple[Way, OpenSearch]]:
    way = Way(fresh_opensearch)
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", way.answer)
    async with TestServer(app) as server:
        search = OpenSearch(f"opensearch://127.0.0.1:{server.port}/{way.prefix}")
        await build(search, GOODS)
        yield way, search
        await search.close()


@pytest.mark.parametrize("kept", [False, True])
@pytest.mark.parametrize("what", ASKED)
async def test_a_question_on_its_way_to_what_was_replaced_is_asked_once_more(
    way: tuple[Way, OpenSearch], what: str, kept: bool
) -> None:
    door, search = way
    expected = await ASKED[what](search)
    if kept:
        await door.leave_old()

    door.asked, door.astray = 0, 1
    found = await ASKED[what](search)

    assert (found, door.asked > 1) == (expected, True)


async def test_it_is_not_asked_for_ever(way: tuple[Way, OpenSearch]) -> None:
    door, search = way

    door.asked, door.astray = 0, 1_000
    with pytest.raises(Drifted):
        await search.count()

    assert door.asked == 2


async def test_where_nothing_serves_it_is_told_at_once(way: tuple[Way, OpenSearch], fresh_opensearch: str) -> None:
    door, search = way
    await opensearch.emptied(fresh_opensearch, "products-*")

    door.asked = 0
    with pytest.raises(Drifted):
        await search.search(Query("나이키"))

    assert door.asked == 1
