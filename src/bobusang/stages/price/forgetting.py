"""What PRICE forgets in time: decisions that later ones have replaced."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING

from bobusang.kit.clock import utc
from bobusang.kit.sql import Statement

if TYPE_CHECKING:
    from datetime import datetime

    from bobusang.kit.db import Tx

LIMIT = 500

WALK = Statement("select id, created_at from price_quotes where id > :after order by id limit :limit")
_NEWER = """(select product_id, market, account, max(id) as id from price_quotes
      where id > :after and id <= :last group by product_id, market, account) newer
    on newer.product_id = q.product_id and newer.market = q.market and newer.account = q.account"""
PRICED = Statement(f"""
    select max(q.id) as id from price_quotes q join {_NEWER} and q.id <= newer.id
    where q.decision = 'QUOTE' group by q.product_id, q.market, q.account""")
REPLACED = Statement(f"""
    select q.id from price_quotes q join {_NEWER} and q.id < newer.id
    where q.id not in (:kept...) order by q.id limit :limit""")
FORGET = Statement("delete from price_quotes where id in (:ids...)")


async def quotes(tx: Tx, before: datetime, *, after: int = 0, limit: int = LIMIT) -> tuple[int, int]:
    """Forget decisions that were replaced before then: (how much was done, where to go on).

    The last decision on a product for an account stays, and so does the last that gave it a new price: it explains the
    price that is on the market while later ones only kept or held it.
    """
    rows = await tx.fetch(WALK, after=after, limit=limit)
    walked = [row["id"] for row in takewhile(lambda row: utc(row["created_at"]) < before, rows)]
    if not walked:
        return 0, after
    kept = [row["id"] for row in await tx.fetch(PRICED, after=after, last=walked[-1])]
    found = await tx.fetch(REPLACED, after=after, last=walked[-1], kept=kept or [0], limit=limit)
    if found:
        await tx.execute(FORGET, ids=[row["id"] for row in found])
    return len(walked), after if len(found) == limit else walked[-1]
