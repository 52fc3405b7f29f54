"""Archiving: old jobs leave in bounded batches, nothing is orphaned, nothing is lost by dying half-way."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from bobusang.engine import archiving, control, waiting
from bobusang.engine.grammar.definition import Parallel
from bobusang.engine.model import DependencyType, ReasonClass
from bobusang.engine.outcome import Done, Fail, Park, Retry, Wait
from bobusang.engine.tables import schedule_fires
from bobusang.kit import json
from bobusang.kit.sql import Bulk
from bobusang.testing.workshop import Workshop, step

if TYPE_CHECKING:
    from bobusang.testing.clock import ManualClock

OF_JOBS = (
    "crawling_jobs",
    "workflow_executions",
    "job_steps",
    "job_dependencies",
    "job_deltas",
    "job_contexts",
    "job_sweeps",
    "tasks",
    "task_attempts",
    "dead_letters",
    "queue_ready",
    "queue_delayed",
    "queue_held",
    "queue_claims",
    "waits",
    "schedule_fires",
)


async def archive(shop: Workshop) -> int:
    return await shop.do(lambda tx: archiving.archive(tx, tx.now - archiving.KEEP))


async def archive_all(shop: Workshop) -> None:
    while await archive(shop):
        pass


async def left(shop: Workshop) -> dict[str, int]:
    """Tables of jobs that are not empty."""
    counts = {table: await shop.value(f"select count(*) from {table}") for table in OF_JOBS}
    return {table: count for table, count in counts.items() if count}


async def test_a_job_is_archived_after_thirty_days_and_nothing_of_it_stays(shop: Workshop, clock: ManualClock) -> None:
    workflow = await shop.workflow(step("fetch", max_retries=1), step("store"), parallel=Parallel(jobs=9, tasks=9))
    job = await shop.job(workflow, *range(6), key="once")
    await shop.start()
    until = clock.now() + timedelta(hours=1)
    outcomes = {
        "0": Done({"n": 0}, context={"page": 1}),
        "1": Park(ReasonClass.REJECTED, "no"),
        "2": Fail("no"),
        "3": Retry("503"),
        "4": Wait("w", until),
    }
    await shop.finish(await shop.claimed(handler="fetch"), outcomes)
    clock.advance(hours=2)
    await shop.promote()
    await shop.drain(handler="fetch")
    await shop.drain(handler="store")
    before = await shop.job_row(job)
    assert before["status"] == "FAILED"
    clock.advance(days=29)
    assert await archive(shop) == 0
    clock.advance(days=1, seconds=1)

    await archive_all(shop)

    assert await left(shop) == {}
    kept = await shop.row("select * from crawling_jobs_archive")
    assert {name: kept[name] for name in before if name in kept} == {
        name: value for name, value in before.items() if name in kept
    }
    assert json.loads(kept["step_results"]) == {
        "fetch": {"tasks": 6, "succeeded": 4, "failed": 2, "skipped": 0, "cancelled": 0},
        "store": {"tasks": 4, "succeeded": 4, "failed": 0, "skipped": 0, "cancelled": 0},
    }
    lanes = [await shop.value(f"select count(*) from {table}") for table in ("lanes", "lane_pools", "budgets")]
    assert lanes == [0, 0, 0]


async def test_what_is_not_over_stays_however_old(shop: Workshop, clock: ManualClock) -> None:
    job = await shop.job(None, "a")
    clock.advance(days=400)
    await archive_all(shop)

    assert await shop.status(job) == "RUNNING"
    assert await shop.drain() == ["a"]


async def test_a_large_job_leaves_in_bounded_batches(shop: Workshop, clock: ManualClock) -> None:
    job = await shop.job(None, *range(6000))
    await shop.engine.do(control.cancel, job)
    await shop.sweep()
    clock.advance(days=31)

    assert await archive(shop) == archiving.ROWS_AT_ONCE
    assert await shop.value("select count(*) from tasks") == 1000
    assert await shop.value("select count(*) from crawling_jobs") == 1
    await archive_all(shop)
    assert await left(shop) == {}


async def test_an_archiver_that_dies_half_way_loses_nothing(shop: Workshop, clock: ManualClock) -> None:
    workflow = await shop.workflow()
    jobs = [await shop.job(workflow, "a", "b") for _ in range(5)]
    await shop.drain()
    clock.advance(days=31)
    try:
        async with shop.db.begin() as tx:
            await archiving.archive(tx, tx.now - archiving.KEEP)
            raise ZeroDivisionError
    except ZeroDivisionError:
        pass
    assert await shop.value("select count(*) from crawling_jobs") == 5

    await archive_all(shop)
    rows = await shop.rows("select id from crawling_jobs_archive order by id")
    assert [row["id"] for row in rows] == jobs


async def test_ids_of_archived_jobs_are_never_given_again(shop: Workshop, clock: ManualClock) -> None:
    """On SQLite an emptied table would begin at 1 again, and the second archiving would fail for ever."""
    workflow = await shop.workflow()
    for _ in range(2):
        await shop.job(workflow, "a")
        await shop.drain()
        clock.advance(days=31)
        await archive_all(shop)

    assert len(await shop.rows("select id from crawling_jobs_archive")) == 2


async def test_history_goes_by_its_own_age(shop: Workshop, clock: ManualClock) -> None:
    """A job that runs for months keeps its tasks, not every failed attempt of them."""
    await shop.job(await shop.workflow(step(max_retries=100)), "a")
    await shop.finish(await shop.claimed(), Retry("503"))
    clock.advance(days=20)
    await shop.promote()
    await shop.finish(await shop.claimed(), Retry("503"))
    clock.advance(days=11)
    await archive_all(shop)

    assert await shop.value("select count(*) from task_attempts") == 1
    assert await shop.value("select count(*) from tasks") == 1


async def test_old_fires_go_in_bounded_batches(shop: Workshop, clock: ManualClock) -> None:
    fires = Bulk(schedule_fires, ("schedule_id", "fire_at", "decision", "created_at"))
    minutes = [clock.now() + timedelta(minutes=minute) for minute in range(6000)]
    await shop.do(lambda tx: tx.insert(fires, [(1, minute, "SKIP", minute) for minute in minutes]))
    clock.advance(days=40)

    assert await archive(shop) == archiving.ROWS_AT_ONCE
    await archive_all(shop)
    assert await left(shop) == {}


async def test_a_wait_longer_than_a_month_is_not_forgotten(shop: Workshop, clock: ManualClock) -> None:
    await shop.job(None, "a")
    await shop.finish(await shop.claimed(), Wait("slow market", clock.now() + timedelta(days=90)))
    await shop.do(lambda tx: waiting.wake(tx, "nobody waits for this"))
    clock.advance(days=31)
    await archive_all(shop)

    assert await shop.value("select count(*) from waits") == 1
    assert await shop.do(lambda tx: waiting.wake(tx, "slow market", "at last"))
    assert (await shop.claimed()).tasks[0].signal == "at last"


async def test_a_job_that_waits_for_an_archived_one_still_starts(shop: Workshop, clock: ManualClock) -> None:
    workflow = await shop.workflow()
    first = await shop.job(workflow, "a")
    later = clock.now() + timedelta(days=60)
    second = await shop.job(workflow, after=[(first, DependencyType.SUCCESS)], scheduled_at=later)
    await shop.drain()
    clock.advance(days=31)
    await archive_all(shop)
    clock.advance(days=30)

    assert await shop.start() == 1
    assert await shop.status(second) == "RUNNING"
