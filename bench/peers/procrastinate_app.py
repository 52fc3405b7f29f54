"""The Procrastinate application: one asynchronous no-op task; run as a module it is the worker process."""

import asyncio
import os
from typing import Any

from procrastinate import App, PsycopgConnector  # type: ignore[import-not-found]

from bench.peers.stopwatch import Marks

DATABASE = "BOBUSANG_BENCH_DATABASE"
CONCURRENCY = "BOBUSANG_BENCH_CONCURRENCY"
POOL = "BOBUSANG_BENCH_POOL"
DELETE = "BOBUSANG_BENCH_DELETE"
QUEUE = "bench"

marks = Marks()


async def _noop() -> None:
    marks.mark()


def application(url: str, pool: int) -> Any:
    """An application on the documented connector, with a pool of that many connections, all open from the start."""
    made = App(connector=PsycopgConnector(conninfo=url, min_size=pool, max_size=pool))
    made.task(name="noop", queue=QUEUE)(_noop)
    return made


async def _work() -> None:
    app = application(os.environ[DATABASE], int(os.environ[POOL]))
    async with app.open_async():
        # All queues, not one by name: the claim then has one condition less.
        await app.run_worker_async(concurrency=int(os.environ[CONCURRENCY]), delete_jobs=os.environ[DELETE])


if __name__ == "__main__":
    asyncio.run(_work())
