"""What becomes of each wanted listing: a call, a wait, a hold, a fault to mend, or nothing. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bobusang.stages.register.diffing import Idle, Kind, Step, Urgency, offered, offers_more, only_less, steps, whole
from bobusang.stages.register.drafting import drafted, last_day, today
from bobusang.stages.register.guards import Guard, Prices, Trip, price_trip
from bobusang.stages.register.limiting import Limit, capped, limit_of, limited
from bobusang.stages.register.market import Cause, Family, Problem
from bobusang.stages.register.refusing import digest, still_stands
from bobusang.stages.register.tables import CallState

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import date, datetime

    from bobusang.stages.register.calls import MarketCall
    from bobusang.stages.register.market import Market
    from bobusang.stages.register.model import Account, Draft, Listing, Wanted


@dataclass(frozen=True, slots=True)
class Chosen:
    """This is to be sent, if run and budget allow."""

    step: Step
    supersedes: MarketCall | None = None
    """An accepted call whose verdict is not waited for."""
    otherwise: Step | None = None
    """What may go out if the run's guard stops this: a stock-out must not wait for a person to agree to a price, or to
    what came back."""

    @property
    def family(self) -> Family:
        return Family.STOCK if self.step.by_stock else Family.PRODUCT


@dataclass(frozen=True, slots=True)
class Waiting:
    """The market has not judged the last call yet."""

    call_id: int
    is_lost: bool = False
    """It never will: a person is asked."""


@dataclass(frozen=True, slots=True)
class Stopped:
    """A guard tripped."""

    trip: Trip
    digest: str


@dataclass(frozen=True, slots=True)
class Outdated:
    """Its price must be decided anew before anything is sent by it."""

    reason: str


@dataclass(frozen=True, slots=True)
class Faulty:
    """The market would refuse it."""

    problems: tuple[Problem, ...]


CURED = frozenset({Cause.DATA, Cause.MAPPING})
"""Refusals of stock that the whole product may cure, for it brings its grid along. What is not there or may not be
edited is a person's matter: a whole product might put back on sale what somebody took off."""
Decision = Chosen | Waiting | Stopped | Outdated | Faulty | Idle
Approvals = frozenset[tuple[int, str, str]]


def decide(
    wanted: Wanted,
    listing: Listing,
    account: Account,
    market: Market,
    now: datetime,
    *,
    last: MarketCall | None = None,
    approvals: Approvals = frozenset(),
) -> Decision:
    """The best call that no guard stops; a wish that is under way waits, unless something sold out meanwhile."""
    day = today(market.abilities, now)
    limit = limit_of(listing, wanted.seen_at, account.policy, now)
    if limit.is_off or not wanted.is_known:
        found = limited(listing, limit, account.policy, _told(last))
    else:
        wish = drafted(wanted, capped(account) if limit is Limit.CAPPED else account, market.abilities, day)
        is_fresh = listing.told_at is None or (wanted.seen_at is not None and wanted.seen_at > listing.told_at)
        found = steps(wish, listing, market.abilities, account.policy, day, is_fresh=is_fresh)
    until = last_day(account, market.abilities, day)
    under_way = last if last is not None and last.state.is_open else None
    if wanted.outdated and under_way is None and not (found := _urgent(found)):
        return Outdated(wanted.outdated)
    if isinstance(found, Idle):
        return found if under_way is None else _waiting(under_way)
    if under_way is not None:
        if under_way.has_sender(now, account.policy.patience):
            return _waiting(under_way)
        return _spared(_meanwhile(found, under_way, until, wanted.images), (), listing)

    def weigh(step: Step) -> Decision:
        return _weighed(step, until, wanted, listing, account, market, now, day, approvals)

    first: Decision | None = None
    weighed = [weigh(step) for step in found]
    for place, decision in enumerate(weighed):
        if isinstance(decision, Chosen):
            return _spared(decision, found[place + 1 :], listing, weigh)
        first = first or decision
    assert first is not None
    asked = [one for one in weighed if isinstance(one, Stopped)]
    stuck = (one for one in asked if one.trip.guard is Guard.UNCLOSED)
    # What cannot be delivered and is for sale is more urgent than a price; what a person is asked, than what waits.
    return next(stuck, asked[0] if asked else first)


def _told(last: MarketCall | None) -> Draft | None:
    """The stock that the market confirmed last, where nothing was told since."""
    is_so = last is not None and last.kind.by_stock and last.state is CallState.CONFIRMED
    return last.draft if last is not None and is_so else None


def _spared(
    decision: Decision, others: Sequence[Step], listing: Listing, weigh: Callable[[Step], Decision] = Chosen
) -> Decision:
    """With what goes out all the same where a guard of the run stops it: what only takes away."""
    if not isinstance(decision, Chosen) or listing.confirmed is None:
        return decision
    parts = [only_less(one, listing.confirmed) if one.offers else one for one in (decision.step, *others)]
    free = [one for one in parts if one is not None and one is not decision.step and run_guard(one) is None]
    spared = (one.step for one in map(weigh, free) if isinstance(one, Chosen))
    return replace(decision, otherwise=next(spared, None))


def _urgent(found: tuple[Step, ...] | Idle) -> tuple[Step, ...]:
    """Of the calls to choose from, those by which nothing goes out but what can no longer be delivered: they keep the
    price that the market has."""
    both = () if isinstance(found, Idle) else found
    return tuple(step for step in both if step.by_stock and step.urgency is Urgency.STOCK_OUT)


def _meanwhile(found: tuple[Step, ...], under_way: MarketCall, until: date, images: tuple[str, ...]) -> Decision:
    """A stock-out does not wait minutes for the verdict on something else. An intent whose sender's time is over may
    have been sent or not, like a call without an answer; while he may send it nothing overtakes it.

    What is under way may give the listing other options, and then nobody knows which grid the market has when the next
    call arrives: only closing goes on, by a call that fits both."""
    step, sent = next((one for one in reversed(found) if one.kind.by_stock), found[-1]), under_way.draft
    is_urgent = step.kind.by_stock and step.urgency is Urgency.STOCK_OUT
    if not is_urgent or under_way.state is CallState.LOST:
        return _waiting(under_way)
    if not offers_more(sent, found[0].target):
        return _waiting(under_way)
    if sent.options == step.target.options:
        return Chosen(step, under_way)
    if found[0].kind is Kind.CLOSE:
        return Chosen(whole(step, sent.options, until, images), under_way)
    return _waiting(under_way)


def _waiting(call: MarketCall) -> Waiting:
    return Waiting(call.id, call.state is CallState.LOST)


def _weighed(
    step: Step,
    until: date,
    wanted: Wanted,
    listing: Listing,
    account: Account,
    market: Market,
    now: datetime,
    day: date,
    approvals: Approvals,
) -> Decision:
    chosen = Chosen(step)
    if not step.by_stock:
        trip = _price_trip(step, wanted, listing, account, day)
        what = effect(step)
        if trip is not None and (listing.id, trip.guard, what) not in approvals:
            return Stopped(trip, what)
        if problems := market.check(step.target, day):
            return Faulty(problems)
    if not step.by_stock or not _stands(listing, step, now):
        return _refused(listing) if _stands(listing, step, now) else chosen
    return _again(step, whole(step, step.target.options, until, wanted.images), wanted, listing, account, market, now)


def _price_trip(step: Step, wanted: Wanted, listing: Listing, account: Account, day: date) -> Trip | None:
    """An extension keeps the price that is there; where that may not be asked any more, a person hears that it ends."""
    prices = _prices(wanted, listing, day)
    if step.kind is not Kind.EXTEND or listing.confirmed is None:
        return price_trip(account.policy.caution, prices)
    trip = price_trip(account.policy.caution, replace(prices, price=step.target.price))
    if trip is None:
        return None
    return replace(trip, reason=f"{trip.reason}, so it is not extended beyond {listing.confirmed.available_until}")


def _again(
    step: Step, as_a_whole: Step, wanted: Wanted, listing: Listing, account: Account, market: Market, now: datetime
) -> Decision:
    """After a stock call was refused and nothing passes by itself: as a whole; where that is refused too, a person must
    do it, for what cannot be delivered is for sale."""
    refusal, day = listing.refusal, today(market.abilities, now)
    assert refusal is not None
    if refusal.until is not None:
        return _refused(listing)
    is_urgent, words = step.urgency is Urgency.STOCK_OUT, refusal.words
    if (step.kind is Kind.CLOSE or refusal.cause in CURED) and not _stands(listing, as_a_whole, now):
        as_it_is = replace(_prices(wanted, listing, day), price=as_a_whole.target.price)
        trip = None if is_urgent else price_trip(account.policy.caution, as_it_is)
        problems = market.check(as_a_whole.target, day)
        if not problems and trip is None:
            return Chosen(as_a_whole)
        words = "; ".join(one.words for one in problems) or words
    if not is_urgent:
        return _refused(listing)
    what = "it" if step.kind is Kind.CLOSE else "some of it"
    reason = f"{what} must not be sold, and the market refuses to close it: {words}"
    return Stopped(Trip(Guard.UNCLOSED, reason), effect(step))


def _stands(listing: Listing, step: Step, now: datetime) -> bool:
    return still_stands(listing.refusal, step.way, step.target, now)


def _refused(listing: Listing) -> Idle:
    refusal = listing.refusal
    assert refusal is not None
    words = f"refused ({refusal.cause}) and nothing about it has changed: {refusal.words}"
    return Idle(words, is_refused=True, until=refusal.until)


def _prices(wanted: Wanted, listing: Listing, day: date) -> Prices:
    before = None if listing.confirmed is None else listing.confirmed.price
    began = listing.day_price if listing.day == day else before
    return Prices(wanted.price, wanted.floor, wanted.ceiling, before, began)


def effect(step: Step) -> str:
    """What a person agrees to: this price, this stock, or closing."""
    if step.kind is Kind.CLOSE:
        return digest("closed")
    if step.offers:
        return digest(("stock", sorted(offered(step.target)), step.target.order_quantity))
    return digest(("price", step.target.price))


def run_guard(step: Step) -> Guard | None:
    """Which guard of the run counts a call: a source that says "all in stock" by mistake revives a shop, or opens what
    is sold out of it option by option, as one that says "all gone" closes it. What only takes away is free."""
    if step.kind is Kind.CLOSE:
        return Guard.CLOSED
    return Guard.CHANGED if step.offers or step.kind in (Kind.EDIT, Kind.REVIVE) else None


def rank(step: Step) -> Urgency:
    """As what a call is kept. A stock call is a stock-out, or ranks below where it offers more: by this the changes of
    a run are counted, whoever goes on with it (`calls.CHANGED`)."""
    if step.kind is not Kind.STOCK:
        return step.urgency
    return max(step.urgency, Urgency.PRICE_DOWN) if step.offers else Urgency.STOCK_OUT
