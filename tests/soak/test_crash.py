"""Kills in a loop the whole time, while two workers run 20,000 tasks of two steps; again until the time is up."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from bobusang.testing.fleet import Fleet, Trial, perfect

if TYPE_CHECKING:
    import random
    from pathlib import Path

TASKS = 20_000
PATIENCE = 600.0
MOST_BETWEEN = 2000
"""Effects between two kills: by time, a busy machine would kill each worker before it had begun."""


async def test_killed_workers_lose_nothing_and_do_nothing_twice(
    url: str, tmp_path: Path, seconds: float, chance: random.Random
) -> None:
    over = time.monotonic() + seconds
    async with Trial.on(url, tasks=TASKS) as trial:
        with Fleet.of(2, url, tmp_path) as fleet:
            while True:
                effects = chance.randrange(1, MOST_BETWEEN)
                while effects < TASKS * 2 - 200:
                    await trial.reached(effects, patience=PATIENCE)
                    await fleet.strike(chance, among=await trial.busy())
                    effects += chance.randrange(1, MOST_BETWEEN)

                assert await trial.ending(patience=PATIENCE) == perfect(TASKS)
                assert await trial.rescued() > 0
                print(f"{trial.tasks} tasks, {await trial.rescued()} rescued, {fleet.killed} killed so far")
                if time.monotonic() > over:
                    return
                trial = await trial.again()  # noqa: PLW2901  (the next round)
