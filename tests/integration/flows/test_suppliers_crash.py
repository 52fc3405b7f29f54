"""A worker is killed while a source is followed: the mark stays until all of the window is stored."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bobusang.testing.crawl import Crew, Visiting
from bobusang.testing.sandbox import running
from bobusang.testing.yard import Yard
from tests.integration.flows.test_crash import PATIENCE, PATIENT, busy
from tests.integration.flows.test_suppliers import begun, items, stored, sync, until

if TYPE_CHECKING:
    from pathlib import Path

    from bobusang.sandbox.world import World

pytestmark = pytest.mark.timeout(300)


async def test_a_killed_worker_leaves_no_window_out(tmp_path: Path, world: World) -> None:
    async with running(world) as door, Yard.opened(tmp_path, door=door) as yard:
        async with yard.working():
            await sync(yard, "ownerclan")
        began = await until(yard, "ownerclan")
        await door.advance(24)
        calls = (await door.counts())["asked"]
        how = {"ownerclan": Visiting(concurrency=2)}
        with Crew.of(1, tmp_path, how, sandbox_url=door.url, dead_seconds=PATIENT) as crew:
            started = await begun(yard, "ownerclan")
            crew.kill(await busy(yard, crew, calls + 6, PATIENCE))
            killed = await until(yard, "ownerclan")
            crew.start()
            ended = [await yard.ended(one.job_id, patience=PATIENCE) for one in started]
        after = await until(yard, "ownerclan")

        assert killed["history", ""] == began["history", ""]
        assert ended == ["SUCCESS", "SUCCESS"]
        assert all(moment > began[place] for place, moment in after.items())
        assert stored(await yard.records("ownerclan")) == items(world)
