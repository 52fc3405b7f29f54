"""Finishing a batch: everything its outcomes mean, written in the transaction that gives the claim up."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from bobusang.engine import budgets, making, queue, waiting
from bobusang.engine.model import Entry, HeldReason, NewTask, ReasonClass, Task, TaskOutcome
from bobusang.engine.outcome import CONTEXT_LIMIT, DONE, Done, Outcome, Park, Skip, Snooze
from bobusang.engine.pausing import mark_paused
from bobusang.engine.rules import Move, decide, fingerprint, resolve, storable
from bobusang.engine.tables import dead_letters, job_contexts, job_deltas, task_attempts, tasks
from bobusang.kit import json
from bobusang.kit.errors import BobusangError, Invalid
from bobusang.kit.sql import Bulk, Revise, Statement

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from bobusang.engine.books import Books
    from bobusang.engine.handlers import Handler
    from bobusang.engine.making import Draft
    from bobusang.engine.queue import Claim
    from bobusang.kit.db import Tx


SUCCEED = Statement("""
    update tasks set status = 'SUCCESS', outcome = 'DONE', started_at = :started_at, completed_at = :now,
      updated_at = :now, response_time_ms = :elapsed where id in (:ids...)""")
END = Revise(
    tasks,
    "id",
    (
        "status",
        "outcome",
        "retry_count",
        "output_data",
        "error_message",
        "started_at",
        "completed_at",
        "updated_at",
        "response_time_ms",
    ),
)
MOVED = Statement("update tasks set pool = :pool where id in (:ids...)")
DELTAS = Bulk(job_deltas, ("job_id", "step_id", "created", "succeeded", "failed", "skipped", "cancelled", "retried"))
CONTEXTS = Bulk(job_contexts, ("job_id", "patch"))
ATTEMPTS = Bulk(
    task_attempts,
    ("task_id", "job_id", "attempt", "outcome", "reason_class", "error", "worker_id", "started_at", "ended_at"),
)
DEAD = Bulk(
    dead_letters,
    (
        "task_id",
        "job_id",
        "step_id",
        "workflow_id",
        "lane",
        "queue",
        "priority",
        "dispatches",
        "reason_class",
        "error",
        "fingerprint",
        "created_at",
    ),
)


@dataclass(frozen=True, slots=True)
class Result:
    """One task's outcome, worked out as far as that needs no transaction."""

    task: Task
    outcome: Outcome
    move: Move
    output: str | None = None
    drafts: tuple[Draft, ...] = ()
    context: str | None = None


@dataclass(slots=True)
class Finished:
    """A batch whose work is over."""

    claim: Claim
    handler: Handler
    plain: list[Task] = field(default_factory=list)
    """Done, nothing to hand over and nothing to keep: the commonest case by far, written by one statement."""
    results: list[Result] = field(default_factory=list)
    elapsed_ms: int = 0
    rest: list[Entry] = field(default_factory=list)
    """Entries that stay claimed (a batch that is being split)."""

    def halves(self) -> tuple[Finished, Finished | None]:
        """Two batches that together are this one; the second is None when there is only one task."""
        both: list[Task | Result] = [*self.plain, *self.results]
        if len(both) == 1:
            return self, None
        middle = len(both) // 2
        later = [_entry(item) for item in both[middle:]]
        return self._part(both[:middle], [*later, *self.rest]), self._part(both[middle:], self.rest)

    def _part(self, items: Sequence[Task | Result], rest: list[Entry]) -> Finished:
        return Finished(
            self.claim,
            self.handler,
            [item for item in items if isinstance(item, Task)],
            [item for item in items if isinstance(item, Result)],
            self.elapsed_ms,
            rest,
        )

    def only(self) -> Task:
        """The task of a batch of one."""
        return self.plain[0] if self.plain else self.results[0].task


def _entry(item: Task | Result) -> Entry:
    return item.entry if isinstance(item, Task) else item.task.entry


def sort_out(task: Task, outcome: Outcome, now: datetime, books: Books, into: Finished) -> None:
    """Work out one outcome; what cannot be mapped or stored becomes a dead letter of that task alone."""
    if outcome is DONE and (_next(task) is None):
        into.plain.append(task)
        return
    try:
        into.results.append(_result(task, outcome, now, books))
    except BobusangError as error:
        parked = Park(ReasonClass.INVALID, str(error))
        into.results.append(Result(task, parked, _move(task, parked, now)))
    except Exception as error:  # what the handler returned is no outcome, or has something odd inside
        wrong = decide(error, now)
        into.results.append(Result(task, wrong, _move(task, wrong, now)))


def _move(task: Task, outcome: Outcome, now: datetime) -> Move:
    move = resolve(outcome, task.step, task.id, task.attempt, now)
    return move if move.error is None else replace(move, error=storable(move.error))


def _next(task: Task) -> object | None:
    following = task.run.plan.after(task.step)
    return None if following is None or following.gather else following


def _result(task: Task, outcome: Outcome, now: datetime, books: Books) -> Result:
    move = _move(task, outcome, now)
    if not isinstance(outcome, Done):
        if move.wait_key is not None:
            making.bounded(move.wait_key, making.KEY_LIMIT, "key")
        if isinstance(outcome, Snooze):
            making.bounded(outcome.pool, making.POOL_LIMIT, "pool")
        instead = outcome.spawn if isinstance(outcome, Skip) else ()
        return Result(task, outcome, move, drafts=tuple(_made(task, instead, books.payload_limit)))
    if not isinstance(outcome.context, Mapping | None):
        raise Invalid(f"the context is a {type(outcome.context).__name__}", hint="give names with values")
    output = outcome.output
    if task.step.output is not None:
        output = task.step.output.apply(making.scope(task.run, task.step, output))
    return Result(
        task,
        outcome,
        move,
        output=None if output is None else json.payload(output, limit=books.payload_limit, name="output"),
        drafts=tuple(_drafts(task, outcome, output, books.payload_limit)),
        context=None if outcome.context is None else json.payload(outcome.context, limit=CONTEXT_LIMIT, name="context"),
    )


def _drafts(task: Task, outcome: Done, output: object, limit: int) -> Iterable[Draft]:
    if outcome.spawn is not None:
        yield from _made(task, outcome.spawn, limit)
        return
    following = task.run.plan.after(task.step)
    if following is not None and not following.gather:
        yield making.draft(task.run, following, NewTask(output), key=str(task.id), limit=limit, maker=task.step)


def _made(task: Task, spawn: Iterable[NewTask], limit: int) -> Iterable[Draft]:
    plan, run = task.run.plan, task.run
    following = plan.after(task.step)
    for index, new in enumerate(spawn, start=1):
        step = plan.step(new.step) if new.step else following
        if step is None:
            wanted = f"'{new.step}'" if new.step else "a next step"
            raise Invalid(f"step '{task.step.name}' made a task for {wanted}, which is not there")
        yield making.draft(run, step, new, key=f"{task.id}.{index}", limit=limit, sequence=index, maker=task.step)


async def settle(tx: Tx, books: Books, finished: Finished, worker_id: int) -> int:
    """Write a finished batch; how many of its tasks were still ours."""
    claim = finished.claim
    size = len(finished.plain) + len(finished.results) + len(finished.rest)
    owned = await queue.release(tx, claim.token, size) if not finished.rest else await _shrink(tx, finished)
    plain, results = finished.plain, finished.results
    if owned is not None:
        plain = [task for task in plain if task.id in owned]
        results = [result for result in results if result.task.id in owned]
        if not plain and not results:
            return 0
    if finished.handler.save is not None:
        done = [(task, DONE) for task in plain]
        done += [(result.task, result.outcome) for result in results if isinstance(result.outcome, Done)]
        if done:
            await finished.handler.save(tx, done)
    if plain:
        await tx.execute(
            SUCCEED,
            ids=[task.id for task in plain],
            started_at=claim.claimed_at,
            now=tx.now,
            elapsed=finished.elapsed_ms,
        )
    await _end(tx, claim, results, finished.elapsed_ms)
    made = await making.make(tx, books, [draft for result in results for draft in result.drafts])
    await _requeue(tx, books, results)
    await _bury(tx, claim, results, worker_id)
    await append(tx, _deltas(plain, results, made))
    patches = [(result.task.job_id, result.context) for result in results if result.context is not None]
    await tx.insert(CONTEXTS, patches)
    return len(plain) + len(results)


async def _shrink(tx: Tx, finished: Finished) -> set[int] | None:
    """Leave the rest of a split batch claimed under the same token."""
    row = await tx.first(LOCKED, token=finished.claim.token)
    if row is None:
        return set()
    live = {entry.task_id for entry in queue.decode(row["entries"])}
    await queue.keep(tx, finished.claim.token, [entry for entry in finished.rest if entry.task_id in live])
    return live


LOCKED = Statement(
    "select entries from queue_claims where token = :token for update",
    sqlite="select entries from queue_claims where token = :token",
)


async def _end(tx: Tx, claim: Claim, results: Sequence[Result], elapsed: int) -> None:
    await tx.revise(
        END,
        [
            (
                r.task.id,
                r.move.status,
                r.move.outcome,
                r.task.attempt + r.move.attempts,
                r.output,
                r.move.error,
                claim.claimed_at,
                tx.now if r.move.ended else None,
                tx.now,
                elapsed,
            )
            for r in results
        ],
    )


async def _requeue(tx: Tx, books: Books, results: Sequence[Result]) -> None:
    """Where the entries of unfinished tasks go."""
    ready: list[Entry] = []
    delayed: list[tuple[Entry, datetime, str | None]] = []
    held: list[tuple[Entry, int, HeldReason, str | None, datetime | None]] = []
    woken = await _asleep(tx, results)
    lanes = await _moved(tx, books, results)
    for result in results:
        move = result.move
        if move.ended:
            continue
        if result.task.step.gather:  # an earlier task may run again meanwhile: the fold looks whether this one waits
            await nudge(tx, result.task.job_id, result.task.step.id)
        old = result.task.entry
        lane = lanes.get(old.task_id, old.lane)
        entry = Entry(old.task_id, old.job_id, lane, old.due, old.queue, old.priority, old.attempt + move.attempts, 0)
        if move.wait_key is not None:
            if entry.task_id in woken:
                ready.append(entry)
            else:
                held.append((entry, result.task.step.id, HeldReason.WAIT, move.wait_key, move.delay_until))
        elif move.halt:
            if await budgets.halt(tx, old.lane, move.error or ""):
                ready.append(entry)
            else:
                await mark_paused(tx, old.job_id, move.error)
                held.append((entry, result.task.step.id, HeldReason.PAUSED, None, None))
        elif move.delay_until is not None and move.delay_until > tx.now:
            delayed.append((entry, move.delay_until, move.error))
        else:
            ready.append(entry)
    await queue.put(tx, ready)
    await queue.delay(tx, delayed)
    await queue.hold(tx, held)


async def _moved(tx: Tx, books: Books, results: Sequence[Result]) -> dict[int, int]:
    """The lanes of the tasks that draw from other pools by now. Their rows say so too: who drives one again looks
    there."""
    asked = [(r.task, r.outcome.pool) for r in results if isinstance(r.outcome, Snooze) and r.outcome.pool]
    known: dict[tuple[int, int, str], int] = {}
    lanes: dict[int, int] = {}
    ids: dict[str, list[int]] = defaultdict(list)
    for task, pool in asked:
        wanted = (task.job_id, task.step.id, pool)
        if wanted not in known:
            known[wanted] = await making.lane_of(tx, books, task.run, task.step, pool)
        if known[wanted] != task.entry.lane:
            lanes[task.id] = known[wanted]
            ids[pool].append(task.id)
    for pool, mine in ids.items():
        await tx.execute(MOVED, pool=pool, ids=mine)
    return lanes


async def _asleep(tx: Tx, results: Sequence[Result]) -> set[int]:
    """Register the waits; the tasks whose wake-up was here before. Two tasks of a batch that wait for one key come one
    after the other, as they would from two batches."""
    asked = [(r.move.wait_key, r.task.id) for r in results if not r.move.ended and r.move.wait_key is not None]
    first: dict[str, int] = {}
    for key, task_id in asked:
        first.setdefault(key, task_id)
    woken = {first[key] for key in await waiting.sleep_many(tx, first)} if first else set()
    later = [(key, task_id) for key, task_id in asked if first[key] != task_id]
    return woken | {task_id for key, task_id in later if not await waiting.sleep(tx, key, task_id)}


async def _bury(tx: Tx, claim: Claim, results: Sequence[Result], worker_id: int) -> None:
    """Dead letters, and the history of what did not succeed."""
    attempts, dead = [], []
    for r in results:
        task, move = r.task, r.move
        if move.outcome is TaskOutcome.DONE:
            continue
        error = move.error or ""
        name = type(r.outcome).__name__.upper()
        attempts.append(
            (
                task.id,
                task.job_id,
                task.attempt + move.attempts,
                name,
                move.reason,
                error,
                worker_id,
                claim.claimed_at,
                tx.now,
            )
        )
        if move.dead:
            dead.append(dead_row(task.entry, task.step.id, task.run.plan.workflow_id, move.reason, error, tx.now))
        if move.fails_job:
            tx.ring("fail")
            await tx.execute(DOOM, job_id=task.job_id, now=tx.now, error=json.dumps([{"error": error, "count": 1}]))
    await tx.insert(ATTEMPTS, attempts)
    await tx.insert(DEAD, dead)


DOOM = Statement("""
    update crawling_jobs set is_doomed = true, error_summary = :error, updated_at = :now
    where id = :job_id and status = 'RUNNING'""")


def dead_row(
    entry: Entry, step_id: int, workflow_id: int, reason: ReasonClass | None, error: str, now: datetime
) -> tuple[object, ...]:
    """A row of `dead_letters`."""
    return (
        entry.task_id,
        entry.job_id,
        step_id,
        workflow_id,
        entry.lane,
        entry.queue,
        entry.priority,
        entry.dispatches,
        reason or ReasonClass.BUG,
        error,
        fingerprint(error),
        now,
    )


Deltas = dict[tuple[int, int], Counter[str]]


def _deltas(plain: Sequence[Task], results: Sequence[Result], made: Counter[tuple[int, int]]) -> Deltas:
    deltas: Deltas = defaultdict(Counter, created(made))
    for (job_id, step_id), count in Counter((task.job_id, task.step.id) for task in plain).items():
        deltas[job_id, step_id]["succeeded"] += count
    for result in results:
        counts = deltas[result.task.job_id, result.task.step.id]
        if result.move.outcome is not None:
            counts[COUNTED[result.move.outcome]] += 1
        elif result.move.attempts:
            counts["retried"] += 1
    return deltas


COUNTED = {
    TaskOutcome.DONE: "succeeded",
    TaskOutcome.SKIPPED: "skipped",
    TaskOutcome.FAILED: "failed",
    TaskOutcome.PARKED: "failed",
    TaskOutcome.CANCELLED: "cancelled",
}


def created(made: Counter[tuple[int, int]]) -> Deltas:
    """The counters of tasks just made."""
    return {place: Counter(created=count) for place, count in made.items()}


async def append(tx: Tx, deltas: Deltas) -> None:
    """Append counters. Rows that create come first: a fold that stops between two rows of one transaction must not
    take a step for done before it has seen the tasks it made."""
    rows = [
        (job_id, step_id, c["created"], c["succeeded"], c["failed"], c["skipped"], c["cancelled"], c["retried"])
        for (job_id, step_id), c in deltas.items()
        if any(c.values())
    ]
    rows.sort(key=lambda row: -row[2])
    await tx.insert(DELTAS, rows)
    if rows:
        tx.ring("deltas")


async def nudge(tx: Tx, job_id: int, step_id: int) -> None:
    """Have a job looked at though nothing was counted."""
    await tx.insert(DELTAS, [(job_id, step_id, 0, 0, 0, 0, 0, 0)])
    tx.ring("deltas")
