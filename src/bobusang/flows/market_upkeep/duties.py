"""What upkeep does for selling: forget what was applied, overtaken or replaced, and pictures nobody refers to."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

from bobusang.engine.upkeep.duty import Duty
from bobusang.flows.market_upkeep import pictures
from bobusang.stages.price import forgetting as prices
from bobusang.stages.register import forgetting as sent
from bobusang.stages.register.tables import InboxState

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from bobusang.kit.db import Database, Tx
    from bobusang.platform.blob import Blobs

KEEP_WEBHOOKS = timedelta(days=30)
"""The market repeats a webhook for hours, not weeks; until then it can be applied again."""
KEEP_UNKNOWN = timedelta(days=180)
"""What could not be matched or read waits for whoever mends the reader."""
KEEP_BODIES = timedelta(days=30)
KEEP_QUOTES = timedelta(days=90)
KEPT = {
    InboxState.APPLIED: KEEP_WEBHOOKS,
    InboxState.STALE: KEEP_WEBHOOKS,
    InboxState.OTHER: KEEP_WEBHOOKS,
    InboxState.FORGED: KEEP_WEBHOOKS,
    InboxState.UNMATCHED: KEEP_UNKNOWN,
    InboxState.UNREADABLE: KEEP_UNKNOWN,
    InboxState.CONFLICT: KEEP_UNKNOWN,
}
"""One that nobody has applied yet is never forgotten."""
PAUSE = timedelta(seconds=1)


def duties(db: Database, blobs: Blobs) -> tuple[Duty, ...]:
    """All of them."""
    return forget_webhooks(db), forget_bodies(db), forget_quotes(db), sweep_pictures(db, blobs)


def forget_webhooks(db: Database) -> Duty:
    """Every hour: webhooks that are done with."""

    async def run() -> int:
        async def work(tx: Tx) -> int:
            return sum([await sent.webhooks(tx, state, tx.now - keep) for state, keep in KEPT.items()])

        return await db.transact(work)

    return Duty("old webhooks", timedelta(hours=1), run, pause=PAUSE)


def forget_bodies(db: Database) -> Duty:
    """Every six hours: bodies of calls that others have overtaken."""
    return Duty("old call bodies", timedelta(hours=6), _walk(db, sent.bodies, KEEP_BODIES), pause=PAUSE)


def forget_quotes(db: Database) -> Duty:
    """Every six hours: decisions on prices that others have replaced."""
    return Duty("old price quotes", timedelta(hours=6), _walk(db, prices.quotes, KEEP_QUOTES), pause=PAUSE)


def sweep_pictures(db: Database, blobs: Blobs) -> Duty:
    """Every day: pictures that nobody refers to; it reads the names of all that is stored."""
    return Duty("orphan pictures", timedelta(days=1), partial(_swept, db, blobs))


async def _swept(db: Database, blobs: Blobs) -> int:
    await pictures.sweep(db, blobs)
    return 0


def _walk(
    db: Database, forget: Callable[..., Awaitable[tuple[int, int]]], keep: timedelta
) -> Callable[[], Awaitable[int]]:
    """One step of a walk by id; a process that starts walks from the beginning once."""
    after = 0

    async def run() -> int:
        nonlocal after

        async def work(tx: Tx) -> tuple[int, int]:
            return await forget(tx, tx.now - keep, after=after)

        done, after = await db.transact(work)
        return done

    return run
