"""Dead letters: looked at, mended, driven again, thrown away."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from bobusang.engine import control, redriving
from bobusang.engine.grammar.definition import Parallel
from bobusang.engine.model import ErrorHandling, NewTask, QueueType, ReasonClass, StepMode
from bobusang.engine.outcome import DONE, Done, Fail, Outcome, Park, Retry, Snooze
from bobusang.engine.redriving import Filter
from bobusang.kit.errors import Conflict, Invalid, Missing
from bobusang.testing.clock import NOON
from bobusang.testing.workshop import Workshop, step, tasks

if TYPE_CHECKING:
    from bobusang.testing.clock import ManualClock

REJECTED = Park(ReasonClass.REJECTED, "name has 61 characters")
DRIFTED = Park(ReasonClass.DRIFTED, "no price on the page")


async def redrive(shop: Workshop, wanted: Filter) -> int:
    return await shop.do(lambda tx: redriving.redrive(tx, shop.books, wanted))


async def retry(shop: Workshop, job: int) -> int:
    return await shop.do(lambda tx: redriving.retry_job(tx, shop.books, job))


async def counts(shop: Workshop, job: int) -> list[int]:
    row = await shop.job_row(job)
    return [row[name] for name in ("total_items", "processed_items", "success_count", "failed_count")]


async def letters(shop: Workshop) -> list[str]:
    rows = await shop.rows("select t.task_key from dead_letters d join tasks t on t.id = d.task_id order by t.id")
    return [row["task_key"] for row in rows]


async def test_a_letter_driven_again_runs_as_if_new_and_its_job_ends_anew(shop: Workshop) -> None:
    job = await shop.job(await shop.workflow(step(max_retries=0)), "a", "b")
    await shop.drain({"a": Retry("503")})
    assert (await shop.status(job), await counts(shop, job)) == ("FAILED", [2, 2, 1, 1])

    assert await redrive(shop, Filter(job_id=job)) == 1
    await shop.fold()
    row = await shop.job_row(job)
    assert (row["status"], row["job_type"], row["completed_at"], row["error_summary"]) == (
        "RUNNING",
        "RETRY",
        None,
        None,
    )
    batch = await shop.claimed()
    assert [(task.key, task.attempt, task.entry.dispatches) for task in batch.tasks] == [("a", 0, 1)]
    await shop.finish(batch)
    await shop.fold()

    assert (await shop.status(job), await counts(shop, job)) == ("SUCCESS", [2, 2, 2, 0])
    assert await letters(shop) == []
    assert await shop.value("select status from workflow_executions where job_id = :id", id=job) == "COMPLETED"


async def test_the_history_of_a_letter_is_kept(shop: Workshop) -> None:
    await shop.job(None, "a")
    await shop.drain(REJECTED)
    await redrive(shop, Filter())
    await shop.drain(DRIFTED)

    rows = await shop.rows("select outcome, reason_class, error from task_attempts order by id")
    assert [tuple(row.values()) for row in rows] == [
        ("PARK", "REJECTED", "name has 61 characters"),
        ("PARK", "DRIFTED", "no price on the page"),
    ]


async def test_letters_are_found_by_cause_job_workflow_and_id(shop: Workshop) -> None:
    workflows = [await shop.workflow(), await shop.workflow()]
    jobs = [await shop.job(workflow, *range(4)) for workflow in workflows]
    await shop.drain(lambda task: REJECTED if int(task.key) < 3 else DRIFTED)
    (example,) = await shop.rows("select task_id, fingerprint from dead_letters where reason_class = 'DRIFTED' limit 1")

    async def found(**said: object) -> int:
        async with shop.db.read() as tx:
            return len(await tx.fetch(redriving.matching(Filter(**said))))  # type: ignore[arg-type]

    assert await found() == 8
    assert await found(reason=ReasonClass.REJECTED) == 6
    assert await found(reason=ReasonClass.REJECTED, job_id=jobs[0]) == 3
    assert await found(workflow_id=workflows[1]) == 4
    assert await found(fingerprint=example["fingerprint"]) == 2
    assert await found(ids=[example["task_id"]]) == 1
    assert await found(limit=5) == 5
    assert await found(after=example["task_id"], limit=50) < 8


async def test_one_cause_is_one_group_whatever_its_numbers(shop: Workshop) -> None:
    await shop.job(None, *range(5))
    await shop.drain(lambda task: Park(ReasonClass.REJECTED, f"name has {60 + int(task.key)} characters"))
    async with shop.db.read() as tx:
        rows = [(row["reason_class"], row["times"]) for row in await tx.fetch(redriving.grouped(Filter()))]

    assert rows == [("REJECTED", 5)]


async def test_ten_first_then_the_rest(shop: Workshop) -> None:
    await shop.job(None, *range(25))
    await shop.drain(REJECTED)

    assert await redrive(shop, Filter(limit=10)) == 10
    assert len((await shop.claimed()).tasks) == 10
    assert await redrive(shop, Filter(limit=1000)) == 15
    assert await redrive(shop, Filter(limit=1000)) == 0


async def test_a_letter_is_mended_before_it_is_driven_again(shop: Workshop) -> None:
    await shop.job(None, "a")
    batch = await shop.claimed()
    await shop.finish(batch, REJECTED)
    (task_id,) = batch.ids

    await shop.do(lambda tx: redriving.edit(tx, shop.books, task_id, {"name": "짧은 이름"}))
    await redrive(shop, Filter(ids=[task_id]))

    assert (await shop.claimed()).tasks[0].input == {"name": "짧은 이름"}


@pytest.mark.parametrize("value", ["a \0", "x" * (1 << 20), object()], ids=["nul", "large", "no json"])
async def test_what_cannot_be_stored_is_refused_when_mending(shop: Workshop, value: object) -> None:
    await shop.job(None, "a")
    batch = await shop.claimed()
    await shop.finish(batch, REJECTED)

    with pytest.raises(Invalid):
        await shop.do(lambda tx: redriving.edit(tx, shop.books, batch.ids[0], value))
    assert await letters(shop) == ["a"]


async def test_only_a_dead_letter_can_be_mended(shop: Workshop) -> None:
    await shop.job(None, "a")
    (task_id,) = (await shop.claimed()).ids

    with pytest.raises(Missing, match="not among the dead letters"):
        await shop.do(lambda tx: redriving.edit(tx, shop.books, task_id, {}))


async def test_a_discarded_letter_stays_failed(shop: Workshop) -> None:
    job = await shop.job(None, "a", "b")
    await shop.drain({"a": REJECTED, "b": DRIFTED})

    assert await shop.do(lambda tx: redriving.discard(tx, Filter(reason=ReasonClass.REJECTED))) == 1

    assert await letters(shop) == ["b"]
    assert await shop.outcomes(job) == {"a": "PARKED", "b": "PARKED"}


async def test_a_letter_driven_again_twice_at_once_runs_once(shop: Workshop, other: Workshop) -> None:
    job = await shop.job(None, *range(20))
    await shop.drain(REJECTED)

    await asyncio.gather(*(redrive(who, Filter(limit=100)) for who in (shop, other, shop, other)))

    assert set(map(tuple, (await shop.places()).values())) == {("ready",)}
    await shop.drain()
    assert (await shop.status(job), await counts(shop, job)) == ("SUCCESS", [20, 20, 20, 0])


async def test_a_letter_of_a_running_job_is_driven_again_within_it(shop: Workshop) -> None:
    job = await shop.job(None, "a", "b")
    await shop.finish(await shop.claimed(1), REJECTED)
    await shop.fold()
    await redrive(shop, Filter())
    await shop.drain()

    assert (await shop.status(job), (await shop.job_row(job))["job_type"]) == ("SUCCESS", "FULL")


async def test_a_tolerated_letter_opens_its_job_again(shop: Workshop) -> None:
    job = await shop.job(await shop.workflow(tolerance=0.5), "a", "b")
    await shop.drain({"a": REJECTED})
    assert await shop.status(job) == "SUCCESS"

    await redrive(shop, Filter())
    await shop.fold()
    assert await shop.status(job) == "RUNNING"
    await shop.drain()
    assert (await shop.status(job), await counts(shop, job)) == ("SUCCESS", [2, 2, 2, 0])


async def test_letters_of_a_cancelled_job_stay_and_do_not_stand_in_the_way_of_others(shop: Workshop) -> None:
    job = await shop.job(None, "a", "b")
    letter = await shop.claimed(1)
    await shop.finish(letter, REJECTED)
    await shop.engine.do(control.cancel, job)
    await shop.sweep()
    await shop.job(None, "c")
    await shop.drain(lambda _: REJECTED)

    assert await redrive(shop, Filter(limit=1)) == 1
    with pytest.raises(Conflict, match="cancelled"):
        await redrive(shop, Filter(ids=[task.id for task in letter.tasks]))
    with pytest.raises(Conflict, match="cancelled"):
        await retry(shop, job)


async def test_retrying_a_job_runs_all_that_failed(shop: Workshop) -> None:
    job = await shop.job(None, *range(6))
    await shop.drain(lambda task: {0: DONE, 1: Fail("no")}.get(int(task.key), REJECTED))

    assert await retry(shop, job) == 5
    await shop.drain()

    assert (await shop.status(job), await counts(shop, job)) == ("SUCCESS", [6, 6, 6, 0])


async def test_retrying_a_job_that_failed_early_runs_what_was_cancelled_too(shop: Workshop) -> None:
    job = await shop.job(await shop.workflow(step(on_error=ErrorHandling.FAIL)), *range(6))
    await shop.finish(await shop.claimed(1), Fail("no"))
    await shop.fold()
    await shop.sweep()
    assert (await shop.job_row(job))["cancelled_count"] == 5

    assert await retry(shop, job) == 6
    assert len(await shop.drain()) == 6
    row = await shop.job_row(job)
    assert (row["status"], row["success_count"], row["cancelled_count"]) == ("SUCCESS", 6, 0)


async def test_a_job_is_not_retried_while_it_is_still_being_cleared_away(shop: Workshop) -> None:
    """What waits would be taken for paused, and what runs would come back to lanes that are gone."""
    workflow = await shop.workflow(step(on_error=ErrorHandling.FAIL), parallel=Parallel(jobs=5, tasks=10))
    job = await shop.job(workflow, *range(6))
    await shop.start()
    await shop.finish(await shop.claimed(1), Park(ReasonClass.REJECTED, "no"))
    await shop.fold()

    with pytest.raises(Conflict, match="cleared away"):
        await retry(shop, job)
    await shop.sweep()
    assert await retry(shop, job) == 6
    await shop.drain()
    assert await shop.status(job) == "SUCCESS"


async def test_a_pending_job_has_nothing_to_retry(shop: Workshop, clock: ManualClock) -> None:
    job = await shop.job(await shop.workflow(), scheduled_at=clock.now() + timedelta(days=1))

    with pytest.raises(Conflict, match="PENDING"):
        await retry(shop, job)
    with pytest.raises(Missing):
        await retry(shop, 987_654)


async def test_what_is_driven_again_keeps_its_pool_and_its_queue(shop: Workshop) -> None:
    """Its host's budget holds for the second try as for the first."""
    job = await shop.job(
        await shop.workflow(step(queue=QueueType.LOW_PRIORITY, pool="mall")), seeds=tasks("a", "b", pool="host")
    )
    before = await shop.claimed()
    await shop.finish(before, {"a": REJECTED, "b": Fail("no")})
    await shop.fold()
    await retry(shop, job)

    after = await shop.claimed()
    assert {entry.lane for entry in after.claim.entries} == {entry.lane for entry in before.claim.entries}
    assert {entry.queue for entry in after.claim.entries} == {QueueType.LOW_PRIORITY}


async def test_what_a_task_hands_over_at_its_second_try_passes_the_barrier_again(shop: Workshop) -> None:
    job = await shop.job(await shop.workflow(step("fetch", mode=StepMode.BARRIER), step("store")), "a", "b")
    await shop.drain({"a": REJECTED}, handler="fetch")
    assert len(await shop.drain(handler="store")) == 1
    assert await shop.status(job) == "FAILED"

    await redrive(shop, Filter())
    await shop.drain(Done("second try"), handler="fetch")
    assert len(await shop.drain(handler="store")) == 1
    assert (await shop.status(job), await counts(shop, job)) == ("SUCCESS", [4, 4, 4, 0])


FLOW = (step("fetch", max_retries=0, mode=StepMode.BARRIER), step("close", gather=True))


async def test_a_gathering_task_driven_again_waits_for_what_is_driven_again_with_it(shop: Workshop) -> None:
    job = await shop.job(await shop.workflow(*FLOW), "a", "b")
    await shop.drain({"a": REJECTED}, handler="fetch")
    await shop.drain(REJECTED, handler="close")
    assert await shop.status(job) == "FAILED"

    assert await retry(shop, job) == 2
    await shop.fold()
    assert await shop.claim(handler="close") is None
    assert await shop.drain(handler="fetch") == ["a"]
    assert await shop.drain(handler="close") == ["gather"]
    assert (await shop.status(job), await counts(shop, job)) == ("SUCCESS", [3, 3, 3, 0])


async def test_a_gathering_task_driven_again_alone_runs_at_once(shop: Workshop) -> None:
    job = await shop.job(await shop.workflow(*FLOW), "a")
    await shop.drain(handler="fetch")
    await shop.drain(REJECTED, handler="close")

    assert await redrive(shop, Filter(job_id=job)) == 1
    await shop.fold()
    assert await shop.drain(handler="close") == ["gather"]
    assert await shop.status(job) == "SUCCESS"


@pytest.mark.parametrize("outcome", [None, Retry("503"), Snooze(NOON, "429")])
async def test_a_gathering_task_that_has_not_ended_waits_again_when_an_earlier_one_is_driven_again(
    shop: Workshop, clock: ManualClock, outcome: Outcome | None
) -> None:
    """Ready, delayed, or in a worker's hands and given back while the earlier one runs."""
    job = await shop.job(await shop.workflow(*FLOW), "a", "b")
    await shop.drain({"a": REJECTED}, handler="fetch")
    close = None if outcome is None else await shop.claimed(handler="close")
    await redrive(shop, Filter())
    if close is not None and outcome is not None:
        await shop.finish(close, outcome)
        await shop.fold()
    clock.advance(minutes=1)
    await shop.promote()
    assert await shop.claim(handler="close") is None

    assert await shop.drain(handler="fetch") == ["a"]
    assert await shop.drain(handler="close") == ["gather"]
    assert (await shop.status(job), await counts(shop, job)) == ("SUCCESS", [3, 3, 3, 0])


async def test_what_stands_behind_a_barrier_is_driven_again_behind_it(shop: Workshop) -> None:
    workflow = await shop.workflow(step("fetch", mode=StepMode.BARRIER), step("store"), step("tell"))
    job = await shop.job(workflow, "a", "b")
    await shop.drain({"a": REJECTED}, handler="fetch")
    await shop.drain(REJECTED, handler="store")

    await retry(shop, job)
    await shop.fold()
    assert await shop.claim(handler="store") is None
    await shop.drain(handler="fetch")
    assert len(await shop.drain(handler="store")) == 2
    await shop.drain(handler="tell")
    assert await shop.status(job) == "SUCCESS"


async def test_a_task_that_fails_again_makes_nothing_twice(shop: Workshop) -> None:
    """Its children have keys, so a second success after a first half one makes them once."""
    job = await shop.job(await shop.workflow(step("list"), step("item")), "page")
    spawn = tuple(NewTask(None, key=f"item {number}") for number in range(3))
    await shop.drain(Done(spawn=spawn), handler="list")
    await shop.drain(REJECTED, handler="item")
    await redrive(shop, Filter(limit=2))
    await shop.drain(handler="item")

    assert await counts(shop, job) == [4, 4, 3, 1]
    assert await shop.status(job) == "FAILED"
