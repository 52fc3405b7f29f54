"""Jobs: the list with how far each is and why it waits, and what can be done to many of them at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from bobusang.engine.model import JobStatus
from bobusang.entry.api import bulk as api
from bobusang.entry.api.bulk import BulkForm
from bobusang.entry.api.references import workflow_id
from bobusang.entry.web import lists, waits, words
from bobusang.entry.web.languages import N_
from bobusang.entry.web.lists import PAGE, Column, Filter
from bobusang.entry.web.pages import Entry, Pages
from bobusang.kit.errors import Missing
from bobusang.views import jobs as view
from bobusang.views import workflows
from bobusang.views.jobs import JobFilter, JobLine

if TYPE_CHECKING:
    from bobusang.entry.web.visit import Visit
    from bobusang.kit.db import Tx

ENTRY = "/jobs"
pages = Pages(Entry(ENTRY, N_("Jobs"), "job", 30))

MOST = 2000
"""Jobs that one action may change."""
AT_ONCE = 500
EXAMPLES = 10
NOBODY = 0
"""The id that no workflow has."""

SPANS = {
    "1h": (timedelta(hours=1), N_("the last hour")),
    "1d": (timedelta(days=1), N_("the last 24 hours")),
    "7d": (timedelta(days=7), N_("the last 7 days")),
    "30d": (timedelta(days=30), N_("the last 30 days")),
}
COLUMNS = (
    Column("workflow", N_("Workflow")),
    Column("target", N_("Target")),
    Column("progress", N_("Progress")),
    Column("why", N_("Why it waits")),
    Column("created", N_("Made")),
    Column("duration", N_("Duration")),
    Column("queue", N_("Queue"), shown=False),
    Column("schedule", N_("Schedule"), shown=False),
)


@dataclass(frozen=True, slots=True)
class Action:
    """What can be done to many: what it is called, what is asked first, and to which jobs it can be done."""

    label: str
    question: str
    can: Callable[[JobLine], bool]


def is_live(job: JobLine) -> bool:
    """Whether it is not over."""
    return not job.status.ended


def can_retry(job: JobLine) -> bool:
    """Whether something of it has failed that can run again."""
    return job.failed_count > 0 and job.status not in (JobStatus.PENDING, JobStatus.CANCELLED)


ACTIONS = {
    "retry": Action(N_("Retry what failed"), N_("Run again what failed in these jobs?"), can_retry),
    "pause": Action(N_("Pause"), N_("Pause these jobs?"), lambda job: is_live(job) and not job.is_paused),
    "resume": Action(N_("Resume"), N_("Let these jobs go on?"), lambda job: is_live(job) and job.is_paused),
    "cancel": Action(N_("Cancel"), N_("Cancel these jobs? What is done stays done."), is_live),
}


@pages.get(ENTRY)
async def listed(visit: Visit) -> Response:
    """Jobs, the newest first."""
    visit.entry = ENTRY
    async with visit.desk.read() as tx:
        names = await workflows.names(tx)
    asked = await lists.asked(visit, ENTRY, _filters(visit, names), COLUMNS)
    if isinstance(asked, Response):
        return asked
    async with visit.desk.read() as tx:
        wanted = await _wanted(tx, lambda name: dict(asked.kept).get(name, ""))
        found = await view.listed(tx, wanted, asked.before(), PAGE + 1)
        why = await view.reasons(tx, found)
        now = tx.now
    asked.fill(found, lambda job: job.id)
    told = {job: waits.of_all(texts) for job, texts in why.items()}
    actions = [(f"/jobs/bulk/{name}", visit.say(action.label)) for name, action in ACTIONS.items()]
    return visit.page("jobs.html", list=asked, why=told, now=now, actions=actions, can_retry=can_retry)


@pages.get("/jobs/bulk/{action}")
async def no_bulk(visit: Visit) -> Response:
    """Whoever loads the answer of a form again comes back to the list."""
    return visit.to(ENTRY)


@pages.post("/jobs/bulk/{action}")
async def bulk(visit: Visit) -> Response:
    """First what would be done, then do it, each job by itself."""
    visit.entry = ENTRY
    name, form = visit.path["action"], await visit.form()
    action = ACTIONS.get(name)
    if action is None:
        raise Missing("there is no such page")
    whole, ids = form.ticked("all"), form.numbers("ids")
    if not whole and not ids:
        return visit.refused(visit.say(N_("No line is ticked.")), to=ENTRY)
    async with visit.desk.read() as tx:
        wanted = await _wanted(tx, form.get) if whole else JobFilter(ids=ids)
        found = await view.listed(tx, wanted, None, MOST)
    able = [job for job in found if action.can(job)]
    if not form.ticked("sure"):
        kept = [(one, form.get(one)) for one in ("status", "workflow", "target", "since", "schedule") if form.get(one)]
        fields = [("all", "1"), *kept] if whole else [("ids", str(job.id)) for job in able]
        return visit.page(
            "confirm.html",
            title=visit.say(action.label),
            question=visit.say(action.question),
            count=len(able),
            total=len(found),
            examples=[_named(visit, job) for job in able[:EXAMPLES]],
            action=f"/jobs/bulk/{name}",
            fields=fields,
            back=ENTRY,
        )
    done, refused = 0, Counter[str]()
    for at in range(0, len(able), AT_ONCE):
        ids = [job.id for job in able[at : at + AT_ONCE]]
        result = await api.act_on_many(visit.desk, BulkForm(action=name, ids=ids))
        done += result.succeeded
        refused.update(item.error.message for item in result.items if item.error)
    if refused:
        text = N_("%(done)s jobs: done. %(refused)s jobs: refused, as this one: %(why)s")
        why = refused.most_common(1)[0][0]
        return visit.done(text, ENTRY, done=done, refused=refused.total(), why=why)
    return visit.done(N_("%(done)s jobs: done."), ENTRY, done=done)


def _filters(visit: Visit, names: list[str]) -> list[Filter]:
    found = [
        Filter("status", N_("State"), [(one.value, visit.say(words.of(one).label)) for one in JobStatus]),
        Filter("workflow", N_("Workflow"), [(one, one) for one in names]),
        Filter("target", N_("Target")),
        Filter("since", N_("Made in"), [(name, visit.say(label)) for name, (_, label) in SPANS.items()]),
    ]
    if visit.query.get("schedule"):  # by links from there; nobody knows their numbers
        found.append(Filter("schedule", N_("Schedule"), type="number"))
    return found


async def _wanted(tx: Tx, value: Callable[[str], str]) -> JobFilter:
    """The filters as the view takes them; what cannot be is found nowhere."""
    status, workflow, target, schedule = (value(name) for name in ("status", "workflow", "target", "schedule"))
    is_number = target.isascii() and target.isdecimal() and len(target) < 19
    span = SPANS.get(value("since"))
    given: dict[str, Any] = {"target_id": int(target)} if is_number else {"target": target or None}
    if workflow:
        try:
            given["workflow_id"] = await workflow_id(tx, workflow)
        except Missing:
            given["workflow_id"] = NOBODY
    if schedule.isascii() and schedule.isdecimal() and len(schedule) < 19:
        given["schedule_id"] = int(schedule)
    return JobFilter(
        status=[one for one in JobStatus if one == status], since=tx.now - span[0] if span else None, **given
    )


def _named(visit: Visit, job: JobLine) -> str:
    state = visit.say(words.of(job.status).label)
    return " · ".join(filter(None, (f"#{job.id}", job.workflow, job.target, state)))
