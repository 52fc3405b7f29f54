"""Prices: a decision explained step by step, the decisions before it, and the policy by which an account prices."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from pydantic import Field

from bobusang.entry.api.desk import Admin, Viewer
from bobusang.entry.api.fields import Form, Payload
from bobusang.entry.api.pages import Page
from bobusang.entry.api.resource import Resource
from bobusang.entry.api.selling import MARKETS, Account, Market, Sku
from bobusang.kit import json
from bobusang.kit.db import Tx
from bobusang.stages.price import policies
from bobusang.stages.register import accounts
from bobusang.views import prices as view
from bobusang.views.prices import PolicyShown, PriceExplained, PriceLine

router = Resource("prices", "/prices")


class PriceQuery(Form):
    """Whose price; without market and account the decision that came last."""

    sku: Sku
    market: Market | None = None
    account: Account | None = None


class HistoryQuery(PriceQuery):
    """Which decisions."""

    limit: Annotated[int, Field(ge=1, le=500)] = 20


class PolicyQuery(Form):
    """Whose policy; without an account the market's, for all accounts without their own."""

    market: Market = MARKETS[0]
    account: Account | None = None


@router.get("/explain", summary="Explain a price")
async def explain_price(desk: Viewer, query: Annotated[PriceQuery, Query()]) -> PriceExplained:
    """The last decision on a product with every step, its basis, its source and its date."""
    async with desk.read() as tx:
        return await view.explained(tx, query.sku, market=query.market or "", account=query.account or "")


@router.get("/history", summary="List a product's prices")
async def list_prices(desk: Viewer, query: Annotated[HistoryQuery, Query()]) -> Page[PriceLine]:
    """Decisions that differ from the one before, newest first."""
    async with desk.read() as tx:
        found = await view.history(
            tx, query.sku, market=query.market or "", account=query.account or "", limit=query.limit
        )
    return Page(items=found, next=None)


@router.get("/policy", summary="Show a price policy")
async def show_policy(desk: Viewer, query: Annotated[PolicyQuery, Query()]) -> PolicyShown:
    """The account's own, else the market's, else the careful default."""
    async with desk.read() as tx:
        return await view.policy(tx, query.market, query.account or "")


@router.put("/policy", summary="Set a price policy")
async def set_policy(desk: Admin, query: Annotated[PolicyQuery, Query()], form: Payload) -> PolicyShown:
    """The whole of it; what is not said is the careful default."""
    wanted = policies.read(json.dumps(form))

    async def work(tx: Tx) -> PolicyShown:
        if query.account:
            await accounts.named(tx, query.market, query.account)
        await policies.put(tx, query.market, query.account or "", wanted, desk.actor)
        return await view.policy(tx, query.market, query.account or "")

    return await desk.write(work)
