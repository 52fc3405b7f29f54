"""Every operation of the OpenAPI document, on three databases: each bound of each value, chains of calls, chance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.integration.api.holding import held_to_it, stocked
from tests.integration.api.shopfront import trading

if TYPE_CHECKING:
    import random
    from pathlib import Path

PHASES = ["coverage", "fuzzing", "stateful"]


@pytest.mark.parametrize("phase", PHASES)
async def test_the_api_does_what_its_document_says(
    url: str, tmp_path: Path, seconds: float, chance: random.Random, phase: str
) -> None:
    bounds = [] if phase == "coverage" else ["--max-time", str(round(seconds)), "--max-examples", "50"]
    async with trading(url, tmp_path) as front:
        door = await stocked(front)
        said = await held_to_it(door, "--phases", phase, *bounds, seed=chance.randrange(10**6))

    assert said == "", said
