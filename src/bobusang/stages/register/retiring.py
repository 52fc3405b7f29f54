"""Listings of products that begin anew: closed for good by a person's word, and in the way of the listing that follows
while the market may still sell them (docs/adr/0036)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bobusang.kit.clock import utc
from bobusang.kit.sql import Statement
from bobusang.stages.register import accounts, closing, holds, listings
from bobusang.stages.register.model import State

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from bobusang.kit.db import Tx
    from bobusang.stages.register.model import Account, Listing

MAY_SELL = frozenset({State.LIVE, State.DRAFT, State.IN_REVIEW, State.BLOCKED})
"""On sale, or perhaps so tomorrow without our doing. What was sent and never answered has an open call, until a person
lets it go."""
# Why it was refused before says nothing of its closing.
RETIRE = Statement("""
    update listings set retired = id, closed_at = coalesce(closed_at, :now), closed_by = :who, closed_why = :why,
      refusal_cause = null, refusal_digest = null, refusal_until = null, refusal_words = null, updated_at = :now
    where id = :id and retired = 0""")
CLOSED = Statement("select closed_by, closed_why from listings where id = :id and closed_at is not null")
RETIRED = Statement("""
    select product_id, reference, market_id, state, open_call, closed_at from listings
    where account_id = :account and product_id in (:products...) and retired > 0""")


@dataclass(frozen=True, slots=True)
class InTheWay:
    """A retired listing that the market may still sell."""

    name: str
    state: State
    since: datetime
    """When it was retired, or closed before that."""

    @property
    def words(self) -> str:
        where = "was sent and not answered" if self.state is State.SENT else f"is {self.state} at the market"
        return f"its retired listing {self.name} {where}: it is listed anew once that one is closed there"


async def retire(tx: Tx, account: Account, product_id: int, sku: str, *, who: str, why: str) -> Listing | None:
    """Retire what an account has of a product; None where nothing was ever sent. What a person had closed stays
    closed: so is the listing that follows."""
    await accounts.lock(tx, account.id)
    listing = (await listings.locked(tx, account.id, [product_id])).get(product_id)
    if listing is None or not listing.reference:
        return None
    closed = await tx.first(CLOSED, id=listing.id)
    told = why[: closing.REASON_LENGTH]
    await tx.execute(RETIRE, id=listing.id, who=who[:200], why=told, now=tx.now)
    await holds.supersede(tx, [listing.id])
    if closed is not None:
        follower = (await listings.wanted(tx, account.id, {product_id: sku}))[product_id]
        await closing.close(tx, [follower.id], who=closed["closed_by"] or who, why=closed["closed_why"] or why)
    return listing


async def in_the_way(tx: Tx, account: int, products: Sequence[int]) -> dict[int, InTheWay]:
    """By product, a retired listing that must be closed before the product is listed anew."""
    rows = await tx.fetch(RETIRED, account=account, products=list(products)) if products else ()
    return {
        row["product_id"]: InTheWay(row["market_id"] or row["reference"], State(row["state"]), utc(row["closed_at"]))
        for row in rows
        if row["open_call"] is not None or State(row["state"]) in MAY_SELL
    }
