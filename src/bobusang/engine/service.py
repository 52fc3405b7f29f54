"""The engine as its doors see it: a database, what the process remembers, and whoever hooks in."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

from bobusang.engine import archiving, firing, jobs
from bobusang.engine.books import Books
from bobusang.engine.handlers import Handlers
from bobusang.engine.hooks import Hooks
from bobusang.engine.worker import Pace
from bobusang.kit.db import Duplicate

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from datetime import timedelta

    from bobusang.engine.jobs import NewJob
    from bobusang.kit.db import Database, Tx

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(slots=True)
class Engine:
    """One a process."""

    db: Database
    handlers: Handlers = field(default_factory=Handlers)
    books: Books = field(default_factory=Books)
    hooks: Hooks = field(default_factory=Hooks)
    pace: Pace = field(default_factory=Pace)
    keep: timedelta = archiving.KEEP

    def __post_init__(self) -> None:
        self.hooks.on_job.append(firing.learn)

    async def do(
        self,
        work: Callable[Concatenate[Tx, Books, Hooks, P], Awaitable[T]],
        *arguments: P.args,
        **named: P.kwargs,
    ) -> T:
        """Call a function of the engine in a transaction of its own."""
        return await self.db.transact(lambda tx: work(tx, self.books, self.hooks, *arguments, **named))

    async def submit(self, new: NewJob) -> tuple[int, bool]:
        """Make a job; when two callers use the same key at the same moment, the second gets the first one's."""
        try:
            return await self.do(jobs.create, new)
        except Duplicate:
            return await self.do(jobs.create, new)
