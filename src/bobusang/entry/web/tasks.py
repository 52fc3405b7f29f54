"""One task: its attempts side by side, what went in and came out, where it stands and why, and the page it archived."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bobusang.entry.api import raw
from bobusang.entry.api import tasks as api
from bobusang.entry.web import jobs, waits
from bobusang.entry.web.languages import N_
from bobusang.entry.web.pages import Pages
from bobusang.entry.web.words import Word
from bobusang.kit.errors import Missing
from bobusang.stages.collect import archive
from bobusang.views import tasks as view

if TYPE_CHECKING:
    from starlette.responses import Response

    from bobusang.entry.web.visit import Visit

pages = Pages()

SHOWN = 100_000
"""Characters of an archived page; the rest is in the file."""
ATTEMPTS = {
    "RETRY": Word(N_("failed, to be tried again"), "warn"),
    "SNOOZE": Word(N_("asked to come back later"), "idle"),
    "WAIT": Word(N_("went to wait for an answer"), "idle"),
    "SKIP": Word(N_("skipped"), "idle"),
    "FAIL": Word(N_("failed"), "bad"),
    "PARK": Word(N_("dead letter"), "bad"),
    "HALT": Word(N_("halted"), "bad"),
    "RESCUED": Word(N_("its worker was lost"), "bad"),
}
"""How an attempt ended that did not succeed."""


@pages.get("/tasks/{task_id:int}")
async def one(visit: Visit) -> Response:
    """The task."""
    visit.entry, task_id = jobs.ENTRY, visit.number("task_id")
    async with visit.desk.read() as tx:
        task = await view.one(tx, task_id, visit.desk.alive_since(tx))
        about = await view.about(tx, task.job_id, task.input, task.output)
    why = waits.of_task(task.standing.why)
    return visit.page("task.html", task=task, about=about, why=why, outcomes=ATTEMPTS, remedies=waits.REMEDIES)


@pages.post("/tasks/{task_id:int}/retry")
async def retry(visit: Visit) -> Response:
    """Try it again."""
    done = await api.retry_task(visit.desk, visit.number("task_id"))
    return visit.done(N_("Task %(id)s runs again."), id=done.id)


@pages.post("/tasks/{task_id:int}/run-now")
async def run_now(visit: Visit) -> Response:
    """Do not wait for its time."""
    done = await api.run_now(visit.desk, visit.number("task_id"))
    return visit.done(N_("Task %(id)s runs as soon as a worker is free."), id=done.id)


@pages.get("/tasks/{task_id:int}/page")
async def page(visit: Visit) -> Response:
    """What the mall answered, as text: nothing of it is rendered."""
    visit.entry, task_id = jobs.ENTRY, visit.number("task_id")
    async with visit.desk.read() as tx:
        found = await archive.page(tx, await _raw_id(visit, task_id))
    body = await visit.desk.app.collector.service.archive.get(found.sha256)
    text = body[: SHOWN * 4].decode("utf-8", "replace").replace("\0", "")[:SHOWN]
    return visit.page("task_page.html", task_id=task_id, found=found, text=text, is_cut=len(text) == SHOWN)


@pages.get("/tasks/{task_id:int}/page/file")
async def file(visit: Visit) -> Response:
    """The same to be saved."""
    return await raw.download_raw(visit.desk, await _raw_id(visit, visit.number("task_id")))


async def _raw_id(visit: Visit, task_id: int) -> int:
    async with visit.desk.read() as tx:
        task = await view.one(tx, task_id, visit.desk.alive_since(tx))
        about = await view.about(tx, task.job_id, None, task.output)
    if about.raw_id is None:
        raise Missing(f"task {task_id} has archived no page", hint="or it was thrown away since")
    return about.raw_id
