"""The relay: moves committed events to their subscribers, at least once and in order per key.

One pass routes new events, then for each subscription claims a batch under a lease, sends it with no transaction open,
and settles the outcomes. A relay that dies in between leaves a lease that ends; then the events are sent again. Two
relays at once share the work; one that lost its lease changes nothing.
"""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING

from bobusang.kit import log as logs
from bobusang.platform import deliveries, subscriptions
from bobusang.platform.bus import Hold, Joined, Retry
from bobusang.platform.poison import divided
from bobusang.platform.tables import SubscriptionState

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from bobusang.kit.db import Database, Tx
    from bobusang.platform.bus import Bus, Event, Outcome, Subscriber
    from bobusang.platform.deliveries import Claim
    from bobusang.platform.subscriptions import Subscription

log = logs.get(__name__)

LEASE = timedelta(seconds=60)
PATIENCE_WITH_A_BATCH = 0.75
"""Of the lease: what is not done by then is given up, before somebody else may begin it."""
ROUNDS = 20
EXPIRE = timedelta(days=7)
KEEP_DEAD = timedelta(days=30)


class Relay:
    """Serves the subscriptions that its buses can reach. A slow bus is better served by a relay of its own."""

    def __init__(self, db: Database, buses: Sequence[Bus], *, lease: timedelta = LEASE) -> None:
        self._db = db
        self._buses = {scheme: bus for bus in buses for scheme in bus.schemes}
        self._lease = lease

    async def step(self, limit: int = 500) -> int:
        """One pass, at most `limit` events a subscription; how many were delivered. Zero means: wait (see `due`)."""
        await self._route(limit)
        async with self._db.read() as tx:
            found = await subscriptions.listed(tx)
            now = tx.now
        served = [(each, receiver) for each in found if _ready(each, now) and (receiver := self._open(each))]
        results = await asyncio.gather(*(self._serve(*each, limit) for each in served), return_exceptions=True)
        failures = [result for result in results if isinstance(result, BaseException)]
        if failures:
            raise failures[0]
        return sum(result for result in results if isinstance(result, int))

    async def due(self) -> datetime | None:
        """When the next pass has something to do: None means not before the doorbell `outbox` rings."""
        async with self._db.read() as tx:
            if await deliveries.unrouted(tx):
                return tx.now
            first = await deliveries.earliest(tx)
            active = [each for each in await subscriptions.listed(tx) if each.state is SubscriptionState.ACTIVE]
        mine = [each for each in active if each.id in first and self._open(each)]
        return min((max(first[each.id], each.hold_until or first[each.id]) for each in mine), default=None)

    async def prune(self, *, expire: timedelta = EXPIRE, keep_dead: timedelta = KEEP_DEAD, limit: int = 1000) -> int:
        """Bound what piles up: old waiting events become dead letters, old dead letters go; how many, `limit` each."""

        async def work(tx: Tx) -> tuple[int, int]:
            gone = await deliveries.forget(tx, tx.now - keep_dead, limit)
            return await deliveries.expire(tx, tx.now - expire, limit), gone

        expired, gone = await self._db.transact(work)
        if expired:
            log.warning("events expired", events=expired, days=expire.days)
        return expired + gone

    async def close(self) -> None:
        """Close the buses."""
        for bus in set(self._buses.values()):
            await bus.close()

    async def _route(self, limit: int) -> None:
        """Until nothing new is left or there is enough to send; events that nobody wants cost only their removal."""
        total = 0
        for _ in range(ROUNDS):
            async with self._db.read() as tx:
                if not await deliveries.unrouted(tx):
                    return
            seen, made = await self._db.transact(lambda tx: deliveries.route(tx, limit))
            total += made
            if seen < limit or total >= limit:
                return

    def _open(self, subscription: Subscription) -> Subscriber | Joined | None:
        bus = self._buses.get(subscription.scheme)
        return bus.open(subscription) if bus else None

    async def _serve(self, subscription: Subscription, receiver: Subscriber | Joined, limit: int) -> int:
        id = subscription.id
        claim = await self._db.transact(lambda tx: deliveries.claim(tx, id, limit=limit, lease=self._lease))
        if claim is None:
            return 0
        outcomes = await self._outcomes(claim, receiver)
        settled = await self._db.transact(lambda tx: deliveries.settle(tx, claim, outcomes, receiver.patience))
        for error, ids in settled.dead.items():
            log.error(
                "events are dead letters", subscription=subscription.name, events=ids[:10], count=len(ids), error=error
            )
        if settled.pause:
            log.error("subscription paused", subscription=subscription.name, reason=settled.pause.reason)
        elif settled.hold:
            log.warning("subscription waits", subscription=subscription.name, reason=settled.hold.reason)
        return len(settled.delivered)

    async def _outcomes(self, claim: Claim, receiver: Subscriber | Joined) -> Sequence[Outcome]:
        try:
            async with asyncio.timeout(self._lease.total_seconds() * PATIENCE_WITH_A_BATCH):
                if isinstance(receiver, Joined):
                    return await self._join(claim, receiver)
                outcomes = await receiver.deliver(claim.events)
                if len(outcomes) == len(claim.events):
                    return outcomes
                error = f"the bus gave {len(outcomes)} outcomes for {len(claim.events)} events"
        except TimeoutError:
            return [Retry("the batch took too long")] * len(claim.events)
        except Exception as raised:
            log.exception("delivering failed", subscription=claim.subscription.name)
            error = f"{type(raised).__name__}: {raised}"
        # The bus itself is at fault, so no event pays for it.
        return [Hold(error)] * len(claim.events)

    async def _join(self, claim: Claim, receiver: Joined) -> Sequence[Outcome]:
        """The effect of a batch and the mark that it was delivered, in one transaction."""

        async def consume(events: Sequence[Event]) -> None:
            async def work(tx: Tx) -> None:
                await receiver.apply(tx, events)
                await deliveries.delivered(tx, claim, events)

            await self._db.transact(work)

        return await divided(consume, claim.events)


def _ready(subscription: Subscription, now: datetime) -> bool:
    waits = subscription.hold_until is not None and subscription.hold_until > now
    return subscription.state is SubscriptionState.ACTIVE and not waits
