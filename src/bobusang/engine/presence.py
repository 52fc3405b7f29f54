"""Who works: the workers that the database has lately heard of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bobusang.kit.sql import Statement

if TYPE_CHECKING:
    from datetime import timedelta

    from bobusang.kit.db import Tx

ALIVE = Statement("select count(*) as value from workers where beat_at > :since")


async def alive(tx: Tx, dead_after: timedelta) -> int:
    """How many workers live, each in a process of its own; one that was killed counts until it is taken for dead."""
    return int(await tx.value(ALIVE, since=tx.now - dead_after))
