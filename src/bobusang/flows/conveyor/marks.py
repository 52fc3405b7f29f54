"""Marks: which version of a product is right on the market, by which rates, and until when nobody needs to look."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bobusang.catalog.rules import digest
from bobusang.flows.conveyor.tables import conveyor_marks
from bobusang.kit.clock import utc
from bobusang.kit.sql import Bulk, Statement
from bobusang.stages.price.model import RULES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import date, datetime

    from bobusang.kit.db import Tx

# Dated rows may begin to hold by a new day alone, so the day (the market's) is part of the stamp.
STAMP = Statement("""
    select (select max(id) from market_fees) as fees, (select max(id) from freight_rates) as freights,
      (select max(id) from duty_rates) as duties, (select max(id) from import_taxes) as taxes,
      (select max(decided_at) from price_policies) as policies""")
ACCOUNTS = Statement("""
    select id, enabled, shipping_methods, shipping_charge, fee_tier, duty, policy from market_accounts
    where market = :market order by id""")
# A rate that was fetched again and is the same is no news; one that waits for a person holds prices.
RATES = Statement("""
    select base, quote, rate, spread, state from fx_quotes f where state in ('TRUSTED', 'HELD') and quoted_at =
      (select max(quoted_at) from fx_quotes o where o.base = f.base and o.quote = f.quote and o.state = f.state)
    order by base, quote, state, id""")
STAMPED = ("fees", "freights", "duties", "taxes", "policies")
SOLD_BY = ("shipping_methods", "shipping_charge", "fee_tier", "duty", "policy")
FORGET = Statement("delete from conveyor_marks where market = :market and product_id in (:ids...)")
DOUBTED = "doubted"
"""The stamp that no run believes, and of no version."""
DOUBT = Statement("""
    update conveyor_marks set version = 0, stamp = :stamp, marked_at = :now
    where market = :market and product_id in (:ids...)""")
DOUBTS = Statement("""
    select product_id, marked_at from conveyor_marks
    where market = :market and product_id in (:ids...) and stamp = :stamp""")

# Of two who write at once the second keeps what the first has written, and goes on from there.
_NEW = Bulk(conveyor_marks, ("product_id", "market", "version", "stamp", "model", "due_at", "marked_at"), keep=True)


@dataclass(frozen=True, slots=True)
class Mark:
    """A product that is as it should be."""

    product_id: int
    version: int
    stamp: str
    model: str
    due_at: datetime


async def stamp(tx: Tx, market: str, day: date) -> str:
    """What every price of a market is made of on a day of its own, besides the product itself; another one when any of
    it has changed."""
    row = await tx.first(STAMP)
    assert row is not None
    accounts = [
        [one["id"], bool(one["enabled"]), *(one[name] for name in SOLD_BY)]
        for one in await tx.fetch(ACCOUNTS, market=market)
    ]
    rates = [[one[name] for name in ("base", "quote", "rate", "spread", "state")] for one in await tx.fetch(RATES)]
    told = [str(row[name]) for name in STAMPED]
    return digest([RULES, day.isoformat(), rates, told, accounts])


def unraised(stamp: str) -> str:
    """The stamp of what is as it should be but for a price that PARTIAL does not raise: FULL looks at it."""
    return digest([stamp, "unraised"])


async def put(tx: Tx, market: str, marks: Iterable[Mark]) -> None:
    """Keep these."""
    fresh = {one.product_id: one for one in marks}
    if not fresh:
        return
    await tx.execute(FORGET, market=market, ids=sorted(fresh))
    await tx.insert(
        _NEW,
        [
            (one.product_id, market, one.version, one.stamp, one.model, one.due_at, tx.now)
            for _, one in sorted(fresh.items())
        ],
    )


async def doubt(tx: Tx, market: str, ids: Sequence[int]) -> None:
    """The market has made these otherwise: the next run looks at them, and who has looked before that marks none."""
    chosen = sorted(set(ids))
    if not chosen:
        return
    await tx.insert(_NEW, [(id, market, 0, DOUBTED, "", tx.now, tx.now) for id in chosen])
    await tx.execute(DOUBT, market=market, ids=chosen, stamp=DOUBTED, now=tx.now)


async def doubts(tx: Tx, market: str, ids: Sequence[int]) -> dict[int, datetime]:
    """Since when these are in doubt."""
    rows = await tx.fetch(DOUBTS, market=market, ids=ids, stamp=DOUBTED) if ids else ()
    return {row["product_id"]: utc(row["marked_at"]) for row in rows}


async def forget(tx: Tx, market: str, ids: Sequence[int]) -> None:
    """Let these products be looked at again with the next run, whatever else is known of them."""
    if ids:
        await tx.execute(FORGET, market=market, ids=sorted(set(ids)))
