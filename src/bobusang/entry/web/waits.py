"""Why something waits or was given up, said in the visitor's language: what the views say in words is known by its
form, and what is not known is shown as it is."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from bobusang.engine.model import ReasonClass
from bobusang.entry.web.languages import N_

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_AT = r"(?P<at>\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ)"
_RULES = [
    (re.compile(pattern, re.DOTALL), label)
    for pattern, label in (
        (r"it is paused", N_("it is paused")),
        (r"it is paused: (?P<why>.+)", N_("it is paused: %(why)s")),
        (rf"it is scheduled for {_AT}", N_("its time comes at %(at)s")),
        (r"job (?P<job>\d+) has not ended: it is .+", N_("job %(job)s has to end first")),
        (
            r"its workflow runs (?P<running>\d+) jobs of at most (?P<most>\d+)",
            N_("its workflow runs %(running)s jobs already, at most %(most)s are allowed"),
        ),
        (r"ready: the next free slot takes it in its turn", N_("it is its turn as soon as a worker is free")),
        (r"ready, but no worker is running", N_("no worker is running")),
        (r"held because its job is paused", N_("its job is paused")),
        (
            r"held by a barrier: step '(?P<step>.+)' begins when the steps before it are over",
            N_("step %(step)s begins when the steps before it are over"),
        ),
        (rf"waits for '(?P<key>.+)', at the latest {_AT}", N_("it waits for %(key)s, at the latest until %(at)s")),
        (r"waits for '(?P<key>.+)'", N_("it waits for %(key)s")),
        (rf"delayed until {_AT}: it waits for its time or its next attempt", N_("the next try is at %(at)s")),
        (rf"delayed until {_AT}: (?P<why>.+)", N_("the next try is at %(at)s: %(why)s")),
        (r"dead letter \(.+\): mend it, then re-drive or discard it", N_("it waits among the dead letters for you")),
        (rf"claimed by worker (?P<worker>.+) since {_AT}", N_("worker %(worker)s is at it since %(at)s")),
        (r"it has no queue entry: it is over, or about to move", N_("it waits for nothing")),
        (
            r"pool (?P<pool>.+) is halted until a person resumes it: (?P<why>.+)",
            N_("pool %(pool)s is halted until you resume it: %(why)s"),
        ),
        (
            rf"pool (?P<pool>.+) is blocked until {_AT}: (?P<why>.+)",
            N_("pool %(pool)s is blocked until %(at)s: %(why)s"),
        ),
        (
            r"pool (?P<pool>.+) is at its rate of (?P<rate>\S+) a second",
            N_("pool %(pool)s is at its rate of %(rate)s a second"),
        ),
        (
            r"pool (?P<pool>.+) has (?P<used>\d+) of (?P<most>\d+) in flight",
            N_("pool %(pool)s has %(used)s of %(most)s at work"),
        ),
    )
]


@dataclass(frozen=True, slots=True)
class Reason:
    """A sentence to be translated, with its values and its instant; without a label it is shown as it is."""

    text: str
    label: str = ""
    values: Mapping[str, str] = field(default_factory=dict)
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Remedy:
    """What a class of dead letters is called, and what to do about it."""

    label: str
    advice: str


REMEDIES = {
    ReasonClass.TRANSPORT: Remedy(
        N_("no proper answer"),
        N_("The other side did not answer, or with an error. When it is well again, run ten first, then all."),
    ),
    ReasonClass.TIMEOUT: Remedy(
        N_("took too long"),
        N_("It did not end in its time. Run ten first: if they end in time, run all."),
    ),
    ReasonClass.CRASHED: Remedy(
        N_("took its worker down"),
        N_("Its worker ended with it several times. Look at the input first, then run a single one."),
    ),
    ReasonClass.INVALID: Remedy(
        N_("wrong input"),
        N_("The input cannot be worked with. Mend the input of a letter, then run it again."),
    ),
    ReasonClass.REJECTED: Remedy(
        N_("refused by the market"),
        N_("The market refused it for what the error says. Mend the product or its mapping, then run it again."),
    ),
    ReasonClass.DRIFTED: Remedy(
        N_("the page has changed"),
        N_("The mall's page is no longer as its reader knows it. The reader has to be mended; then run all again."),
    ),
    ReasonClass.BUG: Remedy(
        N_("an error in the program"),
        N_("The program met something it did not expect. Update it or report the error, then run ten first."),
    ),
}


def of(text: str) -> Reason:
    """A sentence of a view."""
    for pattern, label in _RULES:
        if (found := pattern.fullmatch(text)) is not None:
            values = found.groupdict()
            at = values.pop("at", None)
            return Reason(text, label, values, datetime.fromisoformat(at) if at else None)
    return Reason(text)


def of_all(texts: Sequence[str]) -> list[Reason]:
    """Several of them."""
    return [of(text) for text in texts]


def of_task(why: str) -> list[Reason]:
    """Why a task waits: where several pools keep it, the view has joined them."""
    return of_all(why.split("; ")) if why.startswith("pool ") else [of(why)]
