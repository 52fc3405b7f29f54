"""Steps: streams, barriers, gathering, nested tasks, mappings, and how a job ends."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from bobusang.engine.model import ErrorHandling, JobStatus, NewTask, ReasonClass, StepMode
from bobusang.engine.outcome import DONE, Done, Fail, Park, Retry, Skip
from bobusang.engine.progress import fold
from bobusang.engine.rules import Count
from bobusang.engine.settling import nudge
from bobusang.engine.tables import crawling_jobs, job_deltas, job_steps
from bobusang.kit import json
from bobusang.kit.sql import Bulk, Statement
from bobusang.testing.clock import NOON
from bobusang.testing.workshop import PATIENCE, Workshop, step, tasks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bobusang.engine.hooks import JobMoved, StepsMoved
    from bobusang.kit.db import Tx
    from bobusang.testing.clock import ManualClock

BARRIER = {"mode": StepMode.BARRIER}


async def steps_of(shop: Workshop, job: int) -> dict[str, str]:
    rows = await shop.rows(
        """select s.step_name, j.state from job_steps j join workflow_steps s on s.id = j.step_id
        where j.job_id = :id order by j.step_order""",
        id=job,
    )
    return {row["step_name"]: row["state"] for row in rows}


async def results_of(shop: Workshop, job: int) -> Any:
    return json.loads(await shop.value("select step_results from workflow_executions where job_id = :id", id=job))


async def test_a_job_without_seeds_has_one_task_with_its_input(shop: Workshop) -> None:
    job = await shop.job(await shop.workflow(), input={"brand": "나이키"})

    (task,) = (await shop.claimed()).tasks
    assert (task.job_id, task.input, task.sequence) == (job, {"brand": "나이키"}, 1)


async def test_a_stream_hands_each_result_over_at_once(shop: Workshop) -> None:
    job = await shop.job(await shop.workflow(step("fetch"), step("store")), "a", "b")
    await shop.finish(await shop.claimed(1, handler="fetch"), Done({"price": 1}))
    await shop.fold()

    (task,) = (await shop.claimed(handler="store")).tasks
    assert task.input == {"price": 1}
    assert await steps_of(shop, job) == {"fetch": "RUNNING", "store": "RUNNING"}
    assert await shop.value("select current_step from workflow_executions") == "fetch"


async def test_a_step_is_done_when_its_last_task_is_over_and_none_can_come(shop: Workshop) -> None:
    job = await shop.job(await shop.workflow(step("fetch"), step("store")), "a", "b")
    first = await shop.claimed(1, handler="fetch")
    await shop.finish(first)
    await shop.finish(await shop.claimed(handler="store"))
    await shop.fold()
    assert await steps_of(shop, job) == {"fetch": "RUNNING", "store": "RUNNING"}

    await shop.finish(await shop.claimed(handler="fetch"), Skip())
    await shop.fold()

    assert await steps_of(shop, job) == {"fetch": "DONE", "store": "DONE"}
    assert await shop.status(job) == "SUCCESS"
    assert await results_of(shop, job) == {
        "fetch": {"tasks": 2, "succeeded": 1, "failed": 0, "skipped": 1, "cancelled": 0},
        "store": {"tasks": 1, "succeeded": 1, "failed": 0, "skipped": 0, "cancelled": 0},
    }


async def test_a_barrier_holds_what_it_hands_over_until_it_is_done(shop: Workshop) -> None:
    job = await shop.job(await shop.workflow(step("fetch", **BARRIER), step("store")), "a", "b")
    await shop.finish(await shop.claimed(1, handler="fetch"), Done("a"))
    await shop.fold()
    assert await shop.claim(handler="store") is None
    assert sorted(place for (place,) in (await shop.places()).values()) == ["held BARRIER", "ready"]

    await shop.finish(await shop.claimed(handler="fetch"), Done("b"))
    assert await shop.claim(handler="store") is None
    await shop.fold()

    assert sorted(task.input for task in (await shop.claimed(handler="store")).tasks) == ["a", "b"]
    assert await steps_of(shop, job) == {"fetch": "DONE", "store": "RUNNING"}


async def test_a_barrier_waits_for_retries_too(shop: Workshop, clock: ManualClock) -> None:
    await shop.job(await shop.workflow(step("fetch", **BARRIER), step("store")), "a", "b")
    await shop.finish(await shop.claimed(handler="fetch"), {"a": Retry("503"), "b": Done()})
    await shop.fold()
    assert await shop.claim(handler="store") is None

    clock.advance(seconds=2)
    await shop.promote()
    await shop.drain(handler="fetch")
    assert len(await shop.drain(handler="store")) == 2


async def test_a_task_sent_over_a_barrier_waits_for_it(shop: Workshop) -> None:
    """`check` is a barrier between: what `fetch` sends straight to `store` must not overtake it."""
    workflow = await shop.workflow(step("fetch"), step("check", **BARRIER), step("store"))
    await shop.job(workflow, "a")
    spawn = (NewTask("checked", step="check"), NewTask("sent ahead", step="store"))
    await shop.finish(await shop.claimed(handler="fetch"), Done(spawn=spawn))
    await shop.fold()
    assert await shop.claim(handler="store") is None

    await shop.finish(await shop.claimed(handler="check"), Done("from check"))
    await shop.fold()

    assert sorted(task.input for task in (await shop.claimed(handler="store")).tasks) == ["from check", "sent ahead"]


async def test_what_is_left_out_may_be_taken_up_by_an_earlier_step(shop: Workshop) -> None:
    """`check` finds that `fetch` must be done anew: what gathers waits for that, and nothing is counted twice."""
    steps = (step("fetch"), step("check", **BARRIER), step("report", gather=True))
    job = await shop.job(await shop.workflow(*steps), "a")
    await shop.drain(handler="fetch")
    anew = Skip("too old", (NewTask("anew", key="a again", step="fetch"),))
    await shop.finish(await shop.claimed(handler="check"), anew)
    await shop.fold()
    assert await shop.claim(handler="report") is None

    assert await shop.drain(handler="fetch") == ["a again"]
    await shop.drain(handler="check")
    [report] = (await shop.claimed(handler="report")).tasks

    assert report.input == {"tasks": 2, "succeeded": 1, "failed": 0, "skipped": 1, "cancelled": 0}
    left_out = await shop.rows("select error_message from tasks where job_id = :id and outcome = 'SKIPPED'", id=job)
    assert left_out == [{"error_message": "too old"}]


async def test_two_barriers_open_one_after_the_other(shop: Workshop) -> None:
    workflow = await shop.workflow(step("one", **BARRIER), step("two", **BARRIER), step("three"))
    job = await shop.job(workflow, "a")
    spawn = (NewTask("for two", step="two"), NewTask("for three", step="three"))
    await shop.finish(await shop.claimed(handler="one"), Done(spawn=spawn))
    await shop.fold()
    assert await shop.claim(handler="three") is None

    await shop.drain(handler="two")
    assert len(await shop.drain(handler="three")) == 2
    assert await shop.status(job) == "SUCCESS"


async def test_gathering_gets_one_task_with_the_counts(shop: Workshop) -> None:
    job = await shop.job(await shop.workflow(step("fetch", **BARRIER), step("report", gather=True)), "a", "b", "c")
    await shop.finish(await shop.claimed(handler="fetch"), {"a": Done("x"), "b": Skip(), "c": Fail("no")})
    await shop.fold()

    batch = await shop.claimed(handler="report")
    assert [task.input for task in batch.tasks] == [
        {"tasks": 3, "succeeded": 1, "failed": 1, "skipped": 1, "cancelled": 0}
    ]
    await shop.finish(batch)
    await shop.fold()
    assert await shop.status(job) == "FAILED"
    assert await steps_of(shop, job) == {"fetch": "DONE", "report": "DONE"}


async def test_gathering_what_cannot_be_mapped_fails_the_job(shop: Workshop) -> None:
    report = step("report", gather=True, input={"rate": "$.rate"})
    job = await shop.job(await shop.workflow(step("fetch", **BARRIER), report), "a")
    await shop.drain(handler="fetch")

    assert await shop.status(job) == "FAILED"
    assert "$.rate is missing" in (await shop.job_row(job))["error_summary"]


async def test_gathering_comes_after_a_barrier_that_nothing_reached(shop: Workshop) -> None:
    workflow = await shop.workflow(step("fetch"), step("check", **BARRIER), step("report", gather=True))
    job = await shop.job(workflow, "a")
    await shop.finish(await shop.claimed(handler="fetch"), Done(spawn=()))
    await shop.fold()

    assert await shop.drain(handler="report") == ["gather"]
    assert await shop.status(job) == "SUCCESS"


async def test_a_task_may_make_more_of_its_own_step(shop: Workshop) -> None:
    job = await shop.job(await shop.workflow(step("list"), step("item")), "page 1")

    def page(number: int) -> Done:
        items = tuple(tasks(*(f"{number}.{item}" for item in range(3)), step="item"))
        more = tuple(tasks(f"page {number + 1}", step="list")) if number < 3 else ()
        return Done(spawn=items + more)

    while (batch := await shop.claim(handler="list")) is not None:
        await shop.finish(batch, lambda task: page(int(task.key.split()[-1])))
        await shop.fold()
    assert await shop.status(job) == "RUNNING"

    assert len(await shop.drain(handler="item")) == 9
    assert await shop.status(job) == "SUCCESS"
    assert (await shop.job_row(job))["total_items"] == 12


async def test_spawned_tasks_carry_key_url_priority_time_and_sequence(shop: Workshop, clock: ManualClock) -> None:
    await shop.job(await shop.workflow(step("list"), step("item")), "page")
    soon = clock.now() + timedelta(minutes=1)
    spawn = (
        NewTask(1, url="https://example.com/상품/1"),
        NewTask(2, key="mine", priority=10),
        NewTask(3, after=soon),
    )
    batch = await shop.claimed(handler="list")
    await shop.finish(batch, Done(spawn=spawn))

    found = [(task.input, task.key, task.url, task.sequence) for task in (await shop.claimed(handler="item")).tasks]
    assert found == [(2, "mine", None, 2), (1, f"{batch.ids[0]}.1", "https://example.com/상품/1", 1)]
    clock.set(soon)
    await shop.promote()
    assert [task.input for task in (await shop.claimed(handler="item")).tasks] == [3]


async def test_mappings_shape_what_goes_in_and_out(shop: Workshop) -> None:
    workflow = await shop.workflow(
        step("fetch", output={"cost": "$.price", "shop": "$config.shop"}, config={"shop": "okmall"}),
        step("store", input={"won": "$.cost", "job": "$job.input.brand", "tax": 10}),
    )
    await shop.job(workflow, "a", input={"brand": "나이키"})
    await shop.finish(await shop.claimed(handler="fetch"), Done({"price": 129_000, "noise": 1}))

    (task,) = (await shop.claimed(handler="store")).tasks
    assert task.input == {"won": 129_000, "job": "나이키", "tax": 10}
    assert await shop.value("select output_data from tasks where task_key = 'a'") == '{"cost":129000,"shop":"okmall"}'


async def test_what_a_mapping_misses_is_a_dead_letter_of_that_task_alone(shop: Workshop) -> None:
    job = await shop.job(await shop.workflow(step("fetch"), step("store", input={"won": "$.price"})), "a", "b")
    await shop.finish(await shop.claimed(handler="fetch"), {"a": Done({"price": 1}), "b": Done({"preis": 1})})
    await shop.fold()

    assert len((await shop.claimed(handler="store")).tasks) == 1
    assert (await shop.outcomes(job))["b"] == "PARKED"
    letter = await shop.row("select reason_class, error from dead_letters")
    assert letter["reason_class"] == "INVALID"
    assert "$.price is missing" in letter["error"]


async def test_a_task_for_a_step_that_is_not_there_is_a_dead_letter(shop: Workshop) -> None:
    job = await shop.job(await shop.workflow(step("fetch")), "a", "b")
    await shop.finish(
        await shop.claimed(handler="fetch"),
        {"a": Done(spawn=(NewTask(step="ship"),)), "b": Done(spawn=(NewTask(),))},
    )

    assert await shop.outcomes(job) == {"a": "PARKED", "b": "PARKED"}
    errors = [row["error"] for row in await shop.rows("select error from dead_letters order by task_id")]
    assert errors == [
        "step 'fetch' made a task for 'ship', which is not there",
        "step 'fetch' made a task for a next step, which is not there",
    ]


@pytest.mark.parametrize(
    "new",
    [
        NewTask(key="k" * 201),
        NewTask(url="u" * 1001),
        NewTask("\0"),
        NewTask(key="\0"),
        NewTask(key="\ud800"),
        NewTask(pool="p" * 101),
    ],
    ids=["long key", "long url", "nul in input", "nul in key", "half a pair in key", "long pool"],
)
async def test_a_task_that_cannot_be_stored_parks_its_maker(shop: Workshop, new: NewTask) -> None:
    job = await shop.job(await shop.workflow(step("fetch"), step("store")), "a")

    await shop.finish(await shop.claimed(handler="fetch"), Done(spawn=(NewTask(key="fine"), new)))

    assert await shop.outcomes(job) == {"a": "PARKED"}


async def test_one_failure_fails_a_job_unless_it_is_tolerated(shop: Workshop) -> None:
    strict, tolerant = await shop.workflow(), await shop.workflow(tolerance=0.25)
    ended = []
    for workflow, failing in ((strict, "0"), (tolerant, "0"), (tolerant, "01")):
        job = await shop.job(workflow, *range(4))
        await shop.drain(lambda task, failing=failing: Fail("no") if task.key in failing else DONE)  # type: ignore[misc]
        ended.append(await shop.status(job))

    assert ended == ["FAILED", "SUCCESS", "FAILED"]


async def test_skipped_tasks_neither_fail_a_job_nor_count_for_it(shop: Workshop) -> None:
    job = await shop.job(None, *range(3))
    await shop.drain(Skip("sold out"))

    row = await shop.job_row(job)
    assert (row["status"], row["success_count"], row["skipped_count"], row["processed_items"]) == ("SUCCESS", 0, 3, 3)


async def test_a_failed_job_says_what_went_wrong_most(shop: Workshop) -> None:
    job = await shop.job(None, *range(6))
    await shop.drain(lambda task: Fail("common" if int(task.key) < 4 else "rare") if task.key != "5" else DONE)

    row = await shop.job_row(job)
    assert json.loads(row["error_summary"]) == [{"error": "common", "count": 4}, {"error": "rare", "count": 1}]


async def test_a_failure_of_a_fail_step_ends_the_job_at_once(shop: Workshop) -> None:
    job = await shop.job(await shop.workflow(step(on_error=ErrorHandling.FAIL)), *range(10))
    batch = await shop.claimed(2)
    elsewhere = await shop.claimed(2)
    await shop.finish(batch, {batch.keys[0]: Fail("no licence")})
    await shop.fold()

    row = await shop.job_row(job)
    assert (row["status"], json.loads(row["error_summary"])) == ("FAILED", [{"error": "no licence", "count": 1}])
    await shop.sweep()
    assert await shop.claim() is None
    assert await shop.finish(elsewhere) == 0
    assert await shop.places() == {}
    counts = await shop.job_row(job)
    names = ("total_items", "processed_items", "success_count", "failed_count", "cancelled_count")
    assert [counts[name] for name in names] == [10, 10, 1, 1, 8]


async def test_the_context_is_a_checkpoint_that_grows(shop: Workshop) -> None:
    job = await shop.job(None, "a", "b", "c")
    patches = [{"page": 1, "last": "가"}, {"page": 2}, {"last": None, "done": True}]
    for patch in patches:
        await shop.finish(await shop.claimed(1), Done(context=patch))
    assert await shop.contexts() == 1

    execution = await shop.row("select context from workflow_executions where job_id = :id", id=job)
    assert json.loads(execution["context"]) == {"page": 2, "done": True}
    assert await shop.contexts() == 0


async def test_a_job_ends_with_its_whole_context(shop: Workshop) -> None:
    job = await shop.job(None, "a")
    await shop.finish(await shop.claimed(), Done(context={"page": 7}))
    await shop.fold()

    execution = await shop.row("select status, context from workflow_executions where job_id = :id", id=job)
    assert (execution["status"], json.loads(execution["context"])) == ("COMPLETED", {"page": 7})
    assert await shop.rows("select * from job_contexts") == []


async def test_a_context_stays_small_however_often_it_is_added_to(shop: Workshop) -> None:
    job = await shop.job(None, *range(4))
    for number in range(4):
        await shop.finish(await shop.claimed(1), Done(context={f"part {number}": "x" * 30_000}))
        await shop.contexts()
    await shop.fold()

    context = await shop.value("select context from workflow_executions where job_id = :id", id=job)
    assert sorted(json.loads(context)) == ["part 0", "part 1"]
    assert await shop.status(job) == "SUCCESS"


async def test_hooks_write_in_the_transaction_that_moves(shop: Workshop) -> None:
    await shop.do(lambda tx: tx.execute(Statement("delete from engine_statistics")))
    seen: list[tuple[Any, ...]] = []

    async def on_job(_: Tx, moved: JobMoved) -> None:
        seen.append(("job", "", moved.status))

    async def on_step(tx: Tx, jobs: Sequence[StepsMoved]) -> None:
        (moved,) = jobs
        state, count = moved.standing["fetch"]
        seen.append((moved.status, *moved.moved, state, count))
        await tx.execute(
            Statement(
                "insert into engine_statistics (name, label, value, measured_at) values (:name, :label, 1, :now)"
            ),
            name="fetch",
            label=f"{state} {count.ended}",
            now=tx.now,
        )

    shop.engine.hooks.on_job.append(on_job)
    shop.engine.hooks.on_step.append(on_step)
    await shop.job(await shop.workflow(step("fetch")), "a", "b")
    await shop.fold()
    await shop.drain(handler="fetch")

    assert seen == [
        ("job", "", JobStatus.PENDING),
        ("job", "", JobStatus.RUNNING),
        (JobStatus.RUNNING, "fetch", "RUNNING", Count(created=2)),
        (JobStatus.RUNNING, "fetch", "DONE", Count(created=2, succeeded=2)),
        ("job", "", JobStatus.SUCCESS),
    ]
    written = await shop.rows("select label from engine_statistics order by label")
    assert [row["label"] for row in written] == ["DONE 2", "RUNNING 0"]


async def test_a_hook_that_raises_undoes_the_move(shop: Workshop) -> None:
    job = await shop.job(None, "a")
    await shop.finish(await shop.claimed())
    broken = True

    async def on_job(_: Tx, moved: JobMoved) -> None:
        if broken and moved.status.ended:
            raise ZeroDivisionError

    shop.engine.hooks.on_job.append(on_job)
    with pytest.raises(ZeroDivisionError):
        await shop.fold()
    assert (await shop.status(job), (await shop.job_row(job))["processed_items"]) == ("RUNNING", 0)

    broken = False
    await shop.fold()
    assert await shop.status(job) == "SUCCESS"


async def test_dead_letters_do_not_keep_a_job_open(shop: Workshop) -> None:
    job = await shop.job(None, "a", "b")
    await shop.drain({"a": Park(ReasonClass.REJECTED, "no")})

    assert await shop.status(job) == "FAILED"


async def test_a_large_job_is_folded_in_bounded_parts(shop: Workshop) -> None:
    job = await shop.job(await shop.workflow(step("fetch", **BARRIER), step("store")), *range(2500))

    assert len(await shop.drain(handler="fetch")) == 2500
    assert len(await shop.drain(handler="store")) == 2500
    row = await shop.job_row(job)
    assert (row["status"], row["success_count"]) == ("SUCCESS", 5000)


async def test_folding_does_not_wait_for_those_who_append(shop: Workshop, other: Workshop) -> None:
    if shop.db.dialect == "sqlite":
        return  # there is one writer: everybody waits
    job = await shop.job(None, "a", "b")
    async with other.db.begin() as tx:
        await nudge(tx, 987_654, 1)
        async with asyncio.timeout(PATIENCE):
            await shop.fold()

    assert (await shop.job_row(job))["total_items"] == 2


async def test_every_active_job_is_folded_however_many_there_are(shop: Workshop) -> None:
    """Jobs with low ids that always have news must not keep the others from ending."""
    late = await shop.job(None, "a")
    await shop.finish(await shop.claimed())
    workflow = await shop.workflow(step("busy"))
    (first,) = await shop.rows("select id from workflow_steps where workflow_id = :id", id=workflow)
    busy = range(-300, 0)
    one = (workflow, 1, "RUNNING", NOON, NOON)
    rows = Bulk(crawling_jobs, ("id", "workflow_id", "workflow_version", "status", "created_at", "updated_at"))
    await shop.do(lambda tx: tx.insert(rows, [(job, *one) for job in busy]))
    parts = Bulk(job_steps, ("job_id", "step_id", "step_order", "created"))
    await shop.do(lambda tx: tx.insert(parts, [(job, first["id"], 1, 1) for job in busy]))
    news = Bulk(job_deltas, ("job_id", "step_id", "retried"))
    for _ in range(3):
        await shop.do(lambda tx: tx.insert(news, [(job, first["id"], 1) for job in busy]))
        await shop.engine.do(fold)

    assert await shop.status(late) == "SUCCESS"
