"""One action on many jobs: each by itself, so that one that cannot does not keep the others from it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field, model_validator
from pydantic_core import PydanticCustomError

from bobusang.engine.model import JobStatus
from bobusang.entry.api import jobs
from bobusang.entry.api.desk import Operator
from bobusang.entry.api.fields import Flag, Form, Id, Instant, Numeric, Reference
from bobusang.entry.api.references import optional_workflow_id
from bobusang.entry.api.resource import Resource
from bobusang.kit.errors import BobusangError, Unavailable
from bobusang.views import jobs as view
from bobusang.views.jobs import JobFilter

router = Resource("jobs", "/jobs")


class BulkFilter(Form):
    """Which jobs; at least one thing must be said."""

    status: jobs.Statuses = Field(default_factory=list)
    workflow: Reference | None = None
    schedule: Id | None = None
    target: Id | None = None
    since: Instant | None = None


class BulkForm(Form):
    """One action for many jobs, by their ids or by a filter."""

    action: Literal["cancel", "pause", "resume", "retry"]
    ids: Annotated[list[Id] | None, Field(min_length=1, max_length=500)] = None
    filter: BulkFilter | None = None
    limit: Annotated[int, Field(ge=1, le=500, description="at most so many of a filter, oldest first"), Numeric] = 100
    dry_run: Annotated[Flag, Field(description="only say which jobs")] = False

    @model_validator(mode="after")
    def _one_of_both(self) -> BulkForm:
        if (self.ids is None) == (self.filter is None):
            raise PydanticCustomError("ids_or_filter", "needs either ids or filter")
        if self.filter is not None and not self.filter.model_dump(exclude_defaults=True):
            raise PydanticCustomError("empty_filter", "needs a filter that says something")
        return self


class Refusal(BaseModel):
    """Why a job could not."""

    code: str
    message: str


class BulkResult(BaseModel):
    """What became of one job; of a dry run, nothing yet."""

    id: int
    ok: bool
    status: JobStatus | None = None
    error: Refusal | None = None


class Bulk(BaseModel):
    """What became of all of them."""

    matched: int
    succeeded: int
    failed: int
    dry_run: bool
    items: list[BulkResult]


@router.post("/bulk", summary="Act on many jobs")
async def act_on_many(desk: Operator, form: BulkForm) -> Bulk:
    """Cancel, pause, resume or retry, each job in a transaction of its own."""
    async with desk.read() as tx:
        wanted = form.filter or BulkFilter()
        ids = form.ids or await view.ids(
            tx,
            JobFilter(
                status=wanted.status,
                workflow_id=await optional_workflow_id(tx, wanted.workflow),
                schedule_id=wanted.schedule,
                target_id=wanted.target,
                since=wanted.since,
            ),
            form.limit,
        )
    ids = list(dict.fromkeys(ids))
    if form.dry_run:
        results = [BulkResult(id=job_id, ok=True) for job_id in ids]
    else:
        results = [await _one(desk, form.action, job_id) for job_id in ids]
    done = 0 if form.dry_run else sum(result.ok for result in results)
    failed = sum(not result.ok for result in results)
    return Bulk(matched=len(results), succeeded=done, failed=failed, dry_run=form.dry_run, items=results)


async def _one(desk: Operator, action: str, job_id: int) -> BulkResult:
    try:
        state = await jobs.act(desk, action, job_id)
    except Unavailable:
        raise
    except BobusangError as error:
        return BulkResult(id=job_id, ok=False, error=Refusal(code=error.code, message=str(error)))
    return BulkResult(id=job_id, ok=True, status=state.status)
