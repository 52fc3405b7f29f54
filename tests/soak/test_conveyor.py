"""One FULL of 1,000 products under fifty kills, while webhooks are lost, late, doubled and forged and the market fails
now and then: it ends as if nothing had been."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from bobusang.sandbox.buyma.account import Behaviour
from bobusang.sandbox.world import World
from bobusang.testing.sandbox import running
from tests.integration.flows.selling import NO_DOUBLES, outcomes, unlike
from tests.integration.flows.test_conveyor_crash import killed, moments, undisturbed

if TYPE_CHECKING:
    import random
    from pathlib import Path

SIZE = 640
"""Of each of two malls, of which some more than 1,000 can be sold."""
KILLS = 50
PATIENCE = 3000.0
BEHAVIOUR = Behaviour(delay=0.2, retries=40, retry_seconds=0.5, hour_limit=0, day_limit=0)
MISHAPS = {
    "lost": ("webhook", 0.03, None),
    "late": ("webhook", 0.03, 5.0),
    "doubled": ("webhook", 0.03, None),
    "forged": ("webhook", 0.03, None),
    "http_503": ("products", 0.02, None),
    "error_after": ("products", 0.02, None),
    "stall_after": ("products", 0.01, 4.0),
}
"""Where, how often, and for how many seconds."""


@pytest.mark.timeout(PATIENCE * 2)
async def test_killed_conveyors_register_everything_once(
    request: pytest.FixtureRequest,
    url: str,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    chance: random.Random,
) -> None:
    crew: dict[str, Any] = {"dead_seconds": 5.0}
    if url.startswith("postgresql"):  # two at once, which must count their calls together
        crew |= {"processes": 2, "limiter_url": request.getfixturevalue("redis_url")}
    apart = tmp_path_factory.mktemp("undisturbed")
    async with running(World(seed=5, size=SIZE, brands=1, pictures=1), behaviour=BEHAVIOUR) as door:
        expected, far = await undisturbed(apart, door, PATIENCE)
        await door.reset()
        for kind, (endpoint, share, seconds) in MISHAPS.items():
            await door.fault("buyma", endpoint, kind, share=share, seconds=seconds, seed=chance.randrange(1, 10**6))

        found = await killed(tmp_path, door, url, moments(chance, far, KILLS), patience=PATIENCE, **crew)
        done, hits = await outcomes(door), {one["kind"]: one["hits"] for one in await door.faults()}

    print(f"{len(found['shelves'])} listed, {KILLS} kills, {dict(done)}, {hits}")
    assert unlike(found, expected) == {}
    assert (found["doubles"], found["made"]) == (NO_DOUBLES, len(found["shelves"]))
    assert len(found["shelves"]) >= 1000
    assert all(hits.values())
