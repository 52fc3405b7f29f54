"""What stopped on its way to a market or back: sends that a guard held, and the webhooks that came in."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from pydantic import Field

from bobusang.entry.api.desk import Desk, Operator, Viewer
from bobusang.entry.api.fields import Capitals, PathId
from bobusang.entry.api.pages import Page, Paged, page, unpack
from bobusang.entry.api.resource import Resource
from bobusang.entry.api.selling import Account, Market, Sku
from bobusang.kit.db import Tx
from bobusang.kit.errors import Conflict
from bobusang.stages.register import accounts, inbox
from bobusang.stages.register.guards import Guard
from bobusang.stages.register.tables import HoldState, InboxState
from bobusang.views import market_holds as view
from bobusang.views.market_holds import UNKNOWN, HoldFilter, MarketHold, WebhookDetail, WebhookLine

router = Resource("market holds")


class HoldQuery(Paged):
    """Which holds."""

    state: Annotated[HoldState, Capitals] = HoldState.HELD
    market: Market | None = None
    account: Account | None = None
    guard: Guard | None = None
    sku: Sku | None = None


class InboxQuery(Paged):
    """Which webhooks."""

    account: Account | None = None
    state: Annotated[InboxState | None, Capitals] = None
    unknown: Annotated[bool, Field(description="only those of which nobody could tell what they mean")] = False


@router.get("/market-holds", summary="List held sends")
async def list_holds(desk: Viewer, query: Annotated[HoldQuery, Query()]) -> Page[MarketHold]:
    """Newest first; the open ones unless `state` says otherwise."""
    before = unpack("market-holds", query.cursor)
    wanted = HoldFilter(state=query.state, market=query.market, account=query.account, guard=query.guard, sku=query.sku)
    async with desk.read() as tx:
        found = await view.held(tx, wanted, before=before, limit=query.limit + 1)
    return page("market-holds", found, query.limit, lambda hold: hold.id)


@router.post("/market-holds/{hold_id}/approve", summary="Approve a held send")
async def approve_hold(desk: Operator, hold_id: PathId) -> MarketHold:
    """Exactly this may be sent for a day, with the listing's next run; 409 where no person may let it out, and where
    something else would be sent by now: that has a hold of its own."""
    return await _decide(desk, hold_id, approve=True)


@router.post("/market-holds/{hold_id}/reject", summary="Reject a held send")
async def reject_hold(desk: Operator, hold_id: PathId) -> MarketHold:
    """Exactly this stays unsent."""
    return await _decide(desk, hold_id, approve=False)


async def _decide(desk: Desk, hold_id: int, *, approve: bool) -> MarketHold:
    async def work(tx: Tx) -> MarketHold:
        await view.hold(tx, hold_id)
        decided = await desk.app.belt.register.decide_hold(tx, hold_id, approve=approve, who=desk.actor)
        action = "market_hold.approve" if approve else "market_hold.reject"
        await desk.note(tx, action, "market_hold", hold_id, before={"state": decided.state}, after=decided.reason)
        return await view.hold(tx, hold_id)

    return await desk.write(work)


@router.get("/webhook-inbox", summary="List webhooks")
async def list_webhooks(desk: Viewer, query: Annotated[InboxQuery, Query()]) -> Page[WebhookLine]:
    """What came in, newest first: applied, stale, unknown or forged."""
    before = unpack("webhook-inbox", query.cursor)
    states = UNKNOWN if query.unknown else (query.state,) if query.state else ()
    async with desk.read() as tx:
        found = await view.webhooks(tx, states, account=query.account, before=before, limit=query.limit + 1)
    return page("webhook-inbox", found, query.limit, lambda webhook: webhook.id)


@router.get("/webhook-inbox/{webhook_id}", summary="Show a webhook")
async def show_webhook(desk: Viewer, webhook_id: PathId) -> WebhookDetail:
    """With its headers and the beginning of its body."""
    async with desk.read() as tx:
        return await view.webhook(tx, webhook_id)


@router.post("/webhook-inbox/{webhook_id}/replay", summary="Apply a webhook again")
async def replay_webhook(desk: Operator, webhook_id: PathId) -> WebhookDetail:
    """Whatever became of it; 409 for a forged one, and for one that waits to be applied anyway."""

    async def work(tx: Tx) -> WebhookDetail:
        found = await view.webhook(tx, webhook_id)
        owner = await accounts.named(tx, found.market, found.account)
        if not await inbox.replay(tx, owner.id, [webhook_id]):
            why = "waits to be applied anyway" if found.genuine else "is forged: nobody we know signed it"
            raise Conflict(f"webhook {webhook_id} {why}", field="webhook_id")
        await desk.note(tx, "webhook.replay", "webhook", webhook_id, before={"state": found.state})
        return await view.webhook(tx, webhook_id)

    return await desk.write(work)
