"""Products that CONVERT holds back from a market: how many for which reason, and which."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import msgspec

from bobusang.kit.clock import utc
from bobusang.kit.db import Tx
from bobusang.kit.sql import Statement
from bobusang.stages.convert.model import Reason, Why

ALL = 2**31 - 1
HELD = "select product_id, reasons from conversions where market = :market and state = 'HELD' limit :most"
COUNTS = Statement(
    sqlite=f"""
        select json_extract(r.value, '$.why') as why, count(distinct c.product_id) as products
        from ({HELD}) c, json_each(c.reasons) r
        group by json_extract(r.value, '$.why')""",
    postgres=f"""
        select r->>'why' as why, count(distinct c.product_id) as products
        from ({HELD}) c, json_array_elements(c.reasons::json) r
        group by r->>'why'""",
    mariadb=f"""
        select r.why, count(distinct c.product_id) as products
        from ({HELD}) c, json_table(c.reasons, '$[*]' columns (why varchar(50) path '$.why')) r
        group by r.why""",
)
LISTED = Statement("""
    select c.product_id, p.mall, p.product_id as product_key, p.brand, p.name, p.category, c.reasons, c.data_version,
      c.updated_at
    from conversions c left join products p on p.id = c.product_id
    where c.market = :market and c.state = 'HELD' and c.product_id > :after
      and (:like = '' or c.reasons like :like) order by c.product_id limit :limit""")

_reasons = msgspec.json.Decoder(tuple[Reason, ...])


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldReason:
    """How many products wait for the same; one may wait for several things."""

    why: Why
    products: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WhyHeld:
    """One reason in words, and the field it is about."""

    why: Why
    text: str
    field: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldProduct:
    """A product that is held; `was_ready`: an earlier version of it is what the market has, or may have."""

    product_id: int
    mall: str | None
    key: str | None
    brand: str | None
    name: str | None
    category: str | None
    was_ready: bool
    reasons: list[WhyHeld]
    updated_at: datetime


async def reasons(tx: Tx, market: str, most: int = ALL) -> list[HeldReason]:
    """Why products are held, the most frequent first; of so many products at most."""
    rows = await tx.fetch(COUNTS, market=market, most=most)
    found = [HeldReason(why=Why(row["why"]), products=row["products"]) for row in rows]
    return sorted(found, key=lambda one: (-one.products, one.why))


async def held(tx: Tx, market: str, why: Why | None, *, after: int | None, limit: int) -> Sequence[HeldProduct]:
    """Held products by number, those with one reason or all."""
    # The reasons are JSON text of our own making, without blanks; `_` in a word stands for itself well enough.
    like = "" if why is None else f'%"why":"{why}"%'
    return [
        HeldProduct(
            product_id=row["product_id"],
            mall=row["mall"],
            key=row["product_key"],
            brand=row["brand"],
            name=row["name"],
            category=row["category"],
            was_ready=row["data_version"] is not None,
            reasons=[WhyHeld(why=one.why, text=one.text, field=one.field) for one in _reasons.decode(row["reasons"])],
            updated_at=utc(row["updated_at"]),
        )
        for row in await tx.fetch(LISTED, market=market, after=after or 0, like=like, limit=limit)
    ]
