"""Hooks: what others write in the transaction that moves a job or a step, or buries a worker, so that their rows never
lie."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from bobusang.engine.model import JobStatus, Run, StepState
    from bobusang.engine.rules import Count
    from bobusang.kit.db import Tx


@dataclass(frozen=True, slots=True)
class JobMoved:
    """A job changed its status."""

    run: Run
    status: JobStatus


@dataclass(frozen=True, slots=True)
class StepsMoved:
    """Steps of a job changed their state or their counters."""

    run: Run
    status: JobStatus
    """The job's own, which cannot change before this transaction ends."""
    moved: tuple[str, ...]
    """The names of those that did."""
    standing: Mapping[str, tuple[StepState, Count]]
    """Where each step of the job stands now, by its name and in their order."""


@dataclass(slots=True)
class Hooks:
    """Called in order, inside the moving transaction; one that raises undoes the move."""

    on_job: list[Callable[[Tx, JobMoved], Awaitable[None]]] = field(default_factory=list)
    on_step: list[Callable[[Tx, Sequence[StepsMoved]], Awaitable[None]]] = field(default_factory=list)
    """Told of several jobs at once: what they write of each by itself would cost more than the counting."""
    on_death: list[Callable[[Tx, Sequence[str]], Awaitable[None]]] = field(default_factory=list)
    """Told the names of workers that were taken for dead: what else they held is free again."""

    async def job(self, tx: Tx, moved: JobMoved) -> None:
        for hook in self.on_job:
            await hook(tx, moved)

    async def step(self, tx: Tx, moved: Sequence[StepsMoved]) -> None:
        for hook in self.on_step if moved else ():
            await hook(tx, moved)

    async def death(self, tx: Tx, names: Sequence[str]) -> None:
        for hook in self.on_death if names else ():
            await hook(tx, names)
