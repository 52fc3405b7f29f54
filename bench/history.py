"""Whether a million finished tasks in the tables make the next ones dearer."""

from __future__ import annotations

import asyncio
from functools import partial
from statistics import median
from typing import TYPE_CHECKING

from bench.report import Line, at_least, interleaved, rate
from bench.servers import FRESH
from bench.world import drain, fill, prepare
from bobusang.kit.db import connect
from bobusang.kit.sql import Statement

if TYPE_CHECKING:
    from collections.abc import Iterator

FINISHED = 1_000_000
TASKS = {"quick": 20_000, "full": 40_000}
ROUNDS = {"quick": 3, "full": 7}
FIRST = 1_000_000_000
"""Ids far from those that the engine gives."""

_NUMBERS = {
    "sqlite": "with recursive n(i) as (select 1 union all select i + 1 from n where i < {count}) select i from n",
    "postgresql": "select i from generate_series(1, {count}) as i",
    "mariadb": "select seq as i from seq_1_to_{count}",
}


def run(size: str) -> Iterator[Line]:
    for name in FRESH:
        with FRESH[name]() as young, FRESH[name]() as old:
            for url in (young, old):
                asyncio.run(prepare(url))
            asyncio.run(_age(old, name))
            tasks = TASKS[size]

            def one(url: str, tasks: int = tasks) -> float:
                asyncio.run(fill(url, tasks))
                return drain(url, tasks)

            found = interleaved(ROUNDS[size], {"young": partial(one, young), "old": partial(one, old)})
        yield rate(f"{name}: drain with empty tables", found["young"])
        yield rate(f"{name}: drain with 1,000,000 finished tasks", found["old"])
        yield at_least(f"{name}: with history ÷ without", median(found["old"]) / median(found["young"]), 0.8, "")


async def _age(url: str, name: str) -> None:
    """Insert finished tasks of old jobs, two hundred jobs of five thousand each."""
    numbers = _NUMBERS[name].format(count=FINISHED)
    key = f"cast(i as {'char' if name == 'mariadb' else 'varchar(20)' if name == 'postgresql' else 'text'})"
    job = "(i / 5000)" if name != "mariadb" else "(i div 5000)"
    insert = Statement(f"""
        insert into tasks (id, job_id, step_id, task_key, task_type, status, outcome, retry_count, sequence_number,
          input_data, started_at, completed_at, response_time_ms, created_at, updated_at)
        select {FIRST} + i, {FIRST} + {job}, 1, {key}, 'STORE', 'SUCCESS', 'DONE', 0, 0, '{{"n": 1}}', :at, :at, 1,
          :at, :at
        from ({numbers}) as numbers""")
    db = await connect(url)
    async with db.begin() as tx:
        await tx.execute(insert, at=tx.now)
    await db.close()
