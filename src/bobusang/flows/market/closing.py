"""Listings that a person closed are taken off the market, by the way of every call: intent, answer, verdict."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from bobusang.engine.upkeep.duty import Duty
from bobusang.engine.waiting import wake_many
from bobusang.flows.market.inbox import accounts_of
from bobusang.flows.market.resending import settled
from bobusang.kit import log
from bobusang.stages.register import closing
from bobusang.stages.register.deciding import Chosen
from bobusang.stages.register.settling import wait_key

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from bobusang.kit.db import Database, Tx
    from bobusang.stages.register.model import Account
    from bobusang.stages.register.planning import Planned
    from bobusang.stages.register.service import Register

EVERY = timedelta(seconds=5)
AT_ONCE = 50


def close(db: Database, register: Register) -> Duty:
    """Every five seconds; while nobody closes anything it is one small question of the database an account."""

    async def run() -> int:
        return sum([await _closed(db, register, account) for account in await accounts_of(db, register)])

    return Duty("closed listings", EVERY, run)


async def _closed(db: Database, register: Register, account: Account) -> int:
    """Each account by itself: one that cannot send must not keep the others waiting."""
    if not account.enabled:
        return 0
    async with db.read() as tx:
        found = await closing.still_live(tx, account.id, account.policy.patience, limit=AT_ONCE)
    try:
        return await limited(db, register, account, closing.BY_PERSON, found, {}) if found else 0
    except Exception as error:
        log.get("market").error("closed listings cannot be sent", account=account.name, error=repr(error))
        return 0


async def limited(
    db: Database,
    register: Register,
    account: Account,
    run: str,
    ids: Sequence[int],
    seen: Mapping[int, datetime | None],
) -> int:
    """Send what limits of these listings ask for, `seen` at their malls when; how many calls went out."""
    register.secret(account.token_ref)  # without it nothing can be sent, and intents would only lie about

    async def plan(tx: Tx) -> list[Planned]:
        """And wake who waits for the verdict on a call that another overtakes: there will be none."""
        planned = await register.plan_limits(tx, account, run, ids, seen)
        overtaken = [one.decision.supersedes for one in planned if isinstance(one.decision, Chosen)]
        await wake_many(tx, [wait_key(call.id) for call in overtaken if call is not None])
        return planned

    outgoings = [one.outgoing for one in await db.transact(plan) if one.outgoing is not None]
    if outgoings:
        sents = await register.send(account, outgoings)
        await db.transact(lambda tx: settled(tx, register, account, sents))
    return len(outgoings)
