"""What an operator sees under the names of design [E]."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from bobusang.engine import control
from bobusang.engine.model import QueueType, ReasonClass, StepMode
from bobusang.engine.outcome import DONE, Done, Fail, Park, Retry, Snooze, Wait
from bobusang.kit.clock import utc
from bobusang.testing.workshop import Workshop, step, tasks

if TYPE_CHECKING:
    from bobusang.testing.clock import ManualClock


async def seen(shop: Workshop, view: str, *columns: str) -> dict[str, Any]:
    """The columns of each task in a view, by its key."""
    rows = await shop.rows(f"select v.*, t.task_key as k from {view} v join tasks t on t.id = v.id")
    return {row["k"]: tuple(row[column] for column in columns) for row in rows}


async def test_tasks_show_what_happens_to_them(shop: Workshop, clock: ManualClock) -> None:
    await shop.job(None, *range(8))
    until = clock.now() + timedelta(minutes=1)
    outcomes = {
        "0": DONE,
        "1": Retry("503"),
        "2": Snooze(until),
        "3": Wait("w", until),
        "4": Fail("no"),
        "5": Park(ReasonClass.REJECTED, "no"),
    }
    await shop.finish(await shop.claimed(6), outcomes)
    running = await shop.claimed(1)

    assert await seen(shop, "crawling_tasks", "status", "outcome", "retry_count") == {
        "0": ("SUCCESS", "DONE", 0),
        "1": ("RETRYING", None, 1),
        "2": ("RETRYING", None, 0),
        "3": ("RETRYING", None, 0),
        "4": ("FAILED", "FAILED", 0),
        "5": ("FAILED", "PARKED", 0),
        "6": ("RUNNING", None, 0),
        "7": ("PENDING", None, 0),
    }
    assert await seen(shop, "crawling_queues", "status", "attempt_count") == {
        "1": ("WAITING", 1),
        "2": ("WAITING", 0),
        "3": ("WAITING", 0),
        "5": ("FAILED", 1),
        "6": ("PROCESSING", 0),
        "7": ("WAITING", 0),
    }
    assert (await seen(shop, "crawling_tasks", "worker_id", "token"))["6"] == (running.worker_id, running.token)


async def test_a_task_that_runs_again_shows_when_it_began_now(shop: Workshop, clock: ManualClock) -> None:
    await shop.job(None, "a")
    await shop.finish(await shop.claimed(), Retry("503"))
    clock.advance(minutes=1)
    await shop.promote()
    await shop.claimed()

    (started,) = (await seen(shop, "crawling_tasks", "started_at"))["a"]
    assert utc(started) == clock.now()


async def test_queues_show_name_priority_payload_and_time(shop: Workshop, clock: ManualClock) -> None:
    soon = clock.now() + timedelta(minutes=5)
    workflow = await shop.workflow()
    await shop.job(workflow, "high", queue=QueueType.HIGH_PRIORITY, priority=9)
    await shop.job(workflow, "low", queue=QueueType.LOW_PRIORITY, priority=1)
    await shop.job(workflow, seeds=tasks("later", after=soon))

    found = await seen(shop, "crawling_queues", "queue_type", "priority", "payload")
    assert found == {
        "high": ("HIGH_PRIORITY", 9, '{"key":"high"}'),
        "low": ("LOW_PRIORITY", 1, '{"key":"low"}'),
        "later": ("NORMAL", 5, '{"key":"later"}'),
    }
    times = await seen(shop, "crawling_queues", "scheduled_for")
    assert {key: utc(at) for key, (at,) in times.items()} == {"high": clock.now(), "low": clock.now(), "later": soon}


async def test_what_waits_behind_a_barrier_is_waiting(shop: Workshop) -> None:
    await shop.job(await shop.workflow(step("fetch", mode=StepMode.BARRIER), step("store")), "a", "b")
    batch = await shop.claimed(1, handler="fetch")
    await shop.finish(batch, Done("x"))

    found = await seen(shop, "crawling_queues", "status")
    assert found == {"b": ("WAITING",), str(batch.ids[0]): ("WAITING",)}


async def test_an_entry_taken_from_a_claim_is_not_shown_as_running(shop: Workshop) -> None:
    job = await shop.job(None, "a", "b")
    await shop.claimed()
    await shop.engine.do(control.cancel, job)
    await shop.sweep()

    assert await seen(shop, "crawling_tasks", "status") == {"a": ("FAILED",), "b": ("FAILED",)}
    assert await seen(shop, "crawling_queues", "status") == {}


async def test_statistics_sum_up_the_days(live: Workshop) -> None:
    workflow, other = await live.workflow(), await live.workflow()
    for _ in range(2):
        await live.job(workflow, "a", "b")
    await live.drain()
    await live.job(workflow, "c")
    await live.drain(Fail("no"))
    await live.job(other, "d")

    rows = {row["workflow_id"]: row for row in await live.rows("select * from v_job_statistics")}
    assert sum(row["total_jobs"] for row in rows.values()) == 4
    found = rows[workflow]
    assert (found["total_jobs"], found["success_jobs"], found["total_items_processed"]) == (3, 2, 5)
    assert 0 <= float(found["avg_duration_sec"]) < 60
    assert (rows[other]["success_jobs"], rows[other]["avg_duration_sec"]) == (0, None)
    assert str(found["job_date"]) == f"{live.db.clock.now():%Y-%m-%d}"
