"""The whole application over a sandbox on a clock that stands still, its wheels turned by hand."""

from __future__ import annotations

from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from bobusang import wiring
from bobusang.catalog.sellers import NewSeller
from bobusang.flows.seller_crawl import sellers, starting
from bobusang.kit.db import connect
from bobusang.kit.sql import Statement
from bobusang.settings import load
from bobusang.testing.clock import ManualClock
from bobusang.testing.sandbox import running
from bobusang.testing.workshop import Workshop

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from bobusang.catalog.sellers import Seller
    from bobusang.sandbox.world import World
    from bobusang.testing.sandbox import Door
    from bobusang.wiring import App

HANDLERS = ("collect.plan", "collect.fetch", "collect.close")
ROUNDS = 300


class Mill:
    """An application whose tasks are worked off one claim after the other."""

    def __init__(self, app: App, door: Door, clock: ManualClock, workflow_id: int) -> None:
        self.app = app
        self.door = door
        self.clock = clock
        self.shop = Workshop(app.engine)
        self.workflow_id = workflow_id

    async def seller(self, seller_id: str, **said: Any) -> Seller:
        new = NewSeller("mustit", seller_id, **said)
        return await self.shop.do(lambda tx: sellers.add(tx, self.workflow_id, new))

    async def smallest(self, least: int = 5) -> str:
        """The seller with the fewest products, but so many."""
        found: dict[str, int] = (await self.door.world())["sellers"]
        return min((count, name) for name, count in found.items() if count >= least)[1]

    async def start(self, seller: Seller, **said: Any) -> int:
        started = await self.shop.do(lambda tx: starting.start(tx, self.app.engine, self.workflow_id, seller, **said))
        return started.job_id

    async def turn(self) -> int:
        """Work off what can be claimed now; how many tasks."""
        done = 0
        for name in HANDLERS:
            while (batch := await self.shop.claim(64, handler=name)) is not None:
                outcomes = dict(zip(batch.ids, await batch.handler.work(batch.tasks), strict=True))
                await self.shop.finish(batch, lambda task, found=outcomes: found[task.id])  # type: ignore[misc]
                await self.shop.fold()
                done += len(batch.tasks)
        return done

    async def until_ended(self, job_id: int, *, step: float = 5.0) -> str:
        """Turn, and let time pass where nothing can be done, until a job is over; its status."""
        for _ in range(ROUNDS):
            await self.turn()
            status = await self.shop.status(job_id)
            if status not in ("PENDING", "RUNNING"):
                return status
            self.clock.advance(seconds=step)
            await self.shop.start()
            await self.shop.promote()
        raise AssertionError(f"job {job_id} did not end: {await self.shop.places()}")

    async def crawl(self, seller: Seller, **said: Any) -> str:
        """Crawl a seller to the end; the job's status."""
        return await self.until_ended(await self.start(seller, **said))


@asynccontextmanager
async def turning(url: str, home: Path, world: World, **sandbox: Any) -> AsyncIterator[Mill]:
    """A mill on a migrated database; `sandbox` are the options of `Sandbox`."""
    clock = ManualClock(datetime.now(UTC))
    async with running(world, **sandbox) as door:
        settings = load({}, home=str(home), database_url=url, sandbox_url=door.url)
        database = await connect(url, clock=clock)
        app = wiring.build(settings, database)
        try:
            await wiring.prepare(app, fetches=True)
            workflow_id = await Workshop(app.engine).value(
                "select id from crawling_workflows where workflow_name = 'collect'"
            )
            # The shipped schedules would fire among those that are turned here.
            await Workshop(app.engine).do(lambda tx: tx.execute(Statement("delete from crawling_schedules")))
            yield Mill(app, door, clock, workflow_id)
        finally:
            await app.collector.close()
            await database.close()
