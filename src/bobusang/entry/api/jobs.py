"""Jobs: made, looked at, paused, resumed, cancelled, tried again."""

from __future__ import annotations

from typing import Annotated

from fastapi import Header, Query, Response
from pydantic import BaseModel, ConfigDict, Field

from bobusang.engine import control, jobs, redriving, targets
from bobusang.engine.jobs import NewJob
from bobusang.engine.model import NORMAL_PRIORITY, DependencyType, JobStatus, JobType, TaskStatus
from bobusang.entry.api.desk import Desk, Operator, Viewer
from bobusang.entry.api.fields import (
    Capitals,
    Form,
    Id,
    Instant,
    Name,
    OneOrMany,
    PathId,
    Payload,
    Priority,
    QueryId,
    Queue,
    Reference,
    queue_type,
)
from bobusang.entry.api.pages import Page, Paged, pack, page, unpack
from bobusang.entry.api.references import optional_workflow_id, workflow_id
from bobusang.entry.api.resource import Resource
from bobusang.kit.db import Tx
from bobusang.kit.errors import Invalid
from bobusang.views import archive, tasks
from bobusang.views import jobs as view
from bobusang.views import targets as target_view
from bobusang.views.archive import ArchivedJob
from bobusang.views.jobs import JobDetail, JobFilter, JobLine
from bobusang.views.tasks import TaskFilter, TaskLine

router = Resource("jobs", "/jobs")

Key = Annotated[str, Field(min_length=1, max_length=200)]
Statuses = Annotated[list[Annotated[JobStatus, Capitals]], OneOrMany]


class JobQuery(Paged):
    """Which jobs."""

    status: Statuses = Field(default_factory=list, description="may be repeated")
    workflow: Annotated[Name | None, Field(description="id or name")] = None
    schedule: QueryId | None = None
    target: QueryId | None = None
    since: Annotated[Instant | None, Field(description="made at or after this")] = None


class After(Form):
    """A job that must end (FINISH), or end well (SUCCESS), first."""

    job_id: Id
    type: Annotated[DependencyType, Capitals] = DependencyType.SUCCESS


class JobForm(Form):
    """A job to be made."""

    workflow: Annotated[Reference | None, Field(description="id or name; may be left out with a target")] = None
    target_id: Id | None = None
    input: Payload = Field(default_factory=dict)
    priority: Priority = NORMAL_PRIORITY
    queue: Queue = "NORMAL"
    job_type: Annotated[JobType, Capitals] = JobType.FULL
    key: Annotated[Key | None, Field(description="a second job with the same key is the first")] = None
    after: list[After] = Field(default_factory=list, max_length=100)
    scheduled_at: Instant | None = None

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"workflow": "okmall", "input": {"brand": "Stone Island"}, "priority": 7}]}
    )


class MadeJob(BaseModel):
    """A job, and whether this request made it."""

    id: int
    created: bool


class JobState(BaseModel):
    """A job after an action."""

    id: int
    status: JobStatus
    is_paused: bool


class Retried(BaseModel):
    """How many tasks of a job run again."""

    id: int
    tasks: int


class JobTaskQuery(Paged):
    """Which tasks of a job."""

    status: Annotated[TaskStatus | None, Capitals] = None
    step: Name | None = None


class ArchiveQuery(Paged):
    """Which archived jobs."""

    workflow: Annotated[Name | None, Field(description="id or name")] = None


@router.get("", summary="List jobs")
async def list_jobs(desk: Viewer, query: Annotated[JobQuery, Query()]) -> Page[JobLine]:
    """Newest first."""
    before = unpack("jobs", query.cursor)
    async with desk.read() as tx:
        wanted = JobFilter(
            status=query.status,
            workflow_id=await optional_workflow_id(tx, query.workflow),
            schedule_id=query.schedule,
            target_id=query.target,
            since=query.since,
        )
        found = await view.listed(tx, wanted, before, query.limit + 1)
    return page("jobs", found, query.limit, lambda job: job.id)


@router.post("", summary="Make a job", status_code=201, responses={200: {"model": MadeJob, "description": "Known key"}})
async def make_job(
    desk: Operator,
    form: JobForm,
    response: Response,
    idempotency_key: Annotated[Key | None, Header(description="the same as `key`")] = None,
) -> MadeJob:
    """Starts at once unless limits, dependencies or its time say otherwise. 200 when the key was known."""
    if form.key and idempotency_key and form.key != idempotency_key:
        raise Invalid("the body's key and the header Idempotency-Key differ", hint="send one of them", field="key")
    key = form.key or idempotency_key
    if key is not None and "\0" in key:
        raise Invalid("the key contains a NUL character", field="key")

    async def work(tx: Tx) -> tuple[int, bool]:
        new = await _new_job(tx, form, key)
        made = await jobs.create(tx, desk.engine.books, desk.engine.hooks, new)
        if made[1]:
            after = form.model_dump(mode="json", exclude={"input"}, exclude_defaults=True) | {"key": key}
            await desk.note(tx, "job.create", "job", made[0], after=after)
        return made

    job_id, created = await desk.write(work)
    response.status_code = 201 if created else 200
    return MadeJob(id=job_id, created=created)


async def _new_job(tx: Tx, form: JobForm, key: str | None) -> NewJob:
    if form.target_id is not None:
        await target_view.one(tx, form.target_id)
    if form.workflow is not None:
        workflow = await workflow_id(tx, form.workflow)
    elif form.target_id is not None:
        workflow = await targets.workflow_for(tx, form.target_id)
    else:
        raise Invalid("a workflow is needed", hint="or a target whose type has one", field="workflow")
    return NewJob(
        workflow_id=workflow,
        target_id=form.target_id,
        job_type=form.job_type,
        input=form.input,
        key=key,
        priority=form.priority,
        queue=queue_type(form.queue),
        scheduled_at=form.scheduled_at,
        after=[(other.job_id, other.type) for other in form.after],
    )


@router.get("/archive", summary="List archived jobs")
async def list_archive(desk: Viewer, query: Annotated[ArchiveQuery, Query()]) -> Page[ArchivedJob]:
    """Jobs that ended longer ago than `BOBUSANG_KEEP_DAYS`, newest first; their tasks are gone."""
    before = unpack("archive", query.cursor)
    async with desk.read() as tx:
        workflow = await optional_workflow_id(tx, query.workflow)
        found = await archive.listed(tx, workflow, before, query.limit + 1)
    return page("archive", found, query.limit, lambda job: job.id)


@router.get("/archive/{job_id}", summary="Show an archived job")
async def show_archived(desk: Viewer, job_id: PathId) -> ArchivedJob:
    """Its row and its steps' results."""
    async with desk.read() as tx:
        return await archive.one(tx, job_id)


@router.get("/{job_id}", summary="Show a job")
async def show_job(desk: Viewer, job_id: PathId) -> JobDetail:
    """Counters, steps, the execution's context, errors by cause, and what a pending job waits for."""
    async with desk.read() as tx:
        return await view.one(tx, job_id)


@router.get("/{job_id}/tasks", summary="List a job's tasks")
async def list_job_tasks(desk: Viewer, job_id: PathId, query: Annotated[JobTaskQuery, Query()]) -> Page[TaskLine]:
    """Newest first."""
    kind = f"jobs/{job_id}/tasks"
    before = unpack(kind, query.cursor)
    async with desk.read() as tx:
        await view.state(tx, job_id)
        wanted = TaskFilter(status=query.status, job_id=job_id, step=query.step)
        found = await tasks.listed(tx, wanted, before, query.limit, desk.alive_since(tx))
    return Page(items=found.lines, next=None if found.resume is None else pack(kind, found.resume))


@router.post("/{job_id}/pause", summary="Pause a job")
async def pause_job(desk: Operator, job_id: PathId) -> JobState:
    """What runs is finished, what waits is kept."""
    return await act(desk, "pause", job_id)


@router.post("/{job_id}/resume", summary="Resume a job")
async def resume_job(desk: Operator, job_id: PathId) -> JobState:
    """Let a paused job go on."""
    return await act(desk, "resume", job_id)


@router.post("/{job_id}/cancel", summary="Cancel a job")
async def cancel_job(desk: Operator, job_id: PathId) -> JobState:
    """End it now: what waits is taken out of the queue, what runs is disowned."""
    return await act(desk, "cancel", job_id)


async def act(desk: Desk, action: str, job_id: int) -> JobState:
    """Do one thing to one job, and write it down."""

    async def work(tx: Tx) -> JobState:
        engine = desk.engine
        match action:
            case "pause":
                await control.pause(tx, job_id)
            case "resume":
                await control.resume(tx, job_id)
            case "cancel":
                await control.cancel(tx, engine.books, engine.hooks, job_id)
            case "retry":
                await redriving.retry_job(tx, engine.books, job_id)
        status, paused = await view.state(tx, job_id)
        return JobState(id=job_id, status=status, is_paused=paused)

    return await desk.act(f"job.{action}", "job", job_id, work)


@router.post("/{job_id}/retry", summary="Try again what failed")
async def retry_job(desk: Operator, job_id: PathId) -> Retried:
    """All tasks of the job that failed run again; nothing that succeeded does."""

    async def work(tx: Tx) -> int:
        return await redriving.retry_job(tx, desk.engine.books, job_id)

    return Retried(id=job_id, tasks=await desk.act("job.retry", "job", job_id, work))
