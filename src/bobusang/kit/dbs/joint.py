"""Commits that transactions share: bringing one to the disk costs as much as bringing twenty.

SQLite has one writer, so ours wait for each other, and while one waits for the disk all the others wait with it. Who is
done while somebody waits for his turn leaves his work in the open transaction, hands on, and goes on when all of it is
on the disk. Nobody goes on before that, so a crash takes nothing that anybody was told of; each is undone by itself
when it fails (a savepoint), and all of them when the commit does.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from bobusang.kit.db import Contended

if TYPE_CHECKING:
    from bobusang.kit.db import Tx
    from bobusang.kit.errors import BobusangError

SHARED_SECONDS = 0.03
"""How long after its beginning a transaction takes others in: the first of them waits for the last."""


class Joint:
    """An open transaction of the database, and those of ours that are done in it."""

    def __init__(self, changes: int) -> None:
        self.changes = changes
        """How many rows the connection had changed when it began."""
        self.done: list[Tx] = []
        self.is_kept = False
        self._until = time.monotonic() + SHARED_SECONDS
        self._ended: asyncio.Future[BobusangError | None] = asyncio.get_running_loop().create_future()

    @property
    def is_full(self) -> bool:
        """Whether it has waited long enough for others."""
        return time.monotonic() >= self._until

    def end(self, error: BobusangError | None = None) -> None:
        """All who wait may go on: their work is kept, or nothing of it is and the same may succeed the next time."""
        if not self.is_kept and error is None:
            error = Contended("a transaction that shared its commit has failed")
        if not self._ended.done():
            self._ended.set_result(None if self.is_kept else error)

    async def outcome(self) -> None:
        """Wait for the commit, cancelled or not: what was begun ends before we go on."""
        try:
            error = await asyncio.shield(self._ended)
        except asyncio.CancelledError:
            await asyncio.wait([self._ended])
            raise
        if error is not None:
            raise error
