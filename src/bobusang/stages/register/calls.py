"""The calls: an intent before anything is sent, its answer after, the verdict last; a token fences each send."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from bobusang.kit.clock import utc
from bobusang.kit.sql import Bulk, Revise, Statement
from bobusang.stages.register.closing import BY_PERSON
from bobusang.stages.register.diffing import Kind, Urgency, Way, way_of
from bobusang.stages.register.market import Family, Request
from bobusang.stages.register.model import Draft
from bobusang.stages.register.tables import CallState, market_calls

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime, timedelta

    from bobusang.kit.db import Row, Tx

LOCK = Statement(
    "select * from market_calls where id in (:ids...) order by id for update",
    sqlite="select * from market_calls where id in (:ids...) order by id",
)
OWNERS = Statement("select listing_id from market_calls where id in (:ids...)")
LAST = Statement("""
    select * from market_calls
    where id in (select max(id) from market_calls where listing_id in (:listings...) group by listing_id)""")
# A stock-out whose sender died does not wait for a verdict that may never come, once. Not `or`: SQLite would read all
# open calls of the account.
DUE = Statement("""
    select id, urgency, due_at from market_calls
    where account_id = :account and state in ('INTENT', 'ACCEPTED', 'UNKNOWN') and due_at <= :now
    union
    select id, urgency, due_at from market_calls
    where account_id = :account and state = 'INTENT' and due_at <= :abandoned and urgency = :urgent and sends = 1
    order by urgency, due_at, id limit :limit""")
OVERTAKEN = Statement("""
    select * from market_calls
    where listing_id in (:listings...) and state = 'SUPERSEDED' and updated_at > :since order by id desc""")
UNDER_WAY = Statement("""
    select listing_id, due_at from market_calls
    where id in (select max(id) from market_calls where listing_id in (:listings...) group by listing_id)
      and state in ('CONFIRMED', 'REJECTED') and due_at > :after""")
CLOSED = Statement("""
    select count(distinct listing_id) as value from market_calls
    where account_id = :account and kind = 'CLOSE' and created_at > :since and run_id <> :person""")
CHANGED = Statement("""
    select count(distinct listing_id) as value from market_calls
    where account_id = :account and run_id = :run
      and (kind in ('EDIT', 'REVIVE') or (kind = 'STOCK' and urgency > 0))""")

_NEW = Bulk(
    market_calls,
    (
        *("id", "listing_id", "account_id", "run_id", "kind", "family", "urgency", "path", "payload", "draft", "state"),
        *("open_key", "token", "sends", "due_at", "quote", "seen_at", "changed_at", "decided_at", "created_at"),
        "updated_at",
    ),
)
_KEEP = Revise(
    market_calls,
    "id",
    (
        *("state", "open_key", "token", "sends", "due_at", "request_uid", "answer", "problems", "cause", "drift"),
        *("sent_at", "accepted_at", "confirmed_at", "read_back_at", "updated_at"),
    ),
)

_drafts = msgspec.json.Decoder(Draft)


@dataclass(frozen=True, slots=True)
class MarketCall:
    """One call, from its intent to what became of it; its times are the receipt."""

    id: int
    listing_id: int
    account_id: int
    kind: Kind
    urgency: Urgency
    request: Request
    draft: Draft
    state: CallState
    token: int
    sends: int
    due_at: datetime
    created_at: datetime
    request_uid: str = ""
    answer: str | None = None
    problems: str | None = None
    cause: str | None = None
    drift: str | None = None
    quote: str = ""
    seen_at: datetime | None = None
    changed_at: datetime | None = None
    decided_at: datetime | None = None
    sent_at: datetime | None = None
    accepted_at: datetime | None = None
    confirmed_at: datetime | None = None
    read_back_at: datetime | None = None

    def has_sender(self, now: datetime, patience: timedelta) -> bool:
        """Whether somebody may be sending it now: his right to ends as long before it is due as verdicts take."""
        return self.state is CallState.INTENT and now < self.due_at - patience

    def is_due(self, now: datetime, patience: timedelta) -> bool:
        """Whether it is to be sent again."""
        is_abandoned = self.state is CallState.INTENT and not self.has_sender(now, patience)
        first_stock_out = self.urgency is Urgency.STOCK_OUT and self.sends == 1
        return self.state.is_open and (self.due_at <= now or (is_abandoned and first_stock_out))

    @property
    def way(self) -> Way:
        return way_of(self.kind, by_stock=self.request.family is Family.STOCK)


async def add(tx: Tx, run: str, calls: Sequence[MarketCall]) -> None:
    """Write intents."""
    rows = [
        (
            *(call.id, call.listing_id, call.account_id, run, call.kind, call.request.family, int(call.urgency)),
            *(call.request.path, call.request.body, msgspec.json.encode(call.draft).decode(), call.state),
            *(call.listing_id, call.token, call.sends, call.due_at, call.quote, call.seen_at, call.changed_at),
            *(call.decided_at, call.created_at, tx.now),
        )
        for call in calls
    ]
    await tx.insert(_NEW, rows)


async def save(tx: Tx, calls: Iterable[MarketCall]) -> None:
    """Keep what became of calls."""
    rows = [
        (
            *(call.id, call.state, call.listing_id if call.state.is_open else None, call.token, call.sends),
            *(call.due_at, call.request_uid or None, call.answer, call.problems, call.cause, call.drift),
            *(call.sent_at, call.accepted_at, call.confirmed_at, call.read_back_at, tx.now),
        )
        for call in sorted(calls, key=lambda call: call.id)
    ]
    await tx.revise(_KEEP, rows)


async def lock(tx: Tx, ids: Iterable[int]) -> dict[int, MarketCall]:
    """These calls, for nobody else to change."""
    chosen = sorted(set(ids))
    return {row["id"]: call_of(row) for row in (await tx.fetch(LOCK, ids=chosen) if chosen else ())}


async def of_listings(tx: Tx, ids: Iterable[int]) -> list[int]:
    """The listings of these calls: they are locked before their calls, by everybody."""
    chosen = sorted(set(ids))
    return [row["listing_id"] for row in (await tx.fetch(OWNERS, ids=chosen) if chosen else ())]


async def last(tx: Tx, listing_ids: Iterable[int]) -> dict[int, MarketCall]:
    """By listing, its last call; safe to change while the listing is locked."""
    chosen = sorted(set(listing_ids))
    rows = await tx.fetch(LAST, listings=chosen) if chosen else ()
    return {row["listing_id"]: call_of(row) for row in rows}


async def overtaken(tx: Tx, listing_ids: Iterable[int], span: timedelta) -> dict[int, list[MarketCall]]:
    """By listing, the calls that another overtook lately, newest first: the market may have done them all the same."""
    chosen = sorted(set(listing_ids))
    found: dict[int, list[MarketCall]] = {}
    for row in await tx.fetch(OVERTAKEN, listings=chosen, since=tx.now - span) if chosen else ():
        found.setdefault(row["listing_id"], []).append(call_of(row))
    return found


async def under_way(tx: Tx, listing_ids: Iterable[int], patience: timedelta) -> dict[int, datetime]:
    """Listings whose last call was judged while somebody still has the right to send it, and until when he has."""
    chosen = sorted(set(listing_ids))
    rows = await tx.fetch(UNDER_WAY, listings=chosen, after=tx.now + patience) if chosen else ()
    return {row["listing_id"]: utc(row["due_at"]) - patience for row in rows}


async def due(tx: Tx, account: int, patience: timedelta, *, limit: int) -> list[int]:
    """Calls that the market has not judged in time, and stock-outs whose sender has not told what became of them."""
    told = {"account": account, "now": tx.now, "abandoned": tx.now + patience, "urgent": int(Urgency.STOCK_OUT)}
    return [row["id"] for row in await tx.fetch(DUE, **told, limit=limit)]


async def closed(tx: Tx, account: int, span: timedelta) -> int:
    """How many listings were closed lately, other than by a person's word."""
    return int(await tx.value(CLOSED, account=account, since=tx.now - span, person=BY_PERSON))


async def changed(tx: Tx, account: int, run: str) -> int:
    """How many listings a run has edited or brought back, or offered more of (`deciding.rank`)."""
    return int(await tx.value(CHANGED, account=account, run=run))


def call_of(row: Row) -> MarketCall:
    """A call as it is kept."""
    return MarketCall(
        id=row["id"],
        listing_id=row["listing_id"],
        account_id=row["account_id"],
        kind=Kind(row["kind"]),
        urgency=Urgency(row["urgency"]),
        request=Request(Family(row["family"]), row["path"], row["payload"]),
        draft=_drafts.decode(row["draft"]),
        state=CallState(row["state"]),
        token=row["token"],
        sends=row["sends"],
        due_at=utc(row["due_at"]),
        created_at=utc(row["created_at"]),
        request_uid=row["request_uid"] or "",
        answer=row["answer"],
        problems=row["problems"],
        cause=row["cause"],
        drift=row["drift"],
        quote=row["quote"],
        **{name: utc(row[name]) for name in _TIMES},
    )


_TIMES = ("seen_at", "changed_at", "decided_at", "sent_at", "accepted_at", "confirmed_at", "read_back_at")
