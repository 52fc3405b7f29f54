"""Batches and their control rows move with the engine, on each database."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from bobusang.engine.model import StepMode
from bobusang.engine.outcome import DONE, Fail, Outcome
from bobusang.flows.conveyor import batches, control, starting
from bobusang.flows.conveyor.model import BatchStatus, Brand, Mode
from bobusang.kit.errors import Conflict, Invalid
from bobusang.testing.clock import ManualClock
from bobusang.testing.workshop import Workshop, step

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from bobusang.engine.model import Task
    from bobusang.flows.conveyor.starting import Started
    from bobusang.kit.db import Tx

NIGHT = datetime(2026, 1, 26, 18, 0, tzinfo=UTC)
"""Three o'clock in the night of the 27th in Seoul, when FULL and PARTIAL are both due."""
NIKE, GUCCI, PRADA = Brand("okmall", "나이키(NIKE)"), Brand("okmall", "구찌(GUCCI)"), Brand("mustit", "프라다(PRADA)")
STEPS = (
    *(step(name, handler="work") for name in ("plan", "list", "item", "convert", "image", "price")),
    step("register", handler="work", mode=StepMode.BARRIER),
    step("close", handler="work", gather=True),
)


@pytest.fixture
async def line(database_url: str) -> AsyncIterator[Workshop]:
    async with Workshop.opened(database_url, clock=ManualClock(NIGHT)) as shop:
        shop.engine.hooks.on_step.append(control.on_step)
        shop.engine.hooks.on_job.append(control.on_job)
        yield shop


async def run(line: Workshop, mode: Mode, *brands: Brand) -> Started:
    workflow = await line.workflow(*STEPS, workflow=control.WORKFLOW, tolerance=1.0)

    async def work(tx: Tx) -> Started:
        return await starting.start(tx, line.engine, workflow, mode, brands)

    return await line.do(work)


async def rows(line: Workshop, batch_id: str) -> list[tuple[Any, ...]]:
    found = await line.rows(
        """select brand_name, stage, status, item_count, error_msg from pipeline_control
            where batch_id = :id order by id""",
        id=batch_id,
    )
    return [tuple(row.values()) for row in found]


async def batch(line: Workshop, batch_id: str) -> tuple[BatchStatus, int, int]:
    found = await line.do(lambda tx: batches.get(tx, batch_id))
    return found.status, found.total_brands, found.success_brands


async def test_a_batch_runs_every_brand_through_its_stages(line: Workshop) -> None:
    started = await run(line, Mode.FULL, NIKE, PRADA)
    before = await rows(line, started.batch_id)
    await line.enter()
    await line.drain()

    assert (started.batch_id, started.brands, started.busy) == ("20260127_01", (NIKE, PRADA), ())
    assert {row[2:] for row in before if row[1] != "COLLECT"} == {("PENDING", 0, None)}
    assert [row[1] for row in before[:5]] == ["COLLECT", "CONVERT", "IMAGE", "PRICE", "REGISTER"]
    assert {row[2:] for row in await rows(line, started.batch_id)} == {("DONE", 1, None)}
    assert await batch(line, started.batch_id) == (BatchStatus.COMPLETED, 2, 2)
    assert await line.rows("select * from pipeline_brands") == []


@pytest.mark.parametrize(
    ("stage", "status", "good"), [("price", BatchStatus.COMPLETED, 2), ("register", BatchStatus.FAILED, 1)]
)
async def test_one_brands_error_does_not_stop_the_others_and_is_told(
    line: Workshop, stage: str, status: BatchStatus, good: int
) -> None:
    started = await run(line, Mode.FULL, NIKE, GUCCI)

    def mood(task: Task) -> Outcome:
        return Fail("not today") if (task.step.name, task.run.target["key"]) == (stage, GUCCI.name) else DONE

    await line.enter()
    await line.drain(mood)

    found = await rows(line, started.batch_id)
    assert [row[2] for row in found if row[0] == NIKE.name] == ["DONE"] * 5
    failed = [row for row in found if row[2] == "ERROR"]
    assert failed == [(GUCCI.name, stage.upper(), "ERROR", 0, "not today")]
    assert await batch(line, started.batch_id) == (status, 2, good)
    titles = {row["title"] for row in await line.rows("select title from alerts")}
    batch_told = {f"FULL batch {started.batch_id} failed"} if status is BatchStatus.FAILED else set()
    assert titles == {f"okmall {GUCCI.name}: {stage.upper()} failed", *batch_told}


async def test_partial_has_no_convert_and_no_image_and_leaves_a_running_fulls_brands_alone(line: Workshop) -> None:
    await line.enter()
    full = await run(line, Mode.FULL, NIKE)
    partial = await run(line, Mode.PARTIAL, NIKE, GUCCI)

    assert (full.batch_id, partial.batch_id) == ("20260127_01", "20260127_02")
    assert (partial.brands, partial.busy) == ((GUCCI,), (NIKE,))
    assert [row[1] for row in await rows(line, partial.batch_id)] == ["COLLECT", "PRICE", "REGISTER"]
    with pytest.raises(Conflict, match="all 1 brands are in batches that are running"):
        await run(line, Mode.PARTIAL, NIKE)


async def test_two_that_start_at_once_get_different_names(line: Workshop) -> None:
    await line.enter()
    await line.workflow(*STEPS, workflow=control.WORKFLOW, tolerance=1.0)
    both = await asyncio.gather(run(line, Mode.FULL, NIKE), run(line, Mode.PARTIAL, GUCCI))

    assert sorted(one.batch_id for one in both) == ["20260127_01", "20260127_02"]


async def test_a_batch_whose_worker_is_gone_is_gone_on_with(line: Workshop) -> None:
    first = await run(line, Mode.FULL, NIKE)

    again = await run(line, Mode.FULL, NIKE, GUCCI)
    assert (again.batch_id, again.is_new) == (first.batch_id, False)

    await line.enter()
    other = await run(line, Mode.FULL, GUCCI)
    assert (other.batch_id, other.is_new) == ("20260127_02", True)
    await line.drain()
    assert await batch(line, first.batch_id) == (BatchStatus.COMPLETED, 1, 1)


async def test_without_a_brand_nothing_begins(line: Workshop) -> None:
    with pytest.raises(Invalid, match="there is no brand to run"):
        await run(line, Mode.FULL)
    assert await line.rows("select * from pipeline_batches") == []


async def test_the_day_is_seouls(line: Workshop) -> None:
    clock = line.db.clock
    assert isinstance(clock, ManualClock)
    clock.set(NIGHT - timedelta(hours=4))
    await line.enter()

    assert (await run(line, Mode.FULL, NIKE)).batch_id == "20260126_01"
