"""What a person takes off the market, and lets back; and since when people know that nobody has seen a source.

The listing keeps the wish, whoever plans it follows it: closed by a stock call that keeps its id, and never revived by
a page of the mall until a person opens it again.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from bobusang.kit.sql import Statement

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import timedelta

    from bobusang.kit.db import Tx

BY_PERSON = "person"
"""The run of calls by which a person's word is carried out: the guards of runs do not count them."""
NEVER = datetime(2000, 1, 1, tzinfo=UTC)
"""For `is not null` SQLite takes no index."""
REASON_LENGTH = 500
CLOSE = Statement("""
    update listings set closed_at = :now, closed_by = :who, closed_why = :why, updated_at = :now
    where id in (:ids...) and closed_at is null""")
OPEN = Statement("""
    update listings set closed_at = null, closed_by = null, closed_why = null, updated_at = :now
    where id in (:ids...) and closed_at is not null and retired = 0""")
# One that is under way to be closed needs nothing; another call is overtaken once nobody is sending it.
STILL_LIVE = Statement("""
    select l.id from listings l left join market_calls c on c.id = l.open_call
    where l.closed_at > :never and coalesce(l.account_id, 0) = :account and coalesce(l.state, '') = 'LIVE'
      and (l.open_call is null or (c.kind <> 'CLOSE'
        and (c.state in ('ACCEPTED', 'UNKNOWN') or (c.state = 'INTENT' and c.due_at <= :abandoned))))
    order by l.closed_at, l.id limit :limit""")
UNSEEN = Statement("update listings set unseen_at = :now where id in (:ids...) and unseen_at is null")
SEEN = Statement("update listings set unseen_at = null where id in (:ids...)")


async def close(tx: Tx, ids: Iterable[int], *, who: str, why: str) -> int:
    """Take listings off the market until somebody opens them again; how many were not closed already."""
    chosen = sorted(set(ids))
    return await tx.execute(CLOSE, ids=chosen, who=who[:200], why=why[:REASON_LENGTH], now=tx.now) if chosen else 0


async def open_again(tx: Tx, ids: Iterable[int]) -> int:
    """Let listings be sold again; how many were closed. One that is retired stays off for good."""
    chosen = sorted(set(ids))
    return await tx.execute(OPEN, ids=chosen, now=tx.now) if chosen else 0


async def still_live(tx: Tx, account: int, patience: timedelta, *, limit: int) -> list[int]:
    """Listings that a person closed and the market still sells, those that wait longest first."""
    told = {"account": account, "never": NEVER, "abandoned": tx.now + patience}
    return [row["id"] for row in await tx.fetch(STILL_LIVE, **told, limit=limit)]


async def unseen(tx: Tx, ids: Iterable[int]) -> None:
    """From now on people know that nobody has seen the sources of these."""
    if chosen := sorted(set(ids)):
        await tx.execute(UNSEEN, ids=chosen, now=tx.now)


async def seen(tx: Tx, ids: Iterable[int]) -> None:
    """Their sources were seen again."""
    if chosen := sorted(set(ids)):
        await tx.execute(SEEN, ids=chosen)
