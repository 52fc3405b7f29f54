"""Limits hold for all workers together, whatever happens to the one who counts: nobody ever runs unlimited."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from bobusang.flows.collect import sharing
from bobusang.kit import json
from bobusang.sandbox.world import World
from bobusang.stages.collect.announcing import LIMITER_AWAY
from bobusang.testing.crawl import SWIFT, Crew, Visiting, visit
from bobusang.testing.sandbox import running
from bobusang.testing.yard import Yard
from tests.integration.flows.watching import most_within
from tests.servers.redis import Redis
from tests.servers.skip import started

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from tests.servers.server import Server

SELLER = "dmont"
PATIENCE = 200.0
"""A bound for what hangs, not a promise: quotas, not the machine, say how long these take."""
pytestmark = pytest.mark.timeout(300)
LATE = 0.5
"""Seconds that a call may be on its way to the sandbox, on a busy machine: calls granted apart come together."""
TIGHT = Visiting(rate=40.0, burst=4.0, concurrency=6, size=4, calls=40, span=6.0)
SCARCE = Visiting(rate=40.0, burst=4.0, concurrency=6, size=2, calls=24, span=6.0)
"""So few calls that the quota, and nothing else, says how long the crawl takes: each worker alone would double them."""


@pytest.fixture
def redis() -> Iterator[Server]:
    """One that may be stopped."""
    with started(Redis()) as server:
        yield server


async def until(holds: Callable[[], Awaitable[Any]]) -> None:
    """Ask again and again, for a bounded time."""
    async with asyncio.timeout(PATIENCE):
        while not await holds():  # noqa: ASYNC110  (the database rings for nobody here)
            await asyncio.sleep(0.02)


async def alert(yard: Yard, key: str) -> dict[str, Any]:
    rows = await yard.rows("select resolved_at, count, title from alerts where alert_key = :key", key=key)
    return rows[0] if rows else {"resolved_at": None, "count": 0}


async def test_two_workers_and_one_redis_keep_the_limits_together(
    redis: Server, empty_postgres: str, tmp_path: Path
) -> None:
    world = World(seed=5, size=120, brands=6)
    async with Yard.opened(tmp_path, world=world, database_url=empty_postgres, limiter_url=redis.url) as yard:
        settings: dict[str, Any] = {
            "database_url": empty_postgres,
            "sandbox_url": yard.door.url,
            "limiter_url": redis.url,
        }
        with Crew.of(2, tmp_path, {"mustit": SCARCE}, **settings) as crew:
            await until(lambda: both(yard))
            job = await yard.start("mustit", "seller", SELLER)
            holders: set[str] = set()
            while len(holders) < 2:
                holders |= {row["leased_by"] for row in await yard.rows("select leased_by from crawl_agents")} - {None}
                await asyncio.sleep(0.01)
            assert await yard.ended(job, patience=PATIENCE) == "SUCCESS"
            assert len(crew.names) == 2
        log = await yard.door.log(mall="mustit")

    tokens = {call["token"] for call in log} - {""}
    busiest = {t: most_within([c["at"] for c in log if c["token"] == t], SCARCE.span - LATE) for t in tokens}
    assert len(tokens) == SCARCE.size
    assert all(count <= SCARCE.calls for count in busiest.values()), busiest
    assert min(busiest.values()) >= SCARCE.calls / 2, "the quota was never near: nothing was tested"
    assert [call for call in log if call["status"] != 200] == []
    for seconds in (1.0, 2.0, 4.0):
        most = SCARCE.burst + SCARCE.concurrency + SCARCE.rate * (seconds + LATE)
        assert most_within([call["at"] for call in log], seconds) <= most


async def both(yard: Yard) -> bool:
    return len(await yard.rows("select id from workers")) == 2


async def test_a_redis_that_is_away_stops_collecting_until_it_is_back(redis: Server, tmp_path: Path) -> None:
    world = World(seed=5, size=240, brands=6)
    async with Yard.opened(tmp_path, world=world, limiter_url=redis.url) as yard, yard.working():
        visit(yard.app, {"mustit": TIGHT})
        job = await yard.start("mustit", "seller", SELLER)

        async def asked_often() -> bool:
            return bool((await yard.door.counts())["asked"] > 20)

        async def told(times: int) -> bool:
            return bool((await alert(yard, LIMITER_AWAY))["count"] >= times)

        await until(asked_often)
        await asyncio.to_thread(redis.stop)
        await until(lambda: told(2))
        before = (await yard.door.counts())["asked"]
        await until(lambda: told(3))

        assert (await yard.door.counts())["asked"] == before
        assert (await alert(yard, LIMITER_AWAY))["title"] == "the limiter is away: collecting waits"
        [pool] = await yard.rows("select reason from budgets where pool = 'source:mustit'")
        assert pool["reason"].startswith("the limiter is away (the limiter at redis://127.0.0.1")

        await asyncio.to_thread(redis.start)
        assert await yard.ended(job, patience=PATIENCE) == "SUCCESS"
        assert (await yard.run(job))["state"] == "PROVED"
        assert (await alert(yard, LIMITER_AWAY))["resolved_at"] is not None


async def examined(home: Path, url: str, sandbox: str) -> dict[str, str]:
    """What the doctor says of the workers."""
    program = Path(sys.executable).with_name("bobusang")
    told = {"BOBUSANG_HOME": str(home), "BOBUSANG_DATABASE_URL": url, "BOBUSANG_SANDBOX_URL": sandbox}
    process = await asyncio.create_subprocess_exec(
        program, "doctor", "--json", cwd=home, env={**os.environ, **told}, stdout=asyncio.subprocess.PIPE
    )
    found, _ = await process.communicate()
    checks: list[dict[str, str]] = json.loads(found)["checks"]
    return next(check for check in checks if check["check"] == "workers")


async def test_workers_that_share_no_limiter_leave_pooled_sources_alone(
    tmp_path: Path, empty_postgres: str, world: World
) -> None:
    async with (
        running(world) as door,
        Yard.opened(tmp_path, door=door, database_url=empty_postgres, **SWIFT) as yard,
        Yard.opened(tmp_path, door=door, database_url=empty_postgres, **SWIFT) as other,
        yard.working(),
    ):
        async with other.working():
            await until(lambda: both(yard))
            job = await yard.start("mustit", "seller", SELLER)
            await yard.collect("okmall", "brand", "나이키(NIKE)")

            async def told_of() -> bool:
                return bool((await alert(yard, sharing.ALERT))["count"])

            async def blocked() -> bool:
                rows = await yard.rows("select reason from budgets where pool = 'source:mustit'")
                return rows == [{"reason": sharing.REASON}]

            await until(told_of)
            await until(blocked)
            assert await door.log(mall="mustit") == []
            assert await examined(tmp_path, empty_postgres, door.url) == {
                "check": "workers",
                "state": "warning",
                "detail": "2 alive share no limiter: sources with identities wait",
                "advice": "set BOBUSANG_LIMITER_URL for all workers, or run only one",
            }

        assert await yard.ended(job, patience=PATIENCE) == "SUCCESS"
        assert (await yard.run(job))["state"] == "PROVED"

        async def settled() -> bool:
            return (await alert(yard, sharing.ALERT))["resolved_at"] is not None

        await until(settled)
