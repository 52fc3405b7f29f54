"""The first commit: decisions under the account's lock, then intents for what guards, run and budget let through."""

from __future__ import annotations

import secrets
from collections import Counter
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from bobusang.kit import ids
from bobusang.stages.register import accounts, calls, claims, holds, ledger, listings, retiring
from bobusang.stages.register.budget import DAY, SLOT, admitted, free_at
from bobusang.stages.register.calls import MarketCall
from bobusang.stages.register.deciding import Chosen, Faulty, Stopped, decide, effect, rank, run_guard
from bobusang.stages.register.diffing import Idle, Kind
from bobusang.stages.register.drafting import today
from bobusang.stages.register.guards import Guard, RunFacts, Trip, changing_trip, closing_trip
from bobusang.stages.register.market import Key, Outgoing
from bobusang.stages.register.model import State
from bobusang.stages.register.tables import CallState

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from bobusang.kit.db import Tx
    from bobusang.stages.register.deciding import Decision
    from bobusang.stages.register.market import Market, Request
    from bobusang.stages.register.model import Account, Listing, Wanted

LOOK = timedelta(seconds=10)
"""How often a product looks whether the listing before it is closed."""


@dataclass(frozen=True, slots=True)
class Postponed:
    """The budget is used up, or the market asked for a rest; nobody's fault."""

    until: datetime
    reason: str


@dataclass(frozen=True, slots=True)
class Planned:
    """What became of one wanted listing. `outgoing` is to be sent now, by us alone."""

    product_id: int
    decision: Decision | Postponed
    listing_id: int = 0
    outgoing: Outgoing | None = None


@dataclass(frozen=True, slots=True)
class _Item:
    wanted: Wanted
    listing: Listing
    decision: Decision | Postponed


def issued() -> str:
    """A reference nobody has: random, because a fresh database must not meet references of an older one."""
    return f"B{secrets.token_hex(10).upper()}"


@dataclass(frozen=True, slots=True)
class Planner:
    """Plans for one market."""

    market: Market
    lease: timedelta
    """How long a sender may take before it is thought dead."""
    issue: Callable[[], str] = issued

    async def plan(self, tx: Tx, account_id: int, run: str, wanteds: Sequence[Wanted]) -> list[Planned]:
        """Decide and write intents; what comes back is in the order asked. A product named twice is planned once."""
        account, blocked_until = await accounts.lock(tx, account_id)
        unique = {wanted.product_id: wanted for wanted in wanteds}
        found = await listings.wanted(tx, account.id, {id: wanted.sku for id, wanted in unique.items()})
        pairs = [(wanted, found[id]) for id, wanted in unique.items()]
        made = {one.product_id: one for one in await self._planned(tx, account, blocked_until, run, pairs)}
        return [made[wanted.product_id] for wanted in wanteds]

    async def limit(self, tx: Tx, account_id: int, run: str, wishes: Mapping[int, Wanted]) -> list[Planned]:
        """The same by listing, for those that are retired too: a product may have several."""
        account, blocked_until = await accounts.lock(tx, account_id)
        found = await listings.lock(tx, wishes)
        return await self._planned(tx, account, blocked_until, run, [(wishes[id], one) for id, one in found.items()])

    async def _planned(
        self,
        tx: Tx,
        account: Account,
        blocked_until: datetime | None,
        run: str,
        pairs: Sequence[tuple[Wanted, Listing]],
    ) -> list[Planned]:
        items = await self._decided(tx, account, pairs)
        items = await _through_claims(tx, account, items)
        items = await _behind_retired(tx, account, items)
        items = await _through_run(tx, account, run, items)
        items = await _behind_senders(tx, account, items)
        items = await _through_budget(tx, account, blocked_until, items, self.lease)
        await _hold(tx, account, run, items)
        sent = await self._intend(tx, account, run, items)
        return [
            Planned(item.wanted.product_id, item.decision, item.listing.id, sent.get(item.listing.id)) for item in items
        ]

    async def _decided(self, tx: Tx, account: Account, pairs: Sequence[tuple[Wanted, Listing]]) -> list[_Item]:
        asked = [one for wanted, one in pairs if one.open_call is not None or not wanted.is_known]
        last = await calls.last(tx, [listing.id for listing in asked])
        approvals = await holds.approved(tx, [listing.id for _, listing in pairs])
        return [
            _Item(
                wanted,
                listing,
                decide(wanted, listing, account, self.market, tx.now, last=last.get(listing.id), approvals=approvals),
            )
            for wanted, listing in pairs
        ]

    async def _intend(self, tx: Tx, account: Account, run: str, items: Sequence[_Item]) -> dict[int, Outgoing]:
        chosen = [(item, item.decision) for item in items if isinstance(item.decision, Chosen)]
        if not chosen:
            return {}
        overtaken = [choice.supersedes for _, choice in chosen if choice.supersedes is not None]
        await calls.save(tx, [replace(call, state=CallState.SUPERSEDED) for call in overtaken])
        fresh = await ids.sequence(tx, "market_call").take(tx, len(chosen))
        made = {
            item.listing.id: self._call(tx, id, account, item, choice)
            for id, (item, choice) in zip(fresh, chosen, strict=True)
        }
        await calls.add(tx, run, [call for call, _ in made.values()])
        await listings.save(tx, [listing for _, listing in made.values()])
        await ledger.book(tx, account.id, [call.request.family for call, _ in made.values()])
        if not account.policy.doubles:
            on_sale = [item for item, choice in chosen if claims.takes_goods(choice)]
            await claims.put(tx, account.id, [(item.wanted, item.listing) for item in on_sale])
        return {listing: outgoing(call, tx.now + self.lease) for listing, (call, _) in made.items()}

    def _call(self, tx: Tx, id: int, account: Account, item: _Item, choice: Chosen) -> tuple[MarketCall, Listing]:
        listing, wanted, step = item.listing, item.wanted, choice.step
        reference = listing.reference or self.issue()
        request = self.request(choice, Key(reference, listing.market_id))
        call = MarketCall(
            *(id, listing.id, account.id, step.kind, rank(step), request, step.target, CallState.INTENT),
            token=1,
            sends=1,
            due_at=tx.now + self.lease + account.policy.patience,
            created_at=tx.now,
            quote=wanted.quote,
            seen_at=wanted.seen_at,
            changed_at=wanted.changed_at,
            decided_at=wanted.decided_at,
        )
        state = State.SENT if step.kind is Kind.CREATE else listing.state
        moved = replace(listing, reference=reference, open_call=id, state=state)
        day = today(self.market.abilities, tx.now)
        if listing.day != day and listing.confirmed is not None:
            moved = replace(moved, day=day, day_price=listing.confirmed.price)
        return call, moved

    def request(self, choice: Chosen, key: Key) -> Request:
        """What would be sent."""
        if choice.step.by_stock:
            return self.market.stock(choice.step.target, key)
        return self.market.put(choice.step.target, key)


def outgoing(call: MarketCall, until: datetime) -> Outgoing:
    """The right to send a call once."""
    return Outgoing(call.id, call.token, call.request, until)


# --- what stops a batch ----------------------------------------------------------------------------------------------


async def _through_claims(tx: Tx, account: Account, items: Sequence[_Item]) -> list[_Item]:
    """What another mall's product is on sale for already is not put on sale, unless a person agrees."""
    wishes = [(item.wanted, item.listing) for item in items if claims.puts_on_sale(item.decision)]
    if account.policy.doubles or not wishes:
        return list(items)
    agreed = await holds.approved(tx, [listing.id for _, listing in wishes])
    stopped = await claims.stopped(tx, account.id, wishes, agreed)
    return [replace(item, decision=stopped.get(item.wanted.product_id, item.decision)) for item in items]


async def _behind_retired(tx: Tx, account: Account, items: Sequence[_Item]) -> list[_Item]:
    """What begins anew is not put on sale while the market may sell what was before: soon it does not, else with
    another run."""
    wishes = [item.listing.product_id for item in items if claims.puts_on_sale(item.decision)]
    found = await retiring.in_the_way(tx, account.id, wishes)
    return [
        replace(item, decision=_awaiting(one, account, tx.now))
        if (one := found.get(item.listing.product_id)) is not None and claims.puts_on_sale(item.decision)
        else item
        for item in items
    ]


def _awaiting(one: retiring.InTheWay, account: Account, now: datetime) -> Postponed | Idle:
    if now < one.since + account.policy.patience:
        return Postponed(now + LOOK, one.words)
    return Idle(one.words, is_refused=True)


async def _through_run(tx: Tx, account: Account, run: str, items: Sequence[_Item]) -> list[_Item]:
    """The switch of the account, then the shares of the run; what a person agreed to is not counted."""
    if not account.enabled:
        trip = Trip(Guard.SWITCH, f"the account is switched off: {account.stopped_why}")
        return [
            replace(item, decision=Stopped(trip, "")) if isinstance(item.decision, Chosen) else item for item in items
        ]
    trips = await _trips(tx, account, run, items)
    if not trips:
        return list(items)
    agreed = await holds.approved(tx, [item.listing.id for item in items])
    return [_tripped(item, trips, agreed) for item in items]


async def _trips(tx: Tx, account: Account, run: str, items: Sequence[_Item]) -> dict[Guard, Trip]:
    asked = [item for item in items if item.listing.closed_at is None]  # what a person closed is no accident
    guards = Counter(run_guard(item.decision.step) for item in asked if isinstance(item.decision, Chosen))
    if not guards.keys() - {None}:
        return {}
    closed = await calls.closed(tx, account.id, DAY)
    stopped = await holds.tripped(tx, account.id, run)
    facts = RunFacts(
        live=await listings.live(tx, account.id) + closed,
        closing=closed + guards[Guard.CLOSED],
        changing=await calls.changed(tx, account.id, run) + guards[Guard.CHANGED],
        closed_before=Guard.CLOSED in stopped,
        changed_before=Guard.CHANGED in stopped,
    )
    caution = account.policy.caution
    found = {Guard.CLOSED: closing_trip(caution, facts), Guard.CHANGED: changing_trip(caution, facts)}
    return {guard: trip for guard, trip in found.items() if trip is not None}


def _tripped(item: _Item, trips: Mapping[Guard, Trip], agreed: frozenset[tuple[int, str, str]]) -> _Item:
    """What becomes of it. A run that changes too much is not believed, so it closes nothing in place of a change."""
    if not isinstance(item.decision, Chosen) or item.listing.closed_at is not None:
        return item
    step, guard = item.decision.step, run_guard(item.decision.step)
    trip = None if guard is None else trips.get(guard)
    if trip is None or (item.listing.id, trip.guard, effect(step)) in agreed:
        return item
    if item.decision.otherwise is not None:
        return replace(item, decision=Chosen(item.decision.otherwise, item.decision.supersedes))
    return replace(item, decision=Stopped(trip, effect(step)))


async def _behind_senders(tx: Tx, account: Account, items: Sequence[_Item]) -> list[_Item]:
    """A call that is being sent again may be judged by the first send's webhook: what went out now would be undone."""
    chosen = [item.listing.id for item in items if isinstance(item.decision, Chosen)]
    busy = await calls.under_way(tx, chosen, account.policy.patience)
    return [
        replace(item, decision=Postponed(busy[item.listing.id], "its last call may still be on its way"))
        if isinstance(item.decision, Chosen) and item.listing.id in busy
        else item
        for item in items
    ]


async def _through_budget(
    tx: Tx, account: Account, blocked_until: datetime | None, items: Sequence[_Item], lease: timedelta
) -> list[_Item]:
    chosen = [item.decision for item in items if isinstance(item.decision, Chosen)]
    if not chosen:
        return list(items)
    if blocked_until is not None and blocked_until > tx.now:
        rest = Postponed(blocked_until, "the market asked for a rest")
        return [replace(item, decision=rest) if isinstance(item.decision, Chosen) else item for item in items]
    budget, used = account.policy.budget, await ledger.used(tx, account.id, lease)
    yes = iter(admitted(budget, used, tx.now, [(one.step.urgency, one.family) for one in chosen]))
    found = []
    for item in items:
        decision = item.decision
        if isinstance(decision, Chosen) and not next(yes):
            until = max(free_at(budget, used, tx.now, decision.step.urgency, decision.family), _soon(tx))
            decision = Postponed(
                until, "the calls of this hour or day are used up, the rest is kept for what is urgent"
            )
        found.append(replace(item, decision=decision))
    return found


def _soon(tx: Tx) -> datetime:
    """When only this batch took the room, it is there again after a slot."""
    return tx.now + SLOT


async def _hold(tx: Tx, account: Account, run: str, items: Sequence[_Item]) -> None:
    halts = [
        holds.Halt(item.listing.id, item.decision.trip, item.decision.digest)
        for item in items
        if isinstance(item.decision, Stopped) and item.decision.trip.guard is not Guard.SWITCH
    ]
    await holds.keep(tx, account.id, run, halts)
    free = [item.listing.id for item in items if isinstance(item.decision, Chosen | Idle | Faulty)]
    await holds.supersede(tx, free)
