"""The second commit: what the market answered to each send, by whoever still holds the call's token."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bobusang.kit import json
from bobusang.stages.register import accounts, calls, listings, outages
from bobusang.stages.register.market import Accepted, Later, Refused, Shut, Unknown
from bobusang.stages.register.model import State
from bobusang.stages.register.refusing import refusal, worst
from bobusang.stages.register.tables import CallState

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime, timedelta

    from bobusang.kit.db import Tx
    from bobusang.stages.register.calls import MarketCall
    from bobusang.stages.register.market import Problem, Reply
    from bobusang.stages.register.model import Account, Listing


@dataclass(frozen=True, slots=True)
class Sent:
    """One call that was sent, and what came back."""

    call_id: int
    token: int
    at: datetime
    reply: Reply


@dataclass(frozen=True, slots=True)
class Settled:
    """Where a call stands now; `key` is what a waiting task is woken by."""

    call_id: int
    listing_id: int
    state: CallState
    key: str
    due_at: datetime
    problems: tuple[Problem, ...] = ()


def wait_key(call_id: int) -> str:
    """What the webhook wakes."""
    return f"market-call:{call_id}"


async def settle(tx: Tx, account: Account, sents: Sequence[Sent]) -> list[Settled]:
    """Write the answers; who has lost the token writes nothing, and a verdict that came first stays."""
    mine = {sent.call_id: sent for sent in sents}
    owners = await listings.lock(tx, await calls.of_listings(tx, mine))
    found = await calls.lock(tx, mine)
    held = {id: call for id, call in found.items() if call.token == mine[id].token}
    after = {id: answered(call, mine[id], account, tx.now) for id, call in held.items()}
    rests = await outages.rests(tx, account.id, [(after[id], _problems(mine[id].reply)) for id in held])
    await calls.save(tx, after.values())
    moved = [_listing(owners[call.listing_id], call, mine[call.id].reply, tx.now, rests) for call in after.values()]
    await listings.save(tx, [new for new in moved if new != owners[new.id]])
    await _account(tx, account, [mine[id].reply for id in held])
    return [_settled(call, mine[call.id].reply) for call in after.values()]


def answered(call: MarketCall, sent: Sent, account: Account, now: datetime) -> MarketCall:
    """The call after an answer. Pure."""
    call = replace(call, sent_at=call.sent_at or sent.at)
    state, due_at = call.state, call.due_at
    match sent.reply:
        case Accepted(uid, answer):
            call = replace(call, request_uid=uid, answer=answer, accepted_at=call.accepted_at or now)
            state, due_at = CallState.ACCEPTED, now + account.policy.patience
        case Refused(problems, answer):
            call = replace(call, answer=answer, problems=json.dumps(problems), cause=worst(problems))
            state = CallState.REJECTED
        case Unknown(reason):
            call = replace(call, answer=reason)
            state, due_at = CallState.UNKNOWN, now + account.policy.patience
        case Later(reason, rest):
            call = replace(call, answer=reason)
            state, due_at = (_untaken(call), now + rest)
        case Shut(reason):
            call = replace(call, answer=reason)
            state, due_at = (_untaken(call), now + account.policy.patience)
    if call.state is CallState.INTENT:
        return replace(call, state=state, due_at=due_at)
    return replace(call, due_at=min(call.due_at, now + account.policy.patience))  # judged meanwhile, and no more sent


def _untaken(call: MarketCall) -> CallState:
    """This send had no effect; an earlier one of the same call still may have."""
    return CallState.CANCELLED if call.sends == 1 else CallState.UNKNOWN


def _listing(
    listing: Listing, call: MarketCall, reply: Reply, now: datetime, rests: Mapping[int, timedelta]
) -> Listing:
    if call.state.is_open or listing.open_call != call.id:
        return listing
    freed = replace(listing, open_call=None)
    if isinstance(reply, Refused) and call.state is CallState.REJECTED:
        return refused(freed, call, reply.problems, now, outages.of(rests, listing.id))
    return replace(freed, state=State.NEW) if listing.state is State.SENT else freed


def refused(listing: Listing, call: MarketCall, problems: Sequence[Problem], now: datetime, rest: timedelta) -> Listing:
    """The listing after a refusal: what the market has stays, what it never had is rejected."""
    state = listing.state if listing.market_id else State.REJECTED
    after = refusal(problems, call.way, call.draft, now, rest, listing.refusal)
    return replace(listing, open_call=None, state=state, refusal=after)


async def _account(tx: Tx, account: Account, replies: Sequence[Reply]) -> None:
    if rests := [reply.rest for reply in replies if isinstance(reply, Later)]:
        await accounts.rest(tx, account.id, tx.now + max(rests))
    if shut := next((reply for reply in replies if isinstance(reply, Shut)), None):
        await accounts.switch(tx, account, enabled=False, why=shut.reason)


def _settled(call: MarketCall, reply: Reply) -> Settled:
    return Settled(call.id, call.listing_id, call.state, wait_key(call.id), call.due_at, _problems(reply))


def _problems(reply: Reply) -> tuple[Problem, ...]:
    return reply.problems if isinstance(reply, Refused) else ()
