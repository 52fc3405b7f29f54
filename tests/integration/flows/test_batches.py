"""Batches run again, cancelled and gone on with: their rows say what the engine does, on each database."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from bobusang.engine import control as engine_control
from bobusang.engine import redriving
from bobusang.engine.model import ReasonClass, StepMode
from bobusang.engine.outcome import DONE, Fail, Outcome, Park
from bobusang.flows.conveyor import batches, cancelling, control, retrying, starting
from bobusang.flows.conveyor.model import BatchStatus, Brand, Mode, Stage
from bobusang.flows.conveyor.retrying import Retried
from bobusang.kit import json
from bobusang.kit.errors import Conflict, Invalid, Missing
from bobusang.kit.sql import Dialect
from bobusang.testing.clock import ManualClock
from bobusang.testing.workshop import Workshop, step

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from bobusang.engine.model import Task
    from bobusang.flows.conveyor.starting import Started
    from bobusang.kit.db import Tx

NIGHT = datetime(2026, 1, 26, 18, 0, tzinfo=UTC)
NIKE, GUCCI = Brand("okmall", "나이키(NIKE)"), Brand("okmall", "구찌(GUCCI)")
STEPS = (
    *(step(name, handler="work") for name in ("plan", "list", "item", "convert", "image", "price")),
    step("register", handler="work", mode=StepMode.BARRIER),
    step("close", handler="work", gather=True),
)
WAITS_ON_POSTGRES = """
    select count(*) as value from pg_locks l join pg_stat_activity a on a.pid = l.pid
    where not l.granted and a.datname = current_database()"""
WAITS_ON_MARIADB = """
    select count(*) as value from information_schema.innodb_trx t
    join information_schema.processlist p on p.id = t.trx_mysql_thread_id
    where t.trx_state = 'LOCK WAIT' and p.db = database()"""
ALL_DONE = dict.fromkeys(Stage, ("DONE", 1, None))


@pytest.fixture
async def line(database_url: str) -> AsyncIterator[Workshop]:
    async with Workshop.opened(database_url, clock=ManualClock(NIGHT)) as shop:
        shop.engine.hooks.on_step.append(control.on_step)
        shop.engine.hooks.on_job.append(control.on_job)
        yield shop


async def run(line: Workshop, mode: Mode, *brands: Brand, tolerance: float = 1.0, **said: Any) -> Started:
    workflow = await line.workflow(*STEPS, workflow=control.WORKFLOW, tolerance=tolerance)

    async def work(tx: Tx) -> Started:
        return await starting.start(tx, line.engine, workflow, mode, brands, **said)

    return await line.do(work)


async def again(line: Workshop, batch_id: str) -> Retried:
    return await line.do(lambda tx: retrying.retry(tx, line.engine, batch_id))


async def cancel(line: Workshop, batch_id: str, why: str = "a mistake") -> int:
    return await line.do(lambda tx: cancelling.cancel(tx, line.engine, batch_id, why))


async def rows(line: Workshop, batch_id: str, brand: Brand) -> dict[Stage, tuple[Any, ...]]:
    found = await line.rows(
        """select stage, status, item_count, error_msg from pipeline_control
            where batch_id = :id and brand_name = :brand order by id""",
        id=batch_id,
        brand=brand.name,
    )
    return {Stage(row["stage"]): (row["status"], row["item_count"], row["error_msg"]) for row in found}


async def batch(line: Workshop, batch_id: str) -> tuple[BatchStatus, int, bool]:
    found = await line.do(lambda tx: batches.get(tx, batch_id))
    return found.status, found.success_brands, found.end_time is not None


async def held(line: Workshop) -> list[tuple[str, str]]:
    found = await line.rows("select brand_name, batch_id from pipeline_brands order by brand_name")
    return [(row["brand_name"], row["batch_id"]) for row in found]


async def alerts(line: Workshop) -> set[str]:
    return {row["title"] for row in await line.rows("select title from alerts where resolved_at is null")}


async def waiting(line: Workshop) -> bool:
    """Whether somebody waits for what another transaction holds. On SQLite the other one just waits its turn."""
    match line.db.dialect:
        case Dialect.POSTGRES:
            return bool(await line.value(WAITS_ON_POSTGRES))
        case Dialect.MARIADB:
            await asyncio.sleep(0.15)  # what is asked for more often than every 0.1 s is not looked at anew there
            return bool(await line.value(WAITS_ON_MARIADB))
        case Dialect.SQLITE:
            return True


def failing(brand: Brand, name: str, outcome: Outcome) -> Callable[[Task], Outcome]:
    return lambda task: outcome if (task.step.name, task.run.target["key"]) == (name, brand.name) else DONE


async def test_a_batch_that_is_over_runs_again_from_a_stage_on(line: Workshop) -> None:
    started = await run(line, Mode.FULL, NIKE, GUCCI, limit=7)
    with pytest.raises(Conflict, match="still runs"):
        await line.do(lambda tx: retrying.retry_from(tx, line.engine, started.batch_id, Stage.PRICE))
    await line.enter()
    await line.drain()

    retried = await line.do(lambda tx: retrying.retry_from(tx, line.engine, started.batch_id, Stage.PRICE))

    assert retried == Retried(started.batch_id, (NIKE, GUCCI), (), 2)
    assert await batch(line, started.batch_id) == (BatchStatus.RUNNING, 2, False)
    owed = dict.fromkeys((Stage.PRICE, Stage.REGISTER), ("PENDING", 1, None))
    assert await rows(line, started.batch_id, NIKE) == ALL_DONE | owed
    told = await line.rows("select input from crawling_jobs order by id desc limit 1")
    assert json.loads(told[0]["input"]) == {
        "batch": started.batch_id,
        "mode": "FULL",
        "stages": ["PRICE", "REGISTER"],
        "limit": 7,
    }
    await line.drain()
    assert await batch(line, started.batch_id) == (BatchStatus.COMPLETED, 2, True)
    assert await rows(line, started.batch_id, GUCCI) == ALL_DONE


async def test_a_batch_does_not_run_again_from_a_stage_that_it_does_not_have(line: Workshop) -> None:
    started = await run(line, Mode.PARTIAL, NIKE)
    await line.enter()
    await line.drain()

    with pytest.raises(Invalid, match="has no stage IMAGE"):
        await line.do(lambda tx: retrying.retry_from(tx, line.engine, started.batch_id, Stage.IMAGE))


@pytest.mark.parametrize("outcome", [Fail("not today"), Park(ReasonClass.INVALID, "not today")])
async def test_what_failed_runs_again_and_the_batch_with_it(line: Workshop, outcome: Outcome) -> None:
    started = await run(line, Mode.FULL, NIKE, GUCCI)
    await line.enter()
    await line.drain(failing(GUCCI, "register", outcome))
    assert await batch(line, started.batch_id) == (BatchStatus.FAILED, 1, True)
    assert await alerts(line) == {f"okmall {GUCCI.name}: REGISTER failed", f"FULL batch {started.batch_id} failed"}
    told = await line.value("select text as value from alerts where alert_key = 'conveyor.batch:FULL'")
    assert told.startswith(f"not every brand was registered; okmall {GUCCI.name} REGISTER: not today.")

    retried = await again(line, started.batch_id)

    assert retried == Retried(started.batch_id, (GUCCI,), (), 1)
    assert await batch(line, started.batch_id) == (BatchStatus.RUNNING, 1, False)
    assert await held(line) == [(GUCCI.name, started.batch_id)]
    assert await rows(line, started.batch_id, GUCCI) == ALL_DONE | {Stage.REGISTER: ("RUNNING", 0, None)}
    await line.drain()
    assert await rows(line, started.batch_id, GUCCI) == ALL_DONE
    assert await batch(line, started.batch_id) == (BatchStatus.COMPLETED, 2, True)
    assert (await held(line), await alerts(line)) == ([], set())
    with pytest.raises(Conflict, match="has no stage in ERROR"):
        await again(line, started.batch_id)


async def test_what_fails_again_is_told_again(line: Workshop) -> None:
    started = await run(line, Mode.FULL, GUCCI)
    await line.enter()
    await line.drain(failing(GUCCI, "item", Fail("no page")))
    await again(line, started.batch_id)
    await line.drain(failing(GUCCI, "item", Fail("still no page")))

    assert (await rows(line, started.batch_id, GUCCI))[Stage.COLLECT] == ("ERROR", 0, "still no page")
    assert await alerts(line) == {f"okmall {GUCCI.name}: COLLECT failed"}


async def test_a_brand_that_another_batch_has_by_now_is_left_to_it(line: Workshop) -> None:
    first = await run(line, Mode.FULL, NIKE, GUCCI)
    await line.enter()
    await line.drain(lambda task: Fail("no market") if task.step.name == "register" else DONE)
    second = await run(line, Mode.PARTIAL, NIKE)

    assert await again(line, first.batch_id) == Retried(first.batch_id, (GUCCI,), (NIKE,), 1)
    assert (await rows(line, first.batch_id, NIKE))[Stage.REGISTER] == ("ERROR", 0, "no market")
    assert await held(line) == sorted([(GUCCI.name, first.batch_id), (NIKE.name, second.batch_id)])
    await cancel(line, first.batch_id)
    await line.sweep()
    await run(line, Mode.PARTIAL, GUCCI)
    with pytest.raises(Conflict, match="is in other batches now"):
        await again(line, first.batch_id)


async def test_a_cancelled_batch_keeps_what_is_done_and_says_why(line: Workshop) -> None:
    started = await run(line, Mode.FULL, NIKE, limit=5)
    await line.enter()
    for _ in ("plan", "list", "item", "convert"):
        await line.finish(await line.claimed())
        await line.fold()

    assert await cancel(line, started.batch_id, "the wrong brand") == 1
    await line.sweep()

    wanted = dict.fromkeys(Stage, ("ERROR", 0, "cancelled: the wrong brand"))
    done = {Stage.COLLECT: ("DONE", 1, None), Stage.CONVERT: ("DONE", 1, None)}
    assert await rows(line, started.batch_id, NIKE) == wanted | done
    assert await batch(line, started.batch_id) == (BatchStatus.FAILED, 0, True)
    assert (await held(line), await alerts(line)) == ([], {f"FULL batch {started.batch_id} failed"})
    with pytest.raises(Conflict, match="is over: FAILED"):
        await cancel(line, started.batch_id)


async def test_a_cancelled_brand_goes_on_from_its_first_stage_that_is_not_done(line: Workshop) -> None:
    started = await run(line, Mode.PARTIAL, NIKE, limit=5)
    await line.enter()
    for _ in ("plan", "list", "item", "convert"):
        await line.finish(await line.claimed())
        await line.fold()
    await cancel(line, started.batch_id)

    retried = await again(line, started.batch_id)
    await line.sweep()  # what is left of the first job moves nothing any more

    assert retried == Retried(started.batch_id, (NIKE,), (), 1)
    done, waits = ("DONE", 1, None), ("PENDING", 0, None)
    assert await rows(line, started.batch_id, NIKE) == {
        Stage.COLLECT: done,
        Stage.PRICE: waits,
        Stage.REGISTER: waits,
    }
    job = await line.row("select id, job_type, input from crawling_jobs order by id desc limit 1")
    assert job["job_type"] == "INCREMENTAL"
    assert json.loads(job["input"]) == {
        "batch": started.batch_id,
        "mode": "PARTIAL",
        "stages": ["PRICE", "REGISTER"],
        "limit": 5,
    }
    await line.drain()
    assert set((await rows(line, started.batch_id, NIKE)).values()) == {done}
    assert await batch(line, started.batch_id) == (BatchStatus.COMPLETED, 1, True)


async def test_a_brand_of_which_too_much_failed_is_not_registered(line: Workshop) -> None:
    started = await run(line, Mode.FULL, NIKE, tolerance=0.05)
    await line.enter()
    await line.drain(failing(NIKE, "plan", Fail("no such brand")))

    found = await rows(line, started.batch_id, NIKE)
    assert found[Stage.COLLECT] == ("ERROR", 0, "no such brand")
    assert found[Stage.REGISTER] == ("ERROR", 0, "too much failed in the stages before")
    assert await batch(line, started.batch_id) == (BatchStatus.FAILED, 0, True)
    await again(line, started.batch_id)
    await line.drain()
    assert await rows(line, started.batch_id, NIKE) == ALL_DONE


async def test_a_dead_letter_driven_by_hand_opens_its_batch_again(line: Workshop) -> None:
    started = await run(line, Mode.FULL, NIKE)
    await line.enter()
    await line.drain(failing(NIKE, "price", Park(ReasonClass.INVALID, "no cost")))
    assert (await batch(line, started.batch_id))[0] is BatchStatus.COMPLETED

    await line.do(lambda tx: redriving.redrive(tx, line.books, redriving.Filter()))
    await line.fold()

    assert await batch(line, started.batch_id) == (BatchStatus.RUNNING, 1, False)
    assert await held(line) == [(NIKE.name, started.batch_id)]
    await line.drain()
    assert await rows(line, started.batch_id, NIKE) == ALL_DONE


async def test_only_the_stages_that_are_asked_for_have_rows(line: Workshop) -> None:
    await line.enter()
    started = await run(line, Mode.FULL, NIKE, stages=[Stage.PRICE, Stage.COLLECT], limit=3)
    await line.drain()

    assert set(await rows(line, started.batch_id, NIKE)) == {Stage.COLLECT, Stage.PRICE}
    assert await batch(line, started.batch_id) == (BatchStatus.COMPLETED, 1, True)
    told = json.loads(await line.value("select input as value from crawling_jobs"))
    assert told == {"batch": started.batch_id, "mode": "FULL", "stages": ["COLLECT", "PRICE"], "limit": 3}
    with pytest.raises(Invalid, match="PARTIAL has no stage IMAGE"):
        await run(line, Mode.PARTIAL, NIKE, stages=[Stage.IMAGE])


@pytest.mark.parametrize("stages", [[Stage.REGISTER], [Stage.CONVERT, Stage.REGISTER]])
async def test_who_asks_for_register_alone_has_products_come_by_price(line: Workshop, stages: list[Stage]) -> None:
    await line.enter()
    started = await run(line, Mode.FULL, NIKE, stages=stages)
    await line.drain()

    assert set(await rows(line, started.batch_id, NIKE)) == set(stages)
    told = json.loads(await line.value("select input as value from crawling_jobs"))
    assert told["stages"] == [stage.value for stage in Stage if stage in {*stages, Stage.PRICE}]


@pytest.mark.parametrize("stage", [None, Stage.COLLECT])
async def test_who_retries_at_the_same_moment_as_another_is_told_and_the_brand_has_one_job(
    line: Workshop, stage: Stage | None
) -> None:
    started = await run(line, Mode.PARTIAL, NIKE)
    await line.enter()
    await cancel(line, started.batch_id)
    await line.sweep()

    async def act(tx: Tx) -> Retried:
        if stage is None:
            return await retrying.retry(tx, line.engine, started.batch_id)
        return await retrying.retry_from(tx, line.engine, started.batch_id, stage)

    async with line.db.begin() as tx:
        await act(tx)
        other = asyncio.create_task(line.do(act))
        await line.until(lambda: waiting(line))

    with pytest.raises(
        Conflict, match="being retried already|has no stage in ERROR" if stage is None else "still runs"
    ):
        await other
    assert await line.value("select count(*) as value from crawling_jobs where status <> 'CANCELLED'") == 1


async def test_a_batch_that_is_retried_while_its_last_brand_ends_goes_on(line: Workshop) -> None:
    started = await run(line, Mode.PARTIAL, NIKE, GUCCI)
    await line.enter()
    nike, gucci = (row["id"] for row in await line.rows("select id from crawling_jobs order by id"))
    await line.do(lambda tx: engine_control.cancel(tx, line.books, line.engine.hooks, nike))
    await line.sweep()

    async with line.db.begin() as tx:
        await retrying.retry(tx, line.engine, started.batch_id)
        ending = asyncio.create_task(
            line.do(lambda tx: engine_control.cancel(tx, line.books, line.engine.hooks, gucci))
        )
        await line.until(lambda: waiting(line))
    await ending

    assert await batch(line, started.batch_id) == (BatchStatus.RUNNING, 0, False)
    assert await held(line) == [(NIKE.name, started.batch_id)]
    assert await alerts(line) == set()


async def test_a_second_start_with_the_same_key_is_the_first(line: Workshop) -> None:
    await line.enter()
    first = await run(line, Mode.FULL, NIKE, GUCCI, key="today")
    second = await run(line, Mode.FULL, NIKE, GUCCI, key="today")

    assert (second.batch_id, second.is_new) == (first.batch_id, False)
    assert await line.value("select count(*) as value from crawling_jobs") == 2


async def test_what_a_killed_worker_left_is_gone_on_with_under_the_same_name(line: Workshop) -> None:
    clock = line.db.clock
    assert isinstance(clock, ManualClock)
    await line.enter("first")
    started = await run(line, Mode.FULL, NIKE, GUCCI)
    for _ in ("plan", "list"):
        await line.finish(await line.claimed())
        await line.fold()
    await line.claimed()  # and then it is killed
    clock.advance(minutes=5)
    await line.enter("second")

    resumed = await run(line, Mode.FULL, NIKE, GUCCI)

    assert (resumed.batch_id, resumed.is_new) == (started.batch_id, False)
    await line.rescue()
    clock.advance(minutes=5)
    await line.promote()
    await line.drain()
    assert await batch(line, started.batch_id) == (BatchStatus.COMPLETED, 2, True)
    assert await rows(line, started.batch_id, GUCCI) == ALL_DONE


@pytest.mark.parametrize(("mode", "period"), [(Mode.FULL, 24 * 3600), (Mode.PARTIAL, 3600)])
async def test_a_brand_that_hangs_does_not_keep_the_others_from_the_next_start_though_it_is_some_seconds_early(
    line: Workshop, mode: Mode, period: int
) -> None:
    clock = line.db.clock
    assert isinstance(clock, ManualClock)
    await line.enter("first")
    first = await run(line, mode, NIKE)
    clock.advance(seconds=period - 3)
    await line.enter("second")

    second = await run(line, mode, NIKE, GUCCI)

    assert (second.is_new, second.brands, second.busy) == (True, (GUCCI,), (NIKE,))
    assert await held(line) == sorted([(NIKE.name, first.batch_id), (GUCCI.name, second.batch_id)])


async def test_a_batch_that_is_not_there_is_told(line: Workshop) -> None:
    for act in (again, cancel):
        with pytest.raises(Missing, match="there is no batch 20260127_07"):
            await act(line, "20260127_07")
