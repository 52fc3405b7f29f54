"""The port to the engine's pools: where the gate's decisions make waiting cost nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from datetime import datetime

    from bobusang.kit.db import Tx


class Pools(Protocol):
    """Named budgets that are asked before a task is claimed; a flow implements it with those of the engine."""

    async def set(
        self, tx: Tx, pool: str, *, rate: float | None, burst: float | None, max_in_flight: int | None
    ) -> None:
        """Make or change a pool; None means no limit of that kind."""
        ...

    async def block(self, tx: Tx, pool: str, until: datetime, reason: str) -> None:
        """Claim nothing from it until then."""
        ...

    async def unblock(self, tx: Tx, pool: str) -> None:
        """Let it go on."""
        ...


def pool_of(source: str, endpoint: str = "") -> str:
    """The pool of a source, or of one of its endpoints. Every task of a source draws from both."""
    return f"source:{source}:{endpoint}" if endpoint else f"source:{source}"
