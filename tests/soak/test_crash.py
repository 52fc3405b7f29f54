"""Kills in a loop the whole time, while two workers run 20,000 tasks of two steps; again until the time is up."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from bobusang.testing.fleet import Fleet, Trial, perfect

if TYPE_CHECKING:
    import random
    from pathlib import Path

TASKS = 20_000
PATIENCE = 600.0
QUIET = (0.2, 2.0)
"""Seconds between two kills."""


async def test_killed_workers_lose_nothing_and_do_nothing_twice(
    url: str, tmp_path: Path, seconds: float, chance: random.Random
) -> None:
    over = time.monotonic() + seconds
    async with Trial.on(url, tasks=TASKS) as trial:
        with Fleet.of(2, url, tmp_path) as fleet:
            while True:
                async with asyncio.timeout(PATIENCE):
                    while not await trial.over():
                        await fleet.strike(trial, chance)
                        await asyncio.sleep(chance.uniform(*QUIET))

                assert await trial.ending(patience=PATIENCE) == perfect(TASKS)
                assert await trial.rescued() > 0
                print(f"{trial.tasks} tasks, {await trial.rescued()} rescued, {fleet.killed} killed so far")
                if time.monotonic() > over:
                    return
                trial = await trial.again()  # noqa: PLW2901  (the next round)
