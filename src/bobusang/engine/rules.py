"""Pure decisions: what an error means, what an outcome does to a task, when a step or a job is over."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from bobusang.engine.model import ErrorHandling, JobStatus, ReasonClass, StepState, TaskOutcome, TaskStatus
from bobusang.engine.outcome import Done, Fail, Halt, Outcome, Park, Retry, Skip, Snooze, Wait
from bobusang.kit.errors import BobusangError, Drifted, Rejected, Throttled, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bobusang.engine.model import Step

FIRST_DELAY = timedelta(seconds=2)
LONGEST_DELAY = timedelta(minutes=10)
LONGEST_ERROR = 4000
NUMBERS = re.compile(r"\d+")
MAX_CRASHES = 5
"""How often a task may take its worker down with it before it is taken for poison."""


def decide(error: BaseException, now: datetime) -> Outcome:
    """What a raised error means for the task."""
    match error:
        case Throttled():
            return Snooze(max(error.until, now), str(error))
        case Rejected():
            return Park(ReasonClass.REJECTED, "; ".join((error.message, *error.problems)))
        case Drifted():
            return Halt(str(error))
        case TimeoutError():
            return Retry(str(error) or "timed out", reason=ReasonClass.TIMEOUT)
        case BobusangError():
            match error.verdict:
                case Verdict.RETRY | Verdict.SNOOZE:
                    return Retry(str(error))
                case Verdict.HALT:
                    return Halt(str(error))
                case Verdict.PARK | Verdict.FAIL:
                    return Park(ReasonClass.INVALID, str(error))
    return Retry(f"{type(error).__name__}: {error}", reason=ReasonClass.BUG)


def backoff(task_id: int, attempt: int, least: timedelta | None = None) -> timedelta:
    """How long to wait after the attempt-th failure (0 is the first): doubling, with jitter.

    The jitter is a hash, not a die: the same task waits the same time on every machine and in every test.
    """
    full: timedelta = min(FIRST_DELAY * 2 ** min(attempt, 20), LONGEST_DELAY)
    digest = hashlib.blake2b(f"{task_id}:{attempt}".encode(), digest_size=4).digest()
    delay: timedelta = full * (0.5 + int.from_bytes(digest) / 2**33)
    return max(delay, least) if least is not None else delay


@dataclass(frozen=True, slots=True)
class Move:
    """What becomes of a task: its row, its queue entry, its counters. At most one of delay, hold, dead is set."""

    status: TaskStatus
    outcome: TaskOutcome | None = None
    error: str | None = None
    reason: ReasonClass | None = None
    attempts: int = 0
    delay_until: datetime | None = None
    wait_key: str | None = None
    halt: bool = False
    dead: bool = False
    fails_job: bool = False

    @property
    def ended(self) -> bool:
        return self.outcome is not None


DONE = Move(TaskStatus.SUCCESS, TaskOutcome.DONE)


def resolve(outcome: Outcome, step: Step, task_id: int, attempt: int, now: datetime) -> Move:
    """Apply a step's error handling to what the handler said."""
    match outcome:
        case Done():
            return DONE
        case Skip():
            return Move(TaskStatus.SUCCESS, TaskOutcome.SKIPPED, error=outcome.reason or None)
        case Snooze():
            return Move(TaskStatus.RETRYING, error=outcome.reason or None, delay_until=outcome.until)
        case Wait():
            return Move(TaskStatus.RETRYING, delay_until=outcome.until, wait_key=outcome.key)
        case Halt():
            return Move(TaskStatus.RETRYING, error=outcome.reason, halt=True)
        case Retry() if step.on_error is not ErrorHandling.FAIL and attempt < step.max_retries:
            until = now + backoff(task_id, attempt, outcome.after)
            return Move(TaskStatus.RETRYING, error=outcome.error, reason=outcome.reason, attempts=1, delay_until=until)
        case Retry():
            return _give_up(outcome.error, outcome.reason, step, attempts=1)
        case Park():
            return _give_up(outcome.error, outcome.reason, step)
        case Fail():
            if step.on_error is ErrorHandling.SKIP:
                return Move(TaskStatus.SUCCESS, TaskOutcome.SKIPPED, error=outcome.error)
            fails = step.on_error is ErrorHandling.FAIL
            return Move(TaskStatus.FAILED, TaskOutcome.FAILED, error=outcome.error, fails_job=fails)
    raise TypeError(f"a handler returned {outcome!r}, which is no outcome")


def _give_up(error: str, reason: ReasonClass, step: Step, attempts: int = 0) -> Move:
    match step.on_error:
        case ErrorHandling.SKIP:
            return Move(TaskStatus.SUCCESS, TaskOutcome.SKIPPED, error=error, reason=reason, attempts=attempts)
        case ErrorHandling.FAIL:
            return Move(
                TaskStatus.FAILED, TaskOutcome.FAILED, error=error, reason=reason, attempts=attempts, fails_job=True
            )
        case ErrorHandling.RETRY:
            return Move(TaskStatus.FAILED, TaskOutcome.PARKED, error=error, reason=reason, attempts=attempts, dead=True)


@dataclass(frozen=True, slots=True)
class Count:
    """One step's counters within a job."""

    created: int = 0
    succeeded: int = 0
    failed: int = 0
    skipped: int = 0
    cancelled: int = 0
    retried: int = 0

    @property
    def ended(self) -> int:
        return self.succeeded + self.failed + self.skipped + self.cancelled

    @property
    def open(self) -> int:
        return self.created - self.ended

    def __add__(self, other: Count) -> Count:
        return Count(
            self.created + other.created,
            self.succeeded + other.succeeded,
            self.failed + other.failed,
            self.skipped + other.skipped,
            self.cancelled + other.cancelled,
            self.retried + other.retried,
        )


def states(counts: Sequence[Count]) -> tuple[StepState, ...]:
    """The state of each step in order: done when nothing is open in it or in any step before it."""
    found: list[StepState] = []
    over = True
    for count in counts:
        over = over and count.open == 0
        if over:
            found.append(StepState.DONE)
        else:
            found.append(StepState.RUNNING if count.created else StepState.PENDING)
    return tuple(found)


def verdict(counts: Sequence[Count], tolerance: float, gathering: Sequence[bool] = ()) -> JobStatus:
    """How a job ended whose steps are all done.

    Failures among many are tolerated as far as the workflow says. A step that gathers is one task for all the others:
    its failure is the job's, however many there were. `gathering` says of each step whether it is one.
    """
    if any(gathers and count.failed for gathers, count in zip(gathering, counts, strict=False)):
        return JobStatus.FAILED
    total = sum((count for count in counts), Count())
    judged = total.succeeded + total.failed
    return JobStatus.FAILED if total.failed and total.failed > tolerance * judged else JobStatus.SUCCESS


def is_suspect(dispatches: int) -> bool:
    """Whether a task has been handed out so often in a row without an answer that it should be tried alone."""
    return dispatches > MAX_CRASHES // 2 + 1


def is_poison(dispatches: int) -> bool:
    """Whether a task was handed out so often in a row without an answer that it must be what kills its workers."""
    return dispatches > MAX_CRASHES


def storable(error: str) -> str:
    """An error's text as every database can keep it: bounded, without NUL and without half a surrogate pair."""
    return error[:LONGEST_ERROR].replace("\0", "\ufffd").encode(errors="replace").decode()


def fingerprint(error: str) -> str:
    """Errors that differ only in numbers are one error, however long the numbers are."""
    words = NUMBERS.sub("#", error[:500])
    return hashlib.blake2b(words.encode(), digest_size=16).hexdigest()
