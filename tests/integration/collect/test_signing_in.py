"""Tokens that a source issues to nobody in particular, or to a name and a password, and keys in the address."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from bobusang.connectors.sources.declared.shop import load_shop
from bobusang.kit.sql import Statement
from bobusang.kit.transport import AiohttpTransport
from bobusang.platform.blobs.files import FileBlobs
from bobusang.stages.collect import identities, intervening
from bobusang.stages.collect.archive import Archive
from bobusang.stages.collect.fetcher import Fetcher
from bobusang.stages.collect.policy import Reaction
from bobusang.stages.collect.source import Snapshot, Target
from tests.integration.collect.gating import AGENT, POOLS, enabled, gate, told
from tests.unit.connectors.reading import written

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from bobusang.kit.db import Database
    from bobusang.stages.collect.fetcher import Visit
    from bobusang.stages.collect.source import Source
    from bobusang.testing.clock import ManualClock

SHOP = """
shop: acme
intake: {kind: http, base: "https://www.example.com", hosts: {auth: "https://auth.example.com"}}
limits: {rate: "100/s", burst: 100}
identity: %s
streams:
  list:
    request: {get: /list}
    records: items[*]
    key: id
    fields: {name: name}
"""
ROOMY = '{rate: "100/s", burst: 100}'
LOGIN = """
  kind: login
  issue: {host: auth, post: /auth, body: {username: "{username}", password: "{password}"}, token: "text:"}
  apply: {headers: {Authorization: "Bearer {token}"}}
  expires: {from: jwt, fallback: 1h}
"""
PUBLIC = """
  kind: session
  issue: {get: /, format: html, token: 'script:__NEXT_DATA__.runtimeConfig.KEY'}
  apply: {headers: {display-api-key: "{token}"}}
"""
KEYED = '{kind: api_key, apply: {query: {aid: "{token}"}}}'


class Door:
    """A mall that lets in whoever shows its present token, by whichever way the shop shows it."""

    def __init__(self) -> None:
        self.token = "t-1"
        self.issued = 0
        self.asked: list[str] = []

    def app(self) -> web.Application:
        app = web.Application()
        app.router.add_post("/acme/auth/auth", self.auth)
        app.router.add_get("/acme/", self.home)
        app.router.add_get("/acme/list", self.list)
        return app

    async def auth(self, request: web.Request) -> web.Response:
        self.issued += 1
        if await request.json() != {"username": "kim", "password": "open sesame"}:
            return web.Response(status=401, text="no")
        return web.Response(text=f"{self.token}\n")

    async def home(self, request: web.Request) -> web.Response:
        self.issued += 1
        page = '<html><script id="__NEXT_DATA__">{"runtimeConfig":{"KEY":"%s"}}</script></html>'
        return web.Response(text=page % self.token, content_type="text/html")

    async def list(self, request: web.Request) -> web.Response:
        self.asked.append(request.path_qs)
        shown = (
            request.headers.get("Authorization", "").removeprefix("Bearer "),
            request.headers.get("display-api-key", ""),
            request.query.get("aid", ""),
        )
        if self.token not in shown:
            return web.json_response({"error": "who are you?"}, status=401)
        return web.json_response({"items": [{"id": 1, "name": "Wool coat"}]})


@pytest.fixture
async def door() -> AsyncIterator[tuple[Door, str]]:
    found = Door()
    server = TestServer(found.app())
    await server.start_server()
    yield found, f"http://127.0.0.1:{server.port}"
    await server.close()


class Caller:
    """Someone who visits the list of a shop."""

    def __init__(self, db: Database, source: Source, folder: Path, port: int) -> None:
        self.source = source
        self.transport = AiohttpTransport(frozenset({("127.0.0.1", port)}))
        self.fetcher = Fetcher(db, gate(db), self.transport, Archive(FileBlobs(folder)))

    async def visit(self) -> Visit:
        (found,) = await self.visits(1)
        return found

    async def visits(self, count: int) -> list[Visit]:
        return await self.fetcher.visit(self.source, list(self.source.seeds(Target("list", "all"))) * count)

    async def close(self) -> None:
        self.fetcher.close()
        await self.transport.close()


async def caller(db: Database, folder: Path, identity: str, url: str, limits: str = ROOMY) -> Caller:
    source = load_shop(written(folder, (SHOP % identity).replace(ROOMY, limits)), base=f"{url}/acme")
    await enabled(db, "acme", source.policy)
    return Caller(db, source, folder, int(url.rpartition(":")[2]))


COAT = (Snapshot("acme", "1", {"name": "Wool coat"}),)


def read(visit: Visit) -> tuple[object, ...]:
    return tuple(each for each in visit.found if isinstance(each, Snapshot))


async def test_a_public_key_is_read_of_a_page_and_read_again_when_it_is_refused(
    db: Database, tmp_path: Path, door: tuple[Door, str]
) -> None:
    mall, url = door
    anyone = await caller(db, tmp_path, PUBLIC, url)
    assert [read(await anyone.visit()) for _ in range(2)] == [COAT, COAT]
    assert mall.issued == 1

    mall.token = "t-2"
    refused = await anyone.visit()
    again = await anyone.visit()
    await anyone.close()

    assert refused.verdict is not None
    assert refused.verdict.reaction is Reaction.RENEW_IDENTITY
    assert (read(again), mall.issued) == (COAT, 2)


async def test_a_session_is_one_of_the_calls_that_the_source_allows(
    db: Database, clock: ManualClock, tmp_path: Path, door: tuple[Door, str]
) -> None:
    mall, url = door
    anyone = await caller(db, tmp_path, PUBLIC, url, '{rate: "1/s", burst: 1, concurrency: 1}')  # two at once

    one, other = await anyone.visits(2)
    asked = mall.issued, len(mall.asked)
    at_once = await anyone.visit()
    clock.advance(seconds=1)
    later = await anyone.visits(2)
    await anyone.close()

    assert (read(one), asked) == (COAT, (1, 1))
    assert other.wait is not None
    assert other.wait.reason == "acme: a session was asked for in place of this call"
    assert at_once.wait is not None
    assert at_once.wait.reason == "acme is at its rate"
    assert [read(each) for each in later] == [COAT, ()]
    assert (mall.issued, len(mall.asked)) == (1, 2)


async def test_a_session_takes_no_other_call_where_the_rate_has_one_more(
    db: Database, tmp_path: Path, door: tuple[Door, str]
) -> None:
    mall, url = door
    anyone = await caller(db, tmp_path, PUBLIC, url, '{rate: "1/s", burst: 2, concurrency: 1}')

    found = [await anyone.visit() for _ in range(3)]
    await anyone.close()

    assert [read(one) for one in found] == [COAT, COAT, ()]
    assert found[2].wait is not None
    assert (mall.issued, len(mall.asked)) == (1, 2), "three calls in all"


async def test_a_name_and_a_password_get_a_token_that_is_kept_until_its_end(
    db: Database, clock: ManualClock, tmp_path: Path, door: tuple[Door, str]
) -> None:
    mall, url = door
    kim = await caller(db, tmp_path, LOGIN, url)
    waits = await kim.visit()
    assert waits.wait is not None
    assert waits.wait.reason == "acme has not been given its key: `bobusang source key acme`"

    async with db.begin() as tx:
        await intervening.give_key(
            tx,
            POOLS,
            "acme",
            kim.source.policy,
            "open sesame",
            by="owner",
            user_agent=AGENT,
            username="kim",
        )
    assert [read(await kim.visit()) for _ in range(2)] == [COAT, COAT]
    assert mall.issued == 1

    clock.advance(hours=1)
    mall.token = "t-2"
    assert (read(await kim.visit()), mall.issued) == (COAT, 2)

    mall.token = "t-3"  # refused before its end: the name is kept, and gets another
    assert read(await kim.visit()) == ()
    assert (read(await kim.visit()), mall.issued) == (COAT, 3)
    await kim.close()


async def test_a_wrong_password_is_tried_once_and_stops_the_source(
    db: Database, tmp_path: Path, door: tuple[Door, str]
) -> None:
    mall, url = door
    kim = await caller(db, tmp_path, LOGIN, url)
    async with db.begin() as tx:
        await intervening.give_key(
            tx, POOLS, "acme", kim.source.policy, "guess", by="owner", user_agent=AGENT, username="kim"
        )

    found = [await kim.visit() for _ in range(3)]
    await kim.close()

    assert ([one.verdict for one in found], mall.issued, mall.asked) == ([None] * 3, 1, [])
    assert any("name and password are refused: HTTP 401" in reason for _, _, reason in await told(db, "acme"))


async def test_a_key_in_the_address_is_in_nothing_that_is_kept(
    db: Database, tmp_path: Path, door: tuple[Door, str]
) -> None:
    mall, url = door
    keyed = await caller(db, tmp_path, KEYED, url)
    async with db.begin() as tx:
        await intervening.give_key(tx, POOLS, "acme", keyed.source.policy, "t-1", by="owner", user_agent=AGENT)

    found = await keyed.visit()
    await keyed.close()

    assert found.answer is not None
    assert (read(found), mall.asked) == (COAT, ["/acme/list?aid=t-1"])
    assert (found.ask.url, found.answer.url) == (f"{url}/acme/list", f"{url}/acme/list")


async def test_another_user_agent_takes_neither_key_nor_password(db: Database, tmp_path: Path) -> None:
    source = load_shop(written(tmp_path, SHOP % LOGIN))
    keyed = load_shop(written(tmp_path, SHOP % KEYED))
    for name, policy, username in (("acme", source.policy, "kim"), ("keyed", keyed.policy, "")):
        await enabled(db, name, policy)
        async with db.begin() as tx:
            await identities.give_key(tx, name, "open sesame", username)
            await identities.ensure(tx, name, policy, "Another/2")

    async with db.read() as tx:
        rows = await tx.fetch(Statement("select user_agent, token, cookies from crawl_agents order by id"))
    assert [tuple(row[name] for name in ("user_agent", "token", "cookies")) for row in rows] == [
        ("Another/2", None, '{"=username":"kim","=password":"open sesame"}'),
        ("Another/2", "open sesame", None),
    ]


async def test_what_is_logged_in_to_is_given_a_name_and_what_is_not_none(db: Database, tmp_path: Path) -> None:
    source = load_shop(written(tmp_path, SHOP % LOGIN))
    await enabled(db, "acme", source.policy)

    with pytest.raises(Exception, match="acme is logged in to with a name and a password"):
        async with db.begin() as tx:
            await intervening.give_key(tx, POOLS, "acme", source.policy, "x", by="owner", user_agent=AGENT)
    assert source.policy.identity.lifetime == timedelta(hours=1)
