"""From enqueue to start, with an idle worker in another process (PostgreSQL) and in the same one (SQLite)."""

from __future__ import annotations

import asyncio
import time
from statistics import quantiles
from typing import TYPE_CHECKING

from bench.report import Line, at_most
from bench.servers import FRESH
from bench.world import prepare
from bobusang.engine import jobs, workflows
from bobusang.engine.handlers import Handler
from bobusang.engine.model import NewTask
from bobusang.engine.outcome import DONE
from bobusang.engine.service import Engine
from bobusang.engine.worker import Worker
from bobusang.kit.db import connect

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bobusang.engine.model import Task
    from bobusang.engine.outcome import Outcome

COUNT = {"quick": 200, "full": 1000}
GAP = 0.02


def run(size: str) -> Iterator[Line]:
    for name in ("postgresql", "sqlite"):
        for apart in (True, False):
            with FRESH[name]() as url:
                asyncio.run(prepare(url))
                waits = asyncio.run(_measure(url, COUNT[size], apart=apart))
            cuts = quantiles(waits, n=100)
            where = f"{name}: enqueue → start, {'another' if apart else 'the same'} connection pool"
            yield at_most(f"{where}, p50", cuts[49] * 1000, 10, "ms")
            yield at_most(f"{where}, p99", cuts[98] * 1000, 50, "ms")


async def _measure(url: str, count: int, *, apart: bool) -> list[float]:
    """Seconds each task waited. `apart`: enqueued through another database object, as another process would."""
    engine = Engine(await connect(url))
    other = Engine(await connect(url)) if apart else engine
    begun: dict[int, float] = {}
    started: asyncio.Queue[int] = asyncio.Queue()

    async def note(batch: Sequence[Task]) -> Sequence[Outcome]:
        for task in batch:
            begun[task.input["n"]] = time.perf_counter()
            started.put_nowait(task.input["n"])
        return [DONE] * len(batch)

    engine.handlers.add(Handler("noop", note, concurrency=1))
    worker = Worker(engine.db, engine.handlers, engine.books)
    running = asyncio.create_task(worker.run())
    async with other.db.read() as tx:
        workflow = await workflows.find(tx, "noop")
    waits = []
    for number in range(count + 5):
        await asyncio.sleep(GAP)  # let the worker fall idle
        await other.submit(jobs.NewJob(workflow["id"], seeds=[NewTask({"n": number})]))
        committed = time.perf_counter()
        await started.get()
        waits.append(max(0.0, begun[number] - committed))
    worker.stop()
    await running
    if apart:
        await other.db.close()
    await engine.db.close()
    return waits[5:]
