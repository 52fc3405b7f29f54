"""Listings for the doors: where each stands, its receipts from the source to the read-back, and figures by account."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

import msgspec
from sqlalchemy import select

from bobusang.kit.clock import utc
from bobusang.kit.db import Row, Tx
from bobusang.kit.errors import Missing
from bobusang.stages.register import receipts as stage
from bobusang.stages.register.diffing import Kind
from bobusang.stages.register.model import State
from bobusang.stages.register.receipts import Line, Receipt
from bobusang.stages.register.tables import CallState, listings, market_accounts
from bobusang.views import accounts
from bobusang.views.columns import document


class _Confirmed(msgspec.Struct, frozen=True):
    """All that a list shows of a confirmed draft."""

    price: int


_confirmed = msgspec.json.Decoder(_Confirmed)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListingLine:
    """A listing in a list; the price is what the market has confirmed, in its own minor units."""

    id: int
    market: str
    account: str
    sku: str
    product_id: int
    state: State
    market_id: str | None
    price: int | None
    available_until: date | None
    open_call: int | None
    refused: str | None
    """Why the market last refused it, in plain words."""
    drifted: bool
    """Whether what the market has differs from what was sent."""
    confirmed_at: datetime | None
    closed_at: datetime | None
    """Since when a person does not want it on sale."""
    retired: bool
    """Whether its product has begun anew: it is closed for good, and another listing follows it."""
    updated_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ListingDetail(ListingLine):
    """A listing with what the market confirmed, what it refused, and what keeps it from being sold."""

    reference: str | None
    refusal_cause: str | None
    refusal_until: datetime | None
    drift: Any
    confirmed: dict[str, Any] | None
    closed_by: str | None
    closed_why: str | None
    unseen_at: datetime | None
    """Since when people know that nobody has seen its source for long."""
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiptStep:
    """One step of a receipt; without a time it has not happened. `seconds` is since the step before it."""

    step: str
    at: datetime | None
    seconds: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiptShown:
    """How one change went from the source to the market and back."""

    listing_id: int
    market: str
    account: str
    sku: str
    call_id: int
    kind: Kind
    state: CallState
    sends: int
    request_uid: str | None
    quote: str | None
    cause: str | None
    problems: Any
    drift: Any
    complete: bool
    seconds: float | None
    """From the first step to the last that has happened."""
    steps: list[ReceiptStep]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """Seconds."""

    median: float
    p95: float


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountFreshness:
    """How an account stands, over the last day."""

    market: str
    account: str
    listings: dict[str, int]
    confirmed: int
    seen_to_sent: Spread | None
    sent_to_confirmed: Spread | None
    oldest_open: datetime | None
    """Since when the oldest call waits for its verdict."""


async def of_sku(tx: Tx, sku: str) -> list[ListingDetail]:
    """A product's listings on all accounts, of each the present one first."""
    table = listings.c
    rows = await tx.fetch(lined().where(table.sku == sku).order_by(table.account_id, table.retired))
    if not rows:
        raise _missing(sku)
    return [
        ListingDetail(
            **_line(row),
            reference=row["reference"],
            refusal_cause=row["refusal_cause"],
            refusal_until=utc(row["refusal_until"]),
            drift=document(row["drift"]),
            confirmed=document(row["confirmed"]),
            closed_by=row["closed_by"],
            closed_why=row["closed_why"],
            unseen_at=utc(row["unseen_at"]),
            created_at=utc(row["created_at"]),
        )
        for row in rows
    ]


async def receipts(tx: Tx, sku: str, *, limit: int) -> list[ReceiptShown]:
    """The last changes of a product's listings, newest first."""
    found = await stage.receipts(tx, sku, limit=limit)
    if not found:
        await of_sku(tx, sku)
    owners = await accounts.names(tx)
    return [_receipt(one, *owners[one.listing.account_id]) for one in found]


async def freshness(tx: Tx) -> list[AccountFreshness]:
    """The figures of all accounts."""
    return [
        AccountFreshness(
            market=market,
            account=name,
            listings={state.value: count for state, count in found.by_state.items()},
            confirmed=found.confirmed,
            seen_to_sent=_spread(found.seen_to_sent),
            sent_to_confirmed=_spread(found.sent_to_confirmed),
            oldest_open=found.oldest_open,
        )
        for id, (market, name) in (await accounts.names(tx)).items()
        for found in [await stage.freshness(tx, id)]
    ]


def _missing(sku: str) -> Missing:
    hint = "`bobusang listing list` shows them; one that was never sent is perhaps held: `bobusang product held`"
    return Missing(f"there is no listing of '{sku}'", hint=hint, field="sku")


def lined() -> Any:
    """Listings with the market and the account of each."""
    table, owner = listings.c, market_accounts.c
    columns = (owner.market, owner.name.label("account"))
    return select(listings, *columns).join(market_accounts, owner.id == table.account_id)


def line_of(row: Row) -> ListingLine:
    """A row of `lined`."""
    return ListingLine(**_line(row))


def _line(row: Row) -> dict[str, Any]:
    same = ("id", "market", "account", "sku", "product_id", "market_id", "open_call")
    return {
        **{name: row[name] for name in same},
        "state": State(row["state"]),
        "price": _confirmed.decode(row["confirmed"]).price if row["confirmed"] else None,
        "available_until": row["available_until"] and date.fromisoformat(row["available_until"]),
        "refused": row["refusal_words"] or row["refusal_cause"],
        "drifted": row["drift"] is not None,
        "confirmed_at": utc(row["confirmed_at"]),
        "closed_at": utc(row["closed_at"]),
        "retired": row["retired"] != 0,
        "updated_at": utc(row["updated_at"]),
    }


def _receipt(one: Receipt, market: str, account: str) -> ReceiptShown:
    call = one.call
    return ReceiptShown(
        listing_id=one.listing.id,
        market=market,
        account=account,
        sku=one.listing.sku,
        call_id=call.id,
        kind=call.kind,
        state=call.state,
        sends=call.sends,
        request_uid=call.request_uid or None,
        quote=call.quote or None,
        cause=call.cause,
        problems=document(call.problems),
        drift=document(call.drift),
        complete=one.is_complete,
        seconds=lasted(one.lines),
        steps=stepped(one.lines),
    )


def stepped(lines: Sequence[Line]) -> list[ReceiptStep]:
    """The steps of a call, each with how long it took."""
    steps: list[ReceiptStep] = []
    last: datetime | None = None
    for line in lines:
        seconds = (line.at - last).total_seconds() if line.at is not None and last is not None else None
        steps.append(ReceiptStep(step=line.step, at=line.at, seconds=seconds))
        last = line.at or last
    return steps


def lasted(lines: Sequence[Line]) -> float | None:
    """From the first step to the last that has happened."""
    times = [line.at for line in lines if line.at is not None]
    return (max(times) - min(times)).total_seconds() if len(times) > 1 else None


def _spread(found: tuple[float, float] | None) -> Spread | None:
    return None if found is None else Spread(median=found[0], p95=found[1])
