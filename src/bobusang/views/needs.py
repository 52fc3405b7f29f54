"""What needs a person: how many of each kind wait, counted to a bound in one statement."""

from dataclasses import dataclass

from bobusang.kit.db import Tx
from bobusang.kit.sql import Statement

MOST = 1000
"""Counted so far; beyond it nobody reads the number."""

COUNTS = Statement("""
    select 'dead_letters' as name, count(*) as value from (select task_id from dead_letters limit :most) a
    union all
    select 'held_writes', count(*) from (select id from held_writes where state = 'HELD' limit :most) b
    union all
    select 'market_holds', count(*) from (
      select h.id from market_accounts m join listing_holds h on h.account_id = m.id and h.state = 'HELD'
      limit :most) c
    union all
    select 'brands', count(*) from (select id from mall_brands where is_active is null limit :most) d
    union all
    select 'categories', count(*) from (select id from mall_categories where is_active is null limit :most) e
    union all
    select 'held_products', count(*) from (
      select m.market, c.product_id from (select distinct market from market_accounts) m
      join conversions c on c.market = m.market and c.state = 'HELD' limit :most) f
    union all
    select 'refused', count(*) from (select id from listings where refusal_cause > '' limit :most) g
    union all
    select 'gates', count(*) from (select source from source_gates where state in ('OPEN', 'HALTED') limit :most) h
    union all
    select 'identities', count(*) from (select id from crawl_agents where state = 'DISABLED' limit :most) i
    union all
    select 'alerts', count(*) from (select id from alerts where resolved_at is null limit :most) j
    union all
    select 'rates', count(*) from (select id from fx_quotes where state = 'HELD' limit :most) k""")


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """How many wait, each counted to `MOST`."""

    dead_letters: int = 0
    held_writes: int = 0
    market_holds: int = 0
    brands: int = 0
    categories: int = 0
    held_products: int = 0
    refused: int = 0
    gates: int = 0
    identities: int = 0
    alerts: int = 0
    rates: int = 0

    @property
    def held(self) -> int:
        """What a person decides on one page."""
        return self.held_writes + self.market_holds + self.brands + self.categories + self.rates


async def needs(tx: Tx) -> Needs:
    """The counts of this moment."""
    return Needs(**{row["name"]: int(row["value"]) for row in await tx.fetch(COUNTS, most=MOST)})
