"""The data quality of a target (a seller, a brand): how complete, valid, fresh and consistent its products are."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from bobusang.kit.sql import Statement

if TYPE_CHECKING:
    from bobusang.kit.db import Tx

FRESH = timedelta(hours=24)
WEEK = timedelta(days=7)
FLAPPING = 6
"""More price changes in a week than this are no prices but two readers, or two pages, that contradict each other."""

EXPECTED = ("name", "brand", "price", "image", "url", "in_stock")
"""What a product should have before anybody can sell it."""
WEIGHTS = {"completeness": 3, "validity": 3, "freshness": 2, "consistency": 2}

_FILLED = " + ".join(f"(case when p.{name} is null then 0 else 1 end)" for name in EXPECTED)
_VALID = """p.name <> '' and p.price > 0 and (p.list_price is null or p.list_price >= p.price)
  and (p.url is null or p.url like 'http%')"""

PRODUCTS = Statement(f"""
    select count(*) as items, coalesce(sum({_FILLED}), 0) as filled,
      coalesce(sum(case when {_VALID} then 1 else 0 end), 0) as valid,
      coalesce(sum(case when s.last_seen_at >= :since then 1 else 0 end), 0) as fresh
    from seen_scopes c join source_seen s on s.scope_id = c.id join products p on p.id = s.record_id
    where c.source_system = :source and c.name = :scope and (p.listed is null or p.listed)""")
DOUBTFUL = Statement("""
    select count(distinct record_id) as value from (
      select f.record_id from seen_scopes c join source_seen s on s.scope_id = c.id
        join field_changes f on f.record_id = s.record_id
      where c.source_system = :source and c.name = :scope and f.field = 'price' and f.changed_at >= :since
      group by f.record_id having count(*) > :flapping
      union all
      select h.record_id from held_writes h
      where h.state = 'HELD' and h.source = :source and h.target = :target and h.record_id is not null
    ) as doubtful""")


@dataclass(frozen=True, slots=True)
class Quality:
    """A score from 0 to 100 and its parts, each a share from 0 to 1."""

    items: int
    completeness: float
    """Of the expected fields, how many are known."""
    validity: float
    """Of the items, how many have a name, a price above 0 and not above the list price, and an address."""
    freshness: float
    """Of the items, how many were seen lately."""
    consistency: float
    """Of the items, how many have neither an open held write nor a price that flaps."""

    @property
    def score(self) -> float:
        """The parts weighed; 0 without items."""
        if not self.items:
            return 0.0
        whole: float = sum(getattr(self, name) * weight for name, weight in WEIGHTS.items())
        return round(100 * whole / sum(WEIGHTS.values()), 1)


def quality(items: int, *, filled: int, valid: int, fresh: int, doubtful: int) -> Quality:
    """The quality by its counts."""
    if not items:
        return Quality(0, 0.0, 0.0, 0.0, 0.0)
    consistent = max(0, items - doubtful)
    return Quality(items, filled / (items * len(EXPECTED)), valid / items, fresh / items, consistent / items)


async def measure(tx: Tx, source: str, target: str, *, fresh: timedelta = FRESH) -> Quality:
    """The quality of a target's products (`target` as in `Target.name`) now; `fresh` is how old a sighting may be."""
    place = {"source": source, "scope": f"list:{target}"}
    row = await tx.first(PRODUCTS, since=tx.now - fresh, **place)
    assert row is not None
    doubtful = await tx.value(DOUBTFUL, since=tx.now - WEEK, flapping=FLAPPING, target=target, **place)
    return quality(
        int(row["items"]),
        filled=int(row["filled"]),
        valid=int(row["valid"]),
        fresh=int(row["fresh"]),
        doubtful=int(doubtful),
    )
