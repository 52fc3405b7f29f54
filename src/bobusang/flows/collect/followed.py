"""What is followed in time: a stream of a source, of all of it or of one target, and what the end of a run makes known.

A mark says up to when all is known. It is moved in the transaction that ends a run, and only when the run was seen to
its end: one that was broken off repeats its window, and none is ever left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from bobusang.flows.collect.run import mode_of, target_of
from bobusang.stages.collect import marks
from bobusang.stages.collect.marks import Span
from bobusang.stages.collect.model import RunMode, RunState
from bobusang.stages.collect.source import WINDOW

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bobusang.engine.model import Run
    from bobusang.kit.db import Tx
    from bobusang.stages.collect.model import Summary
    from bobusang.stages.collect.source import Followed, Source, Target

WHOLE = ("list", "all")
"""Kind and key of all that a source lists."""
LONGEST_KEY = 150


@dataclass(frozen=True, slots=True)
class Place:
    """A stream with the target that it is followed for; without one the whole source."""

    stream: Followed
    key: str = ""

    @property
    def whole(self) -> tuple[str, str]:
        """Kind and key of what is collected whole before it can be followed."""
        return (self.stream.kind, self.key) if self.stream.kind else WHOLE

    @property
    def target(self) -> str:
        """As its mark calls it."""
        return f"{self.stream.kind}:{self.key}" if self.stream.kind else ""

    @property
    def window(self) -> str:
        """As its windows are called."""
        name = f"{self.stream.stream}@{self.target}" if self.stream.kind else self.stream.stream
        if len(name) <= LONGEST_KEY:
            return name
        return f"{name[:100]}#{blake2b(name.encode(), digest_size=16).hexdigest()}"

    def data(self, span: Span) -> dict[str, Any]:
        """What a window tells the source."""
        return span.data | ({self.stream.kind: self.key} if self.stream.kind else {})

    def told(self, span: Span) -> dict[str, str]:
        """What a job has to know to move the mark at its end."""
        window = {"since": span.since.isoformat(), "until": span.until.isoformat()}
        return {"stream": self.stream.stream, "target": self.target, **window}


async def closed(tx: Tx, source: Source, run: Run, summary: Summary) -> None:
    """A run has ended, in this transaction: if it was seen to its end, what it followed is known up to its window's."""
    if summary.run.state is not RunState.PROVED or not source.followed or run.input.get("probe"):
        return
    target = target_of(run)
    if target.kind == WINDOW:
        if told := run.input.get("sync"):
            await marks.move(tx, source.name, told["stream"], told["target"], _span(told))
    elif mode_of(run) is RunMode.FULL:
        for stream in source.followed:
            if place := _of_whole(stream, target):
                await marks.begin(tx, source.name, stream.stream, place.target, summary.run.started_at)


def _of_whole(stream: Followed, target: Target) -> Place | None:
    """The place of a stream of which a target is the whole; None: it is not."""
    place = Place(stream, target.key if stream.kind else "")
    return place if place.whole == (target.kind, target.key) else None


def _span(told: Mapping[str, str]) -> Span:
    return Span(datetime.fromisoformat(told["since"]), datetime.fromisoformat(told["until"]))
