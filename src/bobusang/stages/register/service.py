"""The register stage for one market: plan, send, settle, receive, apply, recover, preview.

plan(tx) ─ commit ─▶ send (network) ─▶ settle(tx) ─ commit ─▶ … receive(tx) ─ commit ─▶ apply(tx) ─ commit
Whoever dies between two of these loses nothing: `recover(tx)` gives the call out again, under the same reference.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from bobusang.stages.register import applying, calls, claims, holds, inbox, listings, recovering, retiring, settling
from bobusang.stages.register.deciding import Chosen, decide
from bobusang.stages.register.diffing import Idle
from bobusang.stages.register.guards import Guard
from bobusang.stages.register.market import Key
from bobusang.stages.register.model import Listing, Wanted
from bobusang.stages.register.planning import Planner

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from bobusang.kit.clock import Clock
    from bobusang.kit.db import Tx
    from bobusang.stages.register.applying import Moved
    from bobusang.stages.register.claims import Tried
    from bobusang.stages.register.deciding import Decision
    from bobusang.stages.register.holds import Hold
    from bobusang.stages.register.inbox import Received
    from bobusang.stages.register.market import Market, Outgoing, Request
    from bobusang.stages.register.model import Account, Draft
    from bobusang.stages.register.planning import Planned
    from bobusang.stages.register.settling import Sent, Settled

UNISSUED = "(issued at the first send)"


@dataclass(frozen=True, slots=True)
class Preview:
    """What a run would do with a listing, and nothing was done: the differences, and the exact call."""

    product_id: int
    decision: Decision
    changes: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)
    request: Request | None = None


@dataclass(frozen=True, slots=True)
class Register:
    """One market's accounts; `secret` finds a secret by its reference."""

    market: Market
    clock: Clock
    secret: Callable[[str], str]
    timeout: timedelta = timedelta(seconds=30)
    at_once: int = 16
    planner: Planner = field(init=False)

    def __post_init__(self) -> None:
        # Twice the time of a call: a sender that queues behind its own is not yet dead.
        object.__setattr__(self, "planner", Planner(self.market, self.timeout * 2))

    async def plan(self, tx: Tx, account: Account, run: str, wanteds: Sequence[Wanted]) -> list[Planned]:
        """First commit: what becomes of each, and intents for what is sent."""
        return await self.planner.plan(tx, account.id, run, wanteds)

    async def plan_limits(
        self, tx: Tx, account: Account, run: str, listing_ids: Sequence[int], seen: Mapping[int, datetime | None]
    ) -> list[Planned]:
        """First commit, for what limits these listings alone: a person closed them, or nobody has seen their sources
        (`seen`: by listing, when last). Nobody looks at their products."""
        found = await listings.some(tx, listing_ids)
        return await self.planner.limit(
            tx, account.id, run, {one.id: _unlooked(one, seen.get(one.id)) for one in found}
        )

    async def send(self, account: Account, outgoings: Sequence[Outgoing]) -> list[Sent]:
        """Send what was intended, some at once; nothing is open meanwhile. A right that has run out is not used."""
        token = self.secret(account.token_ref)
        gate = asyncio.Semaphore(self.at_once)
        found = await asyncio.gather(*(self._sent(gate, token, one) for one in outgoings))
        return [sent for sent in found if sent is not None]

    async def _sent(self, gate: asyncio.Semaphore, token: str, one: Outgoing) -> Sent | None:
        async with gate:
            at = self.clock.now()
            if at + self.timeout > one.until:
                return None
            return settling.Sent(one.call_id, one.token, at, await self.market.send(one.request, token, self.timeout))

    async def settle(self, tx: Tx, account: Account, sents: Sequence[Sent]) -> list[Settled]:
        """Second commit: the answers."""
        return await settling.settle(tx, account, sents)

    def checked(self, account: Account, headers: Mapping[str, str], body: bytes) -> Received:
        """A webhook to be stored by `inbox.store`; one that is not genuine nobody we know signed (401)."""
        return inbox.checked(account, self.market, self.secret(account.secret_ref), headers, body)

    async def receive(self, tx: Tx, account: Account, headers: Mapping[str, str], body: bytes) -> bool:
        """Store a webhook; whether it is genuine."""
        received = self.checked(account, headers, body)
        await inbox.store(tx, [received])
        return received.genuine

    async def apply(
        self, tx: Tx, account: Account, *, limit: int = applying.LIMIT, only: int | None = None
    ) -> list[Moved]:
        """Let webhooks take effect; wake every key of what comes back in the same transaction."""
        return await applying.apply(tx, account, self.market, limit=limit, only=only)

    async def overdue(self, tx: Tx, account: Account) -> bool:
        """Whether a call had no verdict in time."""
        return bool(await calls.due(tx, account.id, account.policy.patience, limit=1))

    async def recover(self, tx: Tx, account: Account, *, limit: int = recovering.LIMIT) -> list[Outgoing]:
        """What had no verdict in time, to be sent again."""
        return await recovering.recover(tx, account.id, self.timeout * 2, limit=limit)

    async def decide_hold(self, tx: Tx, id: int, *, approve: bool, who: str) -> Hold:
        """A person's word on a hold; the listing is sent with its next plan."""
        hold = await holds.decide(tx, id, approve=approve, who=who)
        if approve and hold.guard is Guard.UNANSWERED:
            await recovering.release(tx, hold.listing_id)
        return hold

    async def preview(
        self, tx: Tx, account: Account, wanteds: Sequence[Wanted], tried: Tried | None = None
    ) -> list[Preview]:
        """The exact differences and calls of a run, without a write (`--dry-run`); run and budget are not judged. What
        comes part by part remembers in `tried` which goods would be on sale by then."""
        found = await listings.known(tx, account.id, [wanted.product_id for wanted in wanteds])
        last = await calls.last(tx, [listing.id for listing in found.values()])
        approvals = await holds.approved(tx, [listing.id for listing in found.values()])
        looked = [
            (
                wanted,
                listing := found.get(wanted.product_id) or Listing(0, account.id, wanted.product_id, wanted.sku),
                decide(wanted, listing, account, self.market, tx.now, last=last.get(listing.id), approvals=approvals),
            )
            for wanted in wanteds
        ]
        wishes = [(wanted, listing) for wanted, listing, decision in looked if claims.puts_on_sale(decision)]
        stopped: dict[int, Decision] = {}
        if not account.policy.doubles:
            stopped |= await claims.stopped(tx, account.id, wishes, approvals, tried)
        waited = await retiring.in_the_way(tx, account.id, [wanted.product_id for wanted, _ in wishes])
        stopped |= {id: Idle(one.words, is_refused=True) for id, one in waited.items()}
        looked = [(wanted, listing, stopped.get(wanted.product_id, decision)) for wanted, listing, decision in looked]
        if tried is not None:
            claims.would_put(tried, (wanted for wanted, _, decision in looked if claims.takes_goods(decision)))
        return [self._preview(wanted, listing, decision) for wanted, listing, decision in looked]

    def _preview(self, wanted: Wanted, listing: Listing, decision: Decision) -> Preview:
        if not isinstance(decision, Chosen):
            return Preview(wanted.product_id, decision)
        request = self.planner.request(decision, Key(listing.reference or UNISSUED, listing.market_id))
        return Preview(wanted.product_id, decision, changes(listing.confirmed, decision.step.target), request)


def _unlooked(listing: Listing, seen_at: datetime | None) -> Wanted:
    """A wish that says nothing of the product but when it was last seen."""
    nothing: tuple[Any, ...] = ()
    return Wanted(
        *(listing.product_id, listing.sku, "", "", 0, 0, nothing, nothing, nothing, None, None, None),
        seen_at=seen_at,
        is_known=False,
    )


def changes(before: Draft | None, after: Draft) -> dict[str, tuple[Any, Any]]:
    """Field by field, what is there and what would be."""
    names = after.__struct_fields__
    told = {name: (None if before is None else getattr(before, name), getattr(after, name)) for name in names}
    return {name: pair for name, pair in told.items() if pair[0] != pair[1]}
