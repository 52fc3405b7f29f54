"""The engine's nouns: closed sets of words, and frozen data that travels between its parts."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from enum import IntEnum, StrEnum
from typing import TYPE_CHECKING, Any

import msgspec

from bobusang.kit import json

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from bobusang.engine.grammar.mapping import Mapping as Mapped


class WorkflowType(StrEnum):
    FULL_SCAN = "FULL_SCAN"
    INCREMENTAL = "INCREMENTAL"
    TARGETED = "TARGETED"


class StepType(StrEnum):
    FETCH = "FETCH"
    PARSE = "PARSE"
    TRANSFORM = "TRANSFORM"
    VALIDATE = "VALIDATE"
    STORE = "STORE"


class ErrorHandling(StrEnum):
    RETRY = "RETRY"
    SKIP = "SKIP"
    FAIL = "FAIL"


class StepMode(StrEnum):
    """How a step hands over: each result at once, or all of them when the last is there."""

    STREAM = "stream"
    BARRIER = "barrier"


class ScheduleType(StrEnum):
    FIXED = "FIXED"
    DYNAMIC = "DYNAMIC"
    MANUAL = "MANUAL"


class JobType(StrEnum):
    FULL = "FULL"
    INCREMENTAL = "INCREMENTAL"
    RETRY = "RETRY"


class JobStatus(StrEnum):
    PENDING = "PENDING"
    RUNNING = "RUNNING"
    SUCCESS = "SUCCESS"
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"

    @property
    def ended(self) -> bool:
        return self in (JobStatus.SUCCESS, JobStatus.FAILED, JobStatus.CANCELLED)


class TaskStatus(StrEnum):
    PENDING = "PENDING"
    RUNNING = "RUNNING"
    SUCCESS = "SUCCESS"
    FAILED = "FAILED"
    RETRYING = "RETRYING"


class TaskOutcome(StrEnum):
    """How a task ended, finer than its status."""

    DONE = "DONE"
    SKIPPED = "SKIPPED"
    FAILED = "FAILED"
    PARKED = "PARKED"
    CANCELLED = "CANCELLED"


class StepState(StrEnum):
    PENDING = "PENDING"
    RUNNING = "RUNNING"
    DONE = "DONE"


class ExecutionStatus(StrEnum):
    RUNNING = "RUNNING"
    COMPLETED = "COMPLETED"
    FAILED = "FAILED"
    PAUSED = "PAUSED"


class DependencyType(StrEnum):
    FINISH = "FINISH"
    SUCCESS = "SUCCESS"


class HeldReason(StrEnum):
    """Why a queue entry is neither runnable nor delayed."""

    PAUSED = "PAUSED"
    BARRIER = "BARRIER"
    WAIT = "WAIT"


class ReasonClass(StrEnum):
    """Why a task is a dead letter: each class has its own owner and its own remedy."""

    TRANSPORT = "TRANSPORT"
    TIMEOUT = "TIMEOUT"
    CRASHED = "CRASHED"
    INVALID = "INVALID"
    REJECTED = "REJECTED"
    DRIFTED = "DRIFTED"
    BUG = "BUG"


class QueueType(IntEnum):
    """Stored as a small number, because text would put LOW before NORMAL."""

    HIGH_PRIORITY = 0
    NORMAL = 1
    LOW_PRIORITY = 2


PRIORITIES = range(1, 11)
NORMAL_PRIORITY = 5

# A lower queue or priority is a head start given to the others: it is overtaken by what comes later, but only within
# this span, so nothing starves.
QUEUE_PENALTY: dict[int, int] = {QueueType.HIGH_PRIORITY: 0, QueueType.NORMAL: 60_000, QueueType.LOW_PRIORITY: 600_000}
PRIORITY_PENALTY = 5_000


def due(ready_at: datetime, queue: int, priority: int) -> int:
    """The sort key of a runnable entry: milliseconds, smaller first."""
    return int(ready_at.timestamp() * 1000) + QUEUE_PENALTY[queue] + PRIORITY_PENALTY * (10 - priority)


def ready_ms(due: int, queue: int, priority: int) -> int:
    """When an entry became runnable, from its sort key."""
    return due - QUEUE_PENALTY[queue] - PRIORITY_PENALTY * (10 - priority)


class Entry(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """One queue entry as it moves between ready, delayed, held and a claim."""

    task_id: int
    job_id: int
    lane: int
    due: int
    queue: int
    priority: int
    attempt: int
    dispatches: int


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a workflow version, with its mappings compiled."""

    id: int
    order: int
    name: str
    type: StepType
    handler: str
    mode: StepMode = StepMode.STREAM
    gather: bool = False
    on_error: ErrorHandling = ErrorHandling.RETRY
    max_retries: int = 3
    pool: str | None = None
    queue: QueueType | None = None
    config: Mapping[str, Any] = field(default_factory=dict)
    input: Mapped | None = None
    output: Mapped | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """A workflow version as workers use it."""

    workflow_id: int
    name: str
    version: int
    steps: tuple[Step, ...]
    tolerance: float = 0.0
    by_id: Mapping[int, Step] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "by_id", {step.id: step for step in self.steps})

    def after(self, step: Step) -> Step | None:
        """The step that follows."""
        return self.steps[step.order] if step.order < len(self.steps) else None

    def step(self, name: str) -> Step | None:
        """The step of that name."""
        return next((step for step in self.steps if step.name == name), None)


@dataclass(frozen=True, slots=True)
class Run:
    """What does not change while a job runs: its plan, target and input."""

    job_id: int
    plan: Plan
    job_type: JobType
    priority: int
    queue: QueueType
    input: Mapping[str, Any]
    target: Mapping[str, Any]
    limited: bool = False
    """Whether its workflow limits parallel tasks, so that this job needs lanes of its own."""
    pool: str | None = None


@dataclass(frozen=True, slots=True)
class NewTask:
    """A task to be made. The key makes creating it twice create one; it is unique within its job and step."""

    input: Any = None
    key: str = ""
    url: str = ""
    step: str = ""
    pool: str = ""
    """The pools it draws from besides those of its step, separated by commas."""
    priority: int = 0
    after: datetime | None = None
    raw: bool = False
    """Leave the input as it is, without the step's input mapping."""


class Task:
    """A claimed task, as a handler sees it."""

    __slots__ = ("_input", "_input_text", "_signal_text", "entry", "key", "run", "sequence", "step", "url")

    def __init__(
        self,
        entry: Entry,
        run: Run,
        step: Step,
        key: str,
        url: str | None,
        input_text: str | None,
        sequence: int = 0,
        signal_text: str | None = None,
    ) -> None:
        self.entry = entry
        self.run = run
        self.step = step
        self.key = key
        self.url = url
        self.sequence = sequence
        self._input_text = input_text
        self._input: Any = _UNREAD
        self._signal_text = signal_text

    @property
    def id(self) -> int:
        return self.entry.task_id

    @property
    def job_id(self) -> int:
        return self.entry.job_id

    @property
    def attempt(self) -> int:
        """How many attempts have failed before this one."""
        return self.entry.attempt

    @property
    def input(self) -> Any:
        """The input, decoded when first asked for."""
        if self._input is _UNREAD:
            self._input = None if self._input_text is None else json.loads(self._input_text)
        return self._input

    @property
    def signal(self) -> Any:
        """What the wake-up that ended a wait brought along, or None."""
        return None if self._signal_text is None else json.loads(self._signal_text)

    def __repr__(self) -> str:
        return f"Task({self.id}, {self.step.name}, key={self.key!r}, attempt={self.attempt})"


_UNREAD: Any = object()

DEADLINE = timedelta(minutes=10)
