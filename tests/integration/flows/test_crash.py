"""A worker is killed in the middle of a crawl, again and again: what is stored at the end is as if nothing had been.

`make soak` does the same with 2,000 products and ten kills.
"""

from __future__ import annotations

import asyncio
import random
from typing import TYPE_CHECKING, Any

import pytest

from bobusang.sandbox.world import World
from bobusang.testing.crawl import Crew, Visiting
from bobusang.testing.sandbox import running
from bobusang.testing.yard import Yard
from tests import seed

if TYPE_CHECKING:
    from pathlib import Path

    from bobusang.testing.sandbox import Door

BRAND = "나이키(NIKE)"
SIZE = 170
"""Of which somewhat fewer are listed at the first hour."""
KILLS = 3
CONCURRENCY = 8
PATIENCE = 200.0
PATIENT = 6.0
"""Seconds of silence: on a busy machine a worker that lives may be silent for two, and whoever takes over its pages
asks for them again."""
pytestmark = pytest.mark.timeout(300)
SEED = seed.chosen()

STATE = {
    "records": """select r.source_id, r.version, r.hashes, d.hash from source_records r
        join source_data d on d.id = r.version_id order by r.source_id""",
    "versions": "select source_id, version, hash from source_data order by source_id, version",
    "changes": """select r.source_id, c.version, c.field, c.old_value, c.new_value from field_changes c
        join source_records r on r.id = c.record_id order by r.source_id, c.version, c.field""",
    "lineage": "select transformation_type, count(*) as n from data_lineage group by transformation_type order by 1",
    "products": """select product_id, brand, name, model, price, list_price, url, image, in_stock, listed, category,
        version from products order by product_id""",
    "seen": """select s.name, r.source_id, n.missed, n.interval_seconds from source_seen n
        join seen_scopes s on s.id = n.scope_id join source_records r on r.id = n.record_id order by 1, 2""",
    "held": "select count(*) as n from held_writes",
    "run": "select state, reason, total, pages_read, listed, new, changed, held from collect_runs",
    "counts": "select sum(success) as fetched, sum(failure) as failed, sum(items) as items from fetch_counts",
    "dead": "select reason_class, error, dispatches from dead_letters",
}


async def state(yard: Yard) -> dict[str, Any]:
    """All that a crawl leaves behind, without numbers and times that no two crawls share; alike on all databases."""
    found: dict[str, Any] = {name: await yard.rows(text) for name, text in STATE.items()}
    found["fields"] = await yard.records("okmall")
    return found


async def undisturbed(home: Path, door: Door, patience: float = PATIENCE) -> tuple[dict[str, Any], int]:
    """A crawl without kills: what it leaves behind, and how many pages it asked for."""
    before = (await door.counts())["asked"]
    async with Yard.opened(home, door=door) as yard, yard.working():
        job = await yard.start("okmall", "brand", BRAND)
        assert await yard.ended(job, patience=patience) == "SUCCESS"
        return await state(yard), (await door.counts())["asked"] - before


async def killed(
    home: Path, door: Door, url: str, kills: list[int], patience: float = PATIENCE, **settings: Any
) -> tuple[dict[str, Any], int]:
    """The same while the worker is killed each time the mall has been asked so often."""
    before = (await door.counts())["asked"]
    async with Yard.opened(home, door=door, database_url=url) as yard:
        how = {"okmall": Visiting(concurrency=CONCURRENCY)}
        with Crew.of(2, home, how, database_url=url, sandbox_url=door.url, **settings) as crew:
            job = await yard.start("okmall", "brand", BRAND)
            for calls in kills:
                crew.kill(await busy(yard, crew, before + calls, patience))
                crew.start()
            assert await yard.ended(job, patience=patience) == "SUCCESS"
            assert crew.killed == len(kills)
        return await state(yard), (await door.counts())["asked"] - before


async def busy(yard: Yard, crew: Crew, calls: int, patience: float) -> str:
    """One of the crew that holds claims, once the mall has been asked so often."""
    text = "select w.name from queue_claims c join workers w on w.id = c.worker_id"
    async with asyncio.timeout(patience):
        while True:
            if (await yard.door.counts())["asked"] >= calls:
                holding = {row["name"] for row in await yard.rows(text)}
                if found := sorted(holding & set(crew.names)):
                    return str(found[0])
            await asyncio.sleep(0.005)


def moments(chance: random.Random, pages: int, kills: int) -> list[int]:
    """After how many calls to kill: early, late and in between, but not after the end."""
    return sorted(chance.sample(range(1, pages - CONCURRENCY), kills))


@pytest.mark.parametrize("database_url", ["sqlite", "postgres"], indirect=True)
async def test_a_killed_worker_changes_nothing_but_the_hour(
    database_url: str, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    print(f"again with BOBUSANG_SEED={SEED}")
    apart = tmp_path_factory.mktemp("undisturbed")
    async with running(World(seed=5, size=SIZE, brands=1)) as door:
        expected, pages = await undisturbed(apart, door)

        kills = moments(random.Random(SEED), pages, KILLS)
        found, calls = await killed(tmp_path, door, database_url, kills, dead_seconds=PATIENT)

    assert found == expected
    assert pages > 150
    assert pages <= calls <= pages + KILLS * CONCURRENCY
