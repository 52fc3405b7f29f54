"""Rescue: what dead or hung workers hold goes back to the queue."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bobusang.engine import rescuing
from bobusang.engine.upkeep.duty import Duty

if TYPE_CHECKING:
    from bobusang.engine.service import Engine
    from bobusang.kit.db import Tx


def rescue(engine: Engine) -> Duty:
    """As often as workers beat."""

    async def work(tx: Tx) -> int:
        return await rescuing.rescue(tx, engine.hooks, tx.now - engine.pace.dead_after)

    return Duty("rescue", engine.pace.beat, lambda: engine.db.transact(work))
