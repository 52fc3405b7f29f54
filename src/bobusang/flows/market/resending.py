"""Calls without a verdict in time are sent again, and what ended by the answer alone wakes who waits for it."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from bobusang.engine.upkeep.duty import Duty
from bobusang.engine.waiting import wake_many
from bobusang.flows.market.inbox import VERDICT, accounts_of, batch_applied
from bobusang.kit import log

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bobusang.kit.db import Database, Tx
    from bobusang.stages.register.model import Account
    from bobusang.stages.register.service import Register
    from bobusang.stages.register.settling import Sent

EVERY = timedelta(seconds=5)
PASSES = 40
"""Over the inbox at most, before calls are sent again: webhooks may come without an end."""


def resend(db: Database, register: Register) -> Duty:
    """Every five seconds; a call is due minutes after it was sent."""

    async def run() -> int:
        return sum([await _resent(db, register, account) for account in await accounts_of(db, register)])

    return Duty("market resends", EVERY, run)


async def _resent(db: Database, register: Register, account: Account) -> int:
    """Each account by itself: one that cannot send must not keep the others waiting."""
    try:
        return await resent(db, register, account)
    except Exception as error:
        log.get("market").error("calls cannot be sent again", account=account.name, error=repr(error))
        return 0


async def resent(db: Database, register: Register, account: Account) -> int:
    """Send again what is overdue; how many calls were."""
    register.secret(account.token_ref)  # without it nothing can be sent, and taking calls would use up their sends
    async with db.read() as tx:
        if not await register.overdue(tx, account):
            return 0
    for _ in range(PASSES):  # a verdict that lies in the inbox already spares the call
        if not await batch_applied(db, register, account):
            break
    outgoings = await db.transact(lambda tx: register.recover(tx, account))
    if not outgoings:
        return 0
    sents = await register.send(account, outgoings)
    await db.transact(lambda tx: settled(tx, register, account, sents))
    return len(sents)


async def settled(tx: Tx, register: Register, account: Account, sents: Sequence[Sent]) -> None:
    """Write the answers; a refusal is a verdict, so who waits for it is woken."""
    found = await register.settle(tx, account, sents)
    await wake_many(tx, [one.key for one in found if not one.state.is_open], VERDICT)
