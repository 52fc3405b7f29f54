"""Subscriptions: who is sent which events, what could not be delivered, and trying that again."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any
from urllib.parse import urlsplit

from fastapi import Query
from pydantic import AfterValidator, BaseModel, Field
from pydantic_core import PydanticCustomError

from bobusang.entry.api.desk import Admin, Viewer
from bobusang.entry.api.fields import Form, Id, Name, Numeric, PathId
from bobusang.entry.api.pages import Page, Paged, page, unpack
from bobusang.entry.api.resource import Resource
from bobusang.kit.db import Tx
from bobusang.kit.errors import Missing
from bobusang.platform import subscriptions
from bobusang.platform.subscriptions import Backlog, DeadLetter, Subscription
from bobusang.platform.tables import SubscriptionState

router = Resource("subscriptions", "/subscriptions")


def _address(url: str) -> str:
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        usable = False
    if not usable:
        raise PydanticCustomError("address", "should be an address such as https://host/path")
    return url


class SubscriptionForm(Form):
    """A receiver of events; it gets what is published from now on, signed with the secret."""

    name: Name
    topics: Annotated[str, Field(min_length=1, max_length=1000, examples=["job.* source.changed"])]
    url: Annotated[str, Field(max_length=1000), AfterValidator(_address)]
    secret: Annotated[str | None, Field(min_length=16, max_length=500, description="made if left out")] = None


class PauseForm(Form):
    """Why it is paused."""

    reason: Annotated[str, Field(max_length=500)] = "paused by hand"


class RedriveForm(Form):
    """Which dead letters are tried again: these events, or the oldest."""

    events: Annotated[list[Id] | None, Field(min_length=1, max_length=1000)] = None
    limit: Annotated[int, Field(ge=1, le=1000), Numeric] = 100


class SubscriptionLine(BaseModel):
    """A subscription without its secret, and what it has waiting."""

    id: int
    name: str
    topics: str
    url: str
    state: SubscriptionState
    paused_reason: str | None
    hold_until: datetime | None
    failures: int
    last_error: str | None
    pending: int
    dead: int
    oldest_pending_at: datetime | None


class MadeSubscription(BaseModel):
    """A subscription just made: the only time that its secret is shown."""

    id: int
    name: str
    secret: str


class DeadEvent(BaseModel):
    """An event that could not be delivered."""

    event_id: int | None
    topic: str
    key: str
    payload: Any
    attempts: int
    error: str
    created_at: datetime | None
    died_at: datetime


class Again(BaseModel):
    """How many are tried again."""

    redriven: int


@router.get("", summary="List subscriptions")
async def list_subscriptions(desk: Viewer) -> Page[SubscriptionLine]:
    """By name."""
    async with desk.read() as tx:
        found, backlogs = await subscriptions.listed(tx), await subscriptions.backlogs(tx)
    return Page(items=[_line(one, backlogs.get(one.id, Backlog())) for one in found], next=None)


@router.post("", summary="Make a subscription", status_code=201)
async def make_subscription(desk: Admin, form: SubscriptionForm) -> MadeSubscription:
    """The secret is shown this once."""
    secret = form.secret or subscriptions.new_secret()

    async def work(tx: Tx) -> int:
        made = await subscriptions.create(tx, name=form.name, topics=form.topics, url=form.url, secret=secret)
        await desk.note(tx, "subscription.create", "subscription", made, after=form.model_dump(exclude={"secret"}))
        return made

    return MadeSubscription(id=await desk.write(work), name=form.name, secret=secret)


@router.delete("/{subscription_id}", summary="Delete a subscription", status_code=204)
async def delete_subscription(desk: Admin, subscription_id: PathId) -> None:
    """And all it had waiting."""
    await desk.act(
        "subscription.delete", "subscription", subscription_id, lambda tx: subscriptions.remove(tx, subscription_id)
    )


@router.post("/{subscription_id}/pause", summary="Pause a subscription")
async def pause_subscription(desk: Admin, subscription_id: PathId, form: PauseForm | None = None) -> SubscriptionLine:
    """Events are kept for when it is resumed."""
    reason = (form or PauseForm()).reason

    async def work(tx: Tx) -> SubscriptionLine:
        await subscriptions.pause(tx, subscription_id, reason)
        return await _one(tx, subscription_id)

    return await desk.act("subscription.pause", "subscription", subscription_id, work, after={"reason": reason})


@router.post("/{subscription_id}/resume", summary="Resume a subscription")
async def resume_subscription(desk: Admin, subscription_id: PathId) -> SubscriptionLine:
    """At once, where it stopped."""

    async def work(tx: Tx) -> SubscriptionLine:
        await subscriptions.resume(tx, subscription_id)
        return await _one(tx, subscription_id)

    return await desk.act("subscription.resume", "subscription", subscription_id, work)


@router.get("/{subscription_id}/dead-letters", summary="List what could not be delivered")
async def list_dead_events(desk: Viewer, subscription_id: PathId, query: Annotated[Paged, Query()]) -> Page[DeadEvent]:
    """Oldest first."""
    kind = f"subscriptions/{subscription_id}"
    after = unpack(kind, query.cursor) or 0
    async with desk.read() as tx:
        await _one(tx, subscription_id)
        found = await subscriptions.dead_letters(tx, subscription_id, limit=query.limit + 1, after=after)
    events = [_dead(letter) for letter in found]
    return page(kind, events, query.limit, lambda event: event.event_id or 0)


@router.post("/{subscription_id}/redrive", summary="Try deliveries again")
async def redrive_deliveries(desk: Admin, subscription_id: PathId, form: RedriveForm) -> Again:
    """Those named, or the oldest."""

    async def work(tx: Tx) -> int:
        return await subscriptions.redrive(tx, subscription_id, events=form.events, limit=form.limit)

    done = await desk.act("subscription.redrive", "subscription", subscription_id, work)
    return Again(redriven=done)


async def _one(tx: Tx, subscription_id: int) -> SubscriptionLine:
    found = next((one for one in await subscriptions.listed(tx) if one.id == subscription_id), None)
    if found is None:
        raise Missing(f"there is no subscription {subscription_id}", field="subscription_id")
    return _line(found, (await subscriptions.backlogs(tx)).get(found.id, Backlog()))


def _line(found: Subscription, backlog: Backlog) -> SubscriptionLine:
    return SubscriptionLine(
        id=found.id,
        name=found.name,
        topics=found.topics,
        url=found.url,
        state=found.state,
        paused_reason=found.paused_reason,
        hold_until=found.hold_until,
        failures=found.failures,
        last_error=found.last_error,
        pending=backlog.pending,
        dead=backlog.dead,
        oldest_pending_at=backlog.oldest,
    )


def _dead(letter: DeadLetter) -> DeadEvent:
    event = letter.event
    return DeadEvent(
        event_id=event.id,
        topic=event.topic,
        key=event.key,
        payload=event.payload,
        attempts=letter.attempts,
        error=letter.error,
        created_at=event.created_at,
        died_at=letter.died_at,
    )
