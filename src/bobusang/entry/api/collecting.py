"""Collecting: runs started for brands, sellers and lists of a source, and what each has shown."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from itertools import islice
from typing import Annotated

from fastapi import Header, Query, Response
from pydantic import BaseModel, Field, model_validator
from pydantic_core import PydanticCustomError

from bobusang.catalog.model import Review
from bobusang.entry.api.desk import Desk, Operator, Viewer
from bobusang.entry.api.fields import Capitals, Flag, Form, Name, PathId
from bobusang.entry.api.pages import Page, Paged, page, unpack
from bobusang.entry.api.resource import Resource
from bobusang.flows.collect import starting, syncing
from bobusang.flows.collect.starting import Wanted
from bobusang.kit.db import Tx
from bobusang.kit.errors import Conflict, Invalid
from bobusang.stages.collect import marks
from bobusang.stages.collect.tables import RunMode, RunState
from bobusang.views import runs
from bobusang.views.brands import BRANDS
from bobusang.views.reviews import ReviewFilter
from bobusang.views.runs import RunDetail, RunFilter, RunLine

router = Resource("collecting", "/collect")

BRAND, LIST = "brand", "list"
AT_ONCE = 50
"""Jobs made in one transaction."""
MOST = 5000

Key = Annotated[str, Field(min_length=1, max_length=200)]


class CollectForm(Form):
    """What to collect of a source: brands, sellers or other targets by key, its lists, or all accepted brands."""

    source: Annotated[Name, Field(examples=["okmall"])]
    kind: Annotated[Name, Field(examples=["brand", "seller", "list"])] = BRAND
    keys: Annotated[list[Key], Field(max_length=500, examples=[["나이키(NIKE)"]])] = Field(default_factory=list)
    accepted: Annotated[Flag, Field(description="all brands of the mall that a person has accepted")] = False
    mode: Annotated[RunMode, Capitals] = RunMode.FULL
    key: Annotated[Key | None, Field(description="a second start with the same key is the first")] = None

    @model_validator(mode="after")
    def _something(self) -> CollectForm:
        if self.kind == LIST and not self.keys:
            self.keys = ["all"]
        if self.accepted and (self.keys or self.kind != BRAND):
            raise PydanticCustomError("keys_or_accepted", "needs either keys or accepted, which is about brands")
        if not self.accepted and not self.keys:
            raise PydanticCustomError("no_keys", "needs keys, or accepted")
        return self


class SyncForm(Form):
    """Which source to follow."""

    source: Annotated[Name, Field(examples=["ownerclan"])]
    key: Annotated[Key | None, Field(description="a second first collecting with the same key is the first")] = None


class MarkQuery(Form):
    """Whose marks."""

    source: Name | None = None


class MarkLine(BaseModel):
    """All that happened before `until` is known of this stream, for this target or for all of the source."""

    source: str
    stream: str
    target: str
    until: datetime
    updated_at: datetime


class MarkLines(BaseModel):
    """The marks, by source, stream and target."""

    items: list[MarkLine]


class StartedJob(BaseModel):
    """The job of one target, and whether this request made it."""

    job_id: int
    target: str
    created: bool


class StartedJobs(BaseModel):
    """The jobs, one a target."""

    created: int
    items: list[StartedJob]


class RunQuery(Paged):
    """Which runs."""

    source: Name | None = None
    target: Annotated[str | None, Field(max_length=300, examples=["brand:나이키(NIKE)"])] = None
    state: Annotated[RunState | None, Capitals] = None
    mode: Annotated[RunMode | None, Capitals] = None


@router.post(
    "",
    summary="Start collecting",
    status_code=201,
    responses={200: {"model": StartedJobs, "description": "All were known by the key"}},
)
async def start_collecting(
    desk: Operator,
    form: CollectForm,
    response: Response,
    idempotency_key: Annotated[Key | None, Header(description="the same as `key`")] = None,
) -> StartedJobs:
    """One job a target. FULL takes everything; PARTIAL refreshes price and stock of what is known and takes nothing
    new. 409 where the source is off."""
    key = _key(form.key, idempotency_key)
    wanted = iter(await _wanted(desk, form))
    found: list[StartedJob] = []
    while some := list(islice(wanted, AT_ONCE)):
        found += await _started(desk, form, some, key)
    created = sum(one.created for one in found)
    response.status_code = 201 if created else 200
    return StartedJobs(created=created, items=found)


@router.post(
    "/sync",
    summary="Follow a source",
    status_code=201,
    responses={200: {"model": StartedJobs, "description": "It is being followed already"}},
)
async def sync_source(desk: Operator, form: SyncForm, response: Response) -> StartedJobs:
    """What has happened since the last time, by windows of time; all of it at first, and of a source that knows no such
    windows. 409 where the source is off, or where nothing of it was collected yet."""
    app = desk.app

    async def work(tx: Tx) -> list[StartedJob]:
        made = await syncing.start(tx, app.engine, app.collector, form.source, key=form.key or "")
        for one in made:
            if one.is_new:
                after = {"source": form.source, "target": one.target, "key": form.key}
                await desk.note(tx, "collect.sync", "job", one.job_id, after=after)
        return [StartedJob(job_id=one.job_id, target=one.target, created=one.is_new) for one in made]

    found = await desk.write(work)
    created = sum(one.created for one in found)
    response.status_code = 201 if created else 200
    return StartedJobs(created=created, items=found)


@router.get("/marks", summary="List marks of time")
async def list_marks(desk: Viewer, query: Annotated[MarkQuery, Query()]) -> MarkLines:
    """Up to when each source was followed: all that happened before is known."""
    async with desk.read() as tx:
        found = await marks.listed(tx, query.source or "", limit=MOST)
    return MarkLines(items=[MarkLine(**asdict(one)) for one in found])


@router.get("/runs", summary="List runs")
async def list_runs(desk: Viewer, query: Annotated[RunQuery, Query()]) -> Page[RunLine]:
    """Newest first: what each list showed, and whether it was proved complete."""
    before = unpack("collect/runs", query.cursor)
    wanted = RunFilter(source=query.source, target=query.target, state=query.state, mode=query.mode)
    async with desk.read() as tx:
        found = await runs.listed(tx, wanted, before, query.limit + 1)
    return page("collect/runs", found, query.limit, lambda run: run.job_id)


@router.get("/runs/{job_id}", summary="Show a run")
async def show_run(desk: Viewer, job_id: PathId) -> RunDetail:
    """Coverage with its proof or the reason against it, what is new, changed and held, and the fetches by endpoint."""
    async with desk.read() as tx:
        return await runs.one(tx, job_id)


def _key(said: str | None, header: str | None) -> str:
    if said and header and said != header:
        raise Invalid("the body's key and the header Idempotency-Key differ", hint="send one of them", field="key")
    key = said or header or ""
    if "\0" in key:
        raise Invalid("the key contains a NUL character", field="key")
    return key


async def _wanted(desk: Desk, form: CollectForm) -> list[Wanted]:
    async with desk.read() as tx:
        await starting.ready(tx, desk.app.collector, form.source)
        if not form.accepted:
            return [Wanted(form.kind, key) for key in dict.fromkeys(form.keys)]
        accepted = ReviewFilter(mall=form.source, review=Review.ACCEPTED)
        found = await BRANDS.listed(tx, accepted, limit=MOST + 1)
    if not found:
        raise Conflict(
            f"no brand of {form.source} is accepted",
            hint=f"`bobusang brand collect {form.source}`, then `bobusang brand accept`",
        )
    if len(found) > MOST:
        raise Conflict(f"more than {MOST:,} brands of {form.source} are accepted", hint="name some of them by key")
    return [Wanted(BRAND, one.key, one.name_ko or one.name_en) for one in found]


async def _started(desk: Desk, form: CollectForm, wanted: list[Wanted], key: str) -> list[StartedJob]:
    app = desk.app

    async def work(tx: Tx) -> list[StartedJob]:
        made = await starting.start(tx, app.engine, app.collector, form.source, wanted, mode=form.mode, key=key)
        for one in made:
            if one.is_new:
                after = {"source": form.source, "target": one.target, "mode": form.mode, "key": key or None}
                await desk.note(tx, "collect.start", "job", one.job_id, after=after)
        return [StartedJob(job_id=one.job_id, target=one.target, created=one.is_new) for one in made]

    return await desk.write(work)
