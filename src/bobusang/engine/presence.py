"""Who works: the workers that the database has lately heard of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bobusang.kit.clock import utc
from bobusang.kit.sql import Statement

if TYPE_CHECKING:
    from datetime import datetime, timedelta

    from bobusang.kit.db import Tx

ALIVE = Statement("select count(*) as value from workers where beat_at > :since")
SINCE = Statement("select min(started_at) as value from workers where beat_at > :since")


async def alive(tx: Tx, dead_after: timedelta) -> int:
    """How many workers live, each in a process of its own; one that was killed counts until it is taken for dead."""
    return int(await tx.value(ALIVE, since=tx.now - dead_after))


async def since(tx: Tx, dead_after: timedelta) -> datetime | None:
    """When the first of the workers that live came; None: none lives."""
    found: datetime | None = utc(await tx.value(SINCE, since=tx.now - dead_after))
    return found
