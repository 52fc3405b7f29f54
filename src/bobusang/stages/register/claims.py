"""Claims: of goods that several malls have an account sells one mall's, the first that was sent, while it is for sale.

Claimed in the transaction that writes the intent, under the account's lock: two that plan at once cannot both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bobusang.kit.sql import Bulk, Statement
from bobusang.stages.register.deciding import Chosen, Stopped
from bobusang.stages.register.diffing import Kind
from bobusang.stages.register.guards import Guard, Trip
from bobusang.stages.register.model import State
from bobusang.stages.register.refusing import digest
from bobusang.stages.register.tables import listing_claims

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bobusang.kit.db import Row, Tx
    from bobusang.stages.register.deciding import Approvals
    from bobusang.stages.register.model import Listing, Wanted

PUTS_ON_SALE = frozenset({Kind.CREATE, Kind.REVIVE})
FOR_SALE = frozenset({State.SENT, State.DRAFT, State.IN_REVIEW, State.LIVE, State.BLOCKED})
"""Whose goods nobody takes over: on sale, or perhaps so tomorrow without our doing."""
Tried = dict[str, tuple[str, str]]
"""By goods, the mall and SKU that a run which is only tried would have put on sale so far."""

# A retired listing counts too: while it is for sale, so are the goods.
_CLAIMED = """
    select c.goods, c.mall, c.product_id, l.sku, l.state, l.open_call from listing_claims c
      left join listings l on l.account_id = c.account_id and l.product_id = c.product_id
    where c.account_id = :account and"""
# Not `or`: SQLite would read all claims of the account.
CLAIMED = Statement(f"{_CLAIMED} c.goods in (:goods...) union {_CLAIMED} c.product_id in (:products...)")
DROP = Statement("delete from listing_claims where account_id = :account and goods in (:goods...)")

_NEW = Bulk(listing_claims, ("account_id", "goods", "product_id", "mall", "claimed_at"))


@dataclass(frozen=True, slots=True)
class Claim:
    """Who sells some goods for an account."""

    goods: str
    mall: str
    product_id: int
    sku: str
    for_sale: bool


def puts_on_sale(decision: object) -> bool:
    """Whether goods are offered by this that were not before."""
    return isinstance(decision, Chosen) and decision.step.kind in PUTS_ON_SALE


def takes_goods(decision: object) -> bool:
    """Whether what is sent by this keeps others from selling the same goods."""
    return isinstance(decision, Chosen) and decision.step.kind is not Kind.CLOSE


async def stopped(
    tx: Tx, account: int, wishes: Sequence[tuple[Wanted, Listing]], approvals: Approvals, tried: Tried | None = None
) -> dict[int, Stopped]:
    """By product, those of these that are not put on sale, for another mall's are; of two the first may."""
    taken = {one.goods: (one.mall, one.sku) for one in await _claimed(tx, account, wishes) if one.for_sale}
    sold = (tried or {}) | taken
    found: dict[int, Stopped] = {}
    for wanted, listing in wishes:
        mall, sku = sold.setdefault(wanted.goods, (wanted.mall, wanted.sku)) if wanted.goods else (wanted.mall, "")
        what = digest(("goods", wanted.goods))
        if mall != wanted.mall and (listing.id, Guard.SAME_GOODS, what) not in approvals:
            found[wanted.product_id] = Stopped(Trip(Guard.SAME_GOODS, f"same goods as {sku} of {mall}"), what)
    return found


def would_put(tried: Tried, sent: Iterable[Wanted]) -> None:
    """What `put` would claim, for the rest of a run that is only tried."""
    for wanted in sent:
        if wanted.goods:
            tried.setdefault(wanted.goods, (wanted.mall, wanted.sku))


async def put(tx: Tx, account: int, sent: Sequence[tuple[Wanted, Listing]]) -> None:
    """What is sent now claims its goods, unless somebody has them. A product has one claim: its brand or model may
    have been mended."""
    known = await _claimed(tx, account, sent)
    taken = {one.goods: one for one in known if one.for_sale}
    mine = {(one.product_id, one.goods) for one in known}
    fresh: dict[str, Wanted] = {}
    for wanted, _ in sent:
        if wanted.goods and wanted.goods not in taken and (wanted.product_id, wanted.goods) not in mine:
            fresh.setdefault(wanted.goods, wanted)
    ids = {wanted.product_id: wanted.goods for wanted, _ in sent}
    old = {one.goods for one in known if one.goods in fresh or ids.get(one.product_id, one.goods) != one.goods}
    if old:
        await tx.execute(DROP, account=account, goods=sorted(old))
    await tx.insert(_NEW, [(account, goods, one.product_id, one.mall, tx.now) for goods, one in sorted(fresh.items())])


async def _claimed(tx: Tx, account: int, wishes: Iterable[tuple[Wanted, Listing]]) -> list[Claim]:
    """The claims of these goods and of these products."""
    goods = sorted({wanted.goods for wanted, _ in wishes} - {""})
    if not goods:
        return []
    products = sorted({wanted.product_id for wanted, _ in wishes})
    return [_claim(row) for row in await tx.fetch(CLAIMED, account=account, goods=goods, products=products)]


def _claim(row: Row) -> Claim:
    there = row["state"] is not None and (row["open_call"] is not None or State(row["state"]) in FOR_SALE)
    return Claim(row["goods"], row["mall"], row["product_id"], row["sku"] or "", there)
