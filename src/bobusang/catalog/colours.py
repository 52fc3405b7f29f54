"""Colours of products that were collected before they were kept: read again in what their records say.

`products.colours` is null until somebody has looked; one that comes in none has an empty text there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bobusang.catalog.products import colours
from bobusang.kit import json
from bobusang.kit.sql import Statement

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from bobusang.kit.db import Database, Row, Tx

AT_ONCE = 1_000

_UNTOLD = Statement("""
    select p.id, d.normalized_data from products p
      left join source_records r on r.id = p.id left join source_data d on d.id = r.version_id
    where p.colours is null and p.id > :after order by p.id limit :limit""")
# Whoever collects it meanwhile knows better.
_TELL = Statement("update products set colours = :colours where id = :id and colours is null")


async def told(db: Database, at_once: int = AT_ONCE) -> AsyncIterator[int]:
    """Give all products their colours that have none yet, a bounded part at a time; how many each time."""
    after = 0

    async def work(tx: Tx) -> list[int]:
        rows = await tx.fetch(_UNTOLD, after=after, limit=at_once)
        await tx.execute_each(_TELL, [{"id": row["id"], "colours": _of(row)} for row in rows])
        return [row["id"] for row in rows]

    while ids := await db.transact(work):
        yield len(ids)
        after = ids[-1]


def _of(row: Row) -> str:
    said = row["normalized_data"]
    return colours(json.loads(said)) if said is not None else ""
