"""What webhooks change: the market's word is the read-back, an older word never wins, and nothing is guessed.

A word confirms the open call when price, stock and state are what the call asked for, and nothing that it was to change
is still as it was, for orders bring words, too. Otherwise it is knowledge only: the call stays open until its own word
comes, or it is sent again.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from bobusang.kit import json, log
from bobusang.kit.clock import text
from bobusang.kit.errors import Invalid
from bobusang.platform.bus import Event, publish
from bobusang.stages.register import attributing, calls, holds, inbox, listings, mirroring, outages
from bobusang.stages.register.diffing import Kind
from bobusang.stages.register.guards import Guard, Trip
from bobusang.stages.register.inbox import Verdict
from bobusang.stages.register.market import Family, Key, Notice, Word
from bobusang.stages.register.refusing import digest
from bobusang.stages.register.settling import refused, wait_key
from bobusang.stages.register.tables import CallState, InboxState

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime, timedelta

    from bobusang.kit.db import Tx
    from bobusang.stages.register.attributing import Earlier
    from bobusang.stages.register.calls import MarketCall
    from bobusang.stages.register.inbox import Webhook
    from bobusang.stages.register.market import Difference, Market
    from bobusang.stages.register.model import Account, Draft, Listing, State

ESSENTIAL = frozenset({"price", "variants", "status"})
COUNTED_DOWN = "order_quantity"
"""What buyers change: as it was before a call, it may have been changed twice."""
LIMIT = 200


@dataclass(frozen=True, slots=True)
class Moved:
    """A listing that the market has spoken of; `keys` wake who waits for the verdict."""

    listing_id: int
    product_id: int
    state: State
    market_id: str
    price: int | None
    keys: tuple[str, ...] = ()
    unasked: bool = False
    """A word that was no verdict made it otherwise: who thought it right must look again."""


@dataclass(slots=True)
class _Desk:
    """What a batch of webhooks works on."""

    market: Market
    now: datetime
    listings: dict[int, Listing]
    calls: dict[int, MarketCall]
    """By listing, the last one."""
    earlier: Mapping[int, Sequence[Earlier]]
    """By listing of which a failure is told, the calls that it may be about."""
    overtaken: Mapping[int, Sequence[MarketCall]]
    """By listing, the calls whose verdict was not waited for."""
    rests: Mapping[int, timedelta]
    """By listing that an outage hit, how long it rests."""
    drifts: dict[int, str | None] = field(default_factory=dict)
    touched: set[int] = field(default_factory=set)
    closed: dict[int, int] = field(default_factory=dict)
    """By listing, the call that got its verdict."""
    unasked: set[int] = field(default_factory=set)
    """Listings that a word made otherwise which was no verdict."""
    halts: list[holds.Halt] = field(default_factory=list)


async def apply(
    tx: Tx, account: Account, market: Market, *, limit: int = LIMIT, only: int | None = None
) -> list[Moved]:
    """Apply what has come in, or one of it alone, in the order of the market's own times."""
    taken = await inbox.take(tx, account.id, limit=limit, only=only)
    if not taken:
        return []
    read = [(webhook, _read(market, webhook)) for webhook in taken]
    notices = [notice for _, notice in read if isinstance(notice, Notice)]
    found = await listings.named(tx, account.id, notices)
    desk = await _desk(tx, account, market, found, notices)
    verdicts = [_applied(desk, webhook, notice) for webhook, notice in sorted(read, key=_order)]
    await _save(tx, account, desk)
    await inbox.save(tx, verdicts)
    return [_moved(desk, id) for id in sorted(desk.touched)]


async def _desk(
    tx: Tx, account: Account, market: Market, found: dict[int, Listing], notices: Sequence[Notice]
) -> _Desk:
    last = await calls.last(tx, found)
    failed = [(_meant(found, notice), notice) for notice in notices if notice.word is Word.FAILED]
    meant = [(last[listing.id], notice) for listing, notice in failed if listing is not None and listing.id in last]
    uids = [notice.request_uid for _, notice in meant]
    earlier = await attributing.earlier(tx, [call.listing_id for call, _ in meant], uids)
    rests = await outages.rests(tx, account.id, [(call, notice.problems) for call, notice in meant])
    stocked = [id for id, call in last.items() if call.kind.by_stock]  # nothing else overtakes
    overtaken = await calls.overtaken(tx, stocked, attributing.LATEST)
    return _Desk(market, tx.now, found, last, earlier, overtaken, rests)


def _read(market: Market, webhook: Webhook) -> Notice | str:
    try:
        return market.notice(webhook.headers, webhook.body)
    except Invalid as error:
        return str(error)
    except Exception as error:  # whatever is odd about one must not keep the others waiting
        log.get("webhooks").exception("a webhook cannot be read", webhook=webhook.id)
        return f"nobody can read it: {error!r}"


def _order(item: tuple[Webhook, Notice | str]) -> tuple[str, int]:
    webhook, notice = item
    said = notice.updated if isinstance(notice, Notice) else ""
    return said or text(webhook.received_at), webhook.id


def _applied(desk: _Desk, webhook: Webhook, notice: Notice | str) -> Verdict:
    if isinstance(notice, str):
        return Verdict(webhook.id, InboxState.UNREADABLE, notice)
    listing = _meant(desk.listings, notice)
    match notice.word:
        case Word.OTHER:
            return Verdict(webhook.id, InboxState.OTHER, notice.event)
        case _ if listing is None:
            note = f"no listing has id '{notice.market_id}' or reference '{notice.reference}'"
            return Verdict(webhook.id, InboxState.UNMATCHED, note)
        case Word.STANDS:
            return _stands(desk, webhook.id, notice, listing)
        case Word.FAILED:
            return _failed(desk, webhook.id, notice, listing)


def _meant(found: Mapping[int, Listing], notice: Notice) -> Listing | None:
    every = found.values()
    by_id = next((one for one in every if notice.market_id and one.market_id == notice.market_id), None)
    return by_id or next((one for one in every if notice.reference and one.reference == notice.reference), None)


def _stands(desk: _Desk, id: int, notice: Notice, listing: Listing) -> Verdict:
    if listing.market_id and listing.market_id != notice.market_id:
        reason = (
            f"the market has two products with reference {listing.reference}: {listing.market_id}, {notice.market_id}"
        )
        desk.halts.append(holds.Halt(listing.id, Trip(Guard.TWO_PRODUCTS, reason), digest(notice.market_id)))
        return Verdict(id, InboxState.CONFLICT, reason, listing.id)
    if notice.updated and notice.updated < listing.market_updated:
        return Verdict(id, InboxState.STALE, f"the market has spoken since: {listing.market_updated}", listing.id)
    state = desk.market.abilities.states.get(notice.status)
    if state is None:
        return Verdict(id, InboxState.UNREADABLE, f"the state '{notice.status}' is not known", listing.id)
    call = desk.calls.get(listing.id)
    differences = desk.market.differences(call.request.body, notice.product) if call is not None else ()
    is_open = call is not None and call.state.is_open and listing.open_call == call.id
    agreed = is_open and call is not None and _did(desk, notice, listing, call, differences)
    base = _base(desk, notice, listing, call, agreed=agreed)
    after = desk.listings[listing.id] = replace(
        listing,
        market_id=notice.market_id,
        state=state,
        confirmed=None if base is None else desk.market.corrected(base, notice.product),
        market_updated=max(notice.updated, listing.market_updated),
        open_call=None if agreed else listing.open_call,
        refusal=None if agreed else listing.refusal,
        shipping_charge=listing.shipping_charge if notice.shipping_charge is None else notice.shipping_charge,
    )
    drift = json.dumps(differences) if differences else None
    desk.drifts[listing.id] = drift
    desk.touched.add(listing.id)
    if call is not None and agreed:
        _confirm(desk, call, drift)
    elif _sold_as(after) != _sold_as(listing):
        desk.unasked.add(listing.id)
    return Verdict(id, InboxState.APPLIED, "" if agreed else "no call was waiting for this", listing.id, _id(call))


def _sold_as(listing: Listing) -> tuple[State, Draft | None, int | None]:
    """What a comparison begins with."""
    return listing.state, listing.confirmed, listing.shipping_charge


def _did(desk: _Desk, notice: Notice, listing: Listing, call: MarketCall, differences: Sequence[Difference]) -> bool:
    """Whether a word tells that the market has done this call. Texts may stand otherwise than we sent them, but not as
    they stood before; so may the end date, for an extension is about nothing else."""
    fields = {one.field for one in differences} - {COUNTED_DOWN}
    if fields & ESSENTIAL:
        return False
    undone = fields if call.kind is Kind.EXTEND else fields - {"available_until"}
    if not undone or listing.confirmed is None:
        return True
    before = desk.market.put(listing.confirmed, Key(listing.reference, listing.market_id))
    return undone <= {one.field for one in desk.market.differences(before.body, notice.product)}


def _base(desk: _Desk, notice: Notice, listing: Listing, call: MarketCall | None, *, agreed: bool) -> Draft | None:
    """Whose texts and options the market has: the call's that it agrees with, though another has overtaken that one,
    else those that were confirmed. Stock changes neither."""
    before = listing.confirmed
    if before is None or call is None:
        return before if call is None else call.draft
    if agreed:
        only_stock = call.request.family is Family.STOCK and before.options == call.draft.options
        return before if only_stock else call.draft
    for one in desk.overtaken.get(listing.id, ()):
        if _did(desk, notice, listing, one, desk.market.differences(one.request.body, notice.product)):
            return one.draft
    return before


def _confirm(desk: _Desk, call: MarketCall, drift: str | None) -> None:
    desk.closed[call.listing_id] = call.id
    desk.calls[call.listing_id] = replace(
        call, state=CallState.CONFIRMED, drift=drift, confirmed_at=desk.now, read_back_at=desk.now
    )


def _failed(desk: _Desk, id: int, notice: Notice, listing: Listing) -> Verdict:
    call = desk.calls.get(listing.id)
    if call is None or not call.state.is_open or listing.open_call != call.id:
        return Verdict(id, InboxState.STALE, "no call is open", listing.id)
    if doubt := attributing.doubt(notice.request_uid, call, desk.earlier.get(listing.id, ())):
        return Verdict(id, InboxState.STALE, doubt, listing.id, call.id)
    after = refused(listing, call, notice.problems, desk.now, outages.of(desk.rests, listing.id))
    assert after.refusal is not None
    desk.listings[listing.id] = after
    desk.calls[listing.id] = replace(
        call,
        state=CallState.REJECTED,
        request_uid=call.request_uid or notice.request_uid,
        problems=json.dumps(notice.problems),
        cause=after.refusal.cause,
    )
    desk.closed[listing.id] = call.id
    desk.touched.add(listing.id)
    return Verdict(id, InboxState.APPLIED, after.refusal.words, listing.id, call.id)


def _id(call: MarketCall | None) -> int | None:
    return None if call is None else call.id


async def _save(tx: Tx, account: Account, desk: _Desk) -> None:
    await calls.save(tx, [desk.calls[id] for id in desk.closed])
    await listings.save(tx, [desk.listings[id] for id in desk.touched])
    await listings.save_confirmed(tx, desk.drifts)
    await mirroring.mirror(tx, desk.market, [desk.listings[id].product_id for id in desk.touched])
    await holds.keep(tx, account.id, "webhook", desk.halts)
    await holds.answered(tx, list(desk.closed))
    await publish(tx, *(_event(account, desk, id) for id in sorted(desk.touched)))


def _event(account: Account, desk: _Desk, id: int) -> Event:
    moved = _moved(desk, id)
    call = desk.calls.get(id)
    told = {
        "listing_id": id,
        "product_id": moved.product_id,
        "account": f"{account.market}/{account.name}",
        "state": moved.state,
        "price": moved.price,
        "call": None if call is None or id not in desk.closed else call.state,
    }
    return Event("listing.changed", f"listing:{id}", told)


def _moved(desk: _Desk, id: int) -> Moved:
    listing = desk.listings[id]
    keys = (wait_key(desk.closed[id]),) if id in desk.closed else ()
    price = None if listing.confirmed is None else listing.confirmed.price
    return Moved(id, listing.product_id, listing.state, listing.market_id, price, keys, id in desk.unasked)
