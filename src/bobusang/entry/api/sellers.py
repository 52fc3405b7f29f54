"""Sellers of malls: added, changed, paused, resumed, disabled; each is crawled on its own cadence."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any

from fastapi import Query, Request
from pydantic import Field
from starlette.responses import Response

from bobusang.catalog import cadence
from bobusang.catalog import sellers as catalog
from bobusang.catalog.model import SellerStatus
from bobusang.catalog.sellers import NewSeller, Seller
from bobusang.entry.api.conditions import IfMatch, encoded, must_match, shown
from bobusang.entry.api.desk import Desk, Operator, Viewer
from bobusang.entry.api.fields import Flag, Form, Name, PathId
from bobusang.entry.api.narrowing import FieldNames, asked, narrowed, part_of
from bobusang.entry.api.once import IdempotencyKey, once
from bobusang.entry.api.pages import Page, Paged, pack, unpacked
from bobusang.entry.api.references import workflow_id
from bobusang.entry.api.resource import Resource
from bobusang.flows.collect.register import WORKFLOW
from bobusang.flows.seller_crawl import sellers
from bobusang.kit.db import Tx
from bobusang.kit.errors import Invalid
from bobusang.views import sellers as view
from bobusang.views.sellers import SellerDetail, SellerFilter, SellerLine, Sort

router = Resource("sellers", "/sellers")

Text = Annotated[str, Field(max_length=200)]
SellerId = Annotated[str, Field(min_length=1, max_length=100, examples=["luxboy"], description="the mall's own id")]
Mall = Annotated[str, Field(min_length=1, max_length=50, examples=["mustit"])]
Email = Annotated[str, Field(max_length=200, pattern=r"^[^@\s]+@[^@\s]+$", examples=["md@example.com"])]
Cadence = Annotated[str, Field(max_length=20, description="minutes, hours or days", examples=["30m", "6h", "2d"])]
Status = Annotated[SellerStatus, Field(examples=["Active"])]
NAMED = {"cadence_minutes": "cadence"}
"""What the catalog calls a field that the form calls otherwise."""
NAMES = tuple(SellerLine.__dataclass_fields__)
SEEN = ("name", "company", "contact", "email", "cadence", "adaptive", "status", "paused_reason", "updated_at")
"""What an ETag stands for: what a person changes. The rest moves with every crawl."""
SellerPart: Any = part_of(SellerLine, "SellerPart", "seller")


class SellerQuery(Paged):
    """Which sellers."""

    mall: Name | None = None
    status: Status | None = None
    seller_id: SellerId | None = None
    q: Annotated[str | None, Field(min_length=1, max_length=100, description="a part of name, company or id")] = None
    sort: Sort = Sort.NEWEST
    fields: FieldNames = None


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


@router.get("", summary="List sellers", response_model=Page[SellerPart])
async def list_sellers(desk: Viewer, query: Annotated[SellerQuery, Query()]) -> Response:
    """Newest first, or by id, by the mall's own id, or by last change."""
    names, kind = asked(query.fields, NAMES, "seller"), f"sellers/{query.sort}"
    after = unpacked(kind, query.cursor, str if query.sort is Sort.SELLER_ID else int, int)
    wanted = SellerFilter(mall=query.mall, status=query.status, seller_id=query.seller_id, text=query.q)
    async with desk.read() as tx:
        found = await view.ordered(
            tx, wanted, query.sort, None if after is None else (after[0], after[1]), query.limit + 1
        )
    lines = found[: query.limit]
    next_ = pack(kind, *view.place(query.sort, lines[-1])) if len(found) > query.limit else None
    items = [narrowed(line, names) for line in lines]
    return Response(encoded({"items": items, "next": next_}), media_type="application/json")


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
        found = await view.one(tx, made.id)
        return shown(found, 201, of=seen(found), Location=f"/sellers/{made.id}")

    return await once(desk, request, idempotency_key, form, work)


@router.get("/{seller_id}", summary="Show a seller", response_model=SellerDetail)
async def show_seller(desk: Viewer, seller_id: PathId) -> Response:
    """With the parts of its quality score and its last runs. Its ETag stands for what a person changes of it."""
    async with desk.read() as tx:
        found = await view.one(tx, seller_id)
    return _shown(found)


@router.patch("/{seller_id}", summary="Change a seller", response_model=SellerDetail)
async def change_seller(desk: Operator, seller_id: PathId, form: SellerChange, if_match: IfMatch = None) -> Response:
    """Another cadence counts from the next fire, which stays where it is planned."""
    return _shown(await _changed(desk, seller_id, form.values, if_match))


@router.put("/{seller_id}", summary="Replace what is known of a seller", response_model=SellerDetail)
async def replace_seller(desk: Operator, seller_id: PathId, form: SellerFacts, if_match: IfMatch = None) -> Response:
    """What is left out is taken away, or as it is for a new one; another cadence counts from the next fire."""
    return _shown(await replaced(desk, seller_id, form, if_match))


@router.delete("/{seller_id}", summary="Delete a seller", status_code=204)
async def delete_seller(desk: Operator, seller_id: PathId, if_match: IfMatch = None) -> None:
    """With its schedule; 409 while there are products of it."""

    async def work(tx: Tx) -> None:
        await _hold(tx, seller_id, if_match)
        gone = await sellers.remove(tx, seller_id)
        before = {"mall": gone.mall, "seller_id": gone.seller_id, "name": gone.name}
        await desk.note(tx, "seller.delete", "seller", seller_id, before=before)

    await desk.write(work)


@router.post("/{seller_id}/pause", summary="Pause a seller", response_model=SellerDetail)
async def pause_seller(desk: Operator, seller_id: PathId, form: PauseForm | None = None) -> Response:
    """It is crawled no more until a person resumes it; no probe does."""
    return _shown(await paused(desk, seller_id, form or PauseForm()))


@router.post("/{seller_id}/resume", summary="Resume a seller", response_model=SellerDetail)
async def resume_seller(desk: Operator, seller_id: PathId) -> Response:
    """Whoever or whatever paused or disabled it; it is next crawled one cadence from now."""
    return _shown(await resumed(desk, seller_id))


@router.post("/{seller_id}/disable", summary="Disable a seller", response_model=SellerDetail)
async def disable_seller(desk: Operator, seller_id: PathId) -> Response:
    """What was collected of it stays."""
    return _shown(await disabled(desk, seller_id))


async def replaced(desk: Desk, seller_id: int, form: SellerFacts, if_match: str | None = None) -> SellerDetail:
    """All that is known of a seller is what the form says."""
    return await _changed(desk, seller_id, lambda: changed(form.model_dump()), if_match)


async def paused(desk: Desk, seller_id: int, form: PauseForm) -> SellerDetail:
    """It is crawled no more until a person resumes it."""
    return await _switch(desk, "pause", seller_id, lambda tx: sellers.pause(tx, seller_id, form.reason))


async def resumed(desk: Desk, seller_id: int) -> SellerDetail:
    """It is crawled again."""
    return await _switch(desk, "resume", seller_id, lambda tx: sellers.resume(tx, seller_id))


async def disabled(desk: Desk, seller_id: int) -> SellerDetail:
    """It is crawled no more: a person's decision."""
    return await _switch(desk, "disable", seller_id, lambda tx: sellers.disable(tx, seller_id))


def seen(found: SellerDetail) -> dict[str, Any]:
    """What a person has seen of a seller who is about to change it."""
    return {name: getattr(found, name) for name in SEEN}


def _shown(found: SellerDetail) -> Response:
    return shown(found, of=seen(found))


async def _changed(
    desk: Desk, seller_id: int, told_values: Callable[[], dict[str, Any]], if_match: str | None
) -> SellerDetail:
    async def work(tx: Tx) -> SellerDetail:
        values = told_values()
        before = await _hold(tx, seller_id, if_match)
        with naming_fields():
            await sellers.change(tx, await workflow_id(tx, WORKFLOW), seller_id, values)
        told = {name: getattr(before, name) for name in values}
        await desk.note(tx, "seller.change", "seller", seller_id, before=told, after=values)
        return await view.one(tx, seller_id)

    return await desk.write(work)


async def _switch(desk: Desk, action: str, seller_id: int, act: Callable[[Tx], Awaitable[Seller]]) -> SellerDetail:
    async def work(tx: Tx) -> SellerDetail:
        before = await _hold(tx, seller_id)
        after = await act(tx)
        told = [{"status": one.status, "reason": one.paused_reason} for one in (before, after)]
        await desk.note(tx, f"seller.{action}", "seller", seller_id, before=told[0], after=told[1])
        return await view.one(tx, seller_id)

    return await desk.write(work)


async def _hold(tx: Tx, seller_id: int, if_match: str | None = None) -> Seller:
    """Held first: what matches stays so until the change is made."""
    held = await catalog.hold(tx, seller_id)
    if if_match is not None:
        must_match(if_match, seen(await view.one(tx, seller_id)))
    return held
