"""Schedules in plain words, with their next five fires and what became of the last twenty; run now, paused, resumed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from bobusang.engine.calendar.misfire import Decision, Misfire, Overlap
from bobusang.engine.model import JobStatus
from bobusang.entry.api import schedules as api
from bobusang.entry.api.references import optional_workflow_id
from bobusang.entry.web import lists, many, words
from bobusang.entry.web.deciding import AT_ONCE, Question
from bobusang.entry.web.languages import N_
from bobusang.entry.web.lists import PAGE, Filter
from bobusang.entry.web.pages import Entry, Pages
from bobusang.kit.errors import Missing
from bobusang.views import schedules as view
from bobusang.views import workflows
from bobusang.views.schedules import Fire, ScheduleFilter, ScheduleLine

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bobusang.entry.web.deciding import Chosen
    from bobusang.entry.web.live import Draw
    from bobusang.entry.web.many import Deed
    from bobusang.entry.web.rendering import Eyes
    from bobusang.entry.web.site import Site
    from bobusang.entry.web.visit import Visit
    from bobusang.kit.db import Tx

ENTRY = "/schedules"
pages = Pages(Entry(ENTRY, N_("Schedules"), "schedule", 80))

PARTS = "schedule_parts.html"
NAMES = ("q", "state", "workflow")
ACTIVE, PAUSED = "active", "paused"

MISFIRES = {
    Misfire.SKIP: N_("Missed runs are dropped"),
    Misfire.ONCE: N_("Of missed runs the latest is made up for"),
    Misfire.ALL: N_("Each missed run is made up for"),
}
OVERLAPS = {
    Overlap.SKIP: N_("While one runs, the next is left out"),
    Overlap.BUFFER_ONE: N_("While one runs, one more may wait"),
    Overlap.ALLOW: N_("Several may run at the same time"),
    Overlap.CANCEL_OTHER: N_("A new run cancels the one before it"),
}
DECISIONS = {
    Decision.START: N_("started"),
    Decision.SKIP: N_("left out: the one before was still running"),
    Decision.BUFFER: N_("waits for the one before"),
    Decision.CANCEL_THEN_START: N_("started, the one before was cancelled"),
}


@dataclass(frozen=True, slots=True)
class Result:
    """What became of one fire: a bar of its colour."""

    fire: Fire
    state: str

    @property
    def tone(self) -> str:
        return words.of(self.state).tone


@dataclass(frozen=True, slots=True)
class Results:
    """The last fires, the oldest first, as bars are read; `counts` by state for whoever cannot see them."""

    bars: list[Result]
    counts: Mapping[str, int]


def results(fires: Sequence[Fire]) -> Results:
    """Fires as bars; one without a job is one that was left out."""
    bars = [Result(one, str(one.job_status or _jobless(one))) for one in reversed(fires)]
    return Results(bars, Counter(bar.state for bar in bars))


def _jobless(fire: Fire) -> str:
    return JobStatus.PENDING if fire.decision is Decision.BUFFER else "SKIPPED"


@pages.get(ENTRY)
async def listed(visit: Visit) -> Response:
    """All of them, the newest first."""
    visit.entry = ENTRY
    async with visit.desk.read() as tx:
        names = await workflows.names(tx)
    wishes = [
        Filter("q", N_("Name")),
        Filter("state", N_("State"), [(ACTIVE, visit.say(N_("active"))), (PAUSED, visit.say(N_("paused")))]),
        Filter("workflow", N_("Workflow"), [(name, name) for name in names]),
    ]
    asked = await lists.asked(visit, ENTRY, wishes)
    if isinstance(asked, Response):
        return asked
    async with visit.desk.read() as tx:
        wanted = await _wanted(tx, asked.kept)
        found = await view.listed(tx, wanted, asked.before(), PAGE + 1)
        asked.fill(found, lambda one: one.id)
        fires = await view.last_fires(tx, [one.id for one in asked.rows])
    shown = [(one, view.upcoming(one), results(fires[one.id])) for one in asked.rows]
    return visit.page("schedules.html", list=asked, shown=shown, misfires=MISFIRES, overlaps=OVERLAPS)


async def _wanted(tx: Tx, kept: Sequence[tuple[str, str]]) -> ScheduleFilter:
    said = dict(kept)
    state = said.get("state")
    try:
        workflow_id = await optional_workflow_id(tx, said.get("workflow"))
    except Missing:  # it was remembered, and is gone: nothing is like this
        workflow_id = 0
    return ScheduleFilter(
        workflow_id=workflow_id,
        active=None if state not in (ACTIVE, PAUSED) else state == ACTIVE,
        text=said.get("q"),
    )


@pages.get("/schedules/{id:int}")
async def shown(visit: Visit) -> Response:
    """One of them."""
    visit.entry = ENTRY
    found = await api.show_schedule(visit.desk, visit.number())
    return visit.page("schedule.html", one=found, last=results(found.fires), **KNOWN)


KNOWN: dict[str, Any] = {"misfires": MISFIRES, "overlaps": OVERLAPS, "decisions": DECISIONS}


@pages.post("/schedules/{id:int}/run")
async def run(visit: Visit) -> Response:
    """Once, now, within its overlap policy."""
    done = await api.run_schedule(visit.desk, visit.number())
    if not done.started:
        why = N_("It was not started: a run of it is not over yet, or its workflow is switched off.")
        return visit.refused(visit.say(why))
    return visit.done(N_("It runs now, as job %(job)s."), job=done.job_id)


@pages.post("/schedules/{id:int}/pause")
async def pause(visit: Visit) -> Response:
    """It fires no more."""
    done = await api.pause_schedule(visit.desk, visit.number())
    return visit.done(N_("%(name)s is paused."), name=done.name)


@pages.post("/schedules/{id:int}/resume")
async def resume(visit: Visit) -> Response:
    """It fires again."""
    done = await api.resume_schedule(visit.desk, visit.number())
    return visit.done(N_("%(name)s runs again from its next time on."), name=done.name)


@pages.post("/schedules/{id:int}/delete")
async def delete(visit: Visit) -> Response:
    """It is no more; its jobs stay."""
    await api.delete_schedule(visit.desk, visit.number())
    return visit.done(N_("The schedule was deleted; its jobs stay."), ENTRY)


@pages.post("/schedules/many/pause")
async def pause_many(visit: Visit) -> Response:
    """Those that were ticked and are not paused."""
    question = Question(N_("Pause schedules"), N_("Pause these schedules?"), "/schedules/many/pause", ENTRY)
    return await _many(visit, question, lambda id: api.pause_schedule(visit.desk, id), active=True)


@pages.post("/schedules/many/resume")
async def resume_many(visit: Visit) -> Response:
    """Those that were ticked and are paused."""
    question = Question(N_("Resume schedules"), N_("Resume these schedules?"), "/schedules/many/resume", ENTRY)
    return await _many(visit, question, lambda id: api.resume_schedule(visit.desk, id), active=False)


async def _many(visit: Visit, question: Question, deed: Deed, *, active: bool) -> Response:
    async def load(tx: Tx, chosen: Chosen) -> list[ScheduleLine]:
        wanted = await _wanted(tx, chosen.kept) if chosen.every else ScheduleFilter(ids=chosen.ids)
        return await view.listed(tx, wanted, None, AT_ONCE)

    def line(one: ScheduleLine) -> str:
        return f"{one.name} · {getattr(one.words, visit.language)}"

    visit.entry = ENTRY
    return await many.changed(visit, question, NAMES, load, lambda one: one.is_active == active, line, deed)


@pages.live("schedule:{id}")
async def live(site: Site, topic: Mapping[str, str]) -> Draw:
    """What becomes of its runs."""
    async with site.app.engine.db.read() as tx:
        found = await view.one(tx, _number(topic["id"]))

    def draw(eyes: Eyes) -> Mapping[str, str]:
        macro, last = site.rendering.macro, results(found.fires)
        return {
            "schedule-next": macro(PARTS, "coming", eyes, found),
            "schedule-last": macro(PARTS, "history", eyes, found, last, DECISIONS),
        }

    return draw


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 19 else 0
