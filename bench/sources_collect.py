"""Collects one target of a source in a process of its own: HOME, SANDBOX, SOURCE, KIND, KEY, SECONDS.

SECONDS 0: all of it, as fast as the sandbox may be asked; what that costs is told. Otherwise for so long, no faster
than the source's own policy allows.
"""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import bobusang.kit.transport  # noqa: F401 - before the clock runs
from bench.peers.crawl import Meter
from bench.staying import staying
from bobusang import wiring
from bobusang.connectors.sources.declared.extending import SHIPPED
from bobusang.connectors.sources.declared.shop import load_shop
from bobusang.engine import workflows
from bobusang.engine.jobs import NewJob
from bobusang.engine.upkeep.keeper import Keeper
from bobusang.flows.collect.register import WORKFLOW
from bobusang.kit import log
from bobusang.kit.sql import Statement
from bobusang.settings import load
from bobusang.testing.workshop import PATIENCE

if TYPE_CHECKING:
    from bobusang.engine.hooks import JobMoved
    from bobusang.engine.model import JobStatus
    from bobusang.kit.db import Tx
    from bobusang.wiring import App

COUNT = Statement("select count(*) as value from source_records where source_system = :source")
MOST_SECONDS = PATIENCE * 15


async def main(home: str, url: str, source: str, kind: str, key: str, seconds: float) -> None:
    settings = load({}, home=home, sandbox_url=url, log_level="ERROR")
    log.configure(settings.log_level, settings.log_format)
    async with wiring.opened(settings, migrate=True) as app, staying():
        if seconds:
            found = app.collector.source(source)
            found.policy = replace(found.policy, limits=load_shop(SHIPPED / source).policy.limits)
        meter = Meter()
        await _collect(app, {"source": source, "kind": kind, "key": key}, meter, seconds)
        async with app.engine.db.read() as tx:
            items = int(await tx.value(COUNT, source=source))
    print(json.dumps({"items": items, "cpu": meter.cpu, "seconds": meter.wall}))


async def _collect(app: App, given: dict[str, str], meter: Meter, seconds: float) -> None:
    ended: asyncio.Queue[JobStatus] = asyncio.Queue()

    async def hear(tx: Tx, moved: JobMoved) -> None:
        if moved.status.ended:
            tx.after_commit(lambda: ended.put_nowait(moved.status))

    app.engine.hooks.on_job.append(hear)
    async with app.engine.db.read() as tx:
        workflow = await workflows.find(tx, WORKFLOW)
    worker, keeper = app.worker("bench"), app.keeper()
    assert isinstance(keeper, Keeper)
    meter.start()
    await app.engine.submit(NewJob(workflow["id"], input=given))
    running = [asyncio.create_task(worker.run()), asyncio.create_task(keeper.run())]
    try:
        async with asyncio.timeout(seconds or MOST_SECONDS):
            await ended.get()
    except TimeoutError:
        if not seconds:
            raise
    meter.stop()
    worker.stop()
    keeper.stop()
    await asyncio.gather(*running)


if __name__ == "__main__":
    _home, _url, _source, _kind, _key, _seconds = sys.argv[1:]
    asyncio.run(main(_home, _url, _source, _kind, _key, float(_seconds)))
