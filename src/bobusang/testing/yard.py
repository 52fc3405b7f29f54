"""A yard: the whole application over a sandbox, its worker and upkeep running, for tests that collect for real."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from bobusang import wiring
from bobusang.engine import targets, workflows
from bobusang.engine.jobs import NewJob
from bobusang.engine.model import JobType
from bobusang.flows.collect.register import WORKFLOW
from bobusang.kit import json
from bobusang.kit.sql import Statement
from bobusang.settings import load
from bobusang.testing.sandbox import running

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from bobusang.kit.clock import Clock
    from bobusang.sandbox.world import World
    from bobusang.testing.sandbox import Door
    from bobusang.wiring import App

PATIENCE = 60.0
"""Seconds to wait for a job: far more than one takes."""

ENDED = Statement("select status from crawling_jobs where id = :id and completed_at is not null")
RECORDS = Statement("""
    select r.source_id, r.version, d.normalized_data from source_records r join source_data d on d.id = r.version_id
    where r.source_system = :source order by r.source_id""")


class Yard:
    """One process's application."""

    def __init__(self, app: App, door: Door) -> None:
        self.app = app
        self.door = door
        self.db = app.engine.db

    @staticmethod
    @asynccontextmanager
    async def opened(
        home: Path,
        *,
        world: World | None = None,
        door: Door | None = None,
        sandbox: dict[str, Any] | None = None,
        clock: Clock | None = None,
        **said: Any,
    ) -> AsyncIterator[Yard]:
        """The application in a folder, over a sandbox of its own or over that of `door`; `said` are settings."""
        async with _door(world, door, sandbox or {}) as found:
            settings = load({}, home=str(home), sandbox_url=found.url, **said)
            async with wiring.opened(settings, migrate=True, clock=clock) as app:
                yield Yard(app, found)

    @asynccontextmanager
    async def working(self) -> AsyncIterator[None]:
        """Its worker and upkeep, until the block ends."""
        worker, keeper = self.app.worker("yard"), self.app.keeper()
        tasks = [asyncio.create_task(worker.run()), asyncio.create_task(keeper.run())]
        try:
            yield
        finally:
            worker.stop()
            keeper.stop()
            await asyncio.gather(*tasks)

    async def start(self, source: str, kind: str, key: str, *, partial: bool = False, **input: Any) -> int:
        """Begin to collect a target; the job."""
        target = await self.db.transact(lambda tx: targets.put(tx, kind=kind, key=key, source=source))
        job_type = JobType.INCREMENTAL if partial else JobType.FULL
        workflow_id = await self.workflow(WORKFLOW)
        job, _ = await self.app.engine.submit(NewJob(workflow_id, target_id=target, job_type=job_type, input=input))
        return job

    async def workflow(self, name: str) -> int:
        """The id of a workflow."""
        async with self.db.read() as tx:
            return int((await workflows.find(tx, name))["id"])

    async def collect(self, source: str, kind: str, key: str, *, partial: bool = False) -> dict[str, Any]:
        """Collect a target to the end; what its run says of itself."""
        job = await self.start(source, kind, key, partial=partial)
        await self.ended(job)
        return await self.run(job)

    async def ended(self, job: int, *, patience: float = PATIENCE) -> str:
        """Wait until a job is over; its status."""
        async with asyncio.timeout(patience):
            while True:
                row = await self.one(ENDED, id=job)
                if row is not None:
                    return str(row["status"])
                await asyncio.sleep(0.02)

    async def run(self, job: int) -> dict[str, Any]:
        """The row of a run."""
        found = await self.one(Statement("select * from collect_runs where job_id = :id"), id=job)
        assert found is not None
        return found

    async def one(self, statement: Statement, **params: Any) -> dict[str, Any] | None:
        """The first row of a statement."""
        rows = await self.rows(statement, **params)
        return rows[0] if rows else None

    async def rows(self, statement: Statement | str, **params: Any) -> list[dict[str, Any]]:
        """Rows as plain values."""
        async with self.db.read() as tx:
            found = await tx.fetch(Statement(statement) if isinstance(statement, str) else statement, **params)
            return [dict(row) for row in found]  # type: ignore[call-overload]

    async def records(self, source: str) -> dict[str, dict[str, Any]]:
        """The current fields of every record of a source, by key."""
        return {row["source_id"]: json.loads(row["normalized_data"]) for row in await self.rows(RECORDS, source=source)}


@asynccontextmanager
async def _door(world: World | None, door: Door | None, options: dict[str, Any]) -> AsyncIterator[Door]:
    if door is not None:
        yield door
        return
    async with running(world, **options) as found:
        yield found
