"""Imports one file in a process of its own and says how long it took and how much memory: HOME, DATABASE, FILE."""

from __future__ import annotations

import asyncio
import json
import resource
import sys
import time
from pathlib import Path

from bench.staying import staying
from bobusang import wiring
from bobusang.catalog import suppliers
from bobusang.catalog.model import SupplierKind
from bobusang.catalog.suppliers import Supplier
from bobusang.engine.upkeep.fold import contexts, fold
from bobusang.engine.upkeep.keeper import Keeper
from bobusang.engine.upkeep.promote import promote
from bobusang.engine.upkeep.rescue import rescue
from bobusang.engine.upkeep.start import start as upkeep_start
from bobusang.engine.upkeep.sweep import sweep
from bobusang.flows.sheets import previewing, receiving, starting
from bobusang.kit.sql import Statement
from bobusang.settings import load

ENDED = Statement("select status from crawling_jobs where id = :id and completed_at is not null")


async def main(home: str, url: str, content: bytes) -> None:
    settings = load({}, home=home, database_url=url)
    async with wiring.opened(settings, migrate=True) as app, staying():
        collector, db = app.collector, app.engine.db
        await db.transact(lambda tx: suppliers.put(tx, Supplier("acme", SupplierKind.EXCEL)))
        sent, _ = await receiving.receive(collector, "acme", "list.xlsx", content, by="bench")
        begun = time.perf_counter()
        await previewing.preview(collector, sent.id)
        seen = time.perf_counter()
        # The engine's own duties: what is stored is found by search and told to others by other processes.
        worker = app.worker("bench")
        keeper = Keeper(db, [duty(app.engine) for duty in (fold, contexts, promote, rescue, sweep, upkeep_start)])
        running = [asyncio.create_task(worker.run()), asyncio.create_task(keeper.run())]
        await asyncio.sleep(1)
        start, spent = time.perf_counter(), time.process_time()
        job = (await db.transact(lambda tx: starting.start(tx, app.engine, collector, sent.id))).job_id
        while True:
            async with db.read() as tx:
                row = await tx.first(ENDED, id=job)
            if row is not None:
                break
            await asyncio.sleep(0.05)
        took, spent = time.perf_counter() - start, time.process_time() - spent
        assert row["status"] == "SUCCESS", row["status"]
        worker.stop()
        keeper.stop()
        await asyncio.gather(*running)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"preview": seen - begun, "import": took, "cpu": spent, "peak": peak}))


if __name__ == "__main__":
    _home, _url, _file = sys.argv[1:]
    asyncio.run(main(_home, _url, Path(_file).read_bytes()))
