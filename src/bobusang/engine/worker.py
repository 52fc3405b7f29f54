"""The worker: slots that finish one batch and claim the next in the same transaction, then work.

There is no prefetch: what a slot claims it begins at once, so a deadline runs from the start of handling. Two or three
slots keep the database busy while Python works and the other way round.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

from bobusang.engine import budgets, queue
from bobusang.engine.beat import Beat
from bobusang.engine.board import Board, Look, Spot
from bobusang.engine.budgets import Grant
from bobusang.engine.lanes import stocked
from bobusang.engine.model import ReasonClass, Task
from bobusang.engine.outcome import Outcome, Retry
from bobusang.engine.rescuing import give_back
from bobusang.engine.rules import decide
from bobusang.engine.settling import Finished, settle, sort_out
from bobusang.kit import log
from bobusang.kit.db import Contended
from bobusang.kit.errors import BobusangError, Unavailable
from bobusang.kit.sql import Statement

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bobusang.engine.books import Books
    from bobusang.engine.handlers import Handler, Handlers
    from bobusang.engine.queue import Claim
    from bobusang.kit.db import Database, Tx

GRACE = timedelta(seconds=5)
"""A claim outlives its handler's own deadline by this, so that the worker's answer comes before rescue."""
LONGEST_NAP = 1.0
_NONE = Outcome()
SHORTEST_NAP = 0.02

ENTER = Statement("insert into workers (name, started_at, beat_at) values (:name, :now, :now) returning id as value")
LEAVE = Statement(
    "delete from workers where id = :id and not exists (select 1 from queue_claims where worker_id = :id)"
)
PAYLOADS = Statement("""
    select id, step_id, task_key, target_url, input_data, sequence_number, signal_data from tasks
    where id in (:ids...)""")


@dataclass(frozen=True, slots=True)
class Pace:
    """How a worker keeps time."""

    beat: timedelta = timedelta(seconds=5)
    dead_after: timedelta = timedelta(seconds=30)
    drain: timedelta = timedelta(seconds=30)
    batch: int | None = None
    """Overrides every handler's own batch size."""


@dataclass(frozen=True, slots=True)
class Held:
    """A claimed batch with its tasks read."""

    claim: Claim
    tasks: list[Task]


@dataclass(frozen=True, slots=True)
class Turn:
    """What one transaction of a slot brought."""

    held: Held | None
    grant: Grant
    owned: int


class Worker:
    """Runs the handlers it knows until told to stop."""

    def __init__(
        self, db: Database, handlers: Handlers, books: Books, *, name: str = "worker", pace: Pace | None = None
    ) -> None:
        self.db = db
        self.handlers = handlers
        self.books = books
        self.name = name
        self.pace = pace or Pace()
        self.board = Board()
        self.worker_id = 0
        self.handled = 0
        self._at_work = 0
        self._stopping = asyncio.Event()
        self._log = log.get("worker")

    def stop(self) -> None:
        """Claim nothing more; what was begun is finished."""
        self._stopping.set()
        self.board.ring()

    async def run(self) -> None:
        """Work until stopped, then drain."""
        self.worker_id = await self.db.transact(self._enter)
        beat = Beat(self.db.url, self.worker_id, self.pace.beat, self.pace.dead_after)
        loop = asyncio.get_running_loop()
        beat.lost = partial(loop.call_soon_threadsafe, self.stop)
        beat.start()
        try:
            async with self.db.listen(self.board.hear):
                await self._slots(beat)
        finally:
            await asyncio.to_thread(beat.stop)
            with suppress(BobusangError):
                await self.db.transact(lambda tx: tx.execute(LEAVE, id=self.worker_id))

    async def _enter(self, tx: Tx) -> int:
        entered: int = await tx.value(ENTER, name=self.name[:200], now=tx.now)
        return entered

    async def _slots(self, beat: Beat) -> None:
        look = asyncio.create_task(self._look())
        slots = [
            asyncio.create_task(self._slot(handler), name=f"{handler.name}-{number}")
            for handler in self.handlers
            for number in range(handler.concurrency)
        ]
        guard = asyncio.create_task(self._guard(beat, slots))
        stop = asyncio.create_task(self._stopping.wait())
        try:
            done, _ = await asyncio.wait([stop, look, *slots], return_when=asyncio.FIRST_COMPLETED)
            for task in done - {stop}:
                if not task.cancelled():  # the guard cancels; raised from here that would end whoever runs us
                    task.result()
            if slots:
                await asyncio.wait(slots, timeout=self.pace.drain.total_seconds())
        finally:
            for task in (look, guard, stop, *slots):
                task.cancel()
            await asyncio.gather(look, guard, stop, *slots, return_exceptions=True)
            if not beat.is_fenced:
                with suppress(BobusangError):
                    await self.db.transact(lambda tx: give_back(tx, self.worker_id))

    async def _guard(self, beat: Beat, slots: Sequence[asyncio.Task[None]]) -> None:
        """Fence ourselves: without a beat others take our claims, so stop acting before they do."""
        while True:
            await asyncio.sleep(min(self.pace.beat.total_seconds(), LONGEST_NAP))
            if beat.is_fenced:
                self._log.error("worker cannot reach the database and gives up its claims", worker=self.worker_id)
                self.stop()
                for slot in slots:
                    slot.cancel()
                return

    async def _look(self) -> None:
        """Ask the database which lanes have work: when one was heard of, and now and then in case a ring was lost."""
        nap = SHORTEST_NAP
        while True:
            self.board.news.clear()
            try:
                async with self.db.read() as tx:
                    changed = self.board.learn(await stocked(tx, self.handlers.names, self.board.stocked()))
                nap = SHORTEST_NAP if changed else min(nap * 1.5, self.db.polling)
            except BobusangError as error:
                self._log.warning("the database does not answer", error=str(error))
                nap = LONGEST_NAP
            with suppress(TimeoutError):
                async with asyncio.timeout(nap):  # not wait_for: before Python 3.12 it may swallow a cancellation
                    await self.board.news.wait()

    async def _slot(self, handler: Handler) -> None:
        """Finish, claim, work; again and again."""
        finished: Finished | None = None
        while True:
            spot = None if self._stopping.is_set() else self._pick(handler, finished)
            if finished is None and spot is None:
                if self._stopping.is_set():
                    return
                await self._rest(handler)
                continue
            held = await self._turn(handler, finished, spot)
            self._count(before=finished is not None, after=held is not None)
            finished = None
            if held is not None:
                finished = await self._handle(handler, held)

    def _count(self, *, before: bool, after: bool) -> None:
        """Note whether a slot is at work; when the last one is not, nothing has to ripen any longer."""
        self._at_work += after - before
        if before and not self._at_work:
            self.board.ring()

    def _linger(self, handler: Handler, *, idle: bool) -> timedelta | None:
        """How long lanes ripen now: longer while others are at work."""
        others = self._at_work if idle else self._at_work - 1
        return handler.busy_linger if others and handler.busy_linger is not None else handler.linger

    def _pick(self, handler: Handler, finished: Finished | None = None) -> Spot | None:
        idle = finished is None
        linger = self._linger(handler, idle=idle)
        frees = frozenset(self._pools(finished))
        return self.board.pick(handler.name, self.db.clock.now(), idle=idle, linger=linger, frees=frees)

    def _pools(self, finished: Finished | None) -> Sequence[str]:
        """The pools that a finished batch drew from."""
        spot = None if finished is None else self.board.spots.get(finished.claim.lane)
        return () if spot is None else spot.lane.pools

    async def _rest(self, handler: Handler) -> None:
        """Wait for the bell, or for a lane to open or to be ripe."""
        bell = self.board.bell(handler.name)
        bell.clear()
        if self._pick(handler) is not None or self._stopping.is_set():
            return
        opens = self.board.wakes_at(handler.name)
        nap = LONGEST_NAP if opens is None else (opens - self.db.clock.now()).total_seconds()
        ripens = self.board.ripens_in(handler.name, self._linger(handler, idle=True))
        nap = nap if ripens is None else min(nap, ripens)
        with suppress(TimeoutError):
            async with asyncio.timeout(max(0.001, min(nap, LONGEST_NAP))):
                await bell.wait()

    async def _turn(self, handler: Handler, finished: Finished | None, spot: Spot | None) -> Held | None:
        """One transaction: finish what is finished, claim what is next."""
        look = None if spot is None else self.board.look(spot)
        try:
            turn = await self._exchanged(handler, finished, spot, look)
        except BaseException:
            if spot is not None and look is not None:
                self.board.lost(spot, look)
            raise
        self.handled += turn.owned
        if spot is not None and look is not None:
            self.board.claimed(spot, look, None if turn.held is None else turn.held.claim, turn.grant.size)
            if turn.grant.size == 0:
                self.board.block(spot, turn.grant, self.db.clock.now())
        return turn.held

    async def _exchanged(
        self, handler: Handler, finished: Finished | None, spot: Spot | None, look: Look | None
    ) -> Turn:
        """Try until it succeeds: a database that is away comes back, a batch that cannot be saved is taken apart."""
        while True:
            try:
                return await self.db.transact(partial(self._exchange, handler, finished, spot, look))
            except Unavailable as error:
                self._log.warning("the database does not answer", error=str(error))
                await asyncio.sleep(LONGEST_NAP)
                await self._unclaim(look)
            except Exception as error:  # a save that raises must not take the worker down
                if finished is None:
                    self._log.error("claiming failed", handler=handler.name, error=repr(error))
                    await asyncio.sleep(LONGEST_NAP)
                else:
                    await self._apart(finished, error)
                    finished = None

    async def _unclaim(self, look: Look | None) -> None:
        """The connection broke, perhaps after the commit: then there is a claim that nobody here knows of. It goes back
        before the next try: one that succeeds would leave it ours, unworked, until its deadline."""
        while look is not None and look.tries:
            try:
                await self.db.transact(partial(give_back, worker_id=self.worker_id, claimed_at=look.tries[-1]))
                look.tries.pop()
            except (Unavailable, Contended) as error:
                self._log.warning("the database does not answer", error=str(error))
                await asyncio.sleep(LONGEST_NAP)

    async def _exchange(
        self, handler: Handler, finished: Finished | None, spot: Spot | None, look: Look | None, tx: Tx
    ) -> Turn:
        owned = 0
        if finished is not None:
            owned = await settle(tx, self.books, finished, self.worker_id)
        grant, held = Grant(self.pace.batch or handler.batch), None
        if spot is not None and look is not None:
            purses: list[tuple[str, float]] = []
            if spot.lane.pools:
                grant, purses = await budgets.grant(tx, spot.lane.pools, grant.size)
            claim = None
            if grant.size:
                look.tries.append(tx.now)
                claim = await queue.claim(
                    tx,
                    lane=spot.lane.id,
                    worker_id=self.worker_id,
                    size=grant.size,
                    deadline=handler.deadline + GRACE,
                    cursor=look.start,
                )
            if claim is not None:
                await budgets.spend(tx, purses, len(claim.entries))
                held = Held(claim, await self._read(tx, claim))
        filled = grant.fills if held is not None and len(held.tasks) == grant.size else frozenset()
        freed = [pool for pool in self._pools(finished) if pool not in filled]
        if freed:
            tx.ring(f"freed:{','.join(freed)}")
        return Turn(held, grant, owned)

    async def _read(self, tx: Tx, claim: Claim) -> list[Task]:
        """The claimed tasks with all that their handler needs."""
        rows = {row["id"]: row for row in await tx.fetch(PAYLOADS, ids=[e.task_id for e in claim.entries])}
        runs = await self.books.runs(tx, {entry.job_id for entry in claim.entries})
        tasks = []
        for entry in claim.entries:
            row, run = rows[entry.task_id], runs[entry.job_id]
            step = run.plan.by_id[row["step_id"]]
            tasks.append(
                Task(
                    entry,
                    run,
                    step,
                    row["task_key"],
                    row["target_url"],
                    row["input_data"],
                    row["sequence_number"],
                    row["signal_data"],
                )
            )
        return tasks

    async def _handle(self, handler: Handler, held: Held) -> Finished:
        """Run the handler within its deadline; every task gets an outcome."""
        begun = time.monotonic()
        outcomes: dict[int, Outcome] = {}
        with suppress(TimeoutError):  # only our own: one of the handler's is an outcome by then
            async with asyncio.timeout(handler.deadline.total_seconds()):
                await self._work(handler, held.tasks, outcomes)
        finished = Finished(held.claim, handler, elapsed_ms=int((time.monotonic() - begun) * 1000))
        now = self.db.clock.now()
        for task in held.tasks:
            outcome = outcomes.get(task.id, _NONE)
            if outcome is _NONE:
                outcome = Retry(f"not finished within {handler.deadline}", reason=ReasonClass.TIMEOUT)
            sort_out(task, outcome, now, self.books, finished)
        return finished

    async def _work(self, handler: Handler, tasks: Sequence[Task], outcomes: dict[int, Outcome]) -> None:
        """Call the handler; a batch that raises is split until the poison is alone, and only that pays an attempt."""
        try:
            answers = await handler.work(tasks)
            if len(answers) != len(tasks):
                raise ValueError(f"{handler.name} returned {len(answers)} outcomes for {len(tasks)} tasks")
        except Exception as error:
            if len(tasks) == 1:
                outcomes[tasks[0].id] = decide(error, self.db.clock.now())
                return
            half = len(tasks) // 2
            await self._work(handler, tasks[:half], outcomes)
            await self._work(handler, tasks[half:], outcomes)
        else:
            for task, answer in zip(tasks, answers, strict=True):
                outcomes[task.id] = answer

    async def _apart(self, finished: Finished, error: Exception) -> None:
        """Finishing raised (a handler's `save`, or a value the database refuses): finish the halves apart."""
        first, second = finished.halves()
        if second is None:
            task = finished.only()
            self._log.warning("a task could not be saved", task=task.id, error=repr(error))
            alone = Finished(finished.claim, finished.handler, elapsed_ms=finished.elapsed_ms, rest=finished.rest)
            sort_out(task, decide(error, self.db.clock.now()), self.db.clock.now(), self.books, alone)
            await self._settle(alone)
            return
        for half in (first, second):
            try:
                await self._settle(half)
            except Exception as again:
                await self._apart(half, again)

    async def _settle(self, finished: Finished) -> None:
        """Finish, however long the database is away: the token keeps a second try from doing anything twice."""
        while True:
            try:
                self.handled += await self.db.transact(lambda tx: settle(tx, self.books, finished, self.worker_id))
                return
            except Unavailable as error:
                self._log.warning("the database does not answer", error=str(error))
                await asyncio.sleep(LONGEST_NAP)
