"""The DBOS application: a no-op workflow, plain or asynchronous; run as a module it is the worker process."""

import os
import signal
import threading
from types import FrameType

from dbos import DBOS  # type: ignore[import-not-found]

from bench.peers.stopwatch import Marks

DATABASE = "BOBUSANG_BENCH_DATABASE"
THREADS = "BOBUSANG_BENCH_THREADS"
POOL = "BOBUSANG_BENCH_POOL"
NAME = "bench"
QUEUE = "bench"

marks = Marks()


def _plain() -> None:
    marks.mark()


async def _asynchronous() -> None:
    marks.mark()


def main() -> None:
    DBOS(
        config={
            "name": NAME,
            "system_database_url": os.environ[DATABASE],
            "sys_db_pool_size": int(os.environ[POOL]),
            "max_executor_threads": int(os.environ[THREADS]),
            "application_version": NAME,
            "executor_id": NAME,
            "log_level": "ERROR",
        }
    )
    DBOS.workflow(name="plain")(_plain)
    DBOS.workflow(name="async")(_asynchronous)
    stopped = threading.Event()

    def stop(_signal: int, _frame: FrameType | None) -> None:
        stopped.set()

    signal.signal(signal.SIGTERM, stop)
    DBOS.launch()
    stopped.wait()
    DBOS.destroy()


if __name__ == "__main__":
    main()
