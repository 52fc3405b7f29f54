"""What a person says of products that became something else under their number: they begin anew, or their options are
what the mall calls them now (docs/adr/0036)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bobusang.catalog import products
from bobusang.flows.catalogue.telling import Told, tell
from bobusang.flows.conveyor import goods, marks
from bobusang.kit.errors import Conflict
from bobusang.stages.convert import grid, relabeling, store
from bobusang.stages.convert.model import Why
from bobusang.stages.convert.tables import State as Readiness
from bobusang.stages.register import accounts, listings, retiring
from bobusang.stages.register.model import State

if TYPE_CHECKING:
    from bobusang.kit.db import Row, Tx
    from bobusang.stages.convert.store import Conversion
    from bobusang.stages.register.model import Listing

ASKED = frozenset({Why.AXES_CHANGED, Why.OPTION_RELABELED})
"""What a person is asked of a product that became something else."""
TAKEN_DOWN = frozenset({State.DELETED, State.REMOVED})
"""Where a listing stands that nobody lists again unasked."""


@dataclass(frozen=True, slots=True)
class Renewed:
    """A product that begins anew."""

    product_id: int
    sku: str
    generation: int
    listings: int
    """How many were retired; with none of them and `again` it had begun anew before."""
    again: bool = False


@dataclass(frozen=True, slots=True)
class Relabeled:
    """A product of which the codes name what the mall says; `told`: which, in words."""

    product_id: int
    sku: str
    told: str
    again: bool = False


async def renew(tx: Tx, market: str, product_id: int, actor: str, why: str) -> Renewed:
    """Have a product listed anew: its listings are retired, which closes them, and the next FULL converts it as if it
    had never been there. Done twice it is done once. 409 where nothing of it asks for that."""
    product = await products.get(tx, product_id)
    sku = goods.sku_of(product["mall"], product["product_id"])
    before = await store.hold(tx, market, product_id)
    present = [one for one in await listings.by_sku(tx, sku) if not one.is_retired]
    if before.data is None and _waits_for(before, ASKED | {Why.DECIDED}):
        return Renewed(product_id, sku, before.generation, 0, again=True)
    if not _waits_for(before, ASKED) and not any(one.state in TAKEN_DOWN for one in present):
        raise Conflict(
            f"nothing says that {sku} is another product by now",
            hint=f"held as {', '.join(sorted(ASKED))} it may begin anew, or taken down by its market; "
            f"`bobusang listing close {sku}` takes it off",
            field="product_id",
        )
    sellers = [one for one in await accounts.every(tx) if one.market == market]
    retired = [await retiring.retire(tx, one, product_id, sku, who=actor, why=why) for one in sellers]
    gone = [one for one in retired if one is not None]
    await store.renew(tx, before)
    await marks.forget(tx, market, [product_id])
    was = {"generation": before.generation, "listings": [_named(one) for one in gone]}
    now = {"generation": before.generation + 1, "why": why, "held": [one.text for one in before.reasons]}
    await _tell(tx, actor, product, "product.renew", was, now)
    return Renewed(product_id, sku, before.generation + 1, len(gone))


async def relabel(tx: Tx, market: str, product_id: int, actor: str, why: str) -> Relabeled:
    """Have the codes of a product name what the mall calls them now, as it was shown when it was held; its listings
    stay. 409 where it is not held for that, and where the mall calls them otherwise by now."""
    product = await products.get(tx, product_id)
    sku = goods.sku_of(product["mall"], product["product_id"])
    before = await store.hold(tx, market, product_id)
    if before.data is not None and _waits_for(before, {Why.DECIDED}):
        return Relabeled(product_id, sku, "", again=True)
    shown = next((one for one in before.reasons if one.why is Why.OPTION_RELABELED), None)
    if before.data is None or shown is None:
        hint = "`bobusang product held --why option_relabeled` shows those that are"
        raise Conflict(f"{sku} is not held as {Why.OPTION_RELABELED}", hint=hint, field="product_id")
    known = (await goods.load(tx, product["mall"], [product["product_id"]]))[product["product_id"]]
    if shown not in grid.relabeled(known.options, before.data.goods):
        hint = "the next FULL says what they are"
        raise Conflict(f"the mall calls the options of {sku} otherwise by now", hint=hint, field="product_id")
    await store.settle(tx, before, relabeling.relabeled(before.data.goods, known.options))
    await marks.forget(tx, market, [product_id])
    await _tell(tx, actor, product, "product.relabel", {"options": None}, {"options": shown.text, "why": why})
    return Relabeled(product_id, sku, shown.text)


def _waits_for(conversion: Conversion, whys: frozenset[Why] | set[Why]) -> bool:
    return conversion.state is Readiness.HELD and any(one.why in whys for one in conversion.reasons)


def _named(listing: Listing) -> str:
    return listing.market_id or listing.reference


async def _tell(tx: Tx, actor: str, product: Row, action: str, before: dict[str, Any], after: dict[str, Any]) -> None:
    await tell(tx, actor, [Told(product["id"], product["mall"], product["product_id"], action, before, after)])
