"""Sources: who enabled each and why, what robots.txt says, how its gate stands; switched, resumed, tried."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bobusang.entry.api import sources as api
from bobusang.entry.api.sources import DecisionForm, EnableForm, KeyForm, SourceQuery
from bobusang.entry.tables import Role
from bobusang.entry.web import sellers
from bobusang.entry.web.languages import N_
from bobusang.entry.web.pages import Pages
from bobusang.kit.robots import Standing
from bobusang.stages.collect.admission import Cause
from bobusang.views import gate
from bobusang.views.source_health import Health
from bobusang.views.sources import BROKEN, UNDESCRIBED

if TYPE_CHECKING:
    from starlette.responses import Response

    from bobusang.entry.web.visit import Visit
    from bobusang.views.sources import SourceLine

pages = Pages()

TAB = "/sellers/sources"
STATES = ("on", "off", "shut")

CAUSES = {
    Cause.OFF: (N_("switched off"), "idle"),
    Cause.HALTED: (N_("halted"), "bad"),
    Cause.KEY: (N_("needs a key"), "bad"),
    Cause.WINDOW: (N_("outside of its hours"), "idle"),
    Cause.BACK_OFF: (N_("asked for a rest"), "warn"),
    Cause.BREAKER: (N_("rests after failures"), "bad"),
    Cause.PROBE: (N_("being probed"), "warn"),
    Cause.LIMITER: (N_("at its limit"), "warn"),
    Cause.RATE: (N_("at its limit"), "warn"),
    Cause.IDENTITIES: (N_("all identities are in use"), "warn"),
}
HEALTHS = {
    Health.HEALTHY: (N_("healthy"), "good"),
    Health.UNSTEADY: (N_("some pages fail"), "warn"),
    Health.FAILING: (N_("all pages fail"), "bad"),
    Health.UNTRIED: (N_("not asked lately"), "idle"),
    Health.WAITING: (N_("left alone for a while"), "warn"),
    Health.STOPPED: (N_("waits for a person"), "bad"),
    Health.OFF: (N_("switched off"), "idle"),
    Health.BROKEN: (N_("cannot be read"), "bad"),
}
ROBOTS = {
    Standing.ALLOWED: (N_("allowed"), "good"),
    Standing.DISALLOWED: (N_("not allowed"), "warn"),
    Standing.UNKNOWN: (N_("not known"), "idle"),
}


@dataclass(frozen=True, slots=True)
class Gate:
    """How a gate stands: a word, its colour, and why."""

    word: str
    tone: str
    reason: str = ""
    is_shut: bool = False


def gate_of(line: SourceLine) -> Gate:
    """The gate of a source in one word; where only an endpoint waits, that one's."""
    if line.gate == gate.OPEN:
        return Gate(N_("lets through"), "good")
    if line.gate == gate.OFF:
        return Gate(*CAUSES[Cause.OFF])
    if line.gate == BROKEN:
        return Gate(N_("cannot be read"), "bad", line.problem or "", is_shut=True)
    head, _, reason = line.gate.partition(": ")
    word, tone = CAUSES[Cause(head.rpartition(" ")[2])]
    return Gate(word, tone, reason, is_shut=True)


@pages.get(TAB)
async def listed(visit: Visit) -> Response:
    """All of them: those that wait first, then those that are on."""
    given, state = sellers.frame(visit, TAB), visit.query.get("state")
    found = (await api.list_sources(visit.desk, SourceQuery())).items
    gates = {one.name: gate_of(one) for one in found}
    counts = {"on": sum(one.enabled for one in found), "shut": sum(one.is_shut for one in gates.values())}
    counts["off"] = len(found) - counts["on"]
    wanted = [one for one in found if _fits(one, gates[one.name], state)]
    wanted.sort(key=lambda one: (not gates[one.name].is_shut, not one.enabled, one.origin == UNDESCRIBED, one.name))
    return visit.page(
        "sources.html",
        rows=wanted,
        gates=gates,
        counts=counts,
        state=state,
        total=len(found),
        robots=ROBOTS,
        healths=HEALTHS,
        **given,
    )


def _fits(one: SourceLine, found: Gate, state: str) -> bool:
    match state:
        case "on":
            return one.enabled
        case "off":
            return not one.enabled
        case "shut":
            return found.is_shut
    return True


@pages.get("/sellers/sources/{name}")
async def shown(visit: Visit) -> Response:
    """One of them, with all there is to know."""
    given = sellers.frame(visit, TAB)
    found = await api.show_source(visit.desk, visit.path["name"])
    known: dict[str, Any] = {"gate": gate_of(found), "robots": ROBOTS, "causes": CAUSES, "healths": HEALTHS}
    return visit.page("source.html", one=found, **known, **given)


@pages.post("/sellers/sources/{name}/enable", role=Role.ADMIN)
async def enable(visit: Visit) -> Response:
    """With why it may be collected."""
    form = EnableForm(why=(await visit.form()).get("why"))
    done = await api.enable_source(visit.desk, visit.path["name"], form)
    return visit.done(N_("%(name)s may be collected now."), name=done.name)


@pages.post("/sellers/sources/{name}/disable")
async def disable(visit: Visit) -> Response:
    """With what happened."""
    form = DecisionForm(why=(await visit.form()).get("why"))
    done = await api.disable_source(visit.desk, visit.path["name"], form)
    return visit.done(N_("%(name)s is no longer collected; what is queued waits."), name=done.name)


@pages.post("/sellers/sources/{name}/resume")
async def resume(visit: Visit) -> Response:
    """After it was looked into."""
    done = await api.resume_source(visit.desk, visit.path["name"])
    visit.site.standing.expire()
    text = N_("%(name)s is tried again.") if done.resumed else N_("Nothing had stopped %(name)s.")
    return visit.done(text, name=done.source)


@pages.post("/sellers/sources/{name}/test")
async def test(visit: Visit) -> Response:
    """Whether somebody answers there."""
    done = await api.try_source(visit.desk, visit.path["name"])
    took = f"{done.seconds:.2f}"
    if done.error is not None:
        text = N_("%(name)s does not answer (%(took)s s): %(error)s")
        return visit.refused(visit.say(text, name=done.source, took=took, error=done.error))
    text = N_("%(name)s answers: %(status)s for robots.txt in %(took)s s.")
    return visit.done(text, name=done.source, status=done.status, took=took)


@pages.post("/sellers/sources/{name}/key", role=Role.ADMIN)
async def give_key(visit: Visit) -> Response:
    """It is never shown again."""
    form = await visit.form()
    await api.give_key(visit.desk, visit.path["name"], KeyForm(key=form.get("key"), username=form.get("username")))
    return visit.done(N_("The key is kept; what waited for it goes on."))
