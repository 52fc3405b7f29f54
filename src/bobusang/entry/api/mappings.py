"""Mappings: which of the market's brands and categories those of the malls are, as a file, proposed, and one by one."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import Query, Request
from pydantic import BaseModel, Field
from starlette.responses import Response

from bobusang.catalog import brands, categories
from bobusang.entry.api.desk import Desk, Operator, Viewer
from bobusang.entry.api.fields import LARGEST_ID, Form, Id, Name, Numeric
from bobusang.entry.api.files import BODY, handed, sent_text
from bobusang.entry.api.pages import Page, Paged, pack, unpacked
from bobusang.entry.api.resource import Resource
from bobusang.entry.api.selling import MARKETS, Market
from bobusang.flows.market import masters
from bobusang.kit.db import Tx
from bobusang.kit.errors import Invalid, Missing
from bobusang.stages.convert import mastering, reviewing
from bobusang.stages.convert.masters import Kind
from bobusang.stages.convert.reviewing import Subject
from bobusang.views import mappings as view
from bobusang.views.brands import BRANDS
from bobusang.views.categories import CATEGORIES
from bobusang.views.mappings import Unreviewed

router = Resource("mappings", "/mappings")


class ExportQuery(Form):
    """Whose brands and categories."""

    mall: Name


class ForMarket(Form):
    """Whose brands and categories are meant."""

    market: Market = MARKETS[0]


class UnreviewedQuery(Paged):
    """What waits for a review."""

    mall: Name
    market: Market = MARKETS[0]
    kind: Subject | None = None


class AssignForm(Form):
    """Which of the market's a mall's brand or category is; null: none yet; of a brand 0: the market lacks it."""

    kind: Subject
    id: Id
    market_id: Annotated[int | None, Field(ge=0, le=LARGEST_ID), Numeric]
    market: Market = MARKETS[0]


class MappingTaken(BaseModel):
    """How many lines of a mapping were taken, and of which malls."""

    lines: int
    malls: list[str]


class Proposals(BaseModel):
    """How many rows have a proposal now that a person may accept."""

    brands: int
    categories: int


class Assigned(BaseModel):
    """A brand or category and what it stands for now; its review is as it was."""

    kind: Subject
    id: int
    market_id: int | None
    market_name: str


@router.get("", summary="Export a mall's mapping", response_class=Response)
async def export_mapping(desk: Viewer, query: Annotated[ExportQuery, Query()]) -> Response:
    """All its brands and categories with their reviews, as CSV in a fixed order."""
    async with desk.read() as tx:
        lines = await reviewing.exported(tx, query.mall)
    if not lines:
        hint = "`bobusang brand collect MALL` collects a mall's brands"
        raise Missing(f"nothing of a mall '{query.mall}' is known", hint=hint, field="mall")
    return handed(reviewing.written(lines), "mapping.csv")


@router.post("", summary="Import a reviewed mapping", openapi_extra=BODY)
async def import_mapping(desk: Operator, request: Request, query: Annotated[ForMarket, Query()]) -> MappingTaken:
    """All of it or nothing; what no crawl has proposed yet is made, and what the market lacks is refused."""
    return await taken(desk, await sent_text(request), query.market)


async def taken(desk: Desk, text: str, market: str) -> MappingTaken:
    """The same of a text, however it came."""
    async with desk.read() as tx:
        known = await mastering.current(tx, market)
    lines = await asyncio.to_thread(reviewing.parsed, text, known)

    async def work(tx: Tx) -> MappingTaken:
        taken = await reviewing.imported(tx, lines)
        malls = sorted({line.mall for line in lines})
        for mall in malls:
            told = {"lines": sum(line.mall == mall for line in lines)}
            await desk.note(tx, "mapping.import", "mall", mall, after=told)
        return MappingTaken(lines=taken, malls=malls)

    return await desk.write(work)


@router.post("/propose", summary="Propose what is unreviewed")
async def propose_mappings(desk: Operator, query: Annotated[ForMarket, Query()]) -> Proposals:
    """Written beside brands and categories that nobody has reviewed, where it is near enough; only a person accepts."""
    async with desk.read() as tx:
        waiting = await masters.unreviewed(tx, query.market)
    found = await asyncio.to_thread(masters.compared, waiting)

    async def work(tx: Tx) -> Proposals:
        done = await masters.propose(tx, found)
        await desk.note(tx, "mapping.propose", "market", query.market, after=done)
        return Proposals(brands=done.brands, categories=done.categories)

    return await desk.write(work)


@router.get("/unreviewed", summary="List what waits for a review")
async def list_unreviewed(desk: Viewer, query: Annotated[UnreviewedQuery, Query()]) -> Page[Unreviewed]:
    """A mall's brands, then its categories, each with the market's that it may be and how sure that is."""
    after = unpacked("mappings", query.cursor, str, int)
    async with desk.read() as tx:
        found = await view.pending(
            tx, query.market, query.mall, query.kind, after=after and (after[0], after[1]), limit=query.limit + 1
        )
    # Thousands of names are compared; meanwhile others are served.
    lines = await asyncio.to_thread(view.matched, found)
    shown = lines[: query.limit]
    more = len(lines) > query.limit
    return Page(items=shown, next=pack("mappings", shown[-1].kind.value, shown[-1].id) if more else None)


@router.post("/assign", summary="Say which of the market's it is")
async def assign(desk: Operator, form: AssignForm) -> Assigned:
    """Written beside the row; whether it may be listed is another question: its review stays."""
    is_brand = form.kind is Subject.BRAND
    kind = Kind.BRANDS if is_brand else Kind.CATEGORIES
    if form.market_id == 0 and not is_brand:
        raise Invalid("0 is no market category", hint="give null until one is chosen", field="market_id")

    async def work(tx: Tx) -> Assigned:
        known = await mastering.current(tx, form.market)
        if form.market_id and not known.has(kind, form.market_id):
            hint = "`bobusang mapping list` shows what it may be"
            raise Missing(f"{form.market} has no {form.kind} {form.market_id}", hint=hint, field="market_id")
        name = known.name(kind, form.market_id) if form.market_id else ""
        if is_brand:
            before = (await BRANDS.one(tx, form.id)).buyma_brand_id
            await brands.assign(tx, form.id, buyma_brand_id=form.market_id, buyma_brand_name=name or None)
        else:
            before = (await CATEGORIES.one(tx, form.id)).buyma_category_id
            await categories.assign(tx, form.id, buyma_category_id=form.market_id)
        told = {"market_id": before}, {"market_id": form.market_id}
        await desk.note(tx, f"{form.kind}.assign", form.kind, form.id, before=told[0], after=told[1])
        return Assigned(kind=form.kind, id=form.id, market_id=form.market_id, market_name=name)

    return await desk.write(work)
