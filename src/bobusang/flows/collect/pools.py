"""The engine's pools as the gate sets them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bobusang.engine import budgets

if TYPE_CHECKING:
    from datetime import datetime

    from bobusang.kit.db import Tx


class EnginePools:
    """The port `stages.collect.pools.Pools`, on the engine's budgets."""

    async def set(
        self, tx: Tx, pool: str, *, rate: float | None, burst: float | None, max_in_flight: int | None
    ) -> None:
        await budgets.set_budget(tx, pool, rate=rate, burst=burst, max_in_flight=max_in_flight)

    async def block(self, tx: Tx, pool: str, until: datetime, reason: str) -> None:
        await budgets.block(tx, pool, until, reason)

    async def unblock(self, tx: Tx, pool: str) -> None:
        await budgets.unblock(tx, pool)
