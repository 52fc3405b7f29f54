"""A model of the queue in plain Python, and a Hypothesis machine that keeps it beside the real one.

After every step each task must stand in the one place where the model says it stands: nothing is lost, nothing is in
two places, at most one claim is live, and a stale worker has changed nothing. At the end the counters equal the rows.
"""

from __future__ import annotations

import asyncio
import shutil
from collections import Counter
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from bobusang.engine import control, queue, redriving, rescuing, waiting
from bobusang.engine.model import NewTask, ReasonClass
from bobusang.engine.outcome import DONE, Done, Fail, Halt, Outcome, Park, Retry, Skip, Snooze, Wait
from bobusang.engine.redriving import Filter
from bobusang.engine.rules import backoff, is_poison, is_suspect
from bobusang.kit.errors import Conflict
from bobusang.kit.sql import Statement
from bobusang.testing.clock import ManualClock
from bobusang.testing.workshop import FAST, Batch, Workshop, step
from tests.integration.engine.emptying import emptied
from tests.servers.server import wait_for

if TYPE_CHECKING:
    from collections.abc import Awaitable, Coroutine

T = TypeVar("T")

MAX_RETRIES = 2
CROWD = 12
SNOOZE = timedelta(seconds=5)
WAIT = timedelta(seconds=30)
KINDS = ("done", "spawn", "retry", "snooze", "skip", "fail", "park", "wait", "wait", "halt")
COUNTED = {"DONE": "succeeded", "SKIPPED": "skipped", "FAILED": "failed", "PARKED": "failed", "CANCELLED": "cancelled"}
BEAT = Statement("update workers set beat_at = :now where id = :id")


@dataclass(slots=True)
class TaskModel:
    """A task as it should be."""

    job: int
    place: str = "ready"
    outcome: str | None = None
    attempt: int = 0
    dispatches: int = 0
    until: datetime | None = None


@dataclass(slots=True)
class JobModel:
    """A job as it should be."""

    status: str = "RUNNING"
    paused: bool = False
    to_sweep: bool = False
    keys: set[str] = field(default_factory=set)

    @property
    def ended(self) -> bool:
        return self.status != "RUNNING"


class Machine(RuleBasedStateMachine):
    """Everything that can happen to tasks, in any order."""

    url = ""

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.stack = AsyncExitStack()
        self.clock = ManualClock()
        self.tasks: dict[int, TaskModel] = {}
        self.jobs: dict[int, JobModel] = {}
        self.workers: dict[int, datetime] = {}
        self.batches: list[tuple[Batch, datetime]] = []
        self.signals: set[str] = set()
        self.last_token = 0
        self.shop: Workshop
        self.workflow = 0

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(work)

    def do(self, work: Any) -> Any:
        return self.run(self.shop.do(work))

    @property
    def now(self) -> datetime:
        return self.clock.now()

    @initialize()
    def begin(self) -> None:
        opened = Workshop.opened(self.url, clock=self.clock, pool=2)
        self.shop = self.run(self.stack.enter_async_context(opened))
        self.workflow = self.run(self.shop.workflow(step(max_retries=MAX_RETRIES)))

    def teardown(self) -> None:
        try:
            if self.workflow:
                self.run(self.shop.fold())
                self.folded()
                self.counters_equal_rows()
        finally:
            self.run(self.stack.aclose())
            self.runner.close()

    def standing(self, place: str) -> dict[int, TaskModel]:
        return {task_id: task for task_id, task in self.tasks.items() if task.place == place}

    # --- making, claiming, finishing ---

    @precondition(lambda self: sum(task.outcome is None for task in self.tasks.values()) < CROWD)
    @rule(count=st.integers(1, 5))
    def make(self, count: int) -> None:
        job = self.run(self.shop.job(self.workflow, *range(count)))
        self.jobs[job] = JobModel(keys={str(key) for key in range(count)})
        assert self.meet(job) == count

    def meet(self, job: int) -> int:
        """Take in tasks of a job that the model has not met; how many."""
        rows = self.run(self.shop.rows("select id from tasks where job_id = :id", id=job))
        new = [row["id"] for row in rows if row["id"] not in self.tasks]
        self.tasks.update({task_id: TaskModel(job) for task_id in new})
        return len(new)

    @rule(size=st.integers(1, 6), seconds=st.sampled_from([3, 600]), fresh=st.booleans())
    def claim(self, size: int, seconds: int, fresh: bool) -> None:
        ready = self.standing("ready")
        worker = None if fresh else next(iter(self.workers), None)
        if worker is None:
            worker = self.run(self.shop.enter())
            self.workers[worker] = self.now
        deadline = timedelta(seconds=seconds)
        batch = self.run(self.shop.claim(size, worker=worker, deadline=deadline))
        assert (batch is None) == (not ready)
        if batch is None:
            return
        assert len(batch.ids) == len(set(batch.ids)) <= size
        assert set(batch.ids) <= set(ready)
        assert batch.token > self.last_token
        self.last_token = batch.token
        for task in batch.tasks:
            model = self.tasks[task.id]
            model.place, model.dispatches = f"claim {batch.token}", model.dispatches + 1
            assert (task.attempt, task.entry.dispatches) == (model.attempt, model.dispatches)
        if len(batch.ids) > 1:
            assert not any(is_suspect(self.tasks[task_id].dispatches) for task_id in batch.ids)
        self.batches.append((batch, self.now + deadline))

    def live(self) -> list[Batch]:
        places = {task.place for task in self.tasks.values()}
        return [batch for batch, _ in self.batches if f"claim {batch.token}" in places]

    @precondition(lambda self: self.live())
    @rule(data=st.data())
    def finish(self, data: st.DataObject) -> None:
        """A batch of which something is still ours."""
        live = self.live()
        self.finish_one(live[data.draw(st.integers(0, len(live) - 1), label="batch")], data)

    @precondition(lambda self: self.batches)
    @rule(data=st.data())
    def finish_late(self, data: st.DataObject) -> None:
        """Any batch ever claimed: perhaps it was taken from us, perhaps we finished it before."""
        self.finish_one(self.batches[data.draw(st.integers(0, len(self.batches) - 1), label="batch")][0], data)

    def finish_one(self, batch: Batch, data: st.DataObject) -> None:
        kinds = {task_id: data.draw(st.sampled_from(KINDS), label=f"task {task_id}") for task_id in batch.ids}
        owned = [task_id for task_id in batch.ids if self.tasks[task_id].place == f"claim {batch.token}"]

        found = self.run(self.shop.finish(batch, lambda task: self.outcome(kinds[task.id], task.id)))

        assert found == len(owned)
        spawned = sum([self.settle(kinds[task_id], task_id) for task_id in owned])
        assert sum([self.meet(job) for job in self.jobs]) == spawned

    def outcome(self, kind: str, task_id: int) -> Outcome:
        match kind:
            case "done":
                return DONE
            case "spawn":
                return Done(spawn=tuple(NewTask(key=key, step="work") for key in self.children(task_id)))
            case "retry":
                return Retry("503")
            case "snooze":
                return Snooze(self.now + SNOOZE)
            case "skip":
                return Skip()
            case "fail":
                return Fail("no")
            case "park":
                return Park(ReasonClass.REJECTED, "no")
            case "wait":
                return Wait(f"wait {task_id}", self.now + WAIT)
        return Halt("403")

    def children(self, task_id: int) -> list[str]:
        return [f"child {task_id}.{number}" for number in range(2)]

    def settle(self, kind: str, task_id: int) -> int:
        """What an outcome does to the model; how many new tasks come of it."""
        task = self.tasks[task_id]
        job = self.jobs[task.job]
        task.place, task.dispatches, task.until = "", 0, None
        match kind:
            case "done" | "spawn":
                task.outcome = "DONE"
                if kind == "spawn":
                    new = set(self.children(task_id)) - job.keys
                    job.keys |= new
                    return len(new)
            case "skip":
                task.outcome = "SKIPPED"
            case "fail":
                task.outcome = "FAILED"
            case "park":
                task.place, task.outcome = "dead", "PARKED"
            case "retry" if task.attempt >= MAX_RETRIES:
                task.place, task.outcome = "dead", "PARKED"
            case "retry":
                task.place, task.until = "delayed", self.now + backoff(task_id, task.attempt)
                task.attempt += 1
            case "snooze":
                task.place, task.until = "delayed", self.now + SNOOZE
            case "wait" if f"wait {task_id}" in self.signals:
                self.signals.remove(f"wait {task_id}")
                task.place = "ready"
            case "wait":
                task.place, task.until = "held WAIT", self.now + WAIT
            case "halt":
                task.place = "held PAUSED"
                job.paused, job.to_sweep = job.paused or not job.ended, True
        return 0

    # --- time ---

    @rule(seconds=st.sampled_from([1, 3, 10, 60]))
    def advance(self, seconds: int) -> None:
        self.clock.advance(seconds=seconds)

    @precondition(lambda self: self.workers)
    @rule(data=st.data())
    def beat(self, data: st.DataObject) -> None:
        worker = data.draw(st.sampled_from(sorted(self.workers)))
        self.do(lambda tx: tx.execute(BEAT, id=worker, now=tx.now))
        self.workers[worker] = self.now

    @precondition(lambda self: self.live())
    @rule()
    def rescue(self) -> None:
        dead = self.now - FAST.dead_after
        lost = 0
        for batch, deadline in self.batches:
            beat = self.workers.get(batch.worker_id)
            if beat is None or beat < dead or deadline < self.now:
                for task in self.standing(f"claim {batch.token}").values():
                    lost += 1
                    poison = is_poison(task.dispatches)
                    task.place, task.outcome = ("dead", "PARKED") if poison else ("ready", None)
        assert self.run(self.shop.rescue()) == lost
        holding = {batch.worker_id for batch, _ in self.batches if self.standing(f"claim {batch.token}")}
        self.workers = {one: at for one, at in self.workers.items() if at >= dead or one in holding}

    @precondition(lambda self: self.standing("ready"))
    @rule(size=st.integers(1, 6), times=st.integers(1, 6))
    def crash(self, size: int, times: int) -> None:
        """A worker claims and dies, again and again."""
        for _ in range(times):
            self.claim(size, 600, fresh=True)
            self.clock.advance(seconds=3)
            self.rescue()

    @rule(wait=st.booleans())
    def promote(self, wait: bool) -> None:
        delayed = [task.until for place in ("delayed", "held WAIT") for task in self.standing(place).values()]
        if wait and (times := [at for at in delayed if at is not None and at > self.now]):
            self.clock.set(min(times))
        moved = 0
        for place in ("delayed", "held WAIT"):
            for task in self.standing(place).values():
                if task.until is not None and task.until <= self.now:
                    task.place, task.until, moved = "ready", None, moved + 1
        assert self.run(self.shop.promote()) == moved

    @precondition(lambda self: self.workers)
    @rule(data=st.data())
    def leave(self, data: st.DataObject) -> None:
        worker = data.draw(st.sampled_from(sorted(self.workers)))
        self.do(lambda tx: rescuing.give_back(tx, worker))
        for batch, _ in self.batches:
            if batch.worker_id == worker:
                for task in self.standing(f"claim {batch.token}").values():
                    task.place, task.dispatches = "ready", task.dispatches - 1

    # --- people ---

    def person(self, data: st.DataObject) -> tuple[int, JobModel]:
        """A job that somebody does something about: mostly one that is not over."""
        running = sorted(job for job, model in self.jobs.items() if not model.ended)
        mostly: int = data.draw(st.integers(0, 4), label="mostly")
        jobs = running if mostly and running else sorted(self.jobs)
        job = data.draw(st.sampled_from(jobs), label="job")
        return job, self.jobs[job]

    def allowed(self, act: Awaitable[T], allowed: bool) -> T | None:
        """Do it, or see that it is refused."""

        async def tried() -> T | None:
            try:
                found = await act
            except Conflict:
                assert not allowed
                return None
            assert allowed
            return found

        return self.run(tried())

    @precondition(lambda self: self.jobs)
    @rule(data=st.data())
    def pause(self, data: st.DataObject) -> None:
        job, model = self.person(data)
        self.allowed(self.shop.do(lambda tx: control.pause(tx, job)), not model.ended)
        if not model.ended:
            model.paused = model.to_sweep = True

    @precondition(lambda self: self.jobs)
    @rule(data=st.data())
    def resume(self, data: st.DataObject) -> None:
        job, model = self.person(data)
        may = model.paused and not model.ended
        self.allowed(self.shop.do(lambda tx: control.resume(tx, job)), may)
        if may:
            model.paused = model.to_sweep = False
            for task in self.standing("held PAUSED").values():
                if task.job == job:
                    later = task.until is not None and task.until > self.now
                    task.place, task.until = ("delayed", task.until) if later else ("ready", None)

    @precondition(lambda self: self.jobs)
    @rule(data=st.data())
    def cancel(self, data: st.DataObject) -> None:
        job, model = self.person(data)
        self.allowed(self.shop.engine.do(control.cancel, job), not model.ended)
        if not model.ended:
            model.status, model.paused, model.to_sweep = "CANCELLED", False, True

    @precondition(lambda self: any(job.to_sweep for job in self.jobs.values()))
    @rule()
    def sweep(self) -> None:
        self.clock.advance(seconds=2)  # so that whatever was put off is due again
        self.run(self.shop.sweep())
        for job, model in self.jobs.items():
            if not model.to_sweep:
                continue
            for task in self.tasks.values():
                if task.job != job or task.outcome is not None:
                    continue
                if model.ended:
                    task.place, task.outcome, task.until = "", "CANCELLED", None
                elif model.paused and task.place in ("ready", "delayed"):
                    task.place = "held PAUSED"
            model.to_sweep = model.paused and not model.ended
        self.folded()

    @precondition(lambda self: self.standing("dead"))
    @rule(data=st.data(), limit=st.integers(1, 5))
    def redrive(self, data: st.DataObject, limit: int) -> None:
        letters = {task.job for task in self.standing("dead").values()}
        job = data.draw(st.sampled_from(sorted(letters)), label="job of a letter")
        model = self.jobs[job]
        dead = sorted(task_id for task_id, task in self.standing("dead").items() if task.job == job)[:limit]
        if model.status == "CANCELLED":
            dead = []  # a filter passes them over
        may = not dead or not (model.ended and model.to_sweep)
        wanted = Filter(job_id=job, limit=limit)
        driven = self.allowed(self.shop.do(lambda tx: redriving.redrive(tx, self.shop.books, wanted)), may)
        if may:
            assert driven == len(dead)
            self.again(model, dead)

    @precondition(lambda self: self.jobs)
    @rule(data=st.data())
    def retry(self, data: st.DataObject) -> None:
        job, model = self.person(data)
        may = not (model.status == "CANCELLED" or (model.ended and model.to_sweep))
        self.allowed(self.shop.do(lambda tx: redriving.retry_job(tx, self.shop.books, job)), may)
        failed = ("FAILED", "PARKED", "CANCELLED")
        if may:
            self.again(model, [one for one, task in self.tasks.items() if task.job == job and task.outcome in failed])

    def again(self, job: JobModel, ids: list[int]) -> None:
        for task_id in ids:
            task = self.tasks[task_id]
            task.place, task.outcome, task.attempt, task.dispatches = "ready", None, 0, 0
        if ids:
            job.status = "RUNNING"

    @precondition(lambda self: self.tasks)
    @rule(data=st.data())
    def wake(self, data: st.DataObject) -> None:
        waits = sorted(self.standing("held WAIT"))
        task_id = data.draw(st.sampled_from(waits or sorted(self.tasks)), label="task")
        task, key = self.tasks[task_id], f"wait {task_id}"
        woken = self.do(lambda tx: waiting.wake(tx, key))
        assert woken == (task.place == "held WAIT")
        if woken:
            task.place, task.until = "ready", None
        else:
            self.signals.add(key)

    @rule()
    def fold(self) -> None:
        self.run(self.shop.fold())
        self.folded()
        self.counters_equal_rows()

    def folded(self) -> None:
        for job, model in self.jobs.items():
            tasks = [task for task in self.tasks.values() if task.job == job]
            if not model.ended and all(task.outcome is not None for task in tasks):
                failed = any(task.outcome in ("FAILED", "PARKED") for task in tasks)
                model.status, model.paused = "FAILED" if failed else "SUCCESS", False

    # --- what must hold ---

    @invariant()
    def every_task_stands_where_it_should(self) -> None:
        if not self.workflow:
            return
        found = self.run(self.shop.places())
        wanted = {task_id: [task.place] for task_id, task in self.tasks.items() if task.place}
        assert found == wanted
        rows = self.run(self.shop.rows("select id, outcome from tasks"))
        assert {row["id"]: row["outcome"] for row in rows} == {one: task.outcome for one, task in self.tasks.items()}

    @invariant()
    def a_claim_knows_its_size(self) -> None:
        if self.workflow:
            rows = self.run(self.shop.rows("select size, entries from queue_claims"))
            assert all(row["size"] == len(queue.decode(row["entries"])) for row in rows)

    @invariant()
    def jobs_are_as_they_should_be(self) -> None:
        if self.workflow:
            rows = self.run(self.shop.rows("select id, status, is_paused from crawling_jobs"))
            found = {row["id"]: (row["status"], bool(row["is_paused"])) for row in rows}
            assert found == {job: (model.status, model.paused) for job, model in self.jobs.items()}

    def counters_equal_rows(self) -> None:
        names = ("created", "succeeded", "failed", "skipped", "cancelled")
        rows = self.run(self.shop.rows(f"select job_id, {', '.join(names)} from job_steps"))
        for row in rows:
            outcomes = [task.outcome for task in self.tasks.values() if task.job == row["job_id"]]
            ended = Counter(COUNTED[outcome] for outcome in outcomes if outcome is not None)
            assert [row[name] for name in names] == [len(outcomes), *(ended[name] for name in names[1:])]
        assert self.run(self.shop.value("select count(*) from job_deltas")) == 0


def explore(url: str, *, examples: int, steps: int) -> None:
    """Run the machine so often, each time on an empty database."""
    template = Path(url.removeprefix("sqlite:///")) if url.startswith("sqlite:") else None

    def fresh() -> Machine:
        machine = Machine()
        machine.url = wait_for(emptied(url)) if template is None else _copied(template)
        return machine

    run_state_machine_as_test(
        fresh,  # type: ignore[arg-type]
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            print_blob=True,
        ),
    )


def _copied(template: Path) -> str:
    """Quicker than emptying; the log of the machine before must not be taken for this one's."""
    path = template.with_name("machine.db")
    for name in ("machine.db-wal", "machine.db-shm"):
        template.with_name(name).unlink(missing_ok=True)
    shutil.copy(template, path)
    return f"sqlite:///{path}"
