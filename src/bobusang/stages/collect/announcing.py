"""What the gate decided, made known: remembered, written into the journal when it changed, and set in the pools."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from bobusang.platform import alerting
from bobusang.platform.notifier import Level, Notice
from bobusang.stages.collect import gatebook
from bobusang.stages.collect.admission import Cause, Wait
from bobusang.stages.collect.pools import pool_of

if TYPE_CHECKING:
    from bobusang.kit.db import Tx
    from bobusang.stages.collect.admission import Facts, Standing
    from bobusang.stages.collect.pools import Pools

LIMITER_AWAY = "limiter_away"
"""The alert that lasts while nobody can be asked how many calls are left."""


async def announce(tx: Tx, pools: Pools, facts: Facts, wait: Wait | None, *, limiter_asked: bool = True) -> None:
    """Make an answer known; None: go. The rows of `facts` are locked.

    Where the limiter was not asked, a wait for the limiter stays as it is.
    """
    if wait is None:
        for endpoint, standing in (("", facts.whole), (facts.endpoint, facts.part)):
            if limiter_asked or standing.cause not in (Cause.LIMITER, Cause.RATE):
                await _go(tx, pools, facts.source, endpoint, standing)
        return
    endpoint, standing = ("", facts.whole) if wait.everywhere else (facts.endpoint, facts.part)
    if gatebook.is_change(standing, wait):
        await gatebook.journal(tx, facts.source, endpoint, wait)
    await gatebook.save(tx, facts.source, endpoint, gatebook.answered(standing, wait))
    await pools.block(tx, pool_of(facts.source, endpoint), wait.until, wait.reason)
    if wait.cause is Cause.LIMITER:
        await alerting.raise_alert(tx, _notice(wait))


async def _go(tx: Tx, pools: Pools, source: str, endpoint: str, standing: Standing) -> None:
    if not standing.is_news and not standing.waits(tx.now):
        return
    after = replace(standing, answer_until=tx.now)  # a limit that is reached all the time stays the last thing said
    if standing.is_news:
        await gatebook.journal(tx, source, endpoint, None)
        after = gatebook.answered(standing, None)
    await gatebook.save(tx, source, endpoint, after)
    await pools.unblock(tx, pool_of(source, endpoint))
    if standing.cause is Cause.LIMITER:
        await alerting.settle_alerts(tx, [LIMITER_AWAY])


def _notice(wait: Wait) -> Notice:
    text = f"{wait.reason}. Nothing is fetched until it answers; then collecting goes on by itself."
    return Notice(LIMITER_AWAY, Level.CRITICAL, "the limiter is away: collecting waits", text)
