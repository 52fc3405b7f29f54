"""Search in a real OpenSearch: the suite of every index, and what is particular to a server."""

from __future__ import annotations

import asyncio
import ssl
import subprocess
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from bobusang.kit.errors import Conflict, Unavailable
from bobusang.platform.search import Query
from bobusang.platform.searches.embedded import EmbeddedSearch
from bobusang.platform.searches.opensearch.bulk import Bulk, puts
from bobusang.platform.searches.opensearch.index import OpenSearch
from bobusang.platform.searches.opensearch.lease import Lease, Rhythm
from bobusang.platform.searches.opensearch.names import Names
from bobusang.platform.searches.opensearch.place import place
from bobusang.platform.searches.opensearch.schema import SHAPE
from bobusang.platform.searches.opensearch.server import Server
from bobusang.testing.clock import ManualClock
from bobusang.testing.search_suite import GOODS, TYPED, SearchSuite, build, ids
from tests.servers import opensearch
from tests.servers.server import wait_for
from tests.servers.skip import started

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
    from pathlib import Path

    from bobusang.platform.search import Found


@pytest.fixture(scope="module")
def address(opensearch_url: str) -> Iterator[str]:
    """A prefix of this module's own."""
    with opensearch.fresh(opensearch_url) as url:
        yield url


@pytest.fixture
def url(address: str) -> Iterator[str]:
    """That address, with no index of products."""
    yield address
    wait_for(opensearch.emptied(address, "products-*"))


@pytest.fixture
async def search(url: str) -> AsyncIterator[OpenSearch]:
    search = OpenSearch(url)
    yield search
    await search.close()


@pytest.fixture
async def other(url: str) -> AsyncIterator[OpenSearch]:
    search = OpenSearch(url)
    yield search
    await search.close()


@pytest.fixture
def lose(url: str) -> Callable[[], Awaitable[None]]:
    async def lost() -> None:
        await opensearch.emptied(url, "products-*")

    return lost


class TestOpenSearch(SearchSuite):
    """The server conforms."""


async def test_it_answers_as_the_embedded_index_does(search: OpenSearch, tmp_path: Path) -> None:
    """Both have tiers of their own making: one that is changed in one place only is seen here."""
    embedded = EmbeddedSearch(tmp_path)
    many = [replace(GOODS[id % 8], id=id, price=id * 1_000) for id in range(1, 25)]
    await build(search, many)
    await build(embedded, many)
    typed = [*(keyword for keyword, _ in TYPED.values()), "나이키 패딩 조끼", "스톤 맨투맨 블랙 와펜"]

    theirs = {keyword: answer(await embedded.search(Query(keyword))) for keyword in typed}
    ours = {keyword: answer(await search.search(Query(keyword))) for keyword in typed}
    await embedded.close()

    assert ours == theirs


def answer(found: Found) -> tuple[object, ...]:
    """All of it but scores and cursors, which are each index's own."""
    return ids(found), [hit.marked for hit in found.hits], found.total, found.facets, found.prices, found.loose


async def test_a_word_with_its_ending_is_found_by_its_morphemes(search: OpenSearch) -> None:
    await build(search)

    found = await search.search(Query("패딩을"))

    assert (ids(found), found.loose) == ([1, 4], True)


async def test_one_process_writes_at_a_time(search: OpenSearch, other: OpenSearch) -> None:
    await build(search)

    for refused in (other.put(GOODS[:1]), other.delete([1]), other.rebuild()):
        with pytest.raises(Conflict):
            await refused
    await search.close()
    await other.put([replace(GOODS[0], id=99)])

    assert await other.count() == 9


async def test_who_asks_while_one_index_takes_the_place_of_another_is_answered(
    search: OpenSearch, other: OpenSearch
) -> None:
    await build(search, GOODS)
    over = asyncio.Event()
    answers = set[tuple[int, ...]]()

    async def ask() -> None:
        while not over.is_set():
            answers.add(tuple(ids(await other.search(Query("나이키 패딩")))))

    async with asyncio.TaskGroup() as group:
        for _ in range(4):
            group.create_task(ask())
        for _ in range(8):
            await build(search, GOODS)
        over.set()
    assert len(answers) == 1


async def test_a_rebuild_that_died_is_dropped_when_its_time_has_run_out(url: str, search: OpenSearch) -> None:
    await build(search)
    await search.close()
    clock, never = ManualClock(), Rhythm(beat=3_600)
    dead, next_one = OpenSearch(url, clock=clock, rhythm=never), OpenSearch(url, clock=clock, rhythm=never)
    rebuild = await dead.rebuild()
    await rebuild.put(GOODS[:1])

    with pytest.raises(Conflict):
        await next_one.rebuild()
    clock.advance(seconds=61)
    await build(next_one, GOODS[:2])

    assert await next_one.count() == 2
    with pytest.raises(Conflict):
        await rebuild.put(GOODS[1:2])
    with pytest.raises(Conflict):
        await rebuild.finish()
    await rebuild.abandon()
    assert (await next_one.count(), len(await indices(url))) == (2, 1)
    await dead.close()
    await next_one.close()


async def test_a_busy_server_is_waited_for(url: str, search: OpenSearch) -> None:
    """The server's own breaker refuses a body that is too large for it, until an operator gives it more."""
    await build(search)
    server = Server(place(url))
    many = [replace(GOODS[id % 8], id=id) for id in range(1, 101)]
    try:
        before = await refusals(server)
        await server.call("PUT", "/_cluster/settings", breaker("8kb"))
        putting = asyncio.create_task(search.put(many))
        while await refusals(server) == before:
            assert not putting.done()
    finally:
        await server.call("PUT", "/_cluster/settings", breaker(None))
        await server.close()
    await putting

    assert await search.count() == 100


async def test_a_server_that_stays_busy_is_told(url: str, search: OpenSearch) -> None:
    await build(search)
    await search.close()
    names, server = Names(place(url).prefix), Server(place(url))
    impatient = Bulk(server, Lease(server, names.writer, ManualClock()), patience=0)
    try:
        await server.call("PUT", "/_cluster/settings", breaker("8kb"))
        with pytest.raises(Unavailable, match="too busy"):
            await impatient.send(puts(GOODS * 5, [names.serving]))
    finally:
        await server.call("PUT", "/_cluster/settings", breaker(None))
        await server.close()


async def test_many_parts_are_all_there(search: OpenSearch) -> None:
    await build(search)

    await search.put([replace(GOODS[id % 8], id=id) for id in range(1, 2_501)])
    await search.delete(range(1, 2_401))

    assert [id async for id, _ in search.digests()] == list(range(2_401, 2_501))


@pytest.mark.parametrize("status", [401, 403, 503])
async def test_who_refuses_us_or_fails_is_told_without_our_password(status: int) -> None:
    async def refuse(request: web.Request) -> web.Response:
        return web.Response(status=status, text=f"not for {request.headers.get('authorization')}")

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", refuse)
    async with TestServer(app) as server:
        search = OpenSearch(f"opensearch://ada:hunter2@127.0.0.1:{server.port}/shop")
        with pytest.raises(Unavailable) as told:
            await search.search(Query("나이키"))
        await search.close()

    assert "BOBUSANG_SEARCH_URL" in str(told.value)
    assert not [secret for secret in ("hunter2", "YWRhOmh1bnRlcjI") if secret in str(told.value)]


async def test_by_tls_a_server_must_show_a_certificate_that_is_trusted(tmp_path: Path) -> None:
    certificate(tmp_path)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(tmp_path / "cert.pem", tmp_path / "key.pem")

    async def count(request: web.Request) -> web.Response:
        return web.json_response({"count": 7 if request.headers["authorization"].startswith("Basic ") else 0})

    app = web.Application()
    app.router.add_get(f"/shop-products-{SHAPE}/_count", count)
    server = TestServer(app, scheme="https")
    await server.start_server(ssl=context)
    async with server:
        address = f"opensearch+https://ada:hunter2@localhost:{server.port}/shop"
        trusting, wary = OpenSearch(f"{address}?ca={tmp_path / 'cert.pem'}"), OpenSearch(address)

        assert await trusting.count() == 7
        with pytest.raises(Unavailable, match=r"BOBUSANG_SEARCH_URL.*certificate"):
            await wary.count()
        await trusting.close()
        await wary.close()


def test_a_server_without_nori_serves_and_comes_back_from_a_crash() -> None:
    with started(opensearch.OpenSearch(nori=False)) as server:
        wait_for(written(server.url))
        server.stop(immediate=True)
        assert wait_for(away(server.url)) == "BOBUSANG_SEARCH_URL"
        server.start()

        assert wait_for(kept(server.url)) == ([1, 4, 99], 9, [])


async def written(url: str) -> None:
    search = OpenSearch(url)
    await build(search)
    await search.put([replace(GOODS[0], id=99)])
    await search.close()


async def away(url: str) -> str:
    search = OpenSearch(url)
    with pytest.raises(Unavailable) as told:
        await search.search(Query())
    await search.close()
    return str(told.value).partition(":")[0]


async def kept(url: str) -> tuple[list[int], int, list[int]]:
    search = OpenSearch(url)
    found = (ids(await search.search(Query("패딩"))), await search.count(), ids(await search.search(Query("패딩을"))))
    await search.close()
    return found


def certificate(folder: Path) -> None:
    """A certificate of our own for localhost, and its key."""
    command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost"
    names = ["-addext", "subjectAltName=DNS:localhost", "-keyout", "key.pem", "-out", "cert.pem"]
    subprocess.run([*command.split(), *names], cwd=folder, check=True, capture_output=True)


async def indices(url: str) -> list[str]:
    server = Server(place(url))
    found = await server.call("GET", f"/{Names(place(url).prefix).indices}")
    await server.close()
    return list(found)


async def refusals(server: Server) -> int:
    stats = await server.call("GET", "/_nodes/stats/breaker", filter_path="nodes.*.breakers.in_flight_requests.tripped")
    return sum(node["breakers"]["in_flight_requests"]["tripped"] for node in stats["nodes"].values())


def breaker(limit: str | None) -> dict[str, Any]:
    return {"transient": {"network.breaker.inflight_requests.limit": limit}}
