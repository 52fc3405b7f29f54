"""A whole shop for tests and benchmarks: the application with its API, over a sandbox whose market knows it."""

from __future__ import annotations

import asyncio
import socket
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import uvicorn

from bobusang.engine import schedules
from bobusang.entry.api import create_app
from bobusang.flows.conveyor import starting
from bobusang.flows.conveyor.register import WORKFLOW
from bobusang.flows.market import exchange, masters
from bobusang.kit.sql import Statement
from bobusang.sandbox.reviewed import mapping
from bobusang.stages.convert import mastering, reviewing
from bobusang.stages.register import accounts
from bobusang.stages.register.model import Account, Budget, Policy
from bobusang.testing.yard import Yard

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from pathlib import Path

    from bobusang.flows.conveyor.model import Brand, Mode
    from bobusang.kit.db import Tx
    from bobusang.testing.sandbox import Door
    from bobusang.wiring import App

NAME = "bobusang"
"""Our shop, and who we are at the sandbox's market."""
SCHEDULES = Statement("select id from crawling_schedules where deleted_at is null order by id")
BATCH = Statement("select status from pipeline_batches where batch_id = :id")
PATIENCE = 300.0
ENDLESS = Budget(hour=10**9, day=10**9)


@dataclass(frozen=True, slots=True)
class Shop:
    """One process's application that sells."""

    yard: Yard
    url: str

    @property
    def door(self) -> Door:
        return self.yard.door

    @staticmethod
    @asynccontextmanager
    async def opened(home: Path, *, policy: Policy | None = None, **said: Any) -> AsyncIterator[Shop]:
        """The application in a folder with its API on a free port; `said` is what `Yard.opened` takes."""
        listener = socket.socket(proto=socket.IPPROTO_TCP)
        listener.bind(("127.0.0.1", 0))
        listener.listen(1024)
        host, port = listener.getsockname()
        async with Yard.opened(home, host=host, port=port, **said) as yard, serving(yard.app, listener):
            shop = Shop(yard, f"http://{host}:{port}")
            await yard.door.account(webhook_url=f"{shop.url}/webhooks/buyma/{NAME}")
            await shop.equip(policy or Policy(budget=ENDLESS, patience=timedelta(seconds=20)))
            yield shop

    async def equip(self, policy: Policy) -> None:
        """Account, master lists, mapping and exchange rate: what a seller does on the first day; once is enough. What
        runs is what is started here: at the full hour a schedule would start a batch beside it."""
        app, db = self.yard.app, self.yard.db
        async with db.read() as tx:
            if await accounts.every(tx):
                return
        transport = app.collector.transport
        await masters.refreshed(db, transport, "buyma", f"{self.door.buyma}/downloads")
        rate = await exchange.fetched(transport, exchange.place_of(f"{self.door.url}/fx/latest.json", "0.01"))

        async def work(tx: Tx) -> None:
            await accounts.add(tx, seller(policy))
            await exchange.recorded(tx, rate)
            known = await mastering.current(tx, "buyma")
            await reviewing.imported(tx, reviewing.parsed(mapping(), known))
            for row in await tx.fetch(SCHEDULES):
                await schedules.pause(tx, row["id"])

        await db.transact(work)

    async def start(self, mode: Mode, brands: Sequence[Brand], **more: Any) -> str:
        """Begin a batch."""
        workflow_id = await self.yard.workflow(WORKFLOW)
        engine = self.yard.app.engine
        begun = await self.yard.db.transact(lambda tx: starting.start(tx, engine, workflow_id, mode, brands, **more))
        return begun.batch_id

    async def run(self, mode: Mode, brands: Sequence[Brand], *, patience: float = PATIENCE, **more: Any) -> str:
        """Run a batch to its end; how it ended. Somebody must be working."""
        return await self.ended(await self.start(mode, brands, **more), patience=patience)

    async def ended(self, batch: str, *, patience: float = PATIENCE) -> str:
        """Wait until a batch is over; how it ended."""
        async with asyncio.timeout(patience):
            while True:
                row = await self.yard.one(BATCH, id=batch)
                if row is not None and row["status"] != "RUNNING":
                    return str(row["status"])
                await asyncio.sleep(0.02)


def seller(policy: Policy) -> Account:
    """Our account at the sandbox's market."""
    return Account(
        0,
        "buyma",
        NAME,
        buying_area="2002003000",
        shipping_area="2002003000",
        shipping_methods=(888,),
        shop_name="OKmall",
        duty="included",
        token_ref="sandbox:token",  # noqa: S106 - a reference
        secret_ref="sandbox:secret",  # noqa: S106
        policy=policy,
    )


@asynccontextmanager
async def serving(app: App, listener: socket.socket) -> AsyncIterator[None]:
    """An application's API on this loop."""
    config = uvicorn.Config(create_app(app), log_config=None, lifespan="off", access_log=False)
    server = uvicorn.Server(config)
    task = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        async with asyncio.timeout(20):
            while not server.started:  # noqa: ASYNC110  (it tells nobody)
                await asyncio.sleep(0.005)
        yield
    finally:
        server.should_exit = True
        await task
