"""Webhooks take effect: every account's inbox is applied, and who waits for a verdict is woken in the same commit.

What the market says unasked takes its mark from a listing there: nobody knows any more that it is as it should be.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from bobusang.engine.upkeep.duty import Duty
from bobusang.engine.waiting import wake_many
from bobusang.flows.conveyor import marks
from bobusang.kit import log
from bobusang.kit.db import Contended
from bobusang.kit.errors import BobusangError, External
from bobusang.stages.register import accounts, inbox, reopening
from bobusang.stages.register.inbox import DOORBELL

if TYPE_CHECKING:
    from bobusang.kit.db import Database, Tx
    from bobusang.stages.register.model import Account
    from bobusang.stages.register.service import Register

EVERY = timedelta(seconds=0.5)
"""For databases that carry no ring from one process to another; where one is heard it is at once."""
PAUSE = timedelta(seconds=0.2)
"""Webhooks come in crowds: what comes meanwhile is applied together."""
AT_ONCE = 20
"""Webhooks of one transaction, each of which takes the loop, and SQLite's one writer, for the better part of a
millisecond: the next webhook waits for both to be answered."""
VERDICT = "verdict"
"""What a waiting task is told, so that it knows a verdict from a time-out."""


def apply(db: Database, register: Register) -> Duty:
    """At once when a webhook was stored."""

    async def run() -> int:
        return sum([await _applied(db, register, account) for account in await accounts_of(db, register)])

    return Duty("webhooks", EVERY, run, frozenset({DOORBELL}), PAUSE)


async def accounts_of(db: Database, register: Register) -> list[Account]:
    """The accounts on the register's market."""
    async with db.read() as tx:
        return [account for account in await accounts.every(tx) if account.market == register.market.name]


async def _applied(db: Database, register: Register, account: Account) -> int:
    """Each account by itself: one whose inbox cannot be applied must not keep the others waiting."""
    moved, waiting = 0, AT_ONCE
    try:
        while waiting == AT_ONCE:
            async with db.read() as tx:
                waiting = await inbox.waiting(tx, account.id, limit=AT_ONCE)
            if waiting:
                moved += await batch_applied(db, register, account)
    except Exception as error:
        log.get("webhooks").error("an inbox cannot be applied", account=account.name, error=repr(error))
    return moved


async def batch_applied(db: Database, register: Register, account: Account) -> int:
    """Let webhooks take effect by one commit; where something about one of them stops it, each by its own."""
    try:
        return await db.transact(lambda tx: applied(tx, register, account))
    except Exception as error:
        if _passes(error):
            raise
        log.get("webhooks").warning("webhooks are applied one by one", account=account.name, error=repr(error))
    async with db.read() as tx:
        found = await inbox.first(tx, account.id, limit=AT_ONCE)
    return sum([await _one_applied(db, register, account, id) for id in found])


async def _one_applied(db: Database, register: Register, account: Account, id: int) -> int:
    """One that cannot take effect is kept with why, and shown: its call is sent again like one that was not judged."""
    try:
        return await db.transact(lambda tx: applied(tx, register, account, only=id))
    except Exception as error:
        if _passes(error):
            raise
        why = f"it cannot take effect: {error!r}"
        log.get("webhooks").exception("a webhook cannot take effect", account=account.name, webhook=id)
    await db.transact(lambda tx: inbox.give_up(tx, account.id, id, why))
    return 0


def _passes(error: Exception) -> bool:
    """Whether it is the database's trouble and no webhook's: away, busy, or not (yet) of our version."""
    return isinstance(error, External | Contended | OSError) or type(error) is BobusangError


async def applied(tx: Tx, register: Register, account: Account, *, only: int | None = None) -> int:
    """Let webhooks of an account take effect, and wake who waits for them; how many listings moved. What a word made
    otherwise that nobody asked for is looked at by the next run, and at once by who waits for a verdict on it."""
    moved = await register.apply(tx, account, limit=AT_ONCE, only=only)
    unasked = [one.product_id for one in moved if one.unasked]
    await marks.doubt(tx, register.market.name, unasked)
    if unasked:
        tx.ring(reopening.BELL)
    await wake_many(tx, [key for one in moved if not one.unasked for key in one.keys], VERDICT)
    await wake_many(tx, [key for one in moved if one.unasked for key in one.keys])
    return len(moved)
