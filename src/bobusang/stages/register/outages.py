"""How long a listing rests after an outage: soon tried again, then ever later, and at once long when many were hit.

An outage is nobody's data: the market had a fault of its own, or could not fetch a picture. Each try costs a call, so
one that hits everybody must not use up the day's.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from bobusang.kit.sql import Statement
from bobusang.stages.register.market import Cause
from bobusang.stages.register.tables import CallState

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bobusang.kit.db import Tx
    from bobusang.stages.register.calls import MarketCall
    from bobusang.stages.register.market import Problem

FIRST_REST = timedelta(minutes=1)
LONGEST_REST = timedelta(minutes=30)
MANY = 20
LATELY = timedelta(hours=1)
REMEMBERED = timedelta(days=1)
LAST = Statement("""
    select listing_id, state, cause from market_calls
    where listing_id in (:listings...) and updated_at > :since order by id desc""")
CROWD = Statement("""
    select count(*) as value from (
      select 1 as one from market_calls
      where account_id = :account and state = 'REJECTED' and cause = 'outage' and due_at > :since limit :most) as x""")


async def rests(tx: Tx, account: int, refused: Sequence[tuple[MarketCall, Sequence[Problem]]]) -> dict[int, timedelta]:
    """By listing, how long each of these calls rests that came to nothing by an outage alone."""
    hit = sorted({call.listing_id for call, problems in refused if {one.cause for one in problems} == {Cause.OUTAGE}})
    if not hit:
        return {}
    crowd = int(await tx.value(CROWD, account=account, since=tx.now - LATELY, most=MANY))
    if crowd + len(hit) > MANY:
        return dict.fromkeys(hit, LONGEST_REST)
    times = dict.fromkeys(hit, 0)
    over: set[int] = set()
    for row in await tx.fetch(LAST, listings=hit, since=tx.now - REMEMBERED):
        id, state = row["listing_id"], CallState(row["state"])
        if id in over or state.is_open:
            continue
        if state is CallState.REJECTED and row["cause"] == Cause.OUTAGE:
            times[id] += 1
        else:
            over.add(id)
    return {id: rest(count) for id, count in times.items()}


def rest(times: int) -> timedelta:
    """The rest after so many outages in a row before this one."""
    longest: timedelta = min(FIRST_REST * 2 ** min(times, 10), LONGEST_REST)
    return longest


def of(rests: Mapping[int, timedelta], listing: int) -> timedelta:
    """The rest of a listing; the longest where nobody looked."""
    return rests.get(listing, LONGEST_REST)
