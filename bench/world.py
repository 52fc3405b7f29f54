"""The world of the benchmarks: a database with the engine's tables, no-op tasks in it, and workers that drain them."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from bobusang import migrations
from bobusang.engine import jobs, workflows
from bobusang.engine.grammar.definition import load
from bobusang.engine.model import NewTask
from bobusang.engine.service import Engine
from bobusang.kit.db import connect
from bobusang.kit.sql import Dialect, Statement

if TYPE_CHECKING:
    from collections.abc import Sequence

PER_JOB = 5000
DEFINITION = """
workflow: noop
steps:
  - {name: noop, type: STORE, handler: noop}
"""
ANALYZE = Statement(
    sqlite="analyze", postgres="vacuum analyze", mariadb="analyze table tasks, queue_ready, queue_claims, crawling_jobs"
)
LEFT = Statement("select (select count(*) from queue_ready) + (select count(*) from queue_claims) as value")


async def prepare(url: str) -> None:
    """Make the tables and the workflow."""
    await migrations.upgrade(url)
    engine = Engine(await connect(url))
    try:
        await engine.db.transact(lambda tx: workflows.store(tx, engine.books, load(DEFINITION, origin="bench")))
    finally:
        await engine.db.close()


async def fill(url: str, tasks: int) -> float:
    """Put no-op tasks in; tasks a second."""
    engine = Engine(await connect(url))
    try:
        async with engine.db.read() as tx:
            workflow = await workflows.find(tx, "noop")
        begun = time.perf_counter()
        for _ in range(tasks // PER_JOB):
            seeds = [NewTask({"n": number}) for number in range(PER_JOB)]
            await engine.submit(jobs.NewJob(workflow["id"], seeds=seeds))
        took = time.perf_counter() - begun
        async with engine.db.read() as tx:
            if tx.dialect is Dialect.MARIADB:
                await tx.fetch(ANALYZE)
            else:
                await tx.execute(ANALYZE)
        return tasks / took
    finally:
        await engine.db.close()


def drain(url: str, tasks: int, *, processes: int = 1, options: Sequence[str] = ()) -> float:
    """Tasks a second of one or more worker processes, from the first one's start to the last one's end."""
    argv = [sys.executable, "-m", "bench.worker", url, *options]
    with ExitStack() as stack:
        workers = [stack.enter_context(_worker(argv)) for _ in range(processes)]
        for worker in workers:
            assert worker.stdout is not None
            if worker.stdout.readline().strip() != "ready":
                raise RuntimeError("a benchmark worker did not start; see above")
        for worker in workers:
            assert worker.stdin is not None
            worker.stdin.write("go\n")
            worker.stdin.flush()
        said: list[dict[str, Any]] = []
        for worker in workers:
            assert worker.stdout is not None
            said.append(json.loads(worker.stdout.readline()))
    handled = sum(one["handled"] for one in said)
    if handled != tasks:
        raise RuntimeError(f"{handled} tasks were handled, not {tasks}")
    return float(tasks) / (max(float(one["end"]) for one in said) - min(float(one["begin"]) for one in said))


def _worker(argv: Sequence[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
