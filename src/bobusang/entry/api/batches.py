"""Batches of the conveyor: started for the brands that may run, watched, run again, cancelled."""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated

from fastapi import Header, Path, Query, Request, Response
from pydantic import BaseModel, Field

from bobusang.entry.api.desk import Operator, Viewer
from bobusang.entry.api.fields import Capitals, Form, Name, Numeric, QueryId
from bobusang.entry.api.moving import LiveBatch, Rates
from bobusang.entry.api.pages import Page, Paged, page, unpack
from bobusang.entry.api.references import workflow_id
from bobusang.entry.api.resource import Resource
from bobusang.flows.conveyor import (
    asking,
    batches,
    cancelling,
    choosing,
    control,
    pausing,
    reporting,
    retrying,
    starting,
    watching,
)
from bobusang.flows.conveyor.asking import Asked
from bobusang.flows.conveyor.model import BatchStatus, Brand, Mode, Stage
from bobusang.flows.conveyor.reporting import Causes, Comparison
from bobusang.flows.conveyor.retrying import Retried
from bobusang.flows.conveyor.starting import Started
from bobusang.flows.conveyor.watching import BatchFilter, BatchLine
from bobusang.kit.db import Tx
from bobusang.kit.errors import Invalid

router = Resource("batches", "/batches")

Key = Annotated[str, Field(min_length=1, max_length=200)]
Stages = Annotated[
    list[Annotated[Stage, Capitals]],
    Field(max_length=5, description="only these; without COLLECT for what is already known"),
]
BatchId = Annotated[str, Path(min_length=1, max_length=50, examples=["20260127_01"])]


class BatchForm(Form):
    """What to run: all accepted brands of the malls that are enabled, or of these malls, or these brands; PARTIAL has
    those besides that are not accepted any more and still on sale."""

    mode: Annotated[Mode, Capitals] = Mode.FULL
    malls: Annotated[list[Name], Field(max_length=100, examples=[["okmall"]])] = Field(default_factory=list)
    brands: Annotated[
        list[Key],
        Field(max_length=500, examples=[["나이키(NIKE)"]], description="by the mall's key or by name, accepted ones"),
    ] = Field(default_factory=list)
    stages: Stages = Field(default_factory=list)
    limit: Annotated[int | None, Field(ge=1, le=1_000_000, description="at most so many products a brand"), Numeric] = (
        None
    )
    key: Annotated[Key | None, Field(description="a second start with the same key is the first")] = None


class WhyForm(Form):
    """Why it is done."""

    why: Annotated[str, Field(max_length=300)] = ""


class RetryForm(Form):
    """From where on; without a stage only what failed."""

    stage: Annotated[
        Stage | None, Capitals, Field(description="run all brands of a batch that is over again from this stage on")
    ] = None


class MallBrand(BaseModel):
    """A brand of a mall."""

    mall: str
    brand: str


class BatchStarted(BaseModel):
    """The batch, and whether this request made it; `busy` are the brands left out because another batch has them."""

    batch_id: str
    created: bool
    brands: list[MallBrand]
    busy: list[MallBrand]


class BatchRetried(BaseModel):
    """What runs again, by how many tasks; `busy` are the brands left alone because another batch has them."""

    batch_id: str
    tasks: int
    brands: list[MallBrand]
    busy: list[MallBrand]


class BatchCancelled(BaseModel):
    """How many brands were stopped."""

    batch_id: str
    cancelled: int


class BatchPaused(BaseModel):
    """How many of its brands wait now, or go on."""

    batch_id: str
    brands: int


class BatchQuery(Paged):
    """Which batches."""

    mode: Annotated[Mode | None, Capitals] = None
    status: Annotated[BatchStatus | None, Capitals] = None


@router.post(
    "",
    summary="Start a batch",
    status_code=201,
    responses={200: {"model": BatchStarted, "description": "Gone on with one that was left, or known by the key"}},
)
async def start_batch(
    desk: Operator,
    form: BatchForm,
    response: Response,
    idempotency_key: Annotated[Key | None, Header(description="the same as `key`")] = None,
) -> BatchStarted:
    """One job a brand. FULL takes everything through five stages; PARTIAL refreshes price and stock of what is listed.
    A batch of the same mode that was left by a worker that is gone is gone on with (200). 409 where a mall is off, no
    brand is accepted, or all are in running batches."""
    if form.key and idempotency_key and form.key != idempotency_key:
        raise Invalid("the body's key and the header Idempotency-Key differ", hint="send one of them", field="key")
    told = Asked(mode=form.mode, malls=form.malls, brands=form.brands, stages=form.stages, limit=form.limit)
    return await _started(desk, told, response, key=form.key or idempotency_key or "")


@router.get("", summary="List batches")
async def list_batches(desk: Viewer, query: Annotated[BatchQuery, Query()]) -> Page[BatchLine]:
    """Newest first."""
    before = unpack("batches", query.cursor)
    async with desk.read() as tx:
        found = await watching.listed(tx, BatchFilter(mode=query.mode, status=query.status), before, query.limit + 1)
    return page("batches", found, query.limit, lambda batch: batch.id)


@router.get("/{batch_id}", summary="Show a batch")
async def show_batch(desk: Viewer, request: Request, batch_id: BatchId) -> LiveBatch:
    """Its brands by stage: the control rows, and what the engine counts right now."""
    async with desk.read() as tx:
        rates: Rates = request.app.state.rates
        return await rates.live(tx, batch_id)


@router.get("/{batch_id}/causes", summary="Show why a batch failed")
async def show_causes(
    desk: Viewer,
    batch_id: BatchId,
    job: Annotated[QueryId | None, Query(description="of one brand's job alone")] = None,
) -> Causes:
    """Failures by their error, and products that were left out by why; with an example of each."""
    async with desk.read() as tx:
        await batches.get(tx, batch_id)
        return await reporting.causes(tx, batch_id, job)


@router.get("/{batch_id}/comparison", summary="Compare a batch with the one before")
async def compare_batch(desk: Viewer, batch_id: BatchId) -> Comparison:
    """With the last of the same mode: products by stage, duration, and which causes of failure are new or gone."""
    async with desk.read() as tx:
        return await reporting.compared(tx, batch_id)


@router.get("/{batch_id}/asked", summary="Show what a batch was asked for")
async def show_asked(desk: Viewer, batch_id: BatchId) -> Asked:
    """Its mode, malls, brands, stages and limit, as starting one takes them."""
    async with desk.read() as tx:
        return await asking.asked(tx, await watching.one(tx, batch_id))


@router.post("/{batch_id}/clone", summary="Start a batch like this one", status_code=201)
async def clone_batch(desk: Operator, batch_id: BatchId, response: Response) -> BatchStarted:
    """A new batch of the same mode, brands, stages and limit. Brands that are not accepted any more are refused."""
    async with desk.read() as tx:
        found = await watching.one(tx, batch_id)
        told = await asking.asked(tx, found)
    return await _started(desk, told, response, only={Brand(one.mall, one.brand) for one in found.brands})


@router.post("/{batch_id}/pause", summary="Pause a batch")
async def pause_batch(desk: Operator, batch_id: BatchId) -> BatchPaused:
    """What waits goes on waiting, what runs is finished. 409 where it is over or all of it is paused."""
    count = await desk.act("batch.pause", "batch", batch_id, lambda tx: pausing.pause(tx, batch_id))
    return BatchPaused(batch_id=batch_id, brands=count)


@router.post("/{batch_id}/resume", summary="Let a paused batch go on")
async def resume_batch(desk: Operator, batch_id: BatchId) -> BatchPaused:
    """409 where it is over or nothing of it is paused."""
    count = await desk.act("batch.resume", "batch", batch_id, lambda tx: pausing.resume(tx, batch_id))
    return BatchPaused(batch_id=batch_id, brands=count)


@router.post("/{batch_id}/retry", summary="Run what failed again, or all from a stage on")
async def retry_batch(desk: Operator, batch_id: BatchId, form: RetryForm | None = None) -> BatchRetried:
    """The ERROR stages of each brand, from its first stage that is not DONE; with a stage all brands from there on, by
    new jobs. 409 where nothing failed, and with a stage while the batch runs."""
    stage = form.stage if form else None

    async def work(tx: Tx) -> Retried:
        if stage is None:
            return await retrying.retry(tx, desk.engine, batch_id)
        return await retrying.retry_from(tx, desk.engine, batch_id, stage)

    done = await desk.act("batch.retry", "batch", batch_id, work, after={"from": stage} if stage else None)
    return BatchRetried(batch_id=batch_id, tasks=done.tasks, brands=_brands(done.brands), busy=_brands(done.busy))


@router.post("/{batch_id}/cancel", summary="Cancel a batch")
async def cancel_batch(desk: Operator, batch_id: BatchId, form: WhyForm | None = None) -> BatchCancelled:
    """What runs is disowned, what waits is taken out of the queue, what is done stays done; retrying resumes it."""
    why = (form or WhyForm()).why

    async def work(tx: Tx) -> int:
        return await cancelling.cancel(tx, desk.engine, batch_id, why or f"by {desk.actor}")

    count = await desk.act("batch.cancel", "batch", batch_id, work, after={"why": why or None})
    return BatchCancelled(batch_id=batch_id, cancelled=count)


async def _started(
    desk: Operator, told: Asked, response: Response, *, key: str = "", only: Collection[Brand] | None = None
) -> BatchStarted:
    """Start what is asked for. `only` these of the brands that are meant: two malls may have one of the same name."""
    app = desk.app

    async def work(tx: Tx) -> Started:
        brands = await choosing.chosen(tx, app.collector, told.malls, told.brands, mode=told.mode)
        wanted = [brand for brand in brands if only is None or brand in only]
        conveyor = await workflow_id(tx, control.WORKFLOW)
        made = await starting.start(
            tx, desk.engine, conveyor, told.mode, wanted, stages=told.stages, limit=told.limit, key=key
        )
        if made.is_new:
            after = {"mode": told.mode, "brands": len(made.brands), "stages": told.stages or None, "limit": told.limit}
            await desk.note(tx, "batch.start", "batch", made.batch_id, after=after)
        return made

    made = await desk.write(work)
    response.status_code = 201 if made.is_new else 200
    return BatchStarted(
        batch_id=made.batch_id, created=made.is_new, brands=_brands(made.brands), busy=_brands(made.busy)
    )


def _brands(found: tuple[Brand, ...]) -> list[MallBrand]:
    return [MallBrand(mall=one.mall, brand=one.name) for one in found]
