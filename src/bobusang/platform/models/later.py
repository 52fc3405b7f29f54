"""A model that is made with its first task."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from bobusang.platform.model import Completion, Model, Task

T = TypeVar("T")


class Later:
    """Vendors' libraries take a second to load, and most commands and processes ask a model nothing."""

    def __init__(self, name: str, make: Callable[[], Model]) -> None:
        self.name = name
        self._make = make
        self._made: Model | None = None
        self._making = asyncio.Lock()

    async def complete(self, task: Task[T]) -> Completion[T]:
        """Ask once."""
        async with self._making:
            if self._made is None:
                # In a thread: whatever else this process does goes on meanwhile.
                self._made = await asyncio.to_thread(self._make)
        return await self._made.complete(task)

    async def close(self) -> None:
        """Close the connections."""
        if self._made is not None:
            await self._made.close()
