"""Calls without a verdict in time: sent again, the same bytes under the same reference, or shown to a person at last.

It does not matter why: the sender died before or after sending, the answer was lost, or the webhook was. The market
treats the same reference as an edit, so nothing is made twice.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from bobusang.stages.register import accounts, calls, holds, ledger, listings
from bobusang.stages.register.budget import admitted
from bobusang.stages.register.guards import Guard, Trip
from bobusang.stages.register.planning import outgoing
from bobusang.stages.register.refusing import digest
from bobusang.stages.register.tables import CallState

if TYPE_CHECKING:
    from datetime import timedelta

    from bobusang.kit.db import Tx
    from bobusang.stages.register.calls import MarketCall
    from bobusang.stages.register.market import Outgoing

LIMIT = 200
RECOVERY = "recovery"


async def recover(tx: Tx, account_id: int, lease: timedelta, *, limit: int = LIMIT) -> list[Outgoing]:
    """Take what is overdue, within the budget, the most urgent first; nothing while the account may not send."""
    account, blocked_until = await accounts.lock(tx, account_id)
    if not account.enabled or (blocked_until is not None and blocked_until > tx.now):
        return []
    patience = account.policy.patience
    overdue = await calls.due(tx, account.id, patience, limit=limit)
    await listings.lock(tx, await calls.of_listings(tx, overdue))
    found = [call for call in (await calls.lock(tx, overdue)).values() if call.is_due(tx.now, patience)]
    lost = [call for call in found if call.sends >= account.policy.sends]
    again = [call for call in found if call.sends < account.policy.sends]
    asked = [(call.urgency, call.request.family) for call in again]
    yes = admitted(account.policy.budget, await ledger.used(tx, account.id, lease), tx.now, asked)
    due_at = tx.now + lease + patience
    taken = [
        replace(call, state=CallState.INTENT, token=call.token + 1, sends=call.sends + 1, due_at=due_at)
        for call, may in zip(again, yes, strict=True)
        if may
    ]
    await calls.save(tx, [*taken, *(replace(call, state=CallState.LOST) for call in lost)])
    await holds.keep(tx, account.id, RECOVERY, [_halt(call) for call in lost])
    if taken:
        await ledger.book(tx, account.id, [call.request.family for call in taken])
    return [outgoing(call, tx.now + lease) for call in taken]


def _halt(call: MarketCall) -> holds.Halt:
    reason = f"call {call.id} ({call.kind}) was sent {call.sends} times and the market never said what became of it"
    return holds.Halt(call.listing_id, Trip(Guard.UNANSWERED, reason), digest(call.id))


async def release(tx: Tx, listing_id: int) -> None:
    """Let go of a call that was never answered, so that the listing is compared and sent anew."""
    owners = await listings.lock(tx, [listing_id])
    listing = owners.get(listing_id)
    if listing is None or listing.open_call is None:
        return
    found = await calls.lock(tx, [listing.open_call])
    await calls.save(tx, [replace(call, state=CallState.CANCELLED) for call in found.values()])
    await listings.save(tx, [replace(listing, open_call=None)])
