"""Several workers must share one limiter: as long as each would count for itself, no identity of a pool calls."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from bobusang.engine.presence import alive
from bobusang.platform import alerting
from bobusang.platform.limiter import SETTING
from bobusang.platform.notifier import Level, Notice
from bobusang.stages.collect.identities import in_use, is_pooled
from bobusang.stages.collect.pools import pool_of

if TYPE_CHECKING:
    from bobusang.kit.db import Database, Tx
    from bobusang.stages.collect.policy import Policy
    from bobusang.stages.collect.pools import Pools

AGAIN = timedelta(seconds=5)
"""How soon it is asked again whether one works alone."""

ALERT = "limiter_unshared"
REASON = f"several workers share no limiter: set {SETTING}"
_NOTICE = Notice(
    ALERT,
    Level.CRITICAL,
    "several workers share no limiter: sources with identities wait",
    f"Each of them would count calls for itself, and together they would call more often than a source allows. Set "
    f"{SETTING} (redis://…) for all of them, or let one work alone; then collecting goes on by itself.",
)


class Sharing:
    """Whether the limiter of this process knows of all calls. `shared`: it is one for all processes."""

    def __init__(self, db: Database, pools: Pools, *, shared: bool, dead_after: timedelta) -> None:
        self._db = db
        self._pools = pools
        self._shared = shared
        self._dead_after = dead_after
        self._is_settled = False

    async def hinders(self, source: str, policy: Policy) -> bool:
        """Whether this process must not visit a source now; then its pool is blocked for a while and a person called.

        Asked before every batch: a worker that has just begun must not call while another does. A source without
        identities is limited by its pool in the database, which all workers share anyway.
        """
        if self._shared or not is_pooled(policy):
            return False
        async with self._db.read() as tx:
            if await self._alone(tx):
                return False
        await self._db.transact(lambda tx: self._refuse(tx, source))
        return True

    async def watch(self) -> None:
        """Call a person as soon as two work like that, and say when it is over."""
        if not (self._shared and self._is_settled):  # another that shares none may have called meanwhile
            await self._db.transact(self._judge)
            self._is_settled = True

    async def _judge(self, tx: Tx) -> None:
        if self._shared or await self._alone(tx) or not await in_use(tx):
            await alerting.settle_alerts(tx, [ALERT])
        else:
            await alerting.raise_alert(tx, _NOTICE)

    async def _refuse(self, tx: Tx, source: str) -> None:
        await self._pools.block(tx, pool_of(source), tx.now + AGAIN, REASON)
        await alerting.raise_alert(tx, _NOTICE)

    async def _alone(self, tx: Tx) -> bool:
        return await alive(tx, self._dead_after) <= 1
