"""Workers are killed at random moments while tasks run, and every effect is there exactly once.

`make soak` does the same with 20,000 tasks and kills the whole time.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from bobusang.testing.fleet import Fleet, Trial, perfect
from tests import seed

if TYPE_CHECKING:
    from pathlib import Path

TASKS = 1000
KILLS = 5
SEED = seed.chosen()
PATIENCE = 100.0


async def test_killed_workers_lose_nothing_and_do_nothing_twice(url: str, tmp_path: Path) -> None:
    print(f"again with BOBUSANG_SEED={SEED}")
    chance = random.Random(SEED)
    async with Trial.on(url, tasks=TASKS) as trial:
        with Fleet.of(2, url, tmp_path) as fleet:
            for effects in sorted(chance.sample(range(1, TASKS * 2 - 200), KILLS)):
                await trial.reached(effects, patience=PATIENCE)
                await fleet.strike(chance, among=await trial.busy())

            assert await trial.ending(patience=PATIENCE) == perfect(TASKS)
            assert (fleet.killed, fleet.alive) == (KILLS, 2)
            assert await trial.rescued() > 0
