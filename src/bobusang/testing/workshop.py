"""A workshop: an engine on a real database, every wheel of it turned by hand or all of them running."""

from __future__ import annotations

import asyncio
import itertools
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeVar

from bobusang.engine import budgets, control, ending, jobs, progress, promoting, queue, rescuing, workflows
from bobusang.engine.grammar.definition import Definition, Parallel, StepDefinition
from bobusang.engine.handlers import Handler
from bobusang.engine.lanes import stocked
from bobusang.engine.model import DEADLINE, NewTask, StepType, Task
from bobusang.engine.outcome import DONE, Outcome
from bobusang.engine.service import Engine
from bobusang.engine.settling import Finished, settle, sort_out
from bobusang.engine.upkeep.fire import fire
from bobusang.engine.upkeep.fold import contexts, fold
from bobusang.engine.upkeep.keeper import Keeper
from bobusang.engine.upkeep.promote import promote
from bobusang.engine.upkeep.rescue import rescue
from bobusang.engine.upkeep.start import start
from bobusang.engine.upkeep.sweep import sweep
from bobusang.engine.worker import ENTER, PAYLOADS, Pace, Worker
from bobusang.kit.db import connect
from bobusang.kit.sql import Statement

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence

    from bobusang.engine.handlers import Save, Work
    from bobusang.engine.queue import Claim
    from bobusang.kit.clock import Clock
    from bobusang.kit.db import Database, Tx

T = TypeVar("T")

FAST = Pace(beat=timedelta(seconds=0.25), dead_after=timedelta(seconds=2), drain=timedelta(seconds=5))
PATIENCE = 60.0
"""Seconds that `until` waits: far more than anything takes, so that only what never comes fails."""


@dataclass(frozen=True, slots=True)
class Batch:
    """What was claimed, with its tasks read."""

    claim: Claim
    tasks: list[Task]
    handler: Handler
    worker_id: int

    @property
    def token(self) -> int:
        return self.claim.token

    @property
    def ids(self) -> list[int]:
        return [task.id for task in self.tasks]

    @property
    def keys(self) -> list[str]:
        return [task.key for task in self.tasks]


def step(name: str = "work", **said: Any) -> StepDefinition:
    """A step of a workflow; its handler has its name unless said otherwise."""
    return StepDefinition(**{"name": name, "type": StepType.FETCH, "handler": name} | said)


def tasks(*keys: str | int, **said: Any) -> list[NewTask]:
    """New tasks with these keys, each carrying its key as input."""
    return [NewTask({"key": str(key)}, key=str(key), **said) for key in keys]


async def done(batch: Sequence[Task]) -> Sequence[Outcome]:
    """A handler's work that always succeeds."""
    return [DONE] * len(batch)


class Workshop:
    """One process's engine. A second workshop on the same address is a second process."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.db: Database = engine.db
        self.books = engine.books
        self._names = itertools.count(1)
        self._worker_id = 0

    @staticmethod
    @asynccontextmanager
    async def opened(url: str, *, clock: Clock | None = None, pool: int = 4) -> AsyncIterator[Workshop]:
        """Open a database that has its tables; without a clock its own time is used."""
        db = await connect(url, clock=clock, pool=pool)
        try:
            yield Workshop(Engine(db, pace=FAST))
        finally:
            await db.close()

    # --- what there is to do ---

    def handler(self, name: str = "work", work: Work = done, save: Save | None = None, **said: Any) -> Handler:
        """Register a handler."""
        return self.engine.handlers.add(Handler(name, work, save, **said))

    async def workflow(self, *steps: StepDefinition, parallel: Parallel | None = None, **said: Any) -> int:
        """Store a workflow (of one step `work` unless steps are given); its id."""
        name = said.pop("workflow", f"workflow {next(self._names)} of {id(self)}")
        definition = Definition(workflow=name, steps=steps or (step(),), parallel=parallel, **said)
        stored = await self.do(lambda tx: workflows.store(tx, self.books, definition))
        return stored.id

    async def job(self, workflow_id: int | None = None, *keys: str | int, **said: Any) -> int:
        """Make a job, with a task for each key if any are given; its id."""
        if workflow_id is None:
            workflow_id = await self.workflow()
        if keys:
            said["seeds"] = tasks(*keys)
        job_id, _ = await self.engine.submit(jobs.NewJob(workflow_id, **said))
        return job_id

    # --- the wheels ---

    async def do(self, work: Callable[[Tx], Awaitable[T]]) -> T:
        """Run something in a transaction of its own."""
        return await self.db.transact(work)

    async def enter(self, name: str = "by hand") -> int:
        """Register a worker; its id."""

        async def work(tx: Tx) -> int:
            entered: int = await tx.value(ENTER, name=name, now=tx.now)
            return entered

        return await self.do(work)

    async def worker(self) -> int:
        """The worker that claims unless another is named."""
        if not self._worker_id:
            self._worker_id = await self.enter()
        return self._worker_id

    async def lanes(self, handler: str = "work") -> list[int]:
        """The lanes of a handler."""
        async with self.db.read() as tx:
            return sorted(lane.id for lane, _ in await stocked(tx, [handler], ()))

    async def claim(
        self,
        size: int = 100,
        *,
        handler: str = "work",
        lane: int | None = None,
        worker: int | None = None,
        deadline: timedelta = DEADLINE,
    ) -> Batch | None:
        """Claim as a worker does: budgets first, then from the first lane that has something."""
        known = self.engine.handlers.get(handler) or Handler(handler, done)
        worker_id = await self.worker() if worker is None else worker

        async def work(tx: Tx) -> Batch | None:
            for found, _ in sorted(await stocked(tx, [handler], ()), key=lambda pair: pair[0].id):
                if lane is not None and found.id != lane:
                    continue
                grant, purses = await budgets.grant(tx, found.pools, size)
                if not grant.size:
                    continue
                claim = await queue.claim(tx, lane=found.id, worker_id=worker_id, size=grant.size, deadline=deadline)
                if claim is not None:
                    await budgets.spend(tx, purses, len(claim.entries))
                    return Batch(claim, await self._read(tx, claim), known, worker_id)
            return None

        return await self.do(work)

    async def claimed(self, size: int = 100, **said: Any) -> Batch:
        """A claim that must bring something."""
        batch = await self.claim(size, **said)
        assert batch is not None, "there was nothing to claim"
        return batch

    async def _read(self, tx: Tx, claim: Claim) -> list[Task]:
        rows = {row["id"]: row for row in await tx.fetch(PAYLOADS, ids=[entry.task_id for entry in claim.entries])}
        runs = await self.books.runs(tx, {entry.job_id for entry in claim.entries})
        found = []
        for entry in claim.entries:
            row, run = rows[entry.task_id], runs[entry.job_id]
            found.append(
                Task(
                    entry,
                    run,
                    run.plan.by_id[row["step_id"]],
                    row["task_key"],
                    row["target_url"],
                    row["input_data"],
                    row["sequence_number"],
                    row["signal_data"],
                )
            )
        return found

    async def finish(
        self, batch: Batch, outcome: Outcome | Mapping[str, Outcome] | Callable[[Task], Outcome] = DONE
    ) -> int:
        """Settle a batch: one outcome for all, or by key (others are done), or by a function; how many were ours."""
        finished = Finished(batch.claim, batch.handler)
        now = self.db.clock.now()
        for task in batch.tasks:
            sort_out(task, _outcome(outcome, task), now, self.books, finished)
        return await self.do(lambda tx: settle(tx, self.books, finished, batch.worker_id))

    async def drain(
        self, outcome: Outcome | Mapping[str, Outcome] | Callable[[Task], Outcome] = DONE, *, handler: str = "work"
    ) -> list[str]:
        """Claim, settle and fold until nothing is left; the keys in the order they were claimed."""
        keys: list[str] = []
        while (batch := await self.claim(handler=handler)) is not None:
            keys += batch.keys
            await self.finish(batch, outcome)
            await self.fold()
        return keys

    async def fold(self) -> None:
        """Fold all counters, and let what is over end."""
        while await self.engine.do(progress.fold):
            pass

    async def contexts(self) -> int:
        return await self.do(ending.fold_contexts)

    async def promote(self) -> int:
        return await self.do(promoting.promote)

    async def rescue(self) -> int:
        """One pass, by the pace of the engine."""
        return await self.do(lambda tx: rescuing.rescue(tx, self.engine.hooks, tx.now - self.engine.pace.dead_after))

    async def sweep(self) -> None:
        """Sweep and fold until nothing moves."""
        while await self.do(control.sweep):
            pass
        await self.fold()

    async def start(self) -> int:
        return await self.engine.do(jobs.start_pending)

    async def fire(self) -> int:
        return await fire(self.engine).run()

    # --- all wheels at once ---

    @asynccontextmanager
    async def running(self, *, workers: int = 1, pace: Pace = FAST) -> AsyncIterator[list[Worker]]:
        """Real workers and upkeep, in this process, until the block ends."""
        engine = self.engine
        engine.pace = pace
        made = [self._hired(pace) for _ in range(workers)]
        stopping = asyncio.Event()
        duties = [duty(engine) for duty in (fold, contexts, promote, rescue, sweep, start, fire)]
        keeper = Keeper(self.db, duties, lease=pace.dead_after / 2)

        async def keep(place: int) -> None:
            """As a process does: a worker that gave up because its beat was too slow is followed by another."""
            while not stopping.is_set():
                await made[place].run()
                if not stopping.is_set():
                    made[place] = self._hired(pace)

        running = [*(asyncio.create_task(keep(place)) for place in range(workers)), asyncio.create_task(keeper.run())]
        try:
            yield made
        finally:
            stopping.set()
            for worker in made:
                worker.stop()
            keeper.stop()
            await asyncio.gather(*running)

    def _hired(self, pace: Pace) -> Worker:
        return Worker(self.db, self.engine.handlers, self.engine.books, pace=pace)

    async def until(self, holds: Callable[[], Awaitable[object]], *, patience: float = PATIENCE) -> None:
        """Wait for a condition, asked again and again, for a bounded time."""
        async with asyncio.timeout(patience):
            while not await holds():  # noqa: ASYNC110  (what is waited for happens in a database)
                await asyncio.sleep(0.01)

    async def ended(self, job_id: int) -> str:
        """Wait until a job is over; its status."""

        async def over() -> bool:
            return (await self.job_row(job_id))["completed_at"] is not None

        await self.until(over)
        status: str = (await self.job_row(job_id))["status"]
        return status

    # --- what became of it ---

    async def rows(self, text: str, **params: Any) -> list[dict[str, Any]]:
        """Rows of any statement, as plain values."""
        async with self.db.read() as tx:
            return [_plain(row) for row in await tx.fetch(Statement(text), **params)]

    async def row(self, text: str, **params: Any) -> dict[str, Any]:
        """The one row of a statement."""
        (found,) = await self.rows(text, **params)
        return found

    async def value(self, text: str, **params: Any) -> Any:
        """The one value of a statement."""
        (found,) = (await self.row(text, **params)).values()
        return found

    async def job_row(self, job_id: int) -> dict[str, Any]:
        return await self.row("select * from crawling_jobs where id = :id", id=job_id)

    async def status(self, job_id: int) -> str:
        found: str = (await self.job_row(job_id))["status"]
        return found

    async def outcomes(self, job_id: int) -> dict[str, str | None]:
        """The outcome of each task of a job by its key."""
        rows = await self.rows("select task_key, outcome from tasks where job_id = :id", id=job_id)
        return {row["task_key"]: row["outcome"] for row in rows}

    async def places(self) -> dict[int, list[str]]:
        """Where the entry of each task stands: exactly one place for each that is not over."""
        return await self.do(_places)


def _outcome(given: Outcome | Mapping[str, Outcome] | Callable[[Task], Outcome], task: Task) -> Outcome:
    if isinstance(given, Outcome):
        return given
    return given(task) if callable(given) else given.get(task.key, DONE)


def _plain(row: Any) -> dict[str, Any]:
    return dict(row)


async def _places(tx: Tx) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for place, text in PLACES.items():
        for row in await tx.fetch(text):
            found.setdefault(row["task_id"], []).append(place)
    for row in await tx.fetch(HELD):
        found.setdefault(row["task_id"], []).append(f"held {row['reason']}")
    for row in await tx.fetch(CLAIMS):
        for entry in queue.decode(row["entries"]):
            found.setdefault(entry.task_id, []).append(f"claim {row['token']}")
    return found


PLACES = {
    "ready": Statement("select task_id from queue_ready"),
    "delayed": Statement("select task_id from queue_delayed"),
    "dead": Statement("select task_id from dead_letters"),
}
HELD = Statement("select task_id, reason from queue_held")
CLAIMS = Statement("select token, entries from queue_claims")
