"""Receipts: how each change of a listing went from the source to the market and back, and how fresh an account is."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from bobusang.kit.clock import utc
from bobusang.kit.sql import Statement
from bobusang.stages.register import listings
from bobusang.stages.register.calls import call_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bobusang.kit.db import Tx
    from bobusang.stages.register.calls import MarketCall
    from bobusang.stages.register.model import Listing, State

OF_LISTING = Statement("select * from market_calls where listing_id = :listing order by id desc limit :limit")
LATELY = Statement("""
    select seen_at, sent_at, confirmed_at from market_calls
    where account_id = :account and state = 'CONFIRMED' and kind in (:kinds...) and created_at > :since
    order by id desc limit :limit""")
OLDEST = Statement("""
    select min(created_at) as value from market_calls
    where account_id = :account and state in ('INTENT', 'ACCEPTED', 'UNKNOWN', 'LOST')""")
# By the few that are refused (for `is not null` SQLite takes no index): asked for account and state it reads them all.
REFUSED = Statement("""
    select count(*) as value from listings
    where refusal_cause > '' and coalesce(account_id, 0) = :account and coalesce(state, '') = 'LIVE'""")
KINDS = ("CREATE", "EDIT", "STOCK", "CLOSE", "REVIVE", "EXTEND")
SAMPLE = 10_000
DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Line:
    """One step of a receipt; without a time it has not happened."""

    step: str
    at: datetime | None


@dataclass(frozen=True, slots=True)
class Receipt:
    """One change of a listing. It is complete when the market's own words match ours."""

    listing: Listing
    call: MarketCall
    lines: tuple[Line, ...]

    @property
    def is_complete(self) -> bool:
        return self.call.read_back_at is not None and self.call.drift is None


@dataclass(frozen=True, slots=True)
class Freshness:
    """How an account stands, over the last day; times in seconds, None where nothing was confirmed."""

    by_state: dict[State, int]
    confirmed: int
    seen_to_sent: tuple[float, float] | None
    """Median and p95."""
    sent_to_confirmed: tuple[float, float] | None
    oldest_open: datetime | None
    """Since when the oldest call waits for its verdict."""
    refused: int = 0
    """Live listings whose last change the market refused: they look well, and are not what we want."""


async def receipts(tx: Tx, sku: str, *, limit: int = 5) -> list[Receipt]:
    """The last changes of a product's listings, newest first."""
    found = []
    for listing in await listings.by_sku(tx, sku):
        rows = await tx.fetch(OF_LISTING, listing=listing.id, limit=limit)
        found += [Receipt(listing, call, lines(call)) for call in map(call_of, rows)]
    return found


def lines(call: MarketCall) -> tuple[Line, ...]:
    """Source seen → changed → decided → intended → sent → accepted → confirmed → read back."""
    return (
        Line("seen", call.seen_at),
        Line("changed", call.changed_at),
        Line("decided", call.decided_at),
        Line("intended", call.created_at),
        Line("sent", call.sent_at),
        Line("accepted", call.accepted_at),
        Line("confirmed", call.confirmed_at),
        Line("read back", call.read_back_at),
    )


async def freshness(tx: Tx, account: int) -> Freshness:
    """The figures of an account."""
    rows = await tx.fetch(LATELY, account=account, kinds=list(KINDS), since=tx.now - DAY, limit=SAMPLE)
    times = [(utc(row["seen_at"]), utc(row["sent_at"]), utc(row["confirmed_at"])) for row in rows]
    return Freshness(
        await listings.by_state(tx, account),
        len(times),
        spread([(sent - seen).total_seconds() for seen, sent, _ in times if seen and sent]),
        spread([(confirmed - sent).total_seconds() for _, sent, confirmed in times if sent and confirmed]),
        utc(await tx.value(OLDEST, account=account)),
        int(await tx.value(REFUSED, account=account)),
    )


def spread(seconds: Sequence[float]) -> tuple[float, float] | None:
    """Median and p95."""
    if not seconds:
        return None
    ordered = sorted(seconds)
    return ordered[(len(ordered) - 1) // 2], ordered[(len(ordered) * 95 - 1) // 100]
