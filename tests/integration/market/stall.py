"""A seller at the sandbox's BUYMA: the webhook door behind real HTTP, an account, and the duties by hand."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import httpx
import uvicorn
from fastapi import FastAPI

from bobusang.connectors.markets.buyma.market import Buyma
from bobusang.engine.outcome import Wait
from bobusang.entry.api import problems, webhooks
from bobusang.entry.api.guard import Guard
from bobusang.entry.api.methods import Methods
from bobusang.entry.api.metrics import Metrics
from bobusang.entry.cli.process import listening
from bobusang.kit.sql import Statement
from bobusang.kit.transport import AiohttpTransport
from bobusang.platform.secrets import secret
from bobusang.sandbox.buyma.account import Behaviour
from bobusang.sandbox.world import World
from bobusang.stages.collect.manners import Manners
from bobusang.stages.register import accounts
from bobusang.stages.register.model import Policy
from bobusang.stages.register.service import Register
from bobusang.testing.sandbox import running
from bobusang.testing.workshop import Workshop
from tests.unit.register.making import ACCOUNT, WANTED

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from bobusang.stages.register.model import Account, Wanted
    from bobusang.stages.register.settling import Settled
    from bobusang.testing.sandbox import Door

NO_PATIENCE = Policy(patience=timedelta())


@dataclass(slots=True)
class Stall:
    shop: Workshop
    register: Register
    account: Account
    door: Door
    http: httpx.AsyncClient

    def coats(self, number: int) -> list[Wanted]:
        """So many coats to sell, each with a picture that the market can fetch."""
        return [
            replace(WANTED, product_id=id, sku=f"okmall/{id}", images=(f"{self.door.url}/okimg/{id}.jpg",))
            for id in range(1, number + 1)
        ]

    async def go(self, *wanteds: Wanted) -> list[Settled]:
        """Plan, send and settle."""
        db, account = self.shop.db, self.account
        planned = await db.transact(lambda tx: self.register.plan(tx, account, "r1", wanteds))
        outgoings = [one.outgoing for one in planned if one.outgoing is not None]
        sents = await self.register.send(account, outgoings)
        return await db.transact(lambda tx: self.register.settle(tx, account, sents))

    async def waiting(self, *keys: str) -> None:
        """Tasks that wait for these verdicts."""
        self.shop.handler(batch=50)
        await self.shop.job(None, *keys)
        until = self.shop.db.clock.now() + timedelta(hours=1)
        await self.shop.finish(await self.shop.claimed(len(keys)), lambda task: Wait(task.key, until))

    async def woken(self) -> list[str]:
        """The keys of tasks that can run."""
        return sorted(
            row["task_key"]
            for row in await self.rows("select t.task_key from queue_ready q join tasks t on t.id = q.task_id")
        )

    async def post(self, body: bytes, name: str = "main", **headers: str) -> int:
        """Knock at the webhook door; the status."""
        sent = {key.replace("_", "-"): value for key, value in headers.items()}
        return (await self.http.post(f"/webhooks/buyma/{name}", content=body, headers=sent)).status_code

    async def rows(self, text: str) -> list[dict[str, Any]]:
        async with self.shop.db.read() as tx:
            return [dict(row) for row in await tx.fetch(Statement(text))]  # type: ignore[call-overload]


@asynccontextmanager
async def selling(url: str, folder: Path, policy: Policy = NO_PATIENCE) -> AsyncIterator[Stall]:
    """A stall that is open."""
    for name, value in (("token", "sandbox-token"), ("secret", "sandbox-client-secret")):
        (folder / name).write_text(f"{value}\n")
    ours = replace(ACCOUNT, policy=policy, token_ref=f"file:{folder / 'token'}", secret_ref=f"file:{folder / 'secret'}")
    behaviour = Behaviour(delay=0, retry_seconds=0)
    async with Workshop.opened(url) as shop, running(World(5, 300), behaviour=behaviour) as door:
        host, port = door.host_port.split(":")
        transport = AiohttpTransport(frozenset({(host, int(port))}))
        register = Register(Buyma(transport, door.buyma), shop.db.clock, secret, timedelta(seconds=10))
        account = await shop.do(lambda tx: accounts.add(tx, ours))
        async with served(shop, register) as client:
            await door.account(webhook_url=f"{client.base_url}/webhooks/buyma/main")
            yield Stall(shop, register, account, door, client)
        await transport.close()


@asynccontextmanager
async def served(shop: Workshop, register: Register) -> AsyncIterator[httpx.AsyncClient]:
    """The webhook door behind a real HTTP server."""
    api = FastAPI()
    api.state.methods = Methods(webhooks.router.routes)
    api.state.bobusang = SimpleNamespace(engine=shop.engine, belt=SimpleNamespace(register=register))
    problems.install(api)
    api.include_router(webhooks.router)
    api.add_middleware(Guard, metrics=Metrics(), manners=Manners())
    listener = listening("127.0.0.1", 0)
    server = uvicorn.Server(uvicorn.Config(api, log_config=None, access_log=False))
    task = asyncio.create_task(server.serve(sockets=[listener]))
    host, port = listener.getsockname()
    try:
        async with httpx.AsyncClient(base_url=f"http://{host}:{port}", timeout=30) as client:
            yield client
    finally:
        server.should_exit = True
        await task
        listener.close()
