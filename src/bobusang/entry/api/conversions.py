"""Products that are held back from a market, and why."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query

from bobusang.entry.api.desk import Viewer
from bobusang.entry.api.fields import Form
from bobusang.entry.api.pages import Page, Paged, page, unpack
from bobusang.entry.api.resource import Resource
from bobusang.entry.api.selling import MARKETS, Market
from bobusang.stages.convert.model import Why
from bobusang.views import conversions as view
from bobusang.views.conversions import HeldProduct, HeldReason

router = Resource("conversions", "/conversions")


class ReasonQuery(Form):
    """For which market."""

    market: Market = MARKETS[0]


class HeldProductQuery(Paged):
    """Which held products."""

    market: Market = MARKETS[0]
    why: Why | None = None


@router.get("/reasons", summary="Count why products are held")
async def count_reasons(desk: Viewer, query: Annotated[ReasonQuery, Query()]) -> Page[HeldReason]:
    """The most frequent first; a product may wait for several things."""
    async with desk.read() as tx:
        return Page(items=await view.reasons(tx, query.market), next=None)


@router.get("/held", summary="List held products")
async def list_held_products(desk: Viewer, query: Annotated[HeldProductQuery, Query()]) -> Page[HeldProduct]:
    """By number, each with its reasons in words."""
    after = unpack("conversions", query.cursor)
    async with desk.read() as tx:
        found = await view.held(tx, query.market, query.why, after=after, limit=query.limit + 1)
    return page("conversions", found, query.limit, lambda one: one.product_id)
