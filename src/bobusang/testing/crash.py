"""The worker program that crash tests kill: `python -m bobusang.testing.crash URL NAME`.

Its two handlers take a random moment to work and append one row a task to `crash_effects`, which has no key: an effect
that happens twice is two rows. It goes on by itself when its database was away, and ends when its stdin ends.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import threading
from typing import TYPE_CHECKING

from sqlalchemy import BigInteger, Column, Integer, MetaData, String, Table

from bobusang.engine.handlers import Handler
from bobusang.engine.outcome import Done, Outcome
from bobusang.engine.service import Engine
from bobusang.engine.upkeep.fold import contexts, fold
from bobusang.engine.upkeep.keeper import Keeper
from bobusang.engine.upkeep.promote import promote
from bobusang.engine.upkeep.rescue import rescue
from bobusang.engine.upkeep.start import start
from bobusang.engine.upkeep.sweep import sweep
from bobusang.engine.worker import Worker
from bobusang.kit import log
from bobusang.kit.db import connect
from bobusang.kit.errors import BobusangError, Unavailable
from bobusang.kit.sql import Bulk
from bobusang.testing.workshop import FAST

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bobusang.engine.model import Task
    from bobusang.kit.db import Database, Tx

STEPS = ("fetch", "store")
BATCH = 10
LONGEST_WORK = 0.02
"""Seconds a batch may take: long enough to be killed in, short enough for thousands."""
AGAIN_SECONDS = 0.2

effects = Table(
    "crash_effects",
    MetaData(),
    Column("step", String(20), nullable=False),
    Column("number", Integer, nullable=False),
    Column("task_id", BigInteger, nullable=False),
)
EFFECTS = Bulk(effects, ("step", "number", "task_id"))


async def work(batch: Sequence[Task]) -> Sequence[Outcome]:
    """Take a moment, and hand each number on."""
    await asyncio.sleep(random.uniform(0, LONGEST_WORK))
    return [Done(task.input) for task in batch]


async def save(tx: Tx, owned: Sequence[tuple[Task, Done]]) -> None:
    """One row a task."""
    await tx.insert(EFFECTS, [(task.step.name, task.input["number"], task.id) for task, _ in owned])


async def serve(url: str, name: str) -> None:
    """Work and keep the engine, until killed."""
    engine = Engine(await _reached(url), pace=FAST)
    for step in STEPS:
        engine.handlers.add(Handler(step, work, save, batch=BATCH))
    duties = [duty(engine) for duty in (fold, contexts, promote, rescue, sweep, start)]
    keeper = Keeper(engine.db, duties, lease=FAST.dead_after / 2)
    await asyncio.gather(keeper.run(), _work_on(engine, name))


async def _reached(url: str) -> Database:
    while True:
        try:
            return await connect(url, pool=6)
        except Unavailable:
            await asyncio.sleep(AGAIN_SECONDS)


async def _work_on(engine: Engine, name: str) -> None:
    """A worker that lost its database for too long gives up its claims and ends; here a new one takes its place."""
    while True:
        try:
            await Worker(engine.db, engine.handlers, engine.books, name=name, pace=FAST).run()
        except BobusangError as error:
            log.get("crash").warning("worker failed and is started again", error=str(error))
        await asyncio.sleep(AGAIN_SECONDS)


def _end_with_stdin() -> None:
    """Whoever started us is gone. os.read, for a thread that waits in sys.stdin would keep the interpreter."""
    while os.read(0, 1):
        pass
    os._exit(0)


def main() -> None:
    """Read the command line and serve."""
    parser = argparse.ArgumentParser(description="a worker to be killed")
    parser.add_argument("url")
    parser.add_argument("name")
    given = parser.parse_args()
    threading.Thread(target=_end_with_stdin, daemon=True).start()
    asyncio.run(serve(given.url, given.name))


if __name__ == "__main__":
    main()
