"""How much of a listing may be offered whatever its product says: nothing of what a person closed, less and then
nothing of what nobody has seen for long, and no more than was told the market when it last confirmed a stock. Pure."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

import msgspec

from bobusang.stages.register.diffing import STOCK_FIELDS, Idle, Kind, Step, Urgency, only_stock
from bobusang.stages.register.model import State, Stock
from bobusang.stages.register.reopening import lowered

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


def limited(listing: Listing, limit: Limit, policy: Policy, told: Draft | None = None) -> tuple[Step, ...] | Idle:
    """The call that a limit asks for by itself, by what the market has and nothing else; `told` is the stock that it
    confirmed last, where nothing was told since."""
    confirmed = listing.confirmed
    if listing.state is not State.LIVE or confirmed is None:
        return Idle(WORDS[limit])
    if limit.is_off:
        off: Draft = msgspec.structs.replace(confirmed, variants=tuple(_out(one) for one in confirmed.variants))
        return (Step(Kind.CLOSE, only_stock(off, confirmed), Urgency.STOCK_OUT, ("variants",)),)
    fewer = confirmed if told is None else lowered(confirmed, told)
    if limit is Limit.CAPPED:
        fewer = msgspec.structs.replace(fewer, order_quantity=min(fewer.order_quantity, policy.unseen.cap))
    changed = tuple(name for name in sorted(STOCK_FIELDS) if getattr(fewer, name) != getattr(confirmed, name))
    kind = Kind.CLOSE if fewer.is_sold_out else Kind.STOCK
    return (Step(kind, fewer, Urgency.STOCK_OUT, changed),) if changed else Idle(WORDS[limit])


def _out(variant: Variant) -> Variant:
    return msgspec.structs.replace(variant, stock=Stock.OUT, count=None)
