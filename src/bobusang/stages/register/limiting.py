"""How much of a listing may be offered whatever its product says: nothing of what a person closed, less and then
nothing of what nobody has seen for long. Pure."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

import msgspec

from bobusang.stages.register.diffing import Idle, Kind, Step, Urgency, only_stock
from bobusang.stages.register.model import State, Stock

if TYPE_CHECKING:
    from datetime import datetime

    from bobusang.stages.register.model import Account, Draft, Listing, Policy, Variant


class Limit(StrEnum):
    """Why less is offered than the mall has."""

    FREE = "free"
    CAPPED = "capped"
    UNSEEN = "unseen"
    CLOSED = "closed"

    @property
    def is_off(self) -> bool:
        return self in (Limit.UNSEEN, Limit.CLOSED)


WORDS = {
    Limit.FREE: "nothing limits it",
    Limit.CAPPED: "few can be ordered already, for its source was not seen for long",
    Limit.UNSEEN: "its source was not seen for long: it comes back with the next page that shows it",
    Limit.CLOSED: "a person closed it: `bobusang listing open` opens it again",
}


def limit_of(listing: Listing, seen_at: datetime | None, policy: Policy, now: datetime) -> Limit:
    """What limits a listing now. People are told first, so that nothing happens of which nobody knew: a program that
    was off for a month has that long to look again before it offers less."""
    if listing.closed_at is not None:
        return Limit.CLOSED
    told = listing.unseen_at
    if told is None or (seen_at is not None and seen_at > told):
        return Limit.FREE
    rule = policy.unseen
    if rule.suspended and now - told >= timedelta(hours=rule.suspended):
        return Limit.UNSEEN
    if rule.capped and now - told >= timedelta(hours=rule.capped):
        return Limit.CAPPED
    return Limit.FREE


def capped(account: Account) -> Account:
    """The account as it sells what it should sell little of."""
    policy = account.policy
    return replace(account, policy=msgspec.structs.replace(policy, most=min(policy.most, policy.unseen.cap)))


def limited(listing: Listing, limit: Limit, policy: Policy) -> tuple[Step, ...] | Idle:
    """The call that a limit asks for by itself, by what the market has and nothing else."""
    confirmed = listing.confirmed
    if listing.state is not State.LIVE or confirmed is None or limit is Limit.FREE:
        return Idle(WORDS[limit])
    if limit is Limit.CAPPED:
        if confirmed.order_quantity <= policy.unseen.cap:
            return Idle(WORDS[limit])
        fewer = msgspec.structs.replace(confirmed, order_quantity=policy.unseen.cap)
        return (Step(Kind.STOCK, fewer, Urgency.STOCK_OUT, ("order_quantity",)),)
    off: Draft = msgspec.structs.replace(confirmed, variants=tuple(_out(one) for one in confirmed.variants))
    return (Step(Kind.CLOSE, only_stock(off, confirmed), Urgency.STOCK_OUT, ("variants",)),)


def _out(variant: Variant) -> Variant:
    return msgspec.structs.replace(variant, stock=Stock.OUT, count=None)
