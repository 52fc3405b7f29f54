"""Tasks: looked at, and one that failed tried again."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query

from bobusang.engine import promoting, redriving
from bobusang.engine.model import TaskStatus
from bobusang.entry.api.desk import Operator, Viewer
from bobusang.entry.api.fields import Capitals, Name, PathId, QueryId
from bobusang.entry.api.pages import Page, Paged, pack, unpack
from bobusang.entry.api.resource import Resource
from bobusang.kit.db import Tx
from bobusang.views import tasks as view
from bobusang.views.tasks import TaskDetail, TaskFilter, TaskLine

router = Resource("tasks", "/tasks")


class TaskQuery(Paged):
    """Which tasks."""

    status: Annotated[TaskStatus | None, Capitals] = None
    job: QueryId | None = None
    step: Name | None = None
    handler: Name | None = None


@router.get("", summary="List tasks")
async def list_tasks(desk: Viewer, query: Annotated[TaskQuery, Query()]) -> Page[TaskLine]:
    """Newest first. A filter that no index helps looks through a bounded number of tasks a call, so a page may be
    short or even empty while `next` is not null: go on until it is."""
    before = unpack("tasks", query.cursor)
    wanted = TaskFilter(status=query.status, job_id=query.job, step=query.step, handler=query.handler)
    async with desk.read() as tx:
        found = await view.listed(tx, wanted, before, query.limit, desk.alive_since(tx))
    return Page(items=found.lines, next=None if found.resume is None else pack("tasks", found.resume))


@router.get("/{task_id}", summary="Show a task")
async def show_task(desk: Viewer, task_id: PathId) -> TaskDetail:
    """Input, output, attempts, where its queue entry stands, and why it waits."""
    async with desk.read() as tx:
        return await view.one(tx, task_id, desk.alive_since(tx))


@router.post("/{task_id}/retry", summary="Try a failed task again")
async def retry_task(desk: Operator, task_id: PathId) -> TaskDetail:
    """Whether it is a dead letter or has failed for good."""

    async def work(tx: Tx) -> TaskDetail:
        await redriving.retry_task(tx, desk.engine.books, task_id)
        return await view.one(tx, task_id, desk.alive_since(tx))

    return await desk.act("task.retry", "task", task_id, work)


@router.post("/{task_id}/run-now", summary="Run a delayed task now")
async def run_now(desk: Operator, task_id: PathId) -> TaskDetail:
    """Without waiting for its time, or for its next attempt."""

    async def work(tx: Tx) -> TaskDetail:
        await view.one(tx, task_id, desk.alive_since(tx))
        await promoting.hasten(tx, task_id)
        return await view.one(tx, task_id, desk.alive_since(tx))

    return await desk.act("task.run_now", "task", task_id, work)
