"""SQLite: there is one writer, so a delete that returns is all it takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bobusang.engine.model import Entry
from bobusang.kit.sql import Statement

if TYPE_CHECKING:
    from bobusang.engine.queue import Cursor
    from bobusang.kit.db import Tx

PICK = Statement("""
    delete from queue_ready where task_id in (
      select task_id from queue_ready where lane = :lane order by due, task_id limit :size)
    returning task_id, job_id, lane, due, queue, priority, attempt, dispatches + 1""")


async def pick(tx: Tx, lane: int, size: int, cursor: Cursor) -> list[Entry]:
    """Take up to `size` entries of a lane out of the queue; deleted rows leave nothing to step over, so no cursor."""
    rows = await tx.fetch(PICK, lane=lane, size=size)
    return [Entry(*row) for row in rows]  # type: ignore[misc]
