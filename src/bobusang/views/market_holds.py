"""Sends that a guard stopped, and the webhooks that came in: what a person looks at when a market goes quiet."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import select

from bobusang.kit import json
from bobusang.kit.clock import utc
from bobusang.kit.db import Row, Tx
from bobusang.kit.errors import Missing
from bobusang.stages.register.guards import Guard
from bobusang.stages.register.tables import (
    HoldState,
    InboxState,
    listing_holds,
    listings,
    market_accounts,
    webhook_inbox,
)
from bobusang.views.columns import below

UNKNOWN = (InboxState.UNMATCHED, InboxState.UNREADABLE, InboxState.CONFLICT, InboxState.OTHER)
"""Genuine ones that changed nothing because nobody could tell what they mean."""
SHOWN = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class MarketHold:
    """A send that a guard stopped; `times`: how often the same was stopped. Another price is another hold."""

    id: int
    market: str
    account: str
    sku: str
    listing_id: int
    guard: Guard
    reason: str
    can_be_approved: bool
    state: HoldState
    times: int
    created_at: datetime
    updated_at: datetime
    decided_at: datetime | None
    decided_by: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class HoldFilter:
    """Which holds; what is not given does not matter."""

    state: HoldState | None = HoldState.HELD
    market: str | None = None
    account: str | None = None
    guard: Guard | None = None
    sku: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookLine:
    """A webhook as it came; `times`: how often the very same came."""

    id: int
    market: str
    account: str
    event: str
    state: InboxState
    note: str
    genuine: bool
    times: int
    listing_id: int | None
    call_id: int | None
    received_at: datetime
    applied_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookDetail(WebhookLine):
    """A webhook with its headers and the beginning of its body."""

    headers: dict[str, str]
    body: str


async def held(tx: Tx, wanted: HoldFilter, *, before: int | None, limit: int) -> list[MarketHold]:
    """Holds, newest first."""
    table, owner = listing_holds.c, market_accounts.c
    query = _holds().where(*below(table.id, before))
    named = (
        (table.state, wanted.state),
        (owner.market, wanted.market),
        (owner.name, wanted.account),
        (table.guard, wanted.guard),
        (listings.c.sku, wanted.sku),
    )
    for column, value in named:
        if value is not None:
            query = query.where(column == str(value))
    return [_hold(row) for row in await tx.fetch(query.order_by(table.id.desc()).limit(limit))]


async def some(tx: Tx, ids: Sequence[int]) -> list[MarketHold]:
    """Those of these holds that are still open, newest first."""
    table = listing_holds.c
    query = _holds().where(table.id.in_(sorted(set(ids))), table.state == HoldState.HELD.value)
    return [_hold(row) for row in await tx.fetch(query.order_by(table.id.desc()))] if ids else []


async def hold(tx: Tx, id: int) -> MarketHold:
    """One hold."""
    row = await tx.first(_holds().where(listing_holds.c.id == id))
    if row is None:
        raise Missing(f"there is no hold {id}", hint="`bobusang listing holds` shows them", field="id")
    return _hold(row)


async def webhooks(
    tx: Tx, states: tuple[InboxState, ...], *, account: str | None = None, before: int | None, limit: int
) -> list[WebhookLine]:
    """What came in, newest first; without states all of it."""
    table = webhook_inbox.c
    query = _inbox().where(*below(table.id, before))
    if states:
        query = query.where(table.state.in_([state.value for state in states]))
    if account is not None:
        query = query.where(market_accounts.c.name == account)
    return [WebhookLine(**_webhook(row)) for row in await tx.fetch(query.order_by(table.id.desc()).limit(limit))]


async def webhook(tx: Tx, id: int) -> WebhookDetail:
    """One webhook as it came."""
    row = await tx.first(_inbox().where(webhook_inbox.c.id == id))
    if row is None:
        raise Missing(f"there is no webhook {id}", hint="`bobusang listing webhooks` shows them", field="id")
    body = bytes(row["body"])[:SHOWN].decode(errors="replace")
    return WebhookDetail(**_webhook(row), headers=json.loads(row["headers"]), body=body)


def _holds() -> Any:
    table, owner = listing_holds.c, market_accounts.c
    return (
        select(listing_holds, owner.market, owner.name.label("account"), listings.c.sku)
        .join(market_accounts, owner.id == table.account_id)
        .join(listings, listings.c.id == table.listing_id)
    )


def _inbox() -> Any:
    owner = market_accounts.c
    columns = select(webhook_inbox, owner.market, owner.name.label("account"))
    return columns.join(market_accounts, owner.id == webhook_inbox.c.account_id)


def _hold(row: Row) -> MarketHold:
    same = ("id", "market", "account", "sku", "listing_id", "reason", "times")
    guard = Guard(row["guard"])
    return MarketHold(
        **{name: row[name] for name in same},
        guard=guard,
        can_be_approved=guard.can_be_approved,
        state=HoldState(row["state"]),
        created_at=utc(row["created_at"]),
        updated_at=utc(row["updated_at"]),
        decided_at=utc(row["decided_at"]),
        decided_by=row["decided_by"],
    )


def _webhook(row: Row) -> dict[str, Any]:
    same = ("id", "market", "account", "note", "times", "listing_id", "call_id")
    headers = json.loads(row["headers"])
    return {
        **{name: row[name] for name in same},
        "event": next((value for name, value in sorted(headers.items()) if name.endswith("-event")), ""),
        "state": InboxState(row["state"]),
        "genuine": bool(row["genuine"]),
        "received_at": utc(row["received_at"]),
        "applied_at": utc(row["applied_at"]),
    }
