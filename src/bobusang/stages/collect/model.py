"""The collect stage's nouns: a page that was fetched, what saving it did, and how a run ended."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING

from bobusang.stages.collect.tables import RunMode, RunState

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime, timedelta

    from bobusang.stages.collect.source import Ask, Reads

__all__ = ["Fetched", "ItemFacts", "Run", "RunMode", "RunState", "Saved", "Summary"]


@dataclass(frozen=True, slots=True)
class Fetched:
    """One page that was fetched, archived and read."""

    source: str
    target: str
    """`Target.name`."""
    ask: Ask
    found: tuple[Reads, ...]
    reader: str
    """`Source.version`."""
    sha256: str
    """Where its bytes are archived; of a 304, where those of the page it stands for are."""
    url: str
    """The address that was asked, absolute (a redirect may have led elsewhere)."""
    fetched_at: datetime
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    media: str = ""
    size: int = 0
    job_id: int = 0
    """The run."""
    task_id: int = 0


@dataclass(frozen=True, slots=True)
class Run:
    """One collecting of one target's list."""

    job_id: int
    source: str
    target: str
    mode: RunMode
    known: int
    """Items that the list had when the run began."""
    started_at: datetime
    state: RunState = RunState.OPEN
    total: int | None = None
    pages_read: int = 0
    listed: int = 0
    new: int = 0
    changed: int = 0
    held: int = 0
    tallies: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """`seen` and `unknown` by field, `changed` by stream: what the guards of the run look at."""
    reason: str = ""
    tripped: str = ""
    closed_at: datetime | None = None

    @property
    def scope(self) -> str:
        """Where what its list shows is remembered as seen."""
        return f"list:{self.target}"


@dataclass(frozen=True, slots=True)
class Saved:
    """What became of a batch of pages."""

    pages: int = 0
    items: int = 0
    new: int = 0
    changed: int = 0
    same: int = 0
    held: int = 0
    dropped: int = 0
    """Unknown items that a PARTIAL run does not take."""

    def __add__(self, other: Saved) -> Saved:
        return Saved(*(getattr(self, one.name) + getattr(other, one.name) for one in fields(self)))


@dataclass(frozen=True, slots=True)
class Summary:
    """How a run ended."""

    run: Run
    missed: int = 0
    """Not in the proved list this time, for the first time."""
    absent: int = 0
    """Missing often enough to be written as `listed: false`."""
    held: int = 0
    """Absences that wait for a person."""


@dataclass(frozen=True, slots=True)
class ItemFacts:
    """What is known of an item when a source asks for one of its pages: the question of `Ask.when`."""

    new: bool = True
    changed: frozenset[str] = frozenset()
    """Groups that this run's list shows to have changed."""
    age: timedelta | None = None
    """Since the asked stream last told of it; None: never."""
    due: bool = True
    """Whether that is longer ago than its adaptive interval."""
    partial: bool = False
