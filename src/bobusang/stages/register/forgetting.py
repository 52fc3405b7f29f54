"""What REGISTER forgets in time: webhooks that are done with, and the bodies of calls that later ones have overtaken.

A call keeps its row, its price and all its times: the receipt stays.
"""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING

import msgspec

from bobusang.kit.clock import utc
from bobusang.kit.sql import Revise, Statement
from bobusang.stages.register.model import Draft
from bobusang.stages.register.tables import market_calls

if TYPE_CHECKING:
    from datetime import datetime

    from bobusang.kit.db import Tx
    from bobusang.stages.register.tables import InboxState

LIMIT = 500

ACCOUNTS = Statement("select id from market_accounts order by id")
OLDEST = Statement("""
    select id, received_at from webhook_inbox where account_id = :account and state = :state
    order by id limit :limit""")
FORGET = Statement("delete from webhook_inbox where id in (:ids...)")
WALK = Statement("select id, created_at from market_calls where id > :after order by id limit :limit")
OVERTAKEN = Statement("""
    select c.id, c.draft from market_calls c join
      (select listing_id, max(id) as id from market_calls where id > :after and id <= :last group by listing_id) newer
      on newer.listing_id = c.listing_id and c.id < newer.id
    where c.payload <> '' order by c.id limit :limit""")
_SHORT = Revise(market_calls, "id", ("payload", "draft", "answer"))

_drafts = msgspec.json.Decoder(Draft)


async def webhooks(tx: Tx, state: InboxState, before: datetime, *, limit: int = LIMIT) -> int:
    """Forget webhooks in a state that came before then; how many. They are looked at in the order they came."""
    old: list[int] = []
    for account in await tx.fetch(ACCOUNTS):
        rows = await tx.fetch(OLDEST, account=account["id"], state=state, limit=limit)
        old += [row["id"] for row in takewhile(lambda row: utc(row["received_at"]) < before, rows)]
    return await tx.execute(FORGET, ids=old) if old else 0


async def bodies(tx: Tx, before: datetime, *, after: int = 0, limit: int = LIMIT) -> tuple[int, int]:
    """Shorten the calls that calls made before then have overtaken: (how much was done, where to go on).

    It walks over the overtaking calls, so a listing's last call is never touched, and one that has been walked over
    need not be looked at again.
    """
    rows = await tx.fetch(WALK, after=after, limit=limit)
    walked = [row["id"] for row in takewhile(lambda row: utc(row["created_at"]) < before, rows)]
    if not walked:
        return 0, after
    found = await tx.fetch(OVERTAKEN, after=after, last=walked[-1], limit=limit)
    await tx.revise(_SHORT, [(row["id"], "", _short(row["draft"]), None) for row in found])
    return len(walked), after if len(found) == limit else walked[-1]


def _short(draft: str) -> str:
    """What a receipt shows; the rest was long."""
    told = _drafts.decode(draft)
    short = msgspec.structs.replace(
        told, comments="", notes="", images=(), options=(), variants=(), style_numbers=(), shipping_methods=()
    )
    return msgspec.json.encode(short).decode()
