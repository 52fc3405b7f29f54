"""Real workers and upkeep on real time: whole flows, poison, deadlines, draining, budgets that open again."""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from bobusang.engine import budgets
from bobusang.engine.budgets import FOREVER
from bobusang.engine.jobs import NewJob, create
from bobusang.engine.model import StepMode
from bobusang.engine.outcome import DONE, Done, Outcome, Retry, Snooze
from bobusang.engine.worker import Pace, Worker
from bobusang.kit.errors import Rejected
from bobusang.kit.sql import Statement
from bobusang.testing.workshop import FAST, PATIENCE, Workshop, step, tasks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bobusang.engine.hooks import JobMoved
    from bobusang.engine.model import Task
    from bobusang.kit.db import Tx


async def attempts(shop: Workshop) -> list[tuple[Any, ...]]:
    rows = await shop.rows("""
        select t.task_key, a.outcome, a.reason_class from task_attempts a
        join tasks t on t.id = a.task_id order by a.id""")
    return [tuple(row.values()) for row in rows]


async def test_a_flow_runs_from_end_to_end(live: Workshop) -> None:
    stored: list[str] = []

    async def pages(batch: Sequence[Task]) -> list[Outcome]:
        return [Done(spawn=tuple(tasks(*(f"{task.key}.{n}" for n in range(50))))) for task in batch]

    async def store(_: Tx, owned: Sequence[tuple[Task, Done]]) -> None:
        stored.extend(task.key for task, _ in owned)

    live.handler("list", pages)
    live.handler("item", batch=20)
    live.handler("store", save=store)
    live.handler("report")
    workflow = await live.workflow(
        step("list"), step("item"), step("store", mode=StepMode.BARRIER), step("report", gather=True)
    )
    async with live.running(workers=2):
        job = await live.job(workflow, *range(6))
        assert await live.ended(job) == "SUCCESS"

    assert len(stored) == len(set(stored)) == 300
    assert (await live.job_row(job))["success_count"] == 6 + 300 + 300 + 1
    assert await live.places() == {}
    assert await live.rows("select id from workers") == []


async def test_work_made_by_another_process_is_noticed(live: Workshop, url: str) -> None:
    """Also in a lane that did not exist when the worker looked."""
    live.handler()
    live.handler("late")
    async with live.running(), Workshop.opened(url) as other:
        for name in ("work", "late", "work"):
            job = await other.job(await other.workflow(step(name)), *range(3))
            assert await live.ended(job) == "SUCCESS"


async def test_what_is_committed_late_is_not_overlooked(live: Workshop, url: str) -> None:
    """It became runnable before what was claimed since: its turn comes at once, not when all else is done."""
    if live.db.dialect == "sqlite":
        return  # there is one writer: nothing is committed late
    seen: list[str] = []

    async def work(batch: Sequence[Task]) -> list[Outcome]:
        seen.extend(str(task.key) for task in batch)
        await asyncio.sleep(0.005)
        return [DONE] * len(batch)

    live.handler(work=work, batch=1, concurrency=1)
    workflow = await live.workflow()
    async with live.running(), Workshop.opened(url) as other:
        await live.ended(await live.job(workflow, "first"))  # so that the lane is there
        async with other.db.begin() as tx:
            new = NewJob(workflow, seeds=tasks("late"))
            late, _ = await create(tx, other.books, other.engine.hooks, new)
            job = await live.job(workflow, *range(100))

            async def under_way() -> bool:
                return len(seen) > 20

            await live.until(under_way)
        assert [await live.ended(one) for one in (job, late)] == ["SUCCESS", "SUCCESS"]

    assert seen.index("late") < 90


async def test_only_the_poison_of_a_batch_pays(live: Workshop) -> None:
    calls: Counter[str] = Counter()

    async def work(batch: Sequence[Task]) -> list[Outcome]:
        calls.update(task.key for task in batch)
        if any(task.key == "poison" for task in batch):
            raise Rejected("the market refuses it", problems=["no image"])
        return [DONE] * len(batch)

    live.handler(work=work, batch=50)
    async with live.running():
        job = await live.job(None, *range(10), "poison", *range(10, 30))
        assert await live.ended(job) == "FAILED"

    assert await attempts(live) == [("poison", "PARK", "REJECTED")]
    outcomes = await live.outcomes(job)
    assert {key for key, outcome in outcomes.items() if outcome != "DONE"} == {"poison"}
    assert await live.value("select error from dead_letters") == "the market refuses it; no image"


async def test_only_the_task_that_cannot_be_saved_pays(live: Workshop) -> None:
    saved: list[str] = []

    async def save(tx: Tx, owned: Sequence[tuple[Task, Done]]) -> None:
        now = [task.key for task, _ in owned]
        if "poison" in now:
            raise Rejected("its row breaks a rule")
        tx.after_commit(lambda: saved.extend(now))

    live.handler(save=save, batch=50)
    async with live.running():
        job = await live.job(None, *range(10), "poison", *range(10, 30))
        assert await live.ended(job) == "FAILED"

    assert sorted(saved, key=int) == [str(key) for key in range(30)]
    assert await attempts(live) == [("poison", "PARK", "REJECTED")]


async def test_a_save_that_the_database_refuses_spoils_nothing_else(live: Workshop) -> None:
    """On PostgreSQL the whole transaction is aborted by it."""

    async def save(tx: Tx, owned: Sequence[tuple[Task, Done]]) -> None:
        for task, _ in owned:
            broken = "no_such_table" if task.key == "poison" else "engine_statistics"
            await tx.execute(
                Statement(f"insert into {broken} (name, label, value, measured_at) values ('saved', :key, 1, :now)"),
                key=task.key,
                now=tx.now,
            )

    live.handler(save=save, batch=50)
    async with live.running():
        job = await live.job(await live.workflow(step(max_retries=0)), *range(10), "poison", *range(10, 20))
        assert await live.ended(job) == "FAILED"

    rows = await live.rows("select label from engine_statistics where name = 'saved'")
    assert sorted(int(row["label"]) for row in rows) == list(range(20))
    assert [row[:2] for row in await attempts(live)] == [("poison", "PARK")]


ODD: dict[str, Any] = {
    "too few": lambda batch: [DONE] * (len(batch) - 1),
    "nothing": lambda _: None,
    "no outcomes": lambda batch: [None] * len(batch),
    "a class": lambda batch: [Done] * len(batch),
    "no tasks": lambda batch: [Done(spawn=("oops",))] * len(batch),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("odd", ODD)
async def test_a_handler_that_answers_oddly_harms_only_its_own_tasks(live: Workshop, odd: str) -> None:
    async def work(batch: Sequence[Task]) -> Any:
        return ODD[odd](batch)

    live.handler("odd", work)
    live.handler()
    async with live.running():
        bad = await live.job(await live.workflow(step("odd", max_retries=0)), *range(3))
        good = await live.job(None, *range(3))
        assert (await live.ended(bad), await live.ended(good)) == ("FAILED", "SUCCESS")

    rows = await live.rows("select reason_class from dead_letters")
    assert [row["reason_class"] for row in rows] == ["BUG"] * 3


async def test_a_handler_past_its_deadline_is_stopped_and_its_tasks_tried_again(live: Workshop) -> None:
    seen: Counter[str] = Counter()
    never = asyncio.Event()

    async def work(batch: Sequence[Task]) -> list[Outcome]:
        seen.update(task.key for task in batch)
        if any(task.key == "slow" and task.attempt == 0 for task in batch):
            await never.wait()
        return [DONE] * len(batch)

    live.handler(work=work, batch=1, deadline=timedelta(seconds=0.2))
    async with live.running():
        job = await live.job(None, "slow", "a", "b")
        assert await live.ended(job) == "SUCCESS"

    assert seen == {"slow": 2, "a": 1, "b": 1}
    assert await attempts(live) == [("slow", "RETRY", "TIMEOUT")]


async def test_a_stopped_worker_finishes_what_it_began(live: Workshop) -> None:
    begun, may_end = asyncio.Event(), asyncio.Event()

    async def work(batch: Sequence[Task]) -> list[Outcome]:
        begun.set()
        await may_end.wait()
        return [DONE] * len(batch)

    live.handler(work=work, batch=2, concurrency=1)
    job = await live.job(None, *range(6))
    worker = Worker(live.db, live.engine.handlers, live.books, pace=FAST)
    running = asyncio.create_task(worker.run())
    await begun.wait()
    worker.stop()
    may_end.set()
    await running

    assert Counter((await live.outcomes(job)).values()) == {"DONE": 2, None: 4}
    assert set(map(tuple, (await live.places()).values())) == {("ready",)}
    assert await live.rows("select id from workers") == []


async def test_what_a_stopped_worker_cannot_finish_in_time_goes_back_unharmed(live: Workshop) -> None:
    begun = asyncio.Event()

    async def work(_: Sequence[Task]) -> list[Outcome]:
        begun.set()
        await asyncio.Event().wait()
        raise AssertionError("unreachable")

    live.handler(work=work, concurrency=1)
    await live.job(None, *range(3))
    pace = Pace(FAST.beat, FAST.dead_after, drain=timedelta(seconds=0.05))
    worker = Worker(live.db, live.engine.handlers, live.books, pace=pace)
    running = asyncio.create_task(worker.run())
    await begun.wait()
    worker.stop()
    await running

    again = await live.claimed()
    assert [(task.attempt, task.entry.dispatches) for task in again.tasks] == [(0, 1)] * 3
    assert await attempts(live) == []


async def test_a_slot_that_was_idle_lets_tasks_come_together(live: Workshop) -> None:
    seen: list[list[str]] = []

    async def work(batch: Sequence[Task]) -> list[Outcome]:
        seen.append([task.key for task in batch])
        return [DONE] * len(batch)

    live.handler(work=work, concurrency=1, linger=timedelta(seconds=1))
    workflow = await live.workflow()
    async with live.running():
        await live.ended(await live.job(workflow, "first"))  # so that the lane is there
        jobs = [await live.job(workflow, key) for key in ("second", "third")]
        assert [await live.ended(job) for job in jobs] == ["SUCCESS", "SUCCESS"]

    assert seen == [["first"], ["second", "third"]]


async def test_tasks_come_together_for_longer_while_others_are_at_work_and_at_once_when_they_are_not(
    live: Workshop,
) -> None:
    seen: list[list[str]] = []
    busy, over = asyncio.Event(), asyncio.Event()

    async def long(batch: Sequence[Task]) -> list[Outcome]:
        busy.set()
        await over.wait()
        return [DONE] * len(batch)

    async def work(batch: Sequence[Task]) -> list[Outcome]:
        seen.append([task.key for task in batch])
        return [DONE] * len(batch)

    live.handler(name="long", work=long)
    live.handler(work=work, concurrency=1, linger=timedelta(0), busy_linger=timedelta(hours=1))
    slow, quick = await live.workflow(step(handler="long")), await live.workflow()
    async with live.running():
        await live.ended(await live.job(quick, "first"))  # so that the lane is there
        last = await live.job(slow, "long")
        await busy.wait()
        jobs = [await live.job(quick, key) for key in ("second", "third")]

        async def ready() -> bool:
            return len(await live.rows("select task_id from queue_ready")) == len(jobs)

        await live.until(ready)
        assert seen == [["first"]]
        over.set()
        assert [await live.ended(job) for job in (last, *jobs)] == ["SUCCESS"] * 3

    assert seen == [["first"], ["second", "third"]]


async def test_a_worker_beats_while_it_works(live: Workshop) -> None:
    live.handler()
    async with live.running():
        await live.until(lambda: live.rows("select id from workers"))
        first = await live.value("select beat_at from workers")

        async def beaten() -> bool:
            return bool(await live.value("select beat_at from workers") != first)

        await live.until(beaten)


async def test_a_worker_taken_for_dead_stops(live: Workshop) -> None:
    live.handler()
    worker = Worker(live.db, live.engine.handlers, live.books, pace=FAST)
    running = asyncio.create_task(worker.run())
    await live.until(lambda: live.rows("select id from workers"))
    await live.do(lambda tx: tx.execute(Statement("delete from workers")))

    async with asyncio.timeout(PATIENCE):
        await running


async def test_slots_that_a_dead_worker_held_are_used_again(live: Workshop) -> None:
    """The pool was full when our worker asked, and nobody finished anything that could tell it otherwise."""
    live.handler()
    await live.do(lambda tx: budgets.set_budget(tx, "mall", max_in_flight=2))
    job = await live.job(await live.workflow(step(pool="mall")), *range(5))
    await live.claimed(worker=await live.enter("already dead"))
    async with live.running():
        assert await live.ended(job) == "SUCCESS"


async def test_a_pool_unblocked_by_another_process_goes_on(live: Workshop, url: str) -> None:
    live.handler()
    await live.do(lambda tx: budgets.block(tx, "mall", FOREVER, "403"))
    job = await live.job(await live.workflow(step(pool="mall")), *range(5))
    async with live.running() as (worker,), Workshop.opened(url) as other:

        async def believes_it_blocked() -> bool:
            return any(spot.blocked_until is not None for spot in worker.board.spots.values())

        await live.until(believes_it_blocked)
        await other.do(lambda tx: budgets.unblock(tx, "mall"))
        assert await live.ended(job) == "SUCCESS"


async def test_a_rate_paces_the_worker(live: Workshop) -> None:
    at: list[float] = []

    async def work(batch: Sequence[Task]) -> list[Outcome]:
        at.extend([asyncio.get_running_loop().time()] * len(batch))
        return [DONE] * len(batch)

    live.handler(work=work)
    await live.do(lambda tx: budgets.set_budget(tx, "mall", rate=20.0, burst=2.0))
    async with live.running():
        job = await live.job(await live.workflow(step(pool="mall")), *range(12))
        assert await live.ended(job) == "SUCCESS"

    assert at[-1] - at[0] > 0.4  # ten tokens at twenty a second
    assert len(at) == 12


async def test_retries_and_snoozes_come_back_by_themselves(live: Workshop) -> None:
    met: set[str] = set()

    async def work(batch: Sequence[Task]) -> list[Outcome]:
        first = [task for task in batch if task.key not in met]
        met.update(task.key for task in batch)
        until = live.db.clock.now() + timedelta(seconds=0.3)
        again = {"retry": Retry("503"), "snooze": Snooze(until, "429")}
        return [again[task.key] if task in first else DONE for task in batch]

    live.handler(work=work)
    async with live.running():
        job = await live.job(None, "retry", "snooze")
        assert await live.ended(job) == "SUCCESS"

    assert sorted(row[:2] for row in await attempts(live)) == [("retry", "RETRY"), ("snooze", "SNOOZE")]


async def test_urgent_lanes_get_more_turns_but_no_lane_starves(live: Workshop) -> None:
    served: list[str] = []

    async def work(batch: Sequence[Task]) -> list[Outcome]:
        served.extend(str(task.input["key"]).split()[0] for task in batch)
        return [DONE] * len(batch)

    live.handler(work=work, batch=1, concurrency=1)
    workflow = await live.workflow()
    jobs = [
        await live.job(workflow, seeds=tasks(*(f"{name} {n}" for n in range(40)), pool=name))
        for name in ("a", "b", "c")
    ]
    async with live.running():
        for job in jobs:
            await live.ended(job)

    assert set(served[:6]) == {"a", "b", "c"}


async def test_one_job_that_cannot_be_folded_does_not_stop_the_others(live: Workshop) -> None:
    """A hook that fails for it undoes its own move, not those of all jobs that ended with it."""

    async def on_job(_: Tx, moved: JobMoved) -> None:
        if moved.run.input.get("cursed") and moved.status.ended:
            raise ZeroDivisionError

    live.engine.hooks.on_job.append(on_job)
    live.handler()
    workflow = await live.workflow()
    cursed = await live.job(workflow, input={"cursed": True})
    blessed = [await live.job(workflow, input={"n": n}) for n in range(5)]
    async with live.running():
        assert [await live.ended(job) for job in blessed] == ["SUCCESS"] * 5

    assert await live.status(cursed) == "RUNNING"


async def test_large_outputs_fit_however_many_are_finished_at_once(live: Workshop) -> None:
    """Together they are larger than the largest packet that MariaDB takes."""

    async def work(batch: Sequence[Task]) -> list[Outcome]:
        return [Done("x" * 900_000) for _ in batch]

    live.handler("fetch", work, batch=40)
    live.handler("store", batch=40)
    async with live.running():
        job = await live.job(await live.workflow(step("fetch"), step("store")), *range(20))
        assert await live.ended(job) == "SUCCESS"
