"""Targets, and which workflow runs for which type of target."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from pydantic import Field

from bobusang.engine import targets
from bobusang.entry.api.desk import Admin, Operator, Viewer
from bobusang.entry.api.fields import LARGEST_WHOLE, Form, Id, Name, Numeric, PathId, Payload
from bobusang.entry.api.pages import Page, Paged, page, unpack
from bobusang.entry.api.resource import Resource
from bobusang.kit.db import Tx
from bobusang.views import targets as view
from bobusang.views.targets import Target, TargetMapping

router = Resource("targets")

Key = Annotated[str, Field(min_length=1, max_length=200)]


class TargetQuery(Paged):
    """Which targets."""

    type: Name | None = None
    source: Name | None = None
    q: Annotated[Key | None, Field(description="how the key begins")] = None


class TargetForm(Form):
    """A brand, a seller, a keyword, a category; known by source, type and key."""

    type: Annotated[Name, Field(examples=["brand"])]
    key: Annotated[Key, Field(examples=["stone-island"])]
    source: Annotated[Name | None, Field(examples=["okmall"])] = None
    name: Annotated[Key | None, Field(examples=["스톤아일랜드"])] = None
    data: Payload = Field(default_factory=dict)


class MappingForm(Form):
    """Which workflow runs for targets of a type."""

    target_type: Name
    workflow_id: Id
    condition: Annotated[str | None, Field(max_length=1000, examples=["grade in ['A', 'B']"])] = None
    priority: Annotated[
        int, Field(ge=-LARGEST_WHOLE, le=LARGEST_WHOLE, description="the highest is asked first"), Numeric
    ] = 0


class MappingQuery(Form):
    """How many mappings."""

    limit: Annotated[int, Field(ge=1, le=1000)] = 500


@router.get("/targets", summary="List targets")
async def list_targets(desk: Viewer, query: Annotated[TargetQuery, Query()]) -> Page[Target]:
    """Newest first."""
    before = unpack("targets", query.cursor)
    async with desk.read() as tx:
        found = await view.listed(
            tx, kind=query.type, source=query.source, text=query.q, before=before, limit=query.limit + 1
        )
    return page("targets", found, query.limit, lambda target: target.id)


@router.post("/targets", summary="Make a target, or renew what is known of it", status_code=201)
async def put_target(desk: Operator, form: TargetForm) -> Target:
    """Its source and its type are made if need be."""

    async def work(tx: Tx) -> Target:
        target_id = await targets.put(
            tx, kind=form.type, key=form.key, source=form.source, name=form.name, data=form.data
        )
        await desk.note(tx, "target.put", "target", target_id, after=form.model_dump(exclude={"data"}))
        return await view.one(tx, target_id)

    return await desk.write(work)


@router.get("/targets/{target_id}", summary="Show a target")
async def show_target(desk: Viewer, target_id: PathId) -> Target:
    """With its data."""
    async with desk.read() as tx:
        return await view.one(tx, target_id)


@router.get("/target-mappings", summary="List target mappings")
async def list_mappings(desk: Viewer, query: Annotated[MappingQuery, Query()]) -> Page[TargetMapping]:
    """By type, in the order they are asked."""
    async with desk.read() as tx:
        return Page(items=await view.mappings(tx, query.limit), next=None)


@router.put("/target-mappings", summary="Map a type of target to a workflow")
async def put_mapping(desk: Admin, form: MappingForm) -> TargetMapping:
    """Replaces the mapping of the same type and workflow."""

    async def work(tx: Tx) -> TargetMapping:
        await targets.map_workflow(
            tx,
            kind=form.target_type,
            workflow_id=form.workflow_id,
            condition=form.condition,
            priority=form.priority,
        )
        await desk.note(tx, "target_mapping.put", "workflow", form.workflow_id, after=form.model_dump())
        return await view.mapping(tx, form.target_type, form.workflow_id)

    return await desk.write(work)
