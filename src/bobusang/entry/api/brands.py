"""The malls' brands: collected from their indexes, accepted or blocked by a person, one by one or by filter."""

from __future__ import annotations

from itertools import islice
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, Field, model_validator
from pydantic_core import PydanticCustomError

from bobusang.catalog import brands
from bobusang.catalog.model import Review
from bobusang.entry.api.collecting import Key, StartedJob
from bobusang.entry.api.desk import Desk, Operator, Viewer
from bobusang.entry.api.fields import Flag, Form, Id, Name, PathId
from bobusang.entry.api.pages import Page, Paged, page, unpack
from bobusang.flows.collect import starting
from bobusang.kit.db import Tx
from bobusang.platform import audit
from bobusang.platform.audit import Entry, Subject
from bobusang.views import brands as view
from bobusang.views.brands import BrandFilter, BrandLine

router = APIRouter(prefix="/brands", tags=["brands"])

AT_ONCE = 1000
"""Rows a statement takes."""
SHOWN = 500

Text = Annotated[str, Field(min_length=1, max_length=200, description="part of the key or of a name")]
REVIEWS = {"accept": Review.ACCEPTED, "block": Review.BLOCKED, "propose": Review.PROPOSED}


class BrandQuery(Paged):
    """Which brands."""

    mall: Name | None = None
    review: Review | None = None
    q: Text | None = None


class BrandChoice(Form):
    """Which brands; at least one thing must be said."""

    mall: Name | None = None
    review: Review | None = None
    q: Text | None = None


class BrandsForm(Form):
    """One verdict on many brands, by their ids or by a filter."""

    action: Literal["accept", "block", "propose"]
    ids: Annotated[list[Id] | None, Field(min_length=1, max_length=AT_ONCE)] = None
    filter: BrandChoice | None = None
    dry_run: Annotated[Flag, Field(description="only say how many")] = False

    @model_validator(mode="after")
    def _one_of_both(self) -> BrandsForm:
        if (self.ids is None) == (self.filter is None):
            raise PydanticCustomError("ids_or_filter", "needs either ids or filter")
        if self.filter is not None and not self.filter.model_dump(exclude_none=True):
            raise PydanticCustomError("empty_filter", "needs a filter that says something")
        return self


class Reviewed(BaseModel):
    """How many brands matched and were not so already, and how many were changed; `ids` shows the first of them."""

    matched: int
    changed: int
    dry_run: bool
    ids: list[int]


class IndexForm(Form):
    """Whose brands are to be collected."""

    mall: Name
    key: Annotated[Key | None, Field(description="a second start with the same key is the first")] = None


@router.get("", summary="List brands of malls")
async def list_brands(desk: Viewer, query: Annotated[BrandQuery, Query()]) -> Page[BrandLine]:
    """By number."""
    after = unpack("brands", query.cursor)
    wanted = BrandFilter(mall=query.mall, review=query.review, text=query.q)
    async with desk.read() as tx:
        found = await view.listed(tx, wanted, after=after, limit=query.limit + 1)
    return page("brands", found, query.limit, lambda brand: brand.id)


@router.post("/collect", summary="Collect a mall's brands", status_code=201)
async def collect_brands(desk: Operator, form: IndexForm, response: Response) -> StartedJob:
    """Starts a job that reads the mall's own index; what it finds is proposed, what was reviewed stays so."""

    async def work(tx: Tx) -> StartedJob:
        app = desk.app
        made = await starting.start_index(tx, app.engine, app.collector, form.mall, key=form.key or "")
        if made.is_new:
            await desk.note(tx, "brands.collect", "job", made.job_id, after={"mall": form.mall})
        return StartedJob(job_id=made.job_id, target=made.target, created=made.is_new)

    done = await desk.write(work)
    response.status_code = 201 if done.created else 200
    return done


@router.post("/bulk", summary="Review many brands")
async def review_many(desk: Operator, form: BrandsForm) -> Reviewed:
    """Accept, block or set back all that are named, or all that a filter matches, in one transaction."""
    verdict, chosen = REVIEWS[form.action], form.filter or BrandChoice()

    async def work(tx: Tx) -> Reviewed:
        wanted = BrandFilter(mall=chosen.mall, review=chosen.review, text=chosen.q, ids=form.ids or ())
        ids = await view.ids(tx, wanted, but=verdict)
        changed = 0 if form.dry_run else await _reviewed(desk, tx, ids, form.action)
        return Reviewed(matched=len(ids), changed=changed, dry_run=form.dry_run, ids=ids[:SHOWN])

    return await desk.write(work)


@router.post("/{brand_id}/accept", summary="Accept a brand")
async def accept_brand(desk: Operator, brand_id: PathId) -> BrandLine:
    """It is collected with the accepted brands of its mall."""
    return await _review(desk, brand_id, "accept")


@router.post("/{brand_id}/block", summary="Block a brand")
async def block_brand(desk: Operator, brand_id: PathId) -> BrandLine:
    """It is not collected, however often the mall proposes it."""
    return await _review(desk, brand_id, "block")


@router.post("/{brand_id}/propose", summary="Set a brand back")
async def propose_brand(desk: Operator, brand_id: PathId) -> BrandLine:
    """As if nobody had reviewed it."""
    return await _review(desk, brand_id, "propose")


async def _review(desk: Desk, brand_id: int, action: str) -> BrandLine:
    async def work(tx: Tx) -> BrandLine:
        before = await view.one(tx, brand_id)
        await brands.review(tx, [brand_id], REVIEWS[action])
        told = {"review": before.review}, {"review": REVIEWS[action]}
        await desk.note(tx, f"brand.{action}", "brand", brand_id, before=told[0], after=told[1])
        return await view.one(tx, brand_id)

    return await desk.write(work)


async def _reviewed(desk: Desk, tx: Tx, ids: list[int], action: str) -> int:
    changed, rest = 0, iter(ids)
    while some := list(islice(rest, AT_ONCE)):
        changed += await brands.review(tx, some, REVIEWS[action])
        after = {"review": REVIEWS[action]}
        await audit.record_all(
            tx, *(Entry(desk.actor, f"brand.{action}", Subject("brand", id), after=after) for id in some)
        )
    return changed
