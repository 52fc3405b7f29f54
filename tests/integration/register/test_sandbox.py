"""The whole way over real HTTP: the sandbox's BUYMA refuses, works, fetches pictures and tells by webhooks."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from aiohttp import web

from bobusang.connectors.markets.buyma.market import Buyma
from bobusang.kit.db import connect
from bobusang.kit.money import yen
from bobusang.kit.transport import AiohttpTransport
from bobusang.sandbox.buyma.account import Account, Behaviour
from bobusang.sandbox.world import World
from bobusang.stages.register import accounts
from bobusang.stages.register.model import Policy, State, Stock
from bobusang.stages.register.service import Register
from bobusang.testing.sandbox import running
from tests.integration.register.desk import Desk
from tests.integration.register.shop import Shop
from tests.unit.register.making import ACCOUNT, WANTED, stocks

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from bobusang.stages.register.applying import Moved
    from bobusang.testing.sandbox import Door

SECRETS = {"token": "sandbox-token", "secret": "sandbox-client-secret"}


class Ear:
    """Receives webhooks for a desk, and lets them take effect."""

    def __init__(self) -> None:
        self.desk: Desk | None = None
        self.moved: asyncio.Queue[Moved] = asyncio.Queue()

    async def take(self, request: web.Request) -> web.Response:
        assert self.desk is not None
        (genuine,) = await self.desk.receive([(dict(request.headers), await request.read())])
        for moved in await self.desk.apply():
            self.moved.put_nowait(moved)
        return web.Response(status=200 if genuine else 401)

    async def next(self) -> Moved:
        async with asyncio.timeout(20):
            return await self.moved.get()


@asynccontextmanager
async def selling(url: str) -> AsyncIterator[tuple[Desk, Ear, Door]]:
    """A desk at the sandbox, with an ear for its webhooks."""
    ear = Ear()
    app = web.Application()
    app.router.add_post("/hook", ear.take)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    account = Account(webhook_url=f"http://127.0.0.1:{runner.addresses[0][1]}/hook")
    behaviour = Behaviour(delay=0, retry_seconds=0)
    db = await connect(url)
    async with running(World(5, 300), behaviour=behaviour, account=account) as door:
        host, port = door.host_port.split(":")
        transport = AiohttpTransport(frozenset({(host, int(port))}))
        register = Register(Buyma(transport, door.buyma), db.clock, SECRETS.__getitem__, timedelta(seconds=10))
        settings = replace(ACCOUNT, policy=Policy(patience=timedelta()))
        ear.desk = Desk(db, Shop(), await db.transact(lambda tx: accounts.add(tx, settings)), register)
        yield ear.desk, ear, door
        await transport.close()
    await runner.cleanup()
    await db.close()


async def test_a_coat_is_listed_repriced_closed_and_revived_over_http(empty_sqlite: str) -> None:
    async with selling(empty_sqlite) as (desk, ear, door):
        coat = replace(WANTED, images=(f"{door.url}/okimg/1.jpg",))
        wishes = [
            coat,
            replace(coat, price=yen(23_000)),
            replace(coat, price=yen(23_000), variants=stocks(c1_s1=Stock.OUT)),
            replace(coat, variants=stocks(Stock.OUT)),
            replace(coat, price=yen(23_000)),
        ]
        seen = []
        for wish in wishes:
            await desk.go(wish)
            moved = await ear.next()
            seen.append((moved.state, moved.price, len(moved.keys)))
        again = await desk.plan(wishes[-1])

        assert seen == [
            (State.LIVE, 22_500, 1),
            (State.LIVE, 23_000, 1),
            (State.LIVE, 23_000, 1),
            (State.SUSPENDED, 23_000, 1),
            (State.LIVE, 23_000, 1),
        ]
        assert [one.outgoing for one in again] == [None]
        assert await desk.rows("select distinct state, drift from market_calls") == [
            {"state": "CONFIRMED", "drift": None}
        ]


async def test_lost_answers_and_lost_webhooks_make_no_second_product(empty_sqlite: str) -> None:
    """Ten coats: the answer breaks off after the effect, or before it, or the webhook never comes."""
    async with selling(empty_sqlite) as (desk, _, door):
        coats = [
            replace(WANTED, product_id=id, sku=f"okmall/{id}", images=(f"{door.url}/okimg/{id}.jpg",))
            for id in range(1, 11)
        ]
        for kind in ("reset_after", "error_after", "http_500"):
            await door.fault("buyma", "products", kind, count=2)
        await door.fault("buyma", "webhook", "lost", count=3)
        await desk.go(*coats)
        await door.settle()
        await door.clear()
        # The patience is none, so only the lease of a sender would have to run out; all of these were settled.
        await desk.recover()
        await door.settle()
        await desk.apply()

        assert await desk.rows("select state, count(*) as n from listings group by state") == [
            {"state": "LIVE", "n": 10}
        ]
        market = await door.market()
        assert (len(market["listings"]), market["made_again"], market["same_reference"]) == (10, {}, [])
        assert [one.outgoing for one in await desk.plan(*coats)] == [None] * 10
