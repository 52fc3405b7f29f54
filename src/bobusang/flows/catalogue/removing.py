"""Products taken away and brought back: what a person has deleted does not come back by being collected."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bobusang.catalog import products
from bobusang.flows.catalogue.telling import Told, anew, tell
from bobusang.flows.conveyor.goods import sku_of
from bobusang.kit.errors import Conflict
from bobusang.stages.register import listings
from bobusang.stages.register.model import State

if TYPE_CHECKING:
    from bobusang.kit.db import Tx

OVER = frozenset({State.NEW, State.REJECTED, State.DELETED, State.REMOVED})
"""Where a listing stands that is not on its market."""


async def remove(tx: Tx, product_id: int, actor: str) -> None:
    """Delete a product that no market has; its record and history stay."""
    found = await products.hold(tx, product_id)
    sku = sku_of(found["mall"], found["product_id"])
    for listing in await listings.by_sku(tx, sku):
        if listing.state not in OVER or listing.open_call is not None:
            name = listing.market_id or listing.reference or str(listing.id)
            raise Conflict(
                f"product {product_id} is on a market: listing {name} is {listing.state}",
                hint=f"delete it once the market has it no more; `bobusang listing show {sku}` says where it stands",
                field="product_id",
            )
    await products.remove(tx, product_id)
    before = {name: found[name] for name in (*products.COLUMNS, "locked") if found[name] not in (None, [])}
    await tell(tx, actor, [Told(product_id, found["mall"], found["product_id"], "product.delete", before, None)])


async def restore(tx: Tx, product_id: int, actor: str) -> None:
    """Bring back a deleted product as its source describes it now; what was edited in it is not restored."""
    await products.restore(tx, product_id)
    found = await products.get(tx, product_id)
    after = {name: found[name] for name in products.COLUMNS if found[name] is not None}
    await anew(tx, product_id)
    await tell(tx, actor, [Told(product_id, found["mall"], found["product_id"], "product.restore", None, after)])
