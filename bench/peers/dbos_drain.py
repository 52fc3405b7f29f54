"""How fast one DBOS process drains no-op workflows from a queue in PostgreSQL."""

import argparse
import importlib
import sys
import time
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # run by its path, where the project is not installed

from dbos import DBOSClient, run_dbos_database_migrations  # type: ignore[import-not-found]

from bench.peers import dbos_app
from bench.peers.drain import Measured, arguments, best, per_second, report, run, timed
from bench.peers.scratch import scratch

UNFINISHED = "SELECT EXISTS (SELECT FROM dbos.workflow_status WHERE status IN ('ENQUEUED', 'PENDING'))"
BATCH = 1000


@dataclass(frozen=True, slots=True)
class Settings:
    """What a DBOS user can turn; the defaults won the sweep on two cores (see README.md). Concurrency 0: no limit."""

    workflow: str = "plain"
    worker_concurrency: int = 0
    polling: float = 0.01
    threads: int = 16
    pool: int = 20


def measure(url: str, tasks: int, settings: Settings) -> Measured:
    """Fill the queue in a database of its own, drain it with one process, and drop the database."""
    with scratch(url) as database:
        run_dbos_database_migrations(database.url)
        enqueue = _fill(database.url, tasks, settings)
        database.analyze()
        env = {
            dbos_app.DATABASE: database.url,
            dbos_app.THREADS: str(settings.threads),
            dbos_app.POOL: str(settings.pool),
        }
        argv = [sys.executable, "-m", "bench.peers.dbos_app"]
        drain, processes = timed(argv, env, tasks, lambda: database.ask(UNFINISHED))
        return Measured(enqueue, drain, processes, {**asdict(settings), **database.durability})


def _fill(url: str, tasks: int, settings: Settings) -> float:
    """Declare the queue and enqueue the workflows, a thousand in a transaction."""
    sqlalchemy: Any = importlib.import_module("sqlalchemy")
    engine = sqlalchemy.create_engine(urlunsplit(urlsplit(url)._replace(scheme="postgresql+psycopg")))
    client = DBOSClient(system_database_url=url, application_name=dbos_app.NAME)
    try:
        client.register_queue(
            dbos_app.QUEUE,
            worker_concurrency=settings.worker_concurrency or None,
            polling_interval_sec=settings.polling,
        )
        options = {"workflow_name": settings.workflow, "queue_name": dbos_app.QUEUE}
        begin = time.monotonic()
        for done in range(0, tasks, BATCH):
            with engine.begin() as connection:
                for _ in range(min(BATCH, tasks - done)):
                    client.enqueue_in_transaction(connection, options)
        return per_second(tasks, begin)
    finally:
        client.destroy()
        engine.dispose()


def sweep(url: str, tasks: int) -> Settings:
    """First plain or asynchronous with how many threads, then how much is claimed at once and how often."""

    def measured(settings: Settings) -> Measured:
        return measure(url, tasks, settings)

    found = best([Settings(workflow=w, threads=t) for w in ("plain", "async") for t in (2, 4, 8, 16, 64)], measured)
    claims = [replace(found, worker_concurrency=n, polling=p) for n in (20, 100, 1000) for p in (0.001, 0.01)]
    return best([found, *claims, replace(found, pool=50)], measured)


def work(options: argparse.Namespace) -> None:
    if options.sweep:
        settings = sweep(options.postgres, options.tasks)
    else:
        given = (options.workflow, options.worker_concurrency, options.polling, options.threads, options.pool)
        settings = Settings(*given)
    report("dbos", version("dbos"), options.tasks, measure(options.postgres, options.tasks, settings))


def main() -> None:
    parser = arguments("DBOS", "postgres")
    default = Settings()
    parser.add_argument("--workflow", choices=("plain", "async"), default=default.workflow)
    parser.add_argument("--worker-concurrency", type=int, default=default.worker_concurrency, help="0: no limit")
    parser.add_argument("--polling", type=float, default=default.polling, metavar="SECONDS")
    parser.add_argument("--threads", type=int, default=default.threads)
    parser.add_argument("--pool", type=int, default=default.pool, help="connections")
    run(parser.parse_args(), work)


if __name__ == "__main__":
    main()
