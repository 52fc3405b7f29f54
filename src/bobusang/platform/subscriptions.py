"""Who gets which events, and what a person does about it: pause, resume, look at dead letters, re-drive them."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from sqlalchemy import delete, func, insert, select, update

from bobusang.kit import json
from bobusang.kit.clock import utc
from bobusang.kit.errors import Conflict, Invalid, Missing
from bobusang.kit.sql import Bulk, Statement
from bobusang.platform.bus import DOORBELL, Event, brief
from bobusang.platform.tables import DeliveryState, SubscriptionState, deliveries, delivery_keys, subscriptions

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from bobusang.kit.db import Row, Tx

_COLUMNS = "id, name, topics, url, secret, state, paused_reason, hold_until, failures, last_error"
_LISTED = Statement(f"select {_COLUMNS} from subscriptions order by name")
_LOCK = Statement(
    f"select {_COLUMNS} from subscriptions where id = :id for update",
    sqlite=f"select {_COLUMNS} from subscriptions where id = :id",
)
_LOCK_ALL = Statement(
    f"select {_COLUMNS} from subscriptions order by id for update",
    sqlite=f"select {_COLUMNS} from subscriptions order by id",
)
KEYS = Bulk(delivery_keys, ("subscription_id", "event_key", "next_at"), keep=True)


@dataclass(frozen=True, slots=True)
class Subscription:
    """One receiver and the topics it wants; its secret is kept out of every text made of it."""

    id: int
    name: str
    topics: str
    url: str
    state: SubscriptionState
    secret: str | None = field(default=None, repr=False)
    paused_reason: str | None = None
    hold_until: datetime | None = None
    failures: int = 0
    last_error: str | None = None

    @property
    def scheme(self) -> str:
        """Which bus serves it."""
        return self.url.partition(":")[0].lower()


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """An event that one subscription could not be given."""

    subscription_id: int
    event: Event
    attempts: int
    error: str
    died_at: datetime


@dataclass(frozen=True, slots=True)
class Backlog:
    """What one subscription has waiting."""

    pending: int = 0
    dead: int = 0
    oldest: datetime | None = None


def new_secret() -> str:
    """256 random bits for signing."""
    return "whsec_" + secrets.token_urlsafe(32)


async def create(tx: Tx, *, name: str, topics: str, url: str, secret: str | None = None) -> int:
    """Add a receiver; it gets what is published from now on. Its id."""
    _check(name, topics, url, secret)
    values = {"name": name, "topics": topics, "url": url, "secret": secret, "created_at": tx.now, "updated_at": tx.now}
    return await tx.create(insert(subscriptions).values(state=SubscriptionState.ACTIVE, failures=0, **values))


async def ensure(tx: Tx, *, name: str, topics: str, url: str) -> None:
    """Have a receiver that the program itself declares; its state and backlog stay as they are."""
    _check(name, topics, url, None)
    found = await tx.first(select(subscriptions.c.topics, subscriptions.c.url).where(subscriptions.c.name == name))
    if found is None:
        bulk = Bulk(subscriptions, ("name", "topics", "url", "created_at", "updated_at"), keep=True)
        await tx.insert(bulk, [(name, topics, url, tx.now, tx.now)])
    elif found["url"] != url:
        raise Conflict(
            f"a subscription named '{name}' exists for {found['url']}", hint="rename one of them", field="name"
        )
    elif found["topics"] != topics:
        mine = subscriptions.c.name == name
        await tx.execute(update(subscriptions).where(mine).values(topics=topics, updated_at=tx.now))


async def listed(tx: Tx) -> list[Subscription]:
    """All of them, by name."""
    return [_read(row) for row in await tx.fetch(_LISTED)]


async def lock(tx: Tx, id: int) -> Subscription | None:
    """Hold the row until the end of the transaction: whoever changes what the receiver has waiting does this first."""
    row = await tx.first(_LOCK, id=id)
    return None if row is None else _read(row)


async def lock_all(tx: Tx) -> list[Subscription]:
    """Hold all rows, in the order of their ids."""
    return [_read(row) for row in await tx.fetch(_LOCK_ALL)]


async def pause(tx: Tx, id: int, reason: str) -> None:
    """Send nothing more; events are kept for when it is resumed."""
    await _change(tx, id, state=SubscriptionState.PAUSED, paused_reason=brief(reason))


async def resume(tx: Tx, id: int) -> None:
    """Go on, at once, where it stopped."""
    await _change(tx, id, state=SubscriptionState.ACTIVE, paused_reason=None, hold_until=None, failures=0)
    tx.ring(DOORBELL)


async def remove(tx: Tx, id: int) -> None:
    """Forget the receiver and all it had waiting."""
    await _locked(tx, id)
    await tx.execute(delete(deliveries).where(deliveries.c.subscription_id == id))
    await tx.execute(delete(delivery_keys).where(delivery_keys.c.subscription_id == id))
    await tx.execute(delete(subscriptions).where(subscriptions.c.id == id))


async def backlogs(tx: Tx) -> dict[int, Backlog]:
    """What waits, by subscription id."""
    by = (deliveries.c.subscription_id, deliveries.c.state)
    counted = select(*by, func.count().label("rows_"), func.min(deliveries.c.created_at).label("oldest")).group_by(*by)
    found: dict[int, dict[str, Row]] = {}
    for row in await tx.fetch(counted):
        found.setdefault(row["subscription_id"], {})[row["state"]] = row
    return {id: _backlog(states) for id, states in found.items()}


async def dead_letters(tx: Tx, id: int, *, limit: int = 100, after: int = 0) -> list[DeadLetter]:
    """The dead letters of one subscription, oldest first, from behind the event id `after`."""
    query = select(deliveries).where(*_dead(id), deliveries.c.event_id > after)
    rows = await tx.fetch(query.order_by(deliveries.c.event_id).limit(limit))
    return [
        DeadLetter(row["subscription_id"], event_of(row), row["attempts"], row["last_error"] or "", utc(row["since"]))
        for row in rows
    ]


async def redrive(tx: Tx, id: int, *, events: Sequence[int] | None = None, limit: int = 100) -> int:
    """Try dead letters again, the named ones or the oldest; how many."""
    await _locked(tx, id)
    query = select(deliveries.c.event_id, deliveries.c.event_key).where(*_dead(id))
    if events is not None:
        query = query.where(deliveries.c.event_id.in_(events))
    rows = await tx.fetch(query.order_by(deliveries.c.event_id).limit(limit))
    ids = [row["event_id"] for row in rows]
    again = update(deliveries).where(deliveries.c.subscription_id == id, deliveries.c.event_id.in_(ids))
    await tx.execute(again.values(state=DeliveryState.PENDING, since=tx.now, attempts=0))
    await tx.insert(KEYS, [(id, key, tx.now) for key in sorted({row["event_key"] for row in rows})])
    tx.ring(DOORBELL)
    return len(ids)


async def discard(tx: Tx, id: int, events: Sequence[int]) -> int:
    """Drop dead letters that nobody needs; how many."""
    return await tx.execute(delete(deliveries).where(*_dead(id), deliveries.c.event_id.in_(events)))


def event_of(row: Row) -> Event:
    """An event as a delivery row keeps it."""
    return Event(
        topic=row["topic"],
        key=row["event_key"],
        payload=json.loads(row["payload"]),
        id=row["event_id"],
        created_at=utc(row["created_at"]),
        headers=json.loads(row["headers"]) if row["headers"] else {},
    )


def _dead(id: int) -> tuple[Any, Any]:
    return deliveries.c.subscription_id == id, deliveries.c.state == DeliveryState.DEAD


def _backlog(states: dict[str, Row]) -> Backlog:
    pending, dead = states.get(DeliveryState.PENDING), states.get(DeliveryState.DEAD)
    return Backlog(
        pending["rows_"] if pending else 0, dead["rows_"] if dead else 0, utc(pending["oldest"]) if pending else None
    )


async def _locked(tx: Tx, id: int) -> Subscription:
    found = await lock(tx, id)
    if found is None:
        raise Missing(f"there is no subscription {id}")
    return found


async def _change(tx: Tx, id: int, **values: Any) -> None:
    await _locked(tx, id)
    await tx.execute(update(subscriptions).where(subscriptions.c.id == id).values(updated_at=tx.now, **values))


def _read(row: Row) -> Subscription:
    return Subscription(
        id=row["id"],
        name=row["name"],
        topics=row["topics"],
        url=row["url"],
        state=SubscriptionState(row["state"]),
        secret=row["secret"],
        paused_reason=row["paused_reason"],
        hold_until=utc(row["hold_until"]),
        failures=row["failures"],
        last_error=row["last_error"],
    )


def _check(name: str, topics: str, url: str, secret: str | None) -> None:
    if not 0 < len(name) <= 100:
        raise Invalid("a subscription needs a name of 1 to 100 characters", field="name")
    if not topics.split() or len(topics) > 1000:
        raise Invalid(
            f"'{name}' wants no topic", hint="write patterns such as 'job.* source.changed', or '*'", field="topics"
        )
    parts = urlsplit(url)
    web = parts.scheme in {"http", "https"}
    if not parts.scheme or len(url) > 1000 or (web and not parts.hostname):
        raise Invalid(f"'{name}' has no usable address", hint="write https://host/path", field="url")
    if web and (parts.username or parts.password):
        raise Invalid(f"the address of '{name}' holds a password", hint="the signature says who calls", field="url")
    if web and not 16 <= len(secret or "") <= 500:
        raise Invalid(f"'{name}' needs a secret of at least 16 characters to sign with", field="secret")
