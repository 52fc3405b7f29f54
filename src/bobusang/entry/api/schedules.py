"""Schedules: made, changed, paused, resumed, run by hand, deleted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Annotated

from fastapi import Query
from pydantic import BaseModel, Field

from bobusang.engine import schedules
from bobusang.engine.calendar.misfire import Misfire, Overlap
from bobusang.engine.model import NORMAL_PRIORITY, JobType, ScheduleType
from bobusang.engine.schedules import LONGEST, SHORTEST, ScheduleSpec
from bobusang.entry.api.desk import Desk, Operator, Viewer
from bobusang.entry.api.fields import (
    LARGEST_INTERVAL,
    Capitals,
    Form,
    Id,
    Name,
    Numeric,
    PathId,
    Payload,
    Priority,
    Reference,
    Seconds,
)
from bobusang.entry.api.pages import Page, Paged, page, unpack
from bobusang.entry.api.references import optional_workflow_id, workflow_id
from bobusang.entry.api.resource import Resource
from bobusang.kit import json
from bobusang.kit.db import Tx
from bobusang.kit.errors import Invalid
from bobusang.views import schedules as view
from bobusang.views.schedules import ScheduleDetail, ScheduleFilter, ScheduleLine

router = Resource("schedules", "/schedules")


class ScheduleQuery(Paged):
    """Which schedules."""

    workflow: Annotated[Name | None, Field(description="id or name")] = None
    active: bool | None = None


class ScheduleForm(Form):
    """A schedule: FIXED by cron and zone, DYNAMIC between two intervals by observed change, MANUAL by hand."""

    name: Name
    workflow: Reference
    schedule_type: Annotated[ScheduleType, Capitals] = ScheduleType.FIXED
    cron: Annotated[str | None, Field(max_length=100, examples=["0 3 * * *"])] = None
    timezone: Annotated[str, Field(min_length=1, max_length=64, examples=["Asia/Seoul"])] = "UTC"
    target_id: Id | None = None
    priority: Priority = NORMAL_PRIORITY
    job_type: Annotated[JobType, Capitals] = JobType.FULL
    input: Payload = Field(default_factory=dict)
    misfire: Annotated[Misfire, Capitals, Field(description="what becomes of fires nobody looked at")] = Misfire.ONCE
    misfire_window_seconds: Seconds = 24 * 3600
    misfire_cap: Annotated[int, Field(ge=1, le=1000), Numeric] = 10
    overlap: Annotated[Overlap, Capitals, Field(description="what becomes of one while another runs")] = Overlap.SKIP
    jitter_seconds: Annotated[int, Field(ge=0, le=LARGEST_INTERVAL), Numeric] = 0
    interval_seconds: Seconds | None = None
    min_interval_seconds: Seconds = int(SHORTEST.total_seconds())
    max_interval_seconds: Seconds = int(LONGEST.total_seconds())

    async def spec(self, tx: Tx) -> ScheduleSpec:
        """The same as the engine takes it."""
        return ScheduleSpec(
            name=self.name,
            workflow_id=await workflow_id(tx, self.workflow),
            type=self.schedule_type,
            cron=self.cron,
            timezone=self.timezone,
            target_id=self.target_id,
            priority=self.priority,
            misfire=self.misfire,
            misfire_window=timedelta(seconds=self.misfire_window_seconds),
            misfire_cap=self.misfire_cap,
            overlap=self.overlap,
            jitter=timedelta(seconds=self.jitter_seconds),
            job_type=self.job_type,
            input=self.input,
            interval=None if self.interval_seconds is None else timedelta(seconds=self.interval_seconds),
            min_interval=timedelta(seconds=self.min_interval_seconds),
            max_interval=timedelta(seconds=self.max_interval_seconds),
        )


FIELDS = {"zone": "timezone", "bounds": "min_interval_seconds"}
"""What the engine calls a field that the form calls otherwise."""


@contextmanager
def naming_fields() -> Iterator[None]:
    """Have the engine's complaints name the form's fields."""
    try:
        yield
    except Invalid as error:
        error.field = FIELDS.get(error.field, error.field)
        raise


class Ran(BaseModel):
    """The job that came of it; none when the overlap policy, or a workflow that is switched off, said no."""

    job_id: int | None
    started: bool


@router.get("", summary="List schedules")
async def list_schedules(desk: Viewer, query: Annotated[ScheduleQuery, Query()]) -> Page[ScheduleLine]:
    """Newest first."""
    before = unpack("schedules", query.cursor)
    async with desk.read() as tx:
        wanted = ScheduleFilter(workflow_id=await optional_workflow_id(tx, query.workflow), active=query.active)
        found = await view.listed(tx, wanted, before, query.limit + 1)
    return page("schedules", found, query.limit, lambda schedule: schedule.id)


@router.post("", summary="Make a schedule", status_code=201)
async def make_schedule(desk: Operator, form: ScheduleForm) -> ScheduleDetail:
    """It first fires at its next instant."""
    _check_input(desk, form)

    async def work(tx: Tx) -> ScheduleDetail:
        with naming_fields():
            schedule_id = await schedules.create(tx, await form.spec(tx))
        await desk.note(tx, "schedule.create", "schedule", schedule_id, after=_noted(form))
        return await view.one(tx, schedule_id)

    return await desk.write(work)


@router.get("/{schedule_id}", summary="Show a schedule")
async def show_schedule(desk: Viewer, schedule_id: PathId) -> ScheduleDetail:
    """With its cadence in words, its next five fires and its last twenty."""
    async with desk.read() as tx:
        return await view.one(tx, schedule_id)


@router.put("/{schedule_id}", summary="Change a schedule")
async def change_schedule(desk: Operator, schedule_id: PathId, form: ScheduleForm) -> ScheduleDetail:
    """A fire that is planned stays planned: the change counts from then on."""
    _check_input(desk, form)

    async def work(tx: Tx) -> ScheduleDetail:
        before = await view.one(tx, schedule_id)
        with naming_fields():
            await schedules.change(tx, schedule_id, await form.spec(tx))
        told = {"name": before.name, "cron": before.cron, "timezone": before.timezone, "overlap": before.overlap}
        await desk.note(tx, "schedule.change", "schedule", schedule_id, before=told, after=_noted(form))
        return await view.one(tx, schedule_id)

    return await desk.write(work)


def _check_input(desk: Desk, form: ScheduleForm) -> None:
    """What its jobs could not take must not be stored: it would fail at every fire."""
    json.payload(form.input, limit=desk.engine.books.payload_limit, name="input")


def _noted(form: ScheduleForm) -> dict[str, object]:
    return form.model_dump(mode="json", exclude={"input"}, exclude_defaults=True)


@router.delete("/{schedule_id}", summary="Delete a schedule", status_code=204)
async def delete_schedule(desk: Operator, schedule_id: PathId) -> None:
    """Its jobs stay, and its name is free again."""
    await desk.act("schedule.delete", "schedule", schedule_id, lambda tx: schedules.delete(tx, schedule_id))


@router.post("/{schedule_id}/pause", summary="Pause a schedule")
async def pause_schedule(desk: Operator, schedule_id: PathId) -> ScheduleDetail:
    """It fires no more until resumed."""

    async def work(tx: Tx) -> ScheduleDetail:
        await schedules.pause(tx, schedule_id)
        return await view.one(tx, schedule_id)

    return await desk.act("schedule.pause", "schedule", schedule_id, work)


@router.post("/{schedule_id}/resume", summary="Resume a schedule")
async def resume_schedule(desk: Operator, schedule_id: PathId) -> ScheduleDetail:
    """It fires again from its next instant on; what was missed while paused is not made up for."""

    async def work(tx: Tx) -> ScheduleDetail:
        await schedules.resume(tx, schedule_id)
        return await view.one(tx, schedule_id)

    return await desk.act("schedule.resume", "schedule", schedule_id, work)


@router.post("/{schedule_id}/run", summary="Run a schedule now")
async def run_schedule(desk: Operator, schedule_id: PathId) -> Ran:
    """Once, within its overlap policy, beside its timetable."""

    async def work(tx: Tx) -> Ran:
        engine = desk.engine
        job_id = await schedules.run_now(tx, engine.books, engine.hooks, schedule_id)
        await desk.note(tx, "schedule.run", "schedule", schedule_id, after={"job_id": job_id})
        return Ran(job_id=job_id, started=job_id is not None)

    return await desk.write(work)
