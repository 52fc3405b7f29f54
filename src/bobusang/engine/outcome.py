"""What a handler says about a task, as values: the engine writes, handlers only say.

A snooze is a wait that is nobody's fault and uses no attempt; a retry does. `docs/states.md` shows what each outcome
does to task, queue entry, job and execution.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import msgspec

from bobusang.engine.model import NewTask, ReasonClass

if TYPE_CHECKING:
    from collections.abc import Mapping


class Outcome(msgspec.Struct, frozen=True):
    """One of the values below."""


class Done(Outcome, frozen=True):
    """Succeeded. `spawn` None hands the output to the next step; a tuple makes exactly those tasks."""

    output: Any = None
    spawn: tuple[NewTask, ...] | None = None
    context: Any = None
    """Merged into the execution's context (the checkpoint), at most once a second."""


class Retry(Outcome, frozen=True):
    """Failed, may succeed later; counts as an attempt."""

    error: str
    after: timedelta | None = None
    reason: ReasonClass = ReasonClass.TRANSPORT


class Snooze(Outcome, frozen=True):
    """Come back then; nobody's fault, so not an attempt."""

    until: datetime
    reason: str = ""
    pool: str = ""
    """The pools that it draws from by now besides those of its step, separated by commas: for a task that finds out
    only at work that it must ask somebody. Empty: as before."""


class Skip(Outcome, frozen=True):
    """Nothing to do here; neither success nor failure of the job. `spawn` is who takes it up instead."""

    reason: str = ""
    spawn: tuple[NewTask, ...] = ()


class Fail(Outcome, frozen=True):
    """Failed for good."""

    error: str


class Park(Outcome, frozen=True):
    """To the dead letters, where a person can mend and re-drive it."""

    reason: ReasonClass
    error: str


class Halt(Outcome, frozen=True):
    """Stop the task's pools (or, without one, its job) and call a person; the task itself waits unharmed."""

    reason: str


class Wait(Outcome, frozen=True):
    """Sleep until `wake(key)`, or until the time-out, which runs the task again without a signal."""

    key: str
    until: datetime


CONTEXT_LIMIT = 64 << 10

DONE = Done()
"""The commonest outcome, made once."""


def merged(context: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    """A context with a patch applied: later keys win, None removes."""
    return {name: value for name, value in {**context, **patch}.items() if value is not None}
