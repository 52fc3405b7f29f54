"""How fast one Procrastinate worker drains asynchronous no-op tasks from PostgreSQL."""

import argparse
import asyncio
import sys
import time
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # run by its path, where the project is not installed

from bench.peers import procrastinate_app
from bench.peers.drain import Measured, arguments, best, per_second, report, run, timed
from bench.peers.scratch import scratch

UNFINISHED = "SELECT EXISTS (SELECT FROM procrastinate_jobs WHERE status IN ('todo', 'doing'))"
BATCH = 1000


@dataclass(frozen=True, slots=True)
class Settings:
    """What a Procrastinate user can turn; the defaults won the sweep on two cores (see README.md)."""

    concurrency: int = 20
    pool: int = 5
    delete_jobs: str = "never"


def measure(url: str, tasks: int, settings: Settings) -> Measured:
    """Fill the queue in a database of its own, drain it with one worker process, and drop the database."""
    with scratch(url) as database:
        enqueue = asyncio.run(_fill(database.url, tasks))
        database.analyze()
        env = {
            procrastinate_app.DATABASE: database.url,
            procrastinate_app.CONCURRENCY: str(settings.concurrency),
            procrastinate_app.POOL: str(settings.pool),
            procrastinate_app.DELETE: settings.delete_jobs,
        }
        argv = [sys.executable, "-m", "bench.peers.procrastinate_app"]
        drain, processes = timed(argv, env, tasks, lambda: database.ask(UNFINISHED))
        return Measured(enqueue, drain, processes, {**asdict(settings), **database.durability})


async def _fill(url: str, tasks: int) -> float:
    """Make the tables, then defer the tasks in batches; the rate is that of the deferring alone."""
    app = procrastinate_app.application(url, pool=1)
    async with app.open_async():
        await app.schema_manager.apply_schema_async()
        begin = time.monotonic()
        for done in range(0, tasks, BATCH):
            await app.tasks["noop"].batch_defer_async(*({} for _ in range(min(BATCH, tasks - done))))
        return per_second(tasks, begin)


def sweep(url: str, tasks: int) -> Settings:
    """First how many at once, then how many connections for that many, then whether finished jobs are kept."""

    def measured(settings: Settings) -> Measured:
        return measure(url, tasks, settings)

    found = best([Settings(concurrency=n, pool=n + 1) for n in (1, 2, 3, 5, 10, 20, 30, 50)], measured)
    pools = sorted({2, 3, 5, 10, found.concurrency + 1})
    found = best([replace(found, pool=n) for n in pools], measured)
    return best([replace(found, delete_jobs=which) for which in ("never", "successful")], measured)


def work(options: argparse.Namespace) -> None:
    if options.sweep:
        settings = sweep(options.postgres, options.tasks)
    else:
        settings = Settings(options.concurrency, options.pool, options.delete_jobs)
    measured = measure(options.postgres, options.tasks, settings)
    report("procrastinate", version("procrastinate"), options.tasks, measured)


def main() -> None:
    parser = arguments("Procrastinate", "postgres")
    default = Settings()
    parser.add_argument("--concurrency", type=int, default=default.concurrency)
    parser.add_argument("--pool", type=int, default=default.pool, help="connections")
    parser.add_argument("--delete-jobs", choices=("never", "successful", "always"), default=default.delete_jobs)
    run(parser.parse_args(), work)


if __name__ == "__main__":
    main()
