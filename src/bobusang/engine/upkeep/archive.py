"""Archive: old jobs and old history leave the working tables."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from bobusang.engine import archiving
from bobusang.engine.upkeep.duty import Duty

if TYPE_CHECKING:
    from bobusang.engine.service import Engine
    from bobusang.kit.db import Tx


def archive(engine: Engine) -> Duty:
    """Every ten minutes, in small batches with a rest between them."""

    async def work(tx: Tx) -> int:
        return await archiving.archive(tx, tx.now - engine.keep)

    return Duty("archive", timedelta(minutes=10), lambda: engine.db.transact(work), pause=timedelta(seconds=0.2))
