"""Whose failure a webhook tells of: the market names the request, and an answer that was lost took its name with it.

A failure says no time and not what was asked, so its name is all there is. Where it cannot be told, the call stays
open and is sent again under the same reference: the verdict on that send has a name that we know.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from bobusang.kit.sql import Statement
from bobusang.stages.register.tables import CallState

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bobusang.kit.db import Tx
    from bobusang.stages.register.calls import MarketCall

LATEST = timedelta(days=1)
"""How long after a call its failure may still come: the market repeats for an hour what we did not take."""
EARLIER = Statement("""
    select listing_id, id, request_uid, state, sends from market_calls
    where listing_id in (:listings...) and (request_uid in (:uids...) or updated_at > :since) order by id""")


@dataclass(frozen=True, slots=True)
class Earlier:
    """Another call of the same listing whose failure may come."""

    id: int
    request_uid: str
    state: CallState
    sends: int

    @property
    def is_nameless(self) -> bool:
        """Whether a request of it may be at the market under a name that we never learnt. What was refused at once
        has none, and will be told of by nobody."""
        return self.sends > 1 or (not self.request_uid and self.state is not CallState.REJECTED)


async def earlier(tx: Tx, listing_ids: Iterable[int], uids: Iterable[str]) -> dict[int, list[Earlier]]:
    """By listing, the calls that a failure of these requests may be about."""
    chosen = sorted(set(listing_ids))
    if not chosen:
        return {}
    found: dict[int, list[Earlier]] = {id: [] for id in chosen}
    for row in await tx.fetch(EARLIER, listings=chosen, uids=sorted(set(uids)), since=tx.now - LATEST):
        one = Earlier(row["id"], row["request_uid"] or "", CallState(row["state"]), row["sends"])
        found[row["listing_id"]].append(one)
    return found


def doubt(uid: str, call: MarketCall, calls: Sequence[Earlier]) -> str:
    """Why a failure is not, or may not be, the verdict on this call; '' when it is. Pure."""
    others = [one for one in calls if one.id < call.id]
    if uid and call.request_uid:
        return "" if uid == call.request_uid else f"it is about the request {uid}"
    known = next((one for one in others if uid and one.request_uid == uid), None)
    if known is not None:
        return f"it is about the request {uid} of call {known.id}"
    suspects = [str(one.id) for one in others if not uid or one.is_nameless]
    if not suspects:
        return ""
    return f"it may be about call {', '.join(suspects)}: call {call.id} stays open, and is sent again"
