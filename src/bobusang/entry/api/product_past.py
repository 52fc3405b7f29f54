"""What became of a product: its versions, what differs between them, its listings, receipts and price explained."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from pydantic import Field

from bobusang.catalog import products as catalog
from bobusang.entry.api import records
from bobusang.entry.api.desk import Viewer
from bobusang.entry.api.fields import Form, PathId
from bobusang.entry.api.pages import Page, Paged
from bobusang.entry.api.records import Difference, DiffQuery
from bobusang.entry.api.resource import Resource
from bobusang.entry.api.selling import Account, Market
from bobusang.flows.conveyor.goods import sku_of
from bobusang.kit.db import Tx
from bobusang.kit.errors import Missing
from bobusang.views import listings, prices, product_page
from bobusang.views.listings import ListingDetail, ReceiptShown
from bobusang.views.prices import PriceExplained
from bobusang.views.product_standing import Standing, standing
from bobusang.views.record import VersionLine

router = Resource("products", "/products")


class ReceiptLimit(Form):
    """How many of its changes."""

    limit: Annotated[int, Field(ge=1, le=100, description="of each listing")] = 5


class SoldBy(Form):
    """Whose price; without market and account the decision that came last."""

    market: Market | None = None
    account: Account | None = None


class SoldOn(Form):
    """On which market."""

    market: Market = "buyma"


async def _sku(tx: Tx, product_id: int) -> str:
    found = await catalog.get(tx, product_id)
    return sku_of(found["mall"], found["product_id"])


@router.get("/{product_id}/history", summary="List a product's versions")
async def list_product_versions(
    desk: Viewer, product_id: PathId, query: Annotated[Paged, Query()]
) -> Page[VersionLine]:
    """What its source said, newest first, each with what changed in it; a person's edits are in the audit log."""
    return await records.list_record_versions(desk, product_id, query)


@router.get("/{product_id}/diff", summary="Compare two versions of a product")
async def show_product_difference(desk: Viewer, product_id: PathId, query: Annotated[DiffQuery, Query()]) -> Difference:
    """The last two unless said otherwise, in either direction."""
    return await records.show_difference(desk, product_id, query)


@router.get("/{product_id}/listings", summary="Show where a product is listed")
async def list_product_listings(desk: Viewer, product_id: PathId) -> Page[ListingDetail]:
    """One for each account, with what the market has confirmed."""
    async with desk.read() as tx:
        sku = await _sku(tx, product_id)
        try:
            return Page(items=await listings.of_sku(tx, sku), next=None)
        except Missing:
            return Page(items=[], next=None)


@router.get("/{product_id}/receipt", summary="Show a product's receipts")
async def show_product_receipt(
    desk: Viewer, product_id: PathId, query: Annotated[ReceiptLimit, Query()]
) -> Page[ReceiptShown]:
    """Its last changes on markets: seen, changed, decided, intended, sent, accepted, confirmed, read back."""
    async with desk.read() as tx:
        sku = await _sku(tx, product_id)
        try:
            return Page(items=await listings.receipts(tx, sku, limit=query.limit), next=None)
        except Missing:
            return Page(items=[], next=None)


@router.get("/{product_id}/explain", summary="Explain a product's price")
async def explain_product(desk: Viewer, product_id: PathId, query: Annotated[SoldBy, Query()]) -> PriceExplained:
    """The last decision with every step; 404 until it has been through PRICE."""
    async with desk.read() as tx:
        sku = await _sku(tx, product_id)
        return await prices.explained(tx, sku, market=query.market or "", account=query.account or "")


@router.get("/{product_id}/standing", summary="Say why a product is on sale or not")
async def show_product_standing(desk: Viewer, product_id: PathId, query: Annotated[SoldOn, Query()]) -> Standing:
    """The first thing that stands in its way, in the order in which a product is made ready, with the words of whoever
    stopped it."""
    async with desk.read() as tx:
        return standing(await product_page.page(tx, product_id, query.market))
