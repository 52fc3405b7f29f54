"""Listings: where each stands on its market, its receipts, and how fresh an account is."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from pydantic import BaseModel, Field

from bobusang.entry.api.desk import Operator, Viewer
from bobusang.entry.api.fields import Capitals, Form
from bobusang.entry.api.pages import Page, Paged, pack, unpack
from bobusang.entry.api.resource import Resource
from bobusang.entry.api.selling import Account, Market, Sku
from bobusang.flows.conveyor import marks
from bobusang.kit.db import Tx
from bobusang.kit.errors import Missing
from bobusang.stages.register import closing
from bobusang.stages.register.market import Cause
from bobusang.stages.register.model import State
from bobusang.views import listing_lists
from bobusang.views import listings as view
from bobusang.views.listing_lists import Narrowed
from bobusang.views.listings import AccountFreshness, ListingDetail, ListingLine, ReceiptShown

router = Resource("listings", "/listings")


class ListingQuery(Paged):
    """Which listings."""

    market: Market | None = None
    account: Account | None = None
    state: Annotated[State | None, Capitals] = None
    refused: Annotated[bool, Field(description="only those that the market last refused")] = False
    cause: Annotated[Cause | None, Field(description="only those that it refused for this cause")] = None
    drifted: Annotated[bool, Field(description="only those that it has otherwise than they were sent")] = False


class SkuQuery(Form):
    """Which product."""

    sku: Sku


class RecheckForm(Form):
    """Which products."""

    skus: Annotated[list[Sku], Field(min_length=1, max_length=500, examples=[["okmall-4711"]])]


class Rechecked(BaseModel):
    """How many are looked at again, and those that have no listing."""

    rechecked: int
    missing: list[str]


class OpenForm(SkuQuery):
    """Which listings of a product: those of an account, or of all."""

    account: Account | None = None


class CloseForm(OpenForm):
    """Which, and why."""

    why: Annotated[str, Field(min_length=1, max_length=500, examples=["the brand's owner wrote to us"])]


class Switched(BaseModel):
    """How many of a product's listings were closed by this, or opened."""

    sku: str
    listings: int


class ReceiptQuery(SkuQuery):
    """How many of its changes."""

    limit: Annotated[int, Field(ge=1, le=100, description="of each listing")] = 5


@router.get("", summary="List listings")
async def list_listings(desk: Viewer, query: Annotated[ListingQuery, Query()]) -> Page[ListingLine]:
    """Newest first, as the market last described them. A page may be empty and yet not the last."""
    before = unpack("listings", query.cursor)
    wanted = Narrowed(
        market=query.market,
        account=query.account,
        state=query.state,
        refused=query.refused,
        cause=query.cause,
        drifted=query.drifted,
    )
    async with desk.read() as tx:
        found = await listing_lists.part(tx, wanted, before, query.limit)
    return Page(items=list(found.lines), next=None if found.resume is None else pack("listings", found.resume))


@router.get("/of", summary="Show a product's listings")
async def show_listings(desk: Viewer, query: Annotated[SkuQuery, Query()]) -> Page[ListingDetail]:
    """One for each account, then those that are retired, with what the market has confirmed."""
    async with desk.read() as tx:
        return Page(items=await view.of_sku(tx, query.sku), next=None)


@router.get("/receipts", summary="Show a product's receipts")
async def show_receipts(desk: Viewer, query: Annotated[ReceiptQuery, Query()]) -> Page[ReceiptShown]:
    """Its last changes: source seen, changed, decided, intended, sent, accepted, confirmed, read back."""
    async with desk.read() as tx:
        return Page(items=await view.receipts(tx, query.sku, limit=query.limit), next=None)


@router.get("/freshness", summary="Show how fresh listings are")
async def show_freshness(desk: Viewer) -> Page[AccountFreshness]:
    """By account, over the last day."""
    async with desk.read() as tx:
        return Page(items=await view.freshness(tx), next=None)


@router.post("/recheck", summary="Have listings looked at again")
async def recheck_listings(desk: Operator, form: RecheckForm) -> Rechecked:
    """The next run decides price, stock and texts anew, by all its guards. Nothing is sent now."""

    async def work(tx: Tx) -> Rechecked:
        found = await listing_lists.products_of(tx, form.skus)
        if found:
            await marks.forget(tx, desk.app.belt.market, list(found.values()))
            of = next(iter(found)) if len(found) == 1 else f"{len(found)} listings"
            await desk.note(tx, "listing.recheck", "listing", of, after={"skus": sorted(found)})
        return Rechecked(rechecked=len(found), missing=sorted(set(form.skus) - found.keys()))

    return await desk.write(work)


@router.post("/close", summary="Close a product's listings")
async def close_listings(desk: Operator, form: CloseForm) -> Switched:
    """Take it off the market: all stock is told as out within seconds, by a call with its receipt, and the market keeps
    its id. It stays closed, whatever the mall shows, until somebody opens it. Closed again, nothing changes."""

    async def work(tx: Tx) -> Switched:
        found = await _meant(tx, form)
        changed = await closing.close(tx, [one.id for one in found], who=desk.actor, why=form.why)
        if changed:
            await desk.note(tx, "listing.close", "listing", form.sku, after=_told(found) | {"why": form.why})
        return Switched(sku=form.sku, listings=changed)

    return await desk.write(work)


@router.post("/open", summary="Open a product's listings again")
async def open_listings(desk: Operator, form: OpenForm) -> Switched:
    """Let what a person closed be sold again: the next run brings it back by all its guards. Nothing is sent now."""

    async def work(tx: Tx) -> Switched:
        found = await _meant(tx, form)
        changed = await closing.open_again(tx, [one.id for one in found])
        if changed:
            await marks.forget(tx, desk.app.belt.market, [one.product_id for one in found])
            await desk.note(tx, "listing.open", "listing", form.sku, before=_told(found))
        return Switched(sku=form.sku, listings=changed)

    return await desk.write(work)


async def _meant(tx: Tx, form: OpenForm) -> list[ListingDetail]:
    found = [one for one in await view.of_sku(tx, form.sku) if form.account in (None, one.account)]
    if not found:
        raise Missing(f"'{form.sku}' is not listed for account {form.account}", field="account")
    return found


def _told(found: list[ListingDetail]) -> dict[str, object]:
    """What the audit log keeps of listings."""
    return {"accounts": [one.account for one in found], "states": [one.state for one in found]} | {
        "why": next((one.closed_why for one in found if one.closed_why), None)
    }
