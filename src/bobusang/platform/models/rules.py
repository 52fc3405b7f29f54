"""No model at all: every task is answered by its own rule, without network and without cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from bobusang.platform.model import Completion, Usage

if TYPE_CHECKING:
    from bobusang.platform.model import Task

T = TypeVar("T")


class Rules:
    """The embedded default."""

    name = "rules"

    async def complete(self, task: Task[T]) -> Completion[T]:
        """What the rule says."""
        return Completion(task.rule(task.texts), self.name, Usage())

    async def close(self) -> None:
        """Nothing is open."""
