"""One job: how far its steps are, what it waits for, what went wrong, its tasks, and what can be done to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bobusang.engine.model import TaskOutcome, TaskStatus
from bobusang.entry.api import jobs as api
from bobusang.entry.api.pages import pack
from bobusang.entry.web import jobs, lists, waits, words
from bobusang.entry.web.languages import N_
from bobusang.entry.web.lists import PAGE, Filter
from bobusang.entry.web.pages import Pages
from bobusang.kit.errors import Missing
from bobusang.views import archive, tasks
from bobusang.views import jobs as view
from bobusang.views.jobs import JobDetail
from bobusang.views.tasks import TaskFilter

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from starlette.responses import Response

    from bobusang.entry.web.live import Draw
    from bobusang.entry.web.rendering import Eyes
    from bobusang.entry.web.site import Site
    from bobusang.entry.web.visit import Visit
    from bobusang.entry.web.waits import Reason
    from bobusang.kit.db import Tx

pages = Pages()

PARTS = "job_parts.html"
ENDED_AS = {
    TaskOutcome.DONE: TaskStatus.SUCCESS,
    TaskOutcome.SKIPPED: TaskStatus.SUCCESS,
    TaskOutcome.FAILED: TaskStatus.FAILED,
    TaskOutcome.PARKED: TaskStatus.FAILED,
    TaskOutcome.CANCELLED: TaskStatus.FAILED,
}
STATES = (
    *((one.value, one, None) for one in (TaskStatus.PENDING, TaskStatus.RUNNING, TaskStatus.RETRYING)),
    *((one.value, status, one) for one, status in ENDED_AS.items()),
)
"""What a task can be on the screen: open in three ways, or over in five. FAILED is all that did not end well."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A job as the page shows it."""

    job: JobDetail
    why: list[Reason]
    now: datetime

    @property
    def seconds(self) -> float | None:
        """How long it took, or has been running."""
        begun = self.job.started_at
        return None if begun is None else ((self.job.completed_at or self.now) - begun).total_seconds()

    @property
    def batch(self) -> str:
        """The run that it belongs to."""
        match self.job.input:
            case {"batch": str() as batch}:
                return batch
        return ""

    @property
    def can_retry(self) -> bool:
        return jobs.can_retry(self.job)


async def seen(tx: Tx, job_id: int) -> Seen:
    """A job of this moment."""
    job = await view.one(tx, job_id)
    return Seen(job, waits.of_all(job.waits_for), tx.now)


@pages.get("/jobs/{job_id:int}")
async def one(visit: Visit) -> Response:
    """The job, or what the archive has kept of it."""
    visit.entry, job_id = jobs.ENTRY, visit.number("job_id")
    async with visit.desk.read() as tx:
        try:
            found = await seen(tx, job_id)
        except Missing:
            return visit.page("job_archived.html", job=await archive.one(tx, job_id))
    return visit.page("job.html", found=found, job=found.job)


@pages.get("/jobs/{job_id:int}/tasks")
async def listed(visit: Visit) -> Response:
    """A job's tasks, the newest first."""
    visit.entry, job_id = jobs.ENTRY, visit.number("job_id")
    path = f"/jobs/{job_id}/tasks"
    async with visit.desk.read() as tx:
        steps = await view.steps(tx, job_id)
        if not steps:
            await view.state(tx, job_id)
        asked = lists.given(
            visit,
            path,
            [
                Filter("step", N_("Step"), [(one.name, one.name) for one in steps]),
                Filter("state", N_("State"), [(name, visit.say(words.of(name).label)) for name, _, _ in STATES]),
            ],
        )
        found = await tasks.listed(
            tx,
            _wanted(job_id, asked.value("step"), asked.value("state")),
            asked.before(),
            PAGE,
            visit.desk.alive_since(tx),
        )
    asked.fill_page(found.lines, None if found.resume is None else pack(path, found.resume))
    why = {task.id: waits.of_task(task.why) for task in found.lines if task.why}
    return visit.page("job_tasks.html", list=asked, job_id=job_id, why=why)


def _wanted(job_id: int, step: str, state: str) -> TaskFilter:
    _, status, outcome = next((one for one in STATES if one[0] == state), ("", None, None))
    if outcome is TaskOutcome.FAILED:
        outcome = None
    return TaskFilter(job_id=job_id, step=step or None, status=status, outcome=outcome)


@pages.post("/jobs/{job_id:int}/pause")
async def pause(visit: Visit) -> Response:
    """What runs is finished, what waits is kept."""
    done = await api.pause_job(visit.desk, visit.number("job_id"))
    return visit.done(N_("Job %(id)s is paused."), id=done.id)


@pages.post("/jobs/{job_id:int}/resume")
async def resume(visit: Visit) -> Response:
    """Let it go on."""
    done = await api.resume_job(visit.desk, visit.number("job_id"))
    return visit.done(N_("Job %(id)s goes on."), id=done.id)


@pages.post("/jobs/{job_id:int}/cancel")
async def cancel(visit: Visit) -> Response:
    """End it now."""
    done = await api.cancel_job(visit.desk, visit.number("job_id"))
    return visit.done(N_("Job %(id)s was cancelled."), id=done.id)


@pages.post("/jobs/{job_id:int}/retry")
async def retry(visit: Visit) -> Response:
    """Run again what failed."""
    done = await api.retry_job(visit.desk, visit.number("job_id"))
    if not done.tasks:
        return visit.refused(visit.say(N_("Nothing of job %(id)s has failed."), id=done.id))
    return visit.done(N_("%(tasks)s tasks of job %(id)s run again."), tasks=done.tasks, id=done.id)


@pages.live("job:{job_id}")
async def live(site: Site, topic: Mapping[str, str]) -> Draw:
    """All that moves."""
    name = topic["job_id"]
    if not (name.isascii() and name.isdecimal() and len(name) < 19):
        raise Missing("there is no such job")
    async with site.app.engine.db.read() as tx:
        found = await seen(tx, int(name))

    def draw(eyes: Eyes) -> Mapping[str, str]:
        parts = ("head", "figures", "waits", "steps", "faults")
        return {f"job-{part}": site.rendering.macro(PARTS, part, eyes, found) for part in parts}

    return draw
