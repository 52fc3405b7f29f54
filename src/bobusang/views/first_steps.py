"""What a shop has of what it needs to sell: the first steps of whoever has just installed it."""

from dataclasses import dataclass

from bobusang.kit.db import Tx
from bobusang.kit.sql import Statement

FOUND = Statement("""
    select 'sources' as name from source_decisions where enabled = :yes
    union select 'decided' from source_decisions where decided_by <> '' and decided_by <> :profile
    union select 'accounts' from market_accounts
    union select name from (select 'products' as name from products limit 1) a
    union select name from (select 'brands' as name from mall_brands where is_active = 1 limit 1) b
    union select name from (select 'lists' as name from market_masters limit 1) c
    union select name from (select 'batches' as name from pipeline_batches limit 1) d""")
PROFILE = "sandbox profile"
"""Who decides for the sandbox, as `wiring` calls it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstSteps:
    """Which of the first steps are done: a mall that may be collected, accepted brands, the market's lists, an
    account, a run; and whether a person has decided about any mall."""

    sources: bool = False
    decided: bool = False
    brands: bool = False
    lists: bool = False
    accounts: bool = False
    products: bool = False
    batches: bool = False

    @property
    def is_empty(self) -> bool:
        """Nobody has begun with malls of his own."""
        return not (self.decided or self.brands or self.accounts or self.products or self.batches)


async def first_steps(tx: Tx) -> FirstSteps:
    """What is there, each looked for by its first row."""
    return FirstSteps(**{row["name"]: True for row in await tx.fetch(FOUND, yes=True, profile=PROFILE)})
