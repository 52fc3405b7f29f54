"""People and workers at once, round after round until the time is up."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from bobusang.testing.workshop import Workshop
from tests.integration.engine.test_chaos import chaos

if TYPE_CHECKING:
    import random


async def test_people_and_workers_at_once_lose_nothing_and_count_everything_once(
    url: str, seconds: float, chance: random.Random
) -> None:
    over = time.monotonic() + seconds
    while True:
        async with Workshop.opened(url) as live:
            await chaos(live, url, chance, acts=200)
        if time.monotonic() > over:
            return
