"""Workflows: definitions checked and stored, switched on and off, limited."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import Query, Request, Response
from pydantic import BaseModel, Field

from bobusang.engine import workflows
from bobusang.engine.grammar import definition
from bobusang.engine.grammar.definition import Definition
from bobusang.entry.api.desk import Admin, Desk, Viewer
from bobusang.entry.api.fields import LARGEST_WHOLE, Form, Name, Numeric, PathId
from bobusang.entry.api.pages import Page, Paged, page, unpack
from bobusang.entry.api.problems import Malformed, Unsupported
from bobusang.entry.api.resource import Resource
from bobusang.kit import json
from bobusang.kit.db import Tx
from bobusang.kit.errors import Invalid
from bobusang.views import workflows as view
from bobusang.views.workflows import Limits, Version, WorkflowDetail, WorkflowLine

router = Resource("workflows", "/workflows")

JSON = ("application/json",)
TEXT = ("application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml", "text/plain")
EXAMPLE = """\
workflow: okmall
type: FULL_SCAN
steps:
  - {name: list, type: FETCH, handler: fetch_list, mode: stream, max_retries: 5, pool: okmall}
  - {name: item, type: PARSE, handler: read_item, input: {url: $.url}}
"""
BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": "A definition, as JSON or as YAML.",
        "content": {
            "application/json": {"schema": {"type": "object"}},
            "application/yaml": {"schema": {"type": "string"}, "example": EXAMPLE},
        },
    }
}

Parallel = Annotated[int, Field(ge=1, le=LARGEST_WHOLE), Numeric]


class WorkflowQuery(Paged):
    """Which workflows."""

    active: bool | None = None
    q: Annotated[str | None, Field(max_length=100, description="a part of the name, in any case")] = None


class StoreQuery(Form):
    """What to call the text where it is wrong."""

    origin: Annotated[Name | None, Field(description="such as a file's name; stands before each line number")] = None


class Stored(BaseModel):
    """What became of a definition."""

    id: int
    name: str
    version: int
    changed: bool


class Checked(BaseModel):
    """A definition that is in order."""

    name: str
    steps: int
    checksum: str
    definition: Any


class LimitsForm(Form):
    """How many jobs of a workflow, and tasks of one of its jobs, run at once."""

    max_parallel_jobs: Parallel = 5
    max_parallel_tasks: Parallel = 10
    resource_pool: Annotated[str | None, Field(min_length=1, max_length=50, pattern="^[^,]*$")] = None


@router.get("", summary="List workflows")
async def list_workflows(desk: Viewer, query: Annotated[WorkflowQuery, Query()]) -> Page[WorkflowLine]:
    """In the order they were made."""
    after = unpack("workflows", query.cursor)
    async with desk.read() as tx:
        found = await view.listed(tx, active=query.active, text=query.q, after=after, limit=query.limit + 1)
    return page("workflows", found, query.limit, lambda workflow: workflow.id)


@router.post("", summary="Store a definition", status_code=201, openapi_extra=BODY)
async def store_workflow(
    desk: Admin, request: Request, response: Response, query: Annotated[StoreQuery, Query()]
) -> Stored:
    """A new version, unless it is what is stored already (200, `changed` false). Jobs finish on the version they
    began with. What is wrong is told all at once, each with line and key."""
    wanted = await _definition(desk, request, query.origin)

    async def work(tx: Tx) -> Stored:
        done = await workflows.store(tx, desk.engine.books, wanted, handlers=desk.engine.handlers)
        if done.changed:
            after = {"name": done.name, "version": done.version}
            await desk.note(tx, "workflow.store", "workflow", done.id, after=after)
        return Stored(**asdict(done))

    done = await desk.write(work)
    response.status_code = 201 if done.changed else 200
    return done


@router.post("/check", summary="Check a definition", openapi_extra=BODY)
async def check_workflow(desk: Viewer, request: Request, query: Annotated[StoreQuery, Query()]) -> Checked:
    """Nothing is stored."""
    found = await _definition(desk, request, query.origin)
    plain = json.loads(definition.canonical(found))
    return Checked(name=found.workflow, steps=len(found.steps), checksum=definition.checksum(found), definition=plain)


async def _definition(desk: Desk, request: Request, origin: str | None) -> Definition:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    body = await request.body()
    if kind in JSON:
        try:
            json.loads(body)
        except Invalid as error:
            raise Malformed(f"the body is {error.message}") from error
    elif kind not in TEXT:
        raise Unsupported(f"a body of type '{kind}' is not read here", hint="send application/json or application/yaml")
    try:
        text = body.decode()
    except UnicodeDecodeError as error:
        raise Malformed(f"the body is not UTF-8: {error.reason} at byte {error.start}") from error
    return definition.load(text, origin=origin or "body", handlers=workflows.shapes(desk.engine.handlers))


@router.get("/{workflow_id}", summary="Show a workflow")
async def show_workflow(desk: Viewer, workflow_id: PathId) -> WorkflowDetail:
    """Its definition, its steps and its limits."""
    async with desk.read() as tx:
        return await view.one(tx, workflow_id)


@router.get("/{workflow_id}/versions", summary="List a workflow's versions")
async def list_versions(desk: Viewer, workflow_id: PathId, query: Annotated[Paged, Query()]) -> Page[Version]:
    """Newest first."""
    before = unpack("versions", query.cursor)
    async with desk.read() as tx:
        await workflows.find(tx, workflow_id)
        found = await view.versions(tx, workflow_id, before, query.limit + 1)
    return page("versions", found, query.limit, lambda version: version.version)


@router.post("/{workflow_id}/activate", summary="Switch a workflow on")
async def activate_workflow(desk: Admin, workflow_id: PathId) -> WorkflowDetail:
    """New jobs may be made again."""
    return await _switch(desk, workflow_id, active=True)


@router.post("/{workflow_id}/deactivate", summary="Switch a workflow off")
async def deactivate_workflow(desk: Admin, workflow_id: PathId) -> WorkflowDetail:
    """No new jobs; those that run are finished."""
    return await _switch(desk, workflow_id, active=False)


async def _switch(desk: Desk, workflow_id: int, *, active: bool) -> WorkflowDetail:
    async def work(tx: Tx) -> WorkflowDetail:
        await workflows.set_active(tx, workflow_id, active)
        return await view.one(tx, workflow_id)

    return await desk.act(f"workflow.{'' if active else 'de'}activate", "workflow", workflow_id, work)


@router.put("/{workflow_id}/limits", summary="Limit a workflow")
async def set_limits(desk: Admin, workflow_id: PathId, form: LimitsForm) -> Limits:
    """Counts for jobs that start from now on."""

    async def work(tx: Tx) -> Limits:
        before = (await view.one(tx, workflow_id)).limits
        await workflows.set_limits(tx, desk.engine.books, workflow_id, **form.model_dump())
        limits = Limits(**form.model_dump())
        await desk.note(tx, "workflow.limit", "workflow", workflow_id, before=before, after=limits)
        return limits

    return await desk.write(work)


@router.delete("/{workflow_id}/limits", summary="Remove a workflow's limits", status_code=204)
async def remove_limits(desk: Admin, workflow_id: PathId) -> None:
    """For jobs that start from now on."""

    async def work(tx: Tx) -> None:
        before = (await view.one(tx, workflow_id)).limits
        await workflows.remove_limits(tx, desk.engine.books, workflow_id)
        await desk.note(tx, "workflow.unlimit", "workflow", workflow_id, before=before)

    await desk.write(work)
