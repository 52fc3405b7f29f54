"""One worker process of a benchmark: says `ready`, waits for `go`, drains, says how it went."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from typing import TYPE_CHECKING

from bench.world import LEFT
from bobusang.engine.handlers import Handler
from bobusang.engine.outcome import DONE
from bobusang.engine.service import Engine
from bobusang.engine.upkeep.fold import fold
from bobusang.engine.upkeep.keeper import Keeper
from bobusang.engine.worker import Worker
from bobusang.kit.db import connect

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bobusang.engine.model import Task
    from bobusang.engine.outcome import Outcome

BATCH = {"sqlite": 500, "postgresql": 500, "mariadb": 500}


first: list[float] = []
"""When the first task began: as with the peers, starting up does not count."""


async def noop(batch: Sequence[Task]) -> Sequence[Outcome]:
    """Nothing."""
    if not first:
        first.append(time.time())
    return [DONE] * len(batch)


async def main(url: str, batch: int | None, concurrency: int) -> None:
    db = await connect(url)
    engine = Engine(db)
    engine.handlers.add(Handler("noop", noop, batch=batch or BATCH[db.dialect], concurrency=concurrency))
    keeper = Keeper(db, [fold(engine)], lead=False)
    worker = Worker(db, engine.handlers, engine.books, pace=engine.pace)
    print("ready", flush=True)
    await asyncio.to_thread(sys.stdin.readline)
    upkeep = asyncio.create_task(keeper.run())
    running = asyncio.create_task(worker.run())
    end = await _watch(worker)
    print(json.dumps({"handled": worker.handled, "begin": first[0] if first else end, "end": end}), flush=True)
    worker.stop()
    keeper.stop()
    await asyncio.gather(running, upkeep)
    await db.close()


async def _watch(worker: Worker) -> float:
    """When the last batch was finished; over when the queue is empty."""
    seen, end = 0, time.time()
    looked = end
    while True:
        await asyncio.sleep(0.002)
        now = time.time()
        if worker.handled != seen:
            seen, end = worker.handled, now
        elif now - end > 0.1 and now - looked > 0.1:
            looked = now
            async with worker.db.read() as tx:
                if await tx.value(LEFT) == 0 and worker.handled == seen:
                    return end


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("url")
    parser.add_argument("--batch", type=int)
    parser.add_argument("--concurrency", type=int, default=2)
    given = parser.parse_args()
    asyncio.run(main(given.url, given.batch, given.concurrency))
