"""Step handlers, registered by name, with what the engine must know of each: batch, concurrency, deadline, pool."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from bobusang.engine.model import DEADLINE, Task
from bobusang.kit.errors import Invalid

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Sequence
    from datetime import timedelta

    from bobusang.engine.outcome import Done, Outcome
    from bobusang.kit.db import Tx


class Work(Protocol):
    """The first half of a handler: it may use the network and opens no transaction. One outcome for each task."""

    def __call__(self, batch: Sequence[Task], /) -> Awaitable[Sequence[Outcome]]: ...


class Save(Protocol):
    """The second half: it writes domain rows for the tasks still owned, inside the transaction that finishes them."""

    def __call__(self, tx: Tx, owned: Sequence[tuple[Task, Done]], /) -> Awaitable[None]: ...


@dataclass(frozen=True, slots=True)
class Handler:
    """A handler and how it wants to be run."""

    name: str
    work: Work
    save: Save | None = None
    batch: int = 100
    concurrency: int = 2
    deadline: timedelta = DEADLINE
    required: frozenset[str] = frozenset()
    """Names its input must have."""
    optional: frozenset[str] | None = None
    """Further names its input may have; None: anything."""
    linger: timedelta | None = None
    """How long a lane that got work after it had none is left to ripen: for work that costs little more in company."""
    busy_linger: timedelta | None = None
    """The same while other slots of the process are at work, and more is likely to come; None: as long as `linger`."""


@dataclass(slots=True)
class Handlers:
    """The handlers a process knows."""

    _by_name: dict[str, Handler] = field(default_factory=dict)

    def add(self, handler: Handler) -> Handler:
        """Register one; a second of the same name is a mistake."""
        if handler.name in self._by_name:
            raise Invalid(f"there are two handlers named '{handler.name}'", hint="rename one of them")
        self._by_name[handler.name] = handler
        return handler

    def handles(
        self,
        name: str,
        *,
        save: Save | None = None,
        batch: int = 100,
        concurrency: int = 2,
        deadline: timedelta = DEADLINE,
        required: frozenset[str] = frozenset(),
        optional: frozenset[str] | None = None,
    ) -> Callable[[Work], Work]:
        """Register the decorated function as a handler's `work`."""

        def register(work: Work) -> Work:
            self.add(Handler(name, work, save, batch, concurrency, deadline, required, optional))
            return work

        return register

    def get(self, name: str) -> Handler | None:
        return self._by_name.get(name)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._by_name)

    def __iter__(self) -> Iterator[Handler]:
        return iter(self._by_name.values())
