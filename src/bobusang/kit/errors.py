"""Errors that say what happens next.

BobusangError(message, code, hint)      verdict
├── Invalid, Missing                    fail     the caller's mistake
├── Conflict                            retry    someone was first
└── External
    ├── Unavailable                     retry    back-off with jitter
    ├── Throttled(until)                snooze   not an attempt
    ├── Blocked, Drifted                halt     pause the source, call a person
    └── Rejected(problems)              park     show it where it can be fixed
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime


class Verdict(StrEnum):
    """What the engine does with a task whose handler raised."""

    FAIL = "fail"
    RETRY = "retry"
    SNOOZE = "snooze"
    HALT = "halt"
    PARK = "park"


class BobusangError(Exception):
    """Something a person may have to read: what is wrong, and in `hint` what to do."""

    code: ClassVar[str] = "error"
    verdict: ClassVar[Verdict] = Verdict.FAIL

    def __init__(self, message: str, *, hint: str = "", field: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.field = field

    def __str__(self) -> str:
        return f"{self.message} ({self.hint})" if self.hint else self.message


class Invalid(BobusangError):
    """The input is wrong; `field` names which part of it."""

    code = "invalid"


class Missing(BobusangError):
    """What was named does not exist."""

    code = "missing"


class Conflict(BobusangError):
    """Someone was first, or the state does not allow it."""

    code = "conflict"
    verdict = Verdict.RETRY


class External(BobusangError):
    """The outside world did not do as asked."""

    code = "external"
    verdict = Verdict.RETRY


class Unavailable(External):
    """Nobody answers, or answers with a fault of theirs."""

    code = "unavailable"


class Throttled(External):
    """They ask us to come back later; nobody's fault, so not an attempt."""

    code = "throttled"
    verdict = Verdict.SNOOZE

    def __init__(self, message: str, *, until: datetime, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.until = until


class Blocked(External):
    """They do not want us: stop and tell a person."""

    code = "blocked"
    verdict = Verdict.HALT


class Drifted(External):
    """What they send is no longer what we know how to read."""

    code = "drifted"
    verdict = Verdict.HALT


class Rejected(External):
    """They refuse what we sent; `problems` says what a person can mend."""

    code = "rejected"
    verdict = Verdict.PARK

    def __init__(self, message: str, *, problems: Sequence[str] = (), hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.problems = tuple(problems)
