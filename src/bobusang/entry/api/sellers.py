"""Sellers of malls: added, changed, paused, resumed, disabled; each is crawled on its own cadence."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from pydantic import Field
from starlette.responses import Response

from bobusang.catalog import cadence
from bobusang.catalog import sellers as catalog
from bobusang.catalog.model import SellerStatus
from bobusang.catalog.sellers import NewSeller, Seller
from bobusang.entry.api.conditions import shown
from bobusang.entry.api.desk import Desk, Operator, Viewer
from bobusang.entry.api.fields import Flag, Form, Name, PathId
from bobusang.entry.api.once import IdempotencyKey, once
from bobusang.entry.api.pages import Page, Paged, page, unpack
from bobusang.entry.api.references import workflow_id
from bobusang.flows.collect.register import WORKFLOW
from bobusang.flows.seller_crawl import sellers
from bobusang.kit.db import Tx
from bobusang.kit.errors import Invalid
from bobusang.views import sellers as view
from bobusang.views.sellers import SellerDetail, SellerFilter, SellerLine

router = APIRouter(prefix="/sellers", tags=["sellers"])

Text = Annotated[str, Field(max_length=200)]
SellerId = Annotated[str, Field(min_length=1, max_length=100, examples=["luxboy"], description="the mall's own id")]
Mall = Annotated[str, Field(min_length=1, max_length=50, examples=["mustit"])]
Email = Annotated[str, Field(max_length=200, pattern=r"^[^@\s]+@[^@\s]+$", examples=["md@example.com"])]
Cadence = Annotated[str, Field(max_length=20, description="minutes, hours or days", examples=["30m", "6h", "2d"])]
Status = Annotated[SellerStatus, Field(examples=["Active"])]
NAMED = {"cadence_minutes": "cadence"}
"""What the catalog calls a field that the form calls otherwise."""


class SellerQuery(Paged):
    """Which sellers."""

    mall: Name | None = None
    status: Status | None = None
    seller_id: SellerId | None = None
    q: Annotated[str | None, Field(min_length=1, max_length=100, description="a part of name, company or id")] = None


class SellerFacts(Form):
    """All that is known of a seller besides its name at the mall; what is left out is empty, or the default."""

    name: Annotated[Text | None, Field(examples=["럭스보이"])] = None
    company: Annotated[Text | None, Field(examples=["㈜럭스"])] = None
    contact: Annotated[Text | None, Field(examples=["김"])] = None
    email: Email | None = None
    cadence: Cadence = "1d"
    adaptive: Annotated[Flag, Field(description="let the cadence follow how much changes")] = False


class SellerForm(SellerFacts):
    """A seller of a mall, known by mall and seller_id."""

    mall: Mall = "mustit"
    seller_id: SellerId

    def new(self) -> NewSeller:
        """The same as the catalog takes it."""
        return NewSeller(**self.model_dump(exclude={"cadence"}), cadence_minutes=cadence.minutes(self.cadence))


class SellerChange(Form):
    """What is to be changed; what is left out stays, and null takes a text away."""

    name: Text | None = None
    company: Text | None = None
    contact: Text | None = None
    email: Email | None = None
    cadence: Annotated[Cadence, Field(description="counts from the next fire")] = ""
    adaptive: Flag = False

    def values(self) -> dict[str, Any]:
        """The same as the catalog takes it."""
        given = self.model_dump(exclude_unset=True)
        if not given:
            raise Invalid("nothing to change was given", hint=f"one of {', '.join(type(self).model_fields)}")
        return changed(given)


def changed(given: dict[str, Any]) -> dict[str, Any]:
    """What the catalog calls a cadence is a number of minutes."""
    if "cadence" in given:
        given["cadence_minutes"] = cadence.minutes(given.pop("cadence"))
    return given


class PauseForm(Form):
    """Why a seller is paused."""

    reason: Annotated[str, Field(min_length=1, max_length=500)] = "paused by hand"


@contextmanager
def naming_fields() -> Iterator[None]:
    """Have the catalog's complaints name the form's fields."""
    try:
        yield
    except Invalid as error:
        error.field = NAMED.get(error.field, error.field)
        raise


@router.get("", summary="List sellers")
async def list_sellers(desk: Viewer, query: Annotated[SellerQuery, Query()]) -> Page[SellerLine]:
    """Newest first."""
    before = unpack("sellers", query.cursor)
    wanted = SellerFilter(mall=query.mall, status=query.status, seller_id=query.seller_id, text=query.q)
    async with desk.read() as tx:
        found = await view.listed(tx, wanted, before, query.limit + 1)
    return page("sellers", found, query.limit, lambda seller: seller.id)


@router.post("", summary="Add a seller", status_code=201, response_model=SellerDetail)
async def add_seller(
    desk: Operator, request: Request, form: SellerForm, idempotency_key: IdempotencyKey = None
) -> Response:
    """It is first crawled one cadence from now; POST /crawl/start crawls it at once."""
    desk.app.collector.source(form.mall)

    async def work(tx: Tx) -> Response:
        with naming_fields():
            made = await sellers.add(tx, await workflow_id(tx, WORKFLOW), form.new())
        await desk.note(tx, "seller.add", "seller", made.id, after=form.model_dump())
        return shown(await view.one(tx, made.id), 201, Location=f"/sellers/{made.id}")

    return await once(desk, request, idempotency_key, form, work)


@router.get("/{seller_id}", summary="Show a seller")
async def show_seller(desk: Viewer, seller_id: PathId) -> SellerDetail:
    """With the parts of its quality score and its last runs."""
    async with desk.read() as tx:
        return await view.one(tx, seller_id)


@router.patch("/{seller_id}", summary="Change a seller")
async def change_seller(desk: Operator, seller_id: PathId, form: SellerChange) -> SellerDetail:
    """Another cadence counts from the next fire, which stays where it is planned."""
    return await _changed(desk, seller_id, form.values)


@router.put("/{seller_id}", summary="Replace what is known of a seller")
async def replace_seller(desk: Operator, seller_id: PathId, form: SellerFacts) -> SellerDetail:
    """What is left out is taken away, or as it is for a new one; another cadence counts from the next fire."""
    return await _changed(desk, seller_id, lambda: changed(form.model_dump()))


@router.delete("/{seller_id}", summary="Delete a seller", status_code=204)
async def delete_seller(desk: Operator, seller_id: PathId) -> None:
    """With its schedule; 409 while there are products of it."""

    async def work(tx: Tx) -> None:
        gone = await sellers.remove(tx, seller_id)
        before = {"mall": gone.mall, "seller_id": gone.seller_id, "name": gone.name}
        await desk.note(tx, "seller.delete", "seller", seller_id, before=before)

    await desk.write(work)


async def _changed(desk: Desk, seller_id: int, told_values: Callable[[], dict[str, Any]]) -> SellerDetail:
    async def work(tx: Tx) -> SellerDetail:
        values = told_values()
        before = await catalog.get(tx, seller_id)
        with naming_fields():
            await sellers.change(tx, await workflow_id(tx, WORKFLOW), seller_id, values)
        told = {name: getattr(before, name) for name in values}
        await desk.note(tx, "seller.change", "seller", seller_id, before=told, after=values)
        return await view.one(tx, seller_id)

    return await desk.write(work)


@router.post("/{seller_id}/pause", summary="Pause a seller")
async def pause_seller(desk: Operator, seller_id: PathId, form: PauseForm | None = None) -> SellerDetail:
    """It is crawled no more until a person resumes it; no probe does."""
    reason = (form or PauseForm()).reason
    return await _switch(desk, "pause", seller_id, lambda tx: sellers.pause(tx, seller_id, reason))


@router.post("/{seller_id}/resume", summary="Resume a seller")
async def resume_seller(desk: Operator, seller_id: PathId) -> SellerDetail:
    """Whoever or whatever paused or disabled it; it is next crawled one cadence from now."""
    return await _switch(desk, "resume", seller_id, lambda tx: sellers.resume(tx, seller_id))


@router.post("/{seller_id}/disable", summary="Disable a seller")
async def disable_seller(desk: Operator, seller_id: PathId) -> SellerDetail:
    """What was collected of it stays."""
    return await _switch(desk, "disable", seller_id, lambda tx: sellers.disable(tx, seller_id))


async def _switch(desk: Desk, action: str, seller_id: int, act: Callable[[Tx], Awaitable[Seller]]) -> SellerDetail:
    async def work(tx: Tx) -> SellerDetail:
        before = await catalog.get(tx, seller_id)
        after = await act(tx)
        told = [{"status": one.status, "reason": one.paused_reason} for one in (before, after)]
        await desk.note(tx, f"seller.{action}", "seller", seller_id, before=told[0], after=told[1])
        return await view.one(tx, seller_id)

    return await desk.write(work)
