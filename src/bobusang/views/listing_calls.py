"""The calls behind a product's listings: each with its exact payload, the answer, and when each step happened."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from bobusang.kit.clock import utc
from bobusang.kit.db import Row, Tx
from bobusang.kit.sql import Statement
from bobusang.stages.register.calls import call_of
from bobusang.stages.register.diffing import Kind
from bobusang.stages.register.receipts import lines
from bobusang.stages.register.tables import CallState
from bobusang.views.columns import document
from bobusang.views.listings import ReceiptStep, lasted, stepped

OF_LISTINGS = Statement("""
    select * from market_calls where listing_id in (:listings...) order by id desc limit :limit""")


@dataclass(frozen=True, slots=True, kw_only=True)
class CallShown:
    """One call; `payload` and `answer` are texts exactly as they went over the wire."""

    id: int
    listing_id: int
    run_id: str
    kind: Kind
    state: CallState
    sends: int
    path: str
    payload: str
    answer: str | None
    request_uid: str | None
    cause: str | None
    problems: Sequence[dict[str, Any]]
    drift: Sequence[dict[str, Any]]
    quote: str
    complete: bool
    """What the market has is what was sent."""
    created_at: datetime
    seen_to_sent: float | None
    sent_to_confirmed: float | None
    seconds: float | None
    steps: list[ReceiptStep]


async def calls(tx: Tx, listing_ids: Sequence[int], limit: int) -> list[CallShown]:
    """The last calls of these listings, newest first."""
    rows = await tx.fetch(OF_LISTINGS, listings=list(listing_ids), limit=limit) if listing_ids else ()
    return [_shown(row) for row in rows]


def _shown(row: Row) -> CallShown:
    call = call_of(row)
    told = lines(call)
    return CallShown(
        id=call.id,
        listing_id=call.listing_id,
        run_id=row["run_id"],
        kind=call.kind,
        state=call.state,
        sends=call.sends,
        path=call.request.path,
        payload=call.request.body,
        answer=call.answer,
        request_uid=call.request_uid or None,
        cause=call.cause,
        problems=document(call.problems) or (),
        drift=document(call.drift) or (),
        quote=call.quote,
        complete=call.read_back_at is not None and call.drift is None,
        created_at=utc(row["created_at"]),
        seen_to_sent=_between(call.seen_at, call.sent_at),
        sent_to_confirmed=_between(call.sent_at, call.confirmed_at),
        seconds=lasted(told),
        steps=stepped(told),
    )


def _between(first: datetime | None, last: datetime | None) -> float | None:
    return None if first is None or last is None else (last - first).total_seconds()
