"""Jobs: made once, started when limits, time and dependencies allow."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from bobusang.engine import control, jobs, targets, workflows
from bobusang.engine.grammar.definition import Parallel
from bobusang.engine.model import DependencyType, NewTask, StepType
from bobusang.engine.outcome import Done, Fail
from bobusang.engine.tables import crawling_jobs
from bobusang.kit import json
from bobusang.kit.errors import Conflict, Invalid, Missing
from bobusang.kit.sql import Bulk
from bobusang.testing.clock import NOON
from bobusang.testing.workshop import Workshop, step, tasks

if TYPE_CHECKING:
    from bobusang.testing.clock import ManualClock

FINISH, SUCCESS = DependencyType


async def statuses(shop: Workshop, *ids: int) -> list[str]:
    return [await shop.status(job) for job in ids]


# --- making ---


async def test_a_job_starts_at_once_when_nothing_stands_in_its_way(shop: Workshop) -> None:
    job = await shop.job(await shop.workflow())

    assert await shop.status(job) == "RUNNING"
    execution = await shop.row(
        "select status, current_step, context from workflow_executions where job_id = :id", id=job
    )
    assert (execution["status"], execution["current_step"], json.loads(execution["context"])) == ("RUNNING", "work", {})


async def test_a_job_for_later_starts_then(shop: Workshop, clock: ManualClock) -> None:
    job = await shop.job(await shop.workflow(), scheduled_at=clock.now() + timedelta(minutes=5))
    assert await shop.start() == 0
    clock.advance(minutes=5)

    assert await shop.start() == 1
    assert await shop.status(job) == "RUNNING"


@pytest.mark.parametrize(
    "said",
    [
        {"priority": 0},
        {"priority": 11},
        {"key": "k" * 201},
        {"key": "\0"},
        {"input": {"nul": "\0"}},
        {"input": {"large": "x" * (1 << 20)}},
        {"input": {"odd": object()}},
        {"seeds": []},
    ],
    ids=["priority 0", "priority 11", "long key", "nul in key", "nul", "large", "no json", "no seeds"],
)
async def test_a_job_that_cannot_be_stored_is_refused_and_nothing_is_half_written(
    shop: Workshop, said: dict[str, Any]
) -> None:
    workflow = await shop.workflow()

    with pytest.raises(Invalid):
        await shop.job(workflow, **said)
    assert await shop.value("select count(*) from crawling_jobs") == 0


async def test_a_seed_that_cannot_be_stored_undoes_its_job(shop: Workshop) -> None:
    workflow = await shop.workflow()

    with pytest.raises(Invalid):
        await shop.job(workflow, seeds=[*tasks("fine"), NewTask("\0")])
    assert [await shop.value(f"select count(*) from {table}") for table in ("crawling_jobs", "tasks")] == [0, 0]


async def test_large_tasks_can_be_made_many_at_once(shop: Workshop) -> None:
    """Together they are larger than what MariaDB takes in one statement."""
    job = await shop.job(await shop.workflow(), seeds=[NewTask("x" * 900_000, key=str(key)) for key in range(20)])

    assert len(await shop.drain()) == 20
    assert await shop.status(job) == "SUCCESS"


async def test_only_an_active_workflow_can_be_run(shop: Workshop) -> None:
    workflow = await shop.workflow()
    await shop.do(lambda tx: workflows.set_active(tx, workflow, False))

    with pytest.raises(Conflict, match="switched off"):
        await shop.job(workflow)
    with pytest.raises(Missing, match="no workflow 987654"):
        await shop.job(987_654)


async def test_hangul_and_emoji_survive_everywhere(shop: Workshop) -> None:
    workflow = await shop.workflow(step("수집 🧥", handler="work"), workflow="보부상 🎒")
    target = await shop.do(
        lambda tx: targets.put(tx, kind="브랜드", key="나이키 👟", name="나이키", data={"메모": "✓"})
    )
    await shop.job(workflow, target_id=target, input={"단어": "외투 🧥"}, key="열쇠 🗝")

    (task,) = (await shop.claimed()).tasks
    assert task.input == {"단어": "외투 🧥"}
    assert dict(task.run.target) == {
        "메모": "✓",
        "id": target,
        "key": "나이키 👟",
        "name": "나이키",
        "type": "브랜드",
        "source": None,
        "base_url": None,
    }
    assert (task.step.name, task.run.plan.name) == ("수집 🧥", "보부상 🎒")


async def test_a_running_job_finishes_on_the_version_it_began_with(shop: Workshop) -> None:
    workflow = await shop.workflow(step("fetch"), step("store"), workflow="w")
    old = await shop.job(workflow, "old")
    assert await shop.workflow(step("fetch"), step("check"), workflow="w") == workflow
    new = await shop.job(workflow, "new")
    await shop.drain(handler="fetch")

    assert [len(await shop.drain(handler=name)) for name in ("store", "check")] == [1, 1]
    assert await statuses(shop, old, new) == ["SUCCESS", "SUCCESS"]


# --- limits ---


async def test_a_workflow_runs_as_many_jobs_at_once_as_it_may(shop: Workshop) -> None:
    workflow = await shop.workflow(parallel=Parallel(jobs=2, tasks=10))
    made = [await shop.job(workflow) for _ in range(4)]
    await shop.start()
    await shop.start()
    assert await statuses(shop, *made) == ["RUNNING", "RUNNING", "PENDING", "PENDING"]

    await shop.finish(await shop.claimed(1))
    await shop.fold()
    assert await shop.start() == 1
    assert await statuses(shop, *made) == ["SUCCESS", "RUNNING", "RUNNING", "PENDING"]


async def test_seeds_wait_with_their_job(shop: Workshop) -> None:
    """A job with tasks of its own obeys limits, dependencies and times like any other."""
    workflow = await shop.workflow(parallel=Parallel(jobs=1, tasks=10))
    first, second = await shop.job(workflow, "a"), await shop.job(workflow, "b", "c")
    await shop.start()
    assert await statuses(shop, first, second) == ["RUNNING", "PENDING"]
    assert await shop.drain() == ["a"]

    await shop.start()
    assert sorted(await shop.drain()) == ["b", "c"]
    assert await statuses(shop, first, second) == ["SUCCESS", "SUCCESS"]


async def test_the_urgent_job_starts_first(shop: Workshop) -> None:
    workflow = await shop.workflow(parallel=Parallel(jobs=1, tasks=10))
    low, high = await shop.job(workflow, priority=2), await shop.job(workflow, priority=9)
    await shop.start()

    assert await statuses(shop, low, high) == ["PENDING", "RUNNING"]


async def test_starters_at_the_same_time_keep_the_limit(shop: Workshop, other: Workshop) -> None:
    workflow = await shop.workflow(parallel=Parallel(jobs=3, tasks=10))
    made = [await shop.job(workflow) for _ in range(10)]

    await asyncio.gather(*(who.start() for who in (shop, other, shop, other)))

    assert sorted(await statuses(shop, *made)) == ["PENDING"] * 7 + ["RUNNING"] * 3


async def test_a_full_workflow_does_not_hold_the_others_up(shop: Workshop) -> None:
    """However many of its jobs wait, and however urgent they are."""
    full = await shop.workflow(parallel=Parallel(jobs=1, tasks=10))
    await shop.job(full)
    await shop.start()
    waiting = Bulk(crawling_jobs, ("workflow_id", "workflow_version", "status", "priority", "created_at", "updated_at"))
    await shop.do(lambda tx: tx.insert(waiting, [(full, 1, "PENDING", 10, NOON, NOON)] * 300))
    free = await shop.job(await shop.workflow(parallel=Parallel(jobs=1, tasks=10)), priority=1)

    assert await shop.start() == 1
    assert await shop.status(free) == "RUNNING"


async def test_a_job_fetches_as_many_tasks_at_once_as_it_may(shop: Workshop) -> None:
    workflow = await shop.workflow(parallel=Parallel(jobs=5, tasks=4))
    for _ in range(2):
        await shop.job(workflow, *range(10))
    await shop.start()

    sizes = []
    while (batch := await shop.claim(3)) is not None:
        sizes.append(len(batch.tasks))
    assert sorted(sizes) == [1, 1, 3, 3]


async def test_for_other_steps_a_batch_counts_as_one(shop: Workshop) -> None:
    workflow = await shop.workflow(step(type=StepType.STORE), parallel=Parallel(jobs=5, tasks=2))
    await shop.job(workflow, *range(100))
    await shop.start()

    sizes = []
    while (batch := await shop.claim(20)) is not None:
        sizes.append(len(batch.tasks))
    assert sizes == [20, 20]


async def test_a_limited_job_leaves_nothing_behind(shop: Workshop) -> None:
    workflow = await shop.workflow(
        step("fetch"), step("store", type=StepType.STORE), parallel=Parallel(jobs=2, tasks=2)
    )
    job = await shop.job(workflow, "a", "b")
    await shop.start()
    await shop.drain(handler="fetch")
    await shop.drain(handler="store")

    assert await shop.status(job) == "SUCCESS"
    assert [await shop.value(f"select count(*) from {table}") for table in ("lanes", "lane_pools", "budgets")] == [
        0,
        0,
        0,
    ]


async def test_the_id_of_a_lane_is_never_given_again(shop: Workshop) -> None:
    """A worker that remembers it would run the tasks of one handler with another."""
    workflow = await shop.workflow(parallel=Parallel(jobs=2, tasks=2))
    seen = []
    for _ in range(3):
        await shop.job(workflow, "a")
        await shop.start()
        seen += await shop.lanes()
        await shop.drain()

    assert len(seen) == len(set(seen)) == 3


async def test_new_limits_hold_in_every_process_for_jobs_that_start_then(shop: Workshop, other: Workshop) -> None:
    """The other process has worked for this workflow before, and remembers it without limits."""
    workflow = await shop.workflow(step("list"), step("item"))
    await shop.job(workflow, "page")
    await other.drain(handler="list")
    await other.drain(handler="item")
    await shop.do(lambda tx: workflows.set_limits(tx, shop.books, workflow, max_parallel_tasks=2))
    await shop.job(workflow, "page")
    await shop.start()

    batch = await other.claimed(handler="list")
    await other.finish(batch, Done(spawn=tuple(tasks(*range(10)))))

    assert len((await other.claimed(handler="item")).tasks) == 2


async def test_a_job_whose_first_task_cannot_be_mapped_is_refused(shop: Workshop) -> None:
    workflow = await shop.workflow(step(input={"url": "$.url"}))

    with pytest.raises(Invalid, match=r"\$\.url is missing"):
        await shop.job(workflow)
    assert await shop.value("select count(*) from crawling_jobs") == 0


async def test_a_job_that_cannot_begin_fails_alone(shop: Workshop, other: Workshop, clock: ManualClock) -> None:
    """What its first step maps was there when it was made; the jobs behind it must not wait for that."""
    soon = clock.now() + timedelta(seconds=1)
    target = await shop.do(lambda tx: targets.put(tx, kind="brand", key="b", data={"url": "https://example.com"}))
    mapped = await shop.workflow(step(input={"url": "$target.url"}))
    broken = await shop.job(mapped, scheduled_at=soon, target_id=target)
    fine = await shop.job(await shop.workflow(), scheduled_at=soon)
    await shop.do(lambda tx: targets.put(tx, kind="brand", key="b", data={}))
    clock.advance(seconds=1)

    assert await other.start() == 2
    assert await statuses(shop, broken, fine) == ["FAILED", "RUNNING"]
    assert "$target.url is missing" in (await shop.job_row(broken))["error_summary"]


async def test_seeds_of_a_cancelled_pending_job_go_with_it(shop: Workshop, clock: ManualClock) -> None:
    job = await shop.job(await shop.workflow(), "a", "b", scheduled_at=clock.now() + timedelta(days=1))
    await shop.fold()
    states = await shop.rows("select state, created from job_steps where job_id = :id", id=job)
    assert [tuple(row.values()) for row in states] == [("PENDING", 2)]
    await shop.engine.do(control.cancel, job)
    await shop.sweep()

    assert await shop.places() == {}
    row = await shop.job_row(job)
    assert (row["status"], row["total_items"], row["cancelled_count"]) == ("CANCELLED", 2, 2)


# --- dependencies ---


async def test_a_job_waits_for_another_to_finish_or_to_succeed(shop: Workshop) -> None:
    workflow = await shop.workflow()
    first = await shop.job(workflow, "first")
    waiting = [await shop.job(workflow, after=[(first, kind)]) for kind in (FINISH, SUCCESS)]
    await shop.start()
    assert await statuses(shop, *waiting) == ["PENDING", "PENDING"]

    await shop.drain()
    assert await shop.start() == 2
    assert await statuses(shop, first, *waiting) == ["SUCCESS", "RUNNING", "RUNNING"]


@pytest.mark.parametrize("how", ["FAILED", "CANCELLED"])
async def test_a_broken_dependency_cancels_who_needs_success_and_frees_who_needs_an_end(
    shop: Workshop, how: str
) -> None:
    workflow = await shop.workflow()
    first = await shop.job(workflow, "first")
    finish = await shop.job(workflow, after=[(first, FINISH)])
    success = await shop.job(workflow, after=[(first, SUCCESS)])
    after_that = await shop.job(workflow, after=[(success, SUCCESS)])
    if how == "FAILED":
        await shop.drain(Fail("no"))
    else:
        await shop.engine.do(control.cancel, first)
    while await shop.start():
        pass

    assert await statuses(shop, first, finish, success, after_that) == [how, "RUNNING", "CANCELLED", "CANCELLED"]
    summary = json.loads((await shop.job_row(success))["error_summary"])
    assert summary == [{"error": f"job {first}, whose success it needs, ended {how}", "count": 1}]


async def test_a_job_may_wait_for_many(shop: Workshop) -> None:
    workflow = await shop.workflow()
    upstream = [await shop.job(workflow, f"up {number}") for number in range(3)]
    job = await shop.job(workflow, after=[(one, SUCCESS) for one in upstream])
    for _ in upstream:
        assert await shop.start() == 0
        await shop.finish(await shop.claimed(1))
        await shop.fold()

    assert await shop.start() == 1
    assert await shop.status(job) == "RUNNING"


async def test_a_dependency_on_nothing_is_refused(shop: Workshop) -> None:
    with pytest.raises(Missing, match="job 987654"):
        await shop.job(await shop.workflow(), after=[(987_654, FINISH)])
    assert await shop.value("select count(*) from crawling_jobs") == 0


async def test_a_circle_is_refused(shop: Workshop, clock: ManualClock) -> None:
    workflow = await shop.workflow()
    later = clock.now() + timedelta(days=1)
    a = await shop.job(workflow, scheduled_at=later)
    b = await shop.job(workflow, after=[(a, FINISH)])
    c = await shop.job(workflow, after=[(b, FINISH)])

    for upstream in (a, b, c):
        with pytest.raises(Invalid, match="neither could start"):
            await shop.do(lambda tx, upstream=upstream: jobs.depend(tx, a, upstream, FINISH))  # type: ignore[misc]
    assert len(await shop.rows("select * from job_dependencies")) == 2


async def test_two_halves_of_a_circle_made_at_once_do_not_make_one(
    shop: Workshop, other: Workshop, clock: ManualClock
) -> None:
    workflow = await shop.workflow()
    later = clock.now() + timedelta(days=1)
    a, b = [await shop.job(workflow, scheduled_at=later) for _ in range(2)]

    tried = await asyncio.gather(
        shop.do(lambda tx: jobs.depend(tx, a, b, FINISH)),
        other.do(lambda tx: jobs.depend(tx, b, a, FINISH)),
        return_exceptions=True,
    )

    assert [type(one) for one in tried].count(Invalid) == 1
    assert len(await shop.rows("select * from job_dependencies")) == 1


async def test_only_a_pending_job_can_still_wait(shop: Workshop) -> None:
    workflow = await shop.workflow()
    first, second = await shop.job(workflow), await shop.job(workflow)

    with pytest.raises(Conflict, match="RUNNING"):
        await shop.do(lambda tx: jobs.depend(tx, first, second, FINISH))
