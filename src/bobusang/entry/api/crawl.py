"""The seller crawl of design [B]: started once for a key, its tasks in [B]'s states, and how far its runs are."""

from __future__ import annotations

from typing import Annotated

from fastapi import Header, Query, Response
from pydantic import BaseModel, Field

from bobusang.catalog import sellers as catalog
from bobusang.entry.api.desk import Operator, Viewer
from bobusang.entry.api.fields import Capitals, Form, Name
from bobusang.entry.api.pages import Page, Paged, pack, page, unpack, unpacked
from bobusang.entry.api.references import workflow_id
from bobusang.entry.api.resource import Resource
from bobusang.entry.api.sellers import Mall, SellerId
from bobusang.flows.collect.register import WORKFLOW
from bobusang.flows.seller_crawl import starting
from bobusang.flows.seller_crawl.starting import LONGEST_KEY, Started
from bobusang.kit.db import Tx
from bobusang.kit.errors import Invalid, Missing
from bobusang.stages.collect.tables import RunMode
from bobusang.views import crawl as view
from bobusang.views import sellers
from bobusang.views.crawl import CrawlFilter, CrawlState, CrawlTask, Progress

router = Resource("crawl", "/crawl")

Key = Annotated[str, Field(min_length=1, max_length=LONGEST_KEY)]
Which = Annotated[str, Field(min_length=1, max_length=100, description="the mall's id for a seller, or our number")]


class StartForm(Form):
    """Which seller to crawl now."""

    seller_id: SellerId
    mall: Mall = "mustit"
    mode: Annotated[RunMode, Capitals, Field(description="PARTIAL: only price and stock of what is known")] = (
        RunMode.FULL
    )
    key: Annotated[Key | None, Field(description="a second start with the same key is the first")] = None


class CrawlStarted(BaseModel):
    """The job of a crawl, and whether this request made it."""

    job_id: int
    created: bool


class SellerRunsQuery(Paged):
    """Whose runs."""

    seller: Which | None = None
    mall: Name | None = None


class CrawlTaskQuery(SellerRunsQuery):
    """Which tasks."""

    status: Annotated[CrawlState | None, Capitals] = None
    endpoint: Annotated[Name | None, Field(examples=["list", "detail", "options"])] = None


@router.post(
    "/start",
    summary="Crawl a seller now",
    status_code=201,
    responses={200: {"model": CrawlStarted, "description": "Known key"}},
)
async def start_crawl(
    desk: Operator,
    form: StartForm,
    response: Response,
    idempotency_key: Annotated[Key | None, Header(description="the same as `key`")] = None,
) -> CrawlStarted:
    """EventBridge or cron may call twice with the same key: there is one job, and the second answer is 200. 409 when
    the seller is paused or disabled, or its mall is off."""
    if form.key and idempotency_key and form.key != idempotency_key:
        raise Invalid("the body's key and the header Idempotency-Key differ", hint="send one of them", field="key")
    key = form.key or idempotency_key or ""
    if "\0" in key:
        raise Invalid("the key contains a NUL character", field="key")

    async def work(tx: Tx) -> Started:
        seller = await catalog.find(tx, form.mall, form.seller_id)
        if seller is None:
            hint = f"`bobusang seller add {form.seller_id} --mall {form.mall}` adds it"
            raise Missing(f"{form.mall} has no seller '{form.seller_id}' that we know", hint=hint, field="seller_id")
        partial = form.mode is RunMode.PARTIAL
        crawl = await workflow_id(tx, WORKFLOW)
        made = await starting.start(tx, desk.engine, crawl, seller, key=key, partial=partial)
        if made.is_new:
            after = {"job_id": made.job_id, "mode": form.mode, "key": key or None}
            await desk.note(tx, "crawl.start", "seller", seller.id, after=after)
        return made

    made = await desk.write(work)
    response.status_code = 201 if made.is_new else 200
    return CrawlStarted(job_id=made.job_id, created=made.is_new)


@router.get("/tasks", summary="List crawl tasks")
async def list_crawl_tasks(desk: Viewer, query: Annotated[CrawlTaskQuery, Query()]) -> Page[CrawlTask]:
    """The newest run first. One call looks through a bounded number of runs, so a page may be short or even empty while
    `next` is not null: go on until it is."""
    after = unpacked("crawl-tasks", query.cursor, int, int)
    async with desk.read() as tx:
        seller = None if query.seller is None else await sellers.named(tx, query.seller, query.mall)
        wanted = CrawlFilter(seller=seller, status=query.status, endpoint=query.endpoint)
        found = await view.listed(tx, wanted, None if after is None else (after[0], after[1]), query.limit)
    return Page(items=found.tasks, next=None if found.resume is None else pack("crawl-tasks", *found.resume))


@router.get("/progress", summary="Show how far crawls are")
async def show_progress(desk: Viewer, query: Annotated[SellerRunsQuery, Query()]) -> Page[Progress]:
    """The newest run first: how many of its tasks stand in each state, and their share."""
    before = unpack("crawl-progress", query.cursor)
    async with desk.read() as tx:
        seller = None if query.seller is None else await sellers.named(tx, query.seller, query.mall)
        found = await view.progress(tx, seller, None if before is None else before - 1, query.limit + 1)
    return page("crawl-progress", found, query.limit, lambda run: run.job_id)
