"""The SQL of delivering: route events to subscriptions, claim keys under a lease, settle what came of it.

Whoever changes what a subscription has waiting locks its row first, for a short transaction without network. So two
relays never claim behind each other's back, which would break the order of a key, and a key's row is never removed
while an event for it arrives.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bobusang.kit.clock import utc
from bobusang.kit.errors import Conflict
from bobusang.kit.sql import Statement
from bobusang.platform import subscriptions
from bobusang.platform.bus import brief, wants
from bobusang.platform.settlement import held_until, settled
from bobusang.platform.subscriptions import KEYS, Subscription, event_of
from bobusang.platform.tables import SubscriptionState

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime, timedelta

    from bobusang.kit.db import Row, Tx
    from bobusang.platform.bus import Event, Outcome, Patience
    from bobusang.platform.settlement import Settlement

RUN = 20
"""A key with more events than this is read by itself, so that one busy key is never sorted whole."""
BUSY_KEYS = 8


class Lost(Conflict):
    """The lease ended and somebody else delivers these events: our effect must not be kept."""

    code = "lost"


@dataclass(frozen=True, slots=True)
class Claim:
    """Events of one subscription that nobody else sends while the lease lasts."""

    subscription: Subscription
    token: str
    events: tuple[Event, ...]
    attempts: Mapping[int, int]

    @property
    def keys(self) -> list[str]:
        """The keys that are leased."""
        return sorted({event.key for event in self.events})


# --- route: what nobody has looked at yet ----------------------------------------------------------------------------

_NEW = Statement("select id, topic, event_key from outbox order by id limit :limit")
_COPY = Statement(
    "insert into deliveries "
    "(subscription_id, event_id, topic, event_key, payload, headers, created_at, state, since, attempts) "
    "select s.id, o.id, o.topic, o.event_key, o.payload, o.headers, o.created_at, 'PENDING', o.created_at, 0 "
    "from outbox o join subscriptions s on s.id = :subscription where o.id in (:ids...)"
)
_ROUTED = Statement("delete from outbox where id in (:ids...)")


async def route(tx: Tx, limit: int) -> tuple[int, int]:
    """Move events to the subscriptions that want them; how many events were seen, and how many deliveries made.

    All rows are locked: were two relays to route side by side, the later of two events of a key could overtake.
    """
    receivers = await subscriptions.lock_all(tx)
    rows = await tx.fetch(_NEW, limit=limit)
    made = 0
    for receiver in receivers:
        wanted = [row for row in rows if wants(receiver.topics, row["topic"])]
        if wanted:
            made += await tx.execute(_COPY, subscription=receiver.id, ids=[row["id"] for row in wanted])
            keys = sorted({row["event_key"] for row in wanted})
            await tx.insert(KEYS, [(receiver.id, key, tx.now) for key in keys])
    if rows:
        await tx.execute(_ROUTED, ids=[row["id"] for row in rows])
    return len(rows), made


# --- claim -----------------------------------------------------------------------------------------------------------

_WAITING = (
    "from deliveries d "
    "where d.subscription_id = k.subscription_id and d.state = 'PENDING' and d.event_key = k.event_key"
)
_DUE = Statement(
    f"select k.event_key, (select min(d.event_id) {_WAITING}) as head, "
    f"(select d.event_id {_WAITING} order by d.event_id limit 1 offset :run) as beyond "
    "from delivery_keys k where k.subscription_id = :subscription and k.next_at <= :now order by k.next_at limit :limit"
)
_EVENTS = (
    "select event_id, topic, event_key, payload, headers, created_at, attempts from deliveries {hint}"
    "where subscription_id = :subscription and state = 'PENDING' and event_key {which} order by event_id limit :limit"
)
_NEXT_OF_ONE = Statement(_EVENTS.format(which="= :key", hint=""))
# Left to itself MariaDB walks the primary key, for the sake of the order, through all that waits for others.
_NEXT_OF_MANY = Statement(
    _EVENTS.format(which="in (:keys...)", hint=""),
    mariadb=_EVENTS.format(which="in (:keys...)", hint="force index (ix_deliveries_order) "),
)
_LEASE = Statement(
    "update delivery_keys set next_at = :until, token = :token "
    "where subscription_id = :subscription and event_key in (:keys...)"
)
# Not `not exists`: PostgreSQL makes a join of it, and reads all that waits.
_EMPTY = Statement(
    "delete from delivery_keys where subscription_id = :subscription and event_key in (:keys...) and "
    "(select min(d.event_id) from deliveries d where d.subscription_id = delivery_keys.subscription_id "
    "and d.state = 'PENDING' and d.event_key = delivery_keys.event_key) is null"
)


async def claim(tx: Tx, id: int, *, limit: int, lease: timedelta) -> Claim | None:
    """The next events of a subscription, in order, those of the keys that wait longest."""
    subscription = await subscriptions.lock(tx, id)
    if subscription is None or subscription.state is not SubscriptionState.ACTIVE:
        return None
    if subscription.hold_until is not None and subscription.hold_until > tx.now:
        return None
    due = await tx.fetch(_DUE, subscription=id, now=tx.now, run=RUN, limit=limit)
    empty = [row["event_key"] for row in due if row["head"] is None]
    if empty:
        await tx.execute(_EMPTY, subscription=id, keys=empty)
    rows = await _next(tx, id, due, limit)
    if not rows:
        return None
    events = tuple(event_of(row) for row in rows)
    made = Claim(subscription, secrets.token_hex(8), events, {row["event_id"]: row["attempts"] for row in rows})
    await tx.execute(_LEASE, subscription=id, keys=made.keys, token=made.token, until=tx.now + lease)
    return made


async def _next(tx: Tx, id: int, due: Sequence[Row], limit: int) -> list[Row]:
    """Busy keys take at most half, so that they hold up nobody and nobody holds them up."""
    busy = [row["event_key"] for row in due if row["beyond"] is not None][:BUSY_KEYS]
    quiet = [row["event_key"] for row in due if row["head"] is not None and row["beyond"] is None]
    share = max(1, (limit // 2 if quiet else limit) // max(1, len(busy)))
    rows: list[Row] = []
    for key in busy[:limit]:
        rows += await tx.fetch(_NEXT_OF_ONE, subscription=id, key=key, limit=share)
    if quiet and len(rows) < limit:
        rows += await tx.fetch(_NEXT_OF_MANY, subscription=id, keys=quiet, limit=limit - len(rows))
    return rows


# --- settle ----------------------------------------------------------------------------------------------------------

_OWNED = Statement(
    "select event_key from delivery_keys "
    "where subscription_id = :subscription and event_key in (:keys...) and token = :token"
)
_DELIVERED = Statement("delete from deliveries where subscription_id = :subscription and event_id in (:ids...)")
_FAILED = Statement(
    "update deliveries set attempts = attempts + 1, last_error = :error "
    "where subscription_id = :subscription and event_id in (:ids...)"
)
_DIED = Statement(
    "update deliveries set state = 'DEAD', since = :now, attempts = attempts + 1, last_error = :error "
    "where subscription_id = :subscription and event_id in (:ids...)"
)
_FREE = Statement(
    "update delivery_keys set next_at = :at, token = null "
    "where subscription_id = :subscription and event_key in (:keys...)"
)
_HELD = Statement(
    "update subscriptions set hold_until = :until, failures = failures + 1, last_error = :error where id = :id"
)
_WELL = Statement("update subscriptions set hold_until = null, failures = 0, last_error = null where id = :id")


async def delivered(tx: Tx, claim: Claim, events: Sequence[Event]) -> None:
    """Mark events in the transaction that holds their effect; raises `Lost` when they are no longer ours."""
    id = claim.subscription.id
    await subscriptions.lock(tx, id)
    keys = {event.key for event in events}
    owned = await tx.fetch(_OWNED, subscription=id, keys=sorted(keys), token=claim.token)
    gone = 0
    if len(owned) == len(keys):
        gone = await tx.execute(_DELIVERED, subscription=id, ids=[event.id for event in events])
    if gone != len(events):
        raise Lost(f"'{claim.subscription.name}' lost its lease")


async def settle(tx: Tx, claim: Claim, outcomes: Sequence[Outcome], patience: Patience) -> Settlement:
    """Write what came of a claim, as far as it is still ours, and free its keys."""
    id = claim.subscription.id
    subscription = await subscriptions.lock(tx, id)
    owned = {row["event_key"] for row in await tx.fetch(_OWNED, subscription=id, keys=claim.keys, token=claim.token)}
    result = settled(claim, outcomes, owned, patience, tx.now)
    if subscription is None or not owned:
        return result
    if result.delivered:
        await tx.execute(_DELIVERED, subscription=id, ids=result.delivered)
    for error, ids in result.failed.items():
        await tx.execute(_FAILED, subscription=id, ids=ids, error=error)
    for error, ids in result.dead.items():
        await tx.execute(_DIED, subscription=id, ids=ids, error=error, now=tx.now)
    for at, keys in result.waiting.items():
        await tx.execute(_FREE, subscription=id, keys=keys, at=at)
    free = sorted(owned - result.delayed)
    if free:
        await tx.execute(_EMPTY, subscription=id, keys=free)
        await tx.execute(_FREE, subscription=id, keys=free, at=tx.now)
    await _settle_subscription(tx, subscription, result)
    return result


async def _settle_subscription(tx: Tx, subscription: Subscription, result: Settlement) -> None:
    if result.pause is not None:
        await subscriptions.pause(tx, subscription.id, result.pause.reason)
    elif result.hold is not None:
        until = held_until(result.hold, subscription.failures, tx.now)
        await tx.execute(_HELD, id=subscription.id, until=until, error=brief(result.hold.reason))
    elif result.delivered and (subscription.failures or subscription.hold_until):
        await tx.execute(_WELL, id=subscription.id)


# --- what is due, and what has been there too long -------------------------------------------------------------------

_UNROUTED = Statement("select 1 as value from outbox limit 1")
_EARLIEST = Statement(
    "select s.id, (select k.next_at from delivery_keys k where k.subscription_id = s.id "
    "order by k.next_at limit 1) as next_at from subscriptions s"
)
_OLD = Statement(
    "select subscription_id, event_id from deliveries "
    "where state = :state and since < :before order by since limit :limit"
)


async def unrouted(tx: Tx) -> bool:
    """Is there an event that nobody has looked at?"""
    return await tx.value(_UNROUTED) is not None


async def earliest(tx: Tx) -> dict[int, datetime]:
    """When the first key of each subscription that has one is due, by subscription id."""
    return {row["id"]: utc(row["next_at"]) for row in await tx.fetch(_EARLIEST) if row["next_at"] is not None}


async def expire(tx: Tx, before: datetime, limit: int) -> int:
    """Make dead letters of what has waited since then: a subscriber that never comes back must not fill the disk."""
    rows = await tx.fetch(_OLD, state="PENDING", before=before, limit=limit)
    for id, ids in sorted(_by_subscription(rows).items()):
        await tx.execute(_DIED, subscription=id, ids=ids, now=tx.now, error="nobody took it in time")
    return len(rows)


async def forget(tx: Tx, before: datetime, limit: int) -> int:
    """Drop what has been dead since then."""
    rows = await tx.fetch(_OLD, state="DEAD", before=before, limit=limit)
    for id, ids in sorted(_by_subscription(rows).items()):
        await tx.execute(_DELIVERED, subscription=id, ids=ids)
    return len(rows)


def _by_subscription(rows: Sequence[Row]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for row in rows:
        found.setdefault(row["subscription_id"], []).append(row["event_id"])
    return found
