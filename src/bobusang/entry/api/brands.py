"""The malls' brands: collected from their indexes, accepted or blocked by a person, one by one or by filter."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Response
from pydantic import Field

from bobusang.catalog import brands
from bobusang.entry.api.collecting import Key, StartedJob
from bobusang.entry.api.desk import Operator, Viewer
from bobusang.entry.api.fields import Form, Name, PathId
from bobusang.entry.api.pages import Page
from bobusang.entry.api.resource import Resource
from bobusang.entry.api.reviews import Choice, ChoiceQuery, Reviewed, ReviewForm, Reviewing
from bobusang.flows.collect import starting
from bobusang.kit.db import Tx
from bobusang.views.brands import BRANDS, BrandLine

router = Resource("brands", "/brands")

REVIEWING = Reviewing("brands", BRANDS, brands.review)

Text = Annotated[str, Field(min_length=1, max_length=200, description="part of the key or of a name")]


class BrandQuery(ChoiceQuery):
    """Which brands."""

    q: Text | None = None


class BrandChoice(Choice):
    """Which brands; at least one thing must be said."""

    q: Text | None = None


class BrandsForm(ReviewForm):
    """One verdict on many brands, by their ids or by a filter."""

    filter: BrandChoice | None = None


class IndexForm(Form):
    """Whose brands are to be collected."""

    mall: Name
    key: Annotated[Key | None, Field(description="a second start with the same key is the first")] = None


@router.get("", summary="List brands of malls")
async def list_brands(desk: Viewer, query: Annotated[BrandQuery, Query()]) -> Page[BrandLine]:
    """By number."""
    return await REVIEWING.page(desk, query)


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
    return await REVIEWING.many(desk, form)


@router.post("/{brand_id}/accept", summary="Accept a brand")
async def accept_brand(desk: Operator, brand_id: PathId) -> BrandLine:
    """It is collected with the accepted brands of its mall."""
    return await REVIEWING.one(desk, brand_id, "accept")


@router.post("/{brand_id}/block", summary="Block a brand")
async def block_brand(desk: Operator, brand_id: PathId) -> BrandLine:
    """It is not collected, however often the mall proposes it."""
    return await REVIEWING.one(desk, brand_id, "block")


@router.post("/{brand_id}/propose", summary="Set a brand back")
async def propose_brand(desk: Operator, brand_id: PathId) -> BrandLine:
    """As if nobody had reviewed it."""
    return await REVIEWING.one(desk, brand_id, "propose")
