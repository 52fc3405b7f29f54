"""What upkeep does for the catalogue's doors: replies that nobody will ask for again."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from bobusang.engine.upkeep.duty import Duty
from bobusang.platform import replies

if TYPE_CHECKING:
    from bobusang.kit.db import Database


def forget_replies(database: Database) -> Duty:
    """Every hour: replies older than a day."""

    async def run() -> int:
        return await database.transact(replies.forget)

    return Duty("replies", timedelta(hours=1), run)
