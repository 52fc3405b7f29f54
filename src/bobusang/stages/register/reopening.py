"""What is for sale again though the market had confirmed that it is out.

A market does stock calls in seconds and product calls in minutes, so an edit that a closing overtook may be done after
it, with the stock of before. What was confirmed last is then told once more, by what the market has: never more.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import msgspec

from bobusang.kit.sql import Statement
from bobusang.stages.register.diffing import only_stock
from bobusang.stages.register.model import Draft, Stock

if TYPE_CHECKING:
    from bobusang.kit.db import Tx
    from bobusang.stages.register.model import Variant

BELL = "reopened"
"""Rung when a word that nobody asked for came."""
LATEST = timedelta(days=1)
"""How long after a call something may undo it: what does so later is found by the runs."""
# By the kind of call: a stock call is the last of few listings, one that differs from it of hardly any.
UNDONE = Statement("""
    select c.listing_id, c.draft, l.confirmed from market_calls c join listings l on l.id = c.listing_id
    where c.account_id = :account and c.kind in ('CLOSE', 'STOCK') and c.created_at > :since and c.state = 'CONFIRMED'
      and coalesce(l.state, '') = 'LIVE' and l.open_call is null and l.drift is not null
      and not exists (select 1 from market_calls n where n.listing_id = c.listing_id and n.id > c.id)
    order by c.id""")

_drafts = msgspec.json.Decoder(Draft)


async def found(tx: Tx, account: int) -> list[int]:
    """Listings of which something is for sale again."""
    rows = await tx.fetch(UNDONE, account=account, since=tx.now - LATEST)
    drafts = [(row["listing_id"], _drafts.decode(row["confirmed"]), _drafts.decode(row["draft"])) for row in rows]
    return [id for id, stands, told in drafts if lowered(stands, told) != stands]


def lowered(stands: Draft, told: Draft) -> Draft:
    """A product as it stands, without what the market had confirmed to be out when it was told so last. Pure.

    What can be ordered in all is left alone: some markets have their own mind about it, and were told for ever."""
    before = {(variant.color, variant.size): variant for variant in told.variants}
    variants = tuple(_lowered(one, before.get((one.color, one.size)), told) for one in stands.variants)
    if variants == stands.variants:
        return stands
    most = min(stands.order_quantity, told.order_quantity or stands.order_quantity)
    return only_stock(msgspec.structs.replace(stands, variants=variants, order_quantity=most), stands)


def _lowered(stands: Variant, told: Variant | None, draft: Draft) -> Variant:
    is_out = draft.is_sold_out if told is None else told.stock is Stock.OUT
    if is_out and stands.stock is not Stock.OUT:
        return msgspec.structs.replace(stands, stock=Stock.OUT, count=None)
    if told is None or told.count is None or stands.count is None or stands.count <= told.count:
        return stands
    return msgspec.structs.replace(stands, count=told.count)
