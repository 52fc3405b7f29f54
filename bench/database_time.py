"""How long a database is kept busy: from asking until it has answered, summed over a connection's statements."""

from __future__ import annotations

import time
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from bobusang.kit.db import Database, Tx

STATEMENTS = ("_fetch", "_execute", "_insert", "_revise")


@dataclass(slots=True)
class DatabaseTime:
    """Transactions one after another; what is computed between the statements counts as wall time alone."""

    db: Database
    wall: float = 0.0
    seconds: float = 0.0
    _inside: bool = False

    @asynccontextmanager
    async def begin(self) -> AsyncIterator[Tx]:
        """A transaction whose beginning, statements and commit are timed."""
        begun = time.perf_counter()
        async with self.db.begin() as tx:
            for name in STATEMENTS:
                setattr(tx, name, self._timed(getattr(tx, name)))
            self.seconds += time.perf_counter() - begun
            yield tx
            ending, self._inside = time.perf_counter(), True
        self._inside = False
        now = time.perf_counter()
        self.seconds += now - ending
        self.wall += now - begun

    def _timed(self, statement: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        async def timed(*arguments: Any) -> Any:
            if self._inside:  # one statement made of others, or a commit, is not counted twice
                return await statement(*arguments)
            begun, self._inside = time.perf_counter(), True
            try:
                return await statement(*arguments)
            finally:
                self.seconds += time.perf_counter() - begun
                self._inside = False

        return timed
