"""Runs: batches with how long they took beside the usual, and the form that starts one or shows what it would do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from bobusang.entry.api import batches, previews
from bobusang.entry.tables import Role
from bobusang.entry.web import lists
from bobusang.entry.web.languages import N_
from bobusang.entry.web.lists import PAGE, Filter
from bobusang.entry.web.pages import Entry, Pages
from bobusang.flows.conveyor import choosing, reporting, watching
from bobusang.flows.conveyor.model import BatchStatus, Mode, Stage
from bobusang.flows.conveyor.watching import BatchFilter, BatchLine
from bobusang.kit.errors import BobusangError, Missing

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from bobusang.entry.web.forms import Fields
    from bobusang.entry.web.visit import Visit
    from bobusang.flows.conveyor.asking import Asked

ENTRY = "/runs"
pages = Pages(Entry(ENTRY, N_("Runs"), "run", 20))

SHOWN_LINES = 100
"""Of a preview; the rest is counted."""
MOST_AT_ONCE = 200
"""Runs that one click changes."""
EXAMPLES = 10
MOST_BRANDS = 500
"""Brands that can be named."""
EMPTY = {"mode": Mode.FULL.value, "malls": [], "stages": [], "brands": "", "limit": ""}
BULK = {
    "retry": (BatchStatus.FAILED, N_("Run what failed in these runs again?"), N_("%(count)s runs go on.")),
    "cancel": (BatchStatus.RUNNING, N_("Cancel these runs?"), N_("%(count)s runs were cancelled.")),
}
"""What can be done to many: to which of them, what is asked before, and what is said behind."""


@dataclass(frozen=True, slots=True)
class Span:
    """How long a batch took, or has been running, beside what is usual for its mode. `share` is of twice that, so that
    the usual stands in the middle."""

    seconds: float
    usual: float | None

    @property
    def share(self) -> int:
        most = 2 * self.usual if self.usual else self.seconds
        return min(100, round(100 * self.seconds / most)) if most else 0

    @property
    def is_long(self) -> bool:
        return self.usual is not None and self.seconds > 1.5 * self.usual


def span_of(batch: BatchLine, usual: Mapping[Mode, float], now: datetime) -> Span:
    """A batch's span."""
    return Span(((batch.end_time or now) - batch.start_time).total_seconds(), usual.get(batch.mode))


@pages.get(ENTRY)
async def listed(visit: Visit) -> Response:
    """Batches, the newest first."""
    visit.entry = ENTRY
    wishes = [
        Filter("mode", N_("Mode"), [(mode.value, visit.say(mode.value)) for mode in Mode]),
        Filter("status", N_("State"), [(state.value, visit.say(WORDS[state])) for state in BatchStatus]),
    ]
    asked = await lists.asked(visit, ENTRY, wishes)
    if isinstance(asked, Response):
        return asked
    wanted = _filter(asked.value("mode"), asked.value("status"))
    async with visit.desk.read() as tx:
        found = await watching.listed(tx, wanted, asked.before(), PAGE + 1)
        usual = await reporting.usual_seconds(tx)
        begun = await reporting.begun_by(tx, [one.batch_id for one in found])
        now = tx.now
    asked.fill(found, lambda batch: batch.id)
    return visit.page("runs.html", list=asked, begun=begun, span=lambda batch: span_of(batch, usual, now))


def _filter(mode: str, status: str) -> BatchFilter:
    """What an address or a form asks for; what is unknown does not matter."""
    return BatchFilter(
        mode=next((one for one in Mode if one == mode), None),
        status=next((one for one in BatchStatus if one == status), None),
    )


@pages.post("/runs/bulk/{what}")
async def bulk(visit: Visit) -> Response:
    """Retry or cancel many: first it is said which, then done, each by itself."""
    form, what = await visit.form(), visit.path["what"]
    if what not in BULK:
        raise Missing("there is no such page")
    status, question, said = BULK[what]
    async with visit.desk.read() as tx:
        if form.ticked("all"):
            chosen = await watching.listed(tx, _filter(form.get("mode"), form.get("status")), None, MOST_AT_ONCE)
        else:
            chosen = await watching.named(tx, form.all("ids")[:MOST_AT_ONCE])
    due = [one.batch_id for one in chosen if one.status is status]
    if not form.ticked("sure"):
        visit.entry = ENTRY
        return visit.page(
            "confirm.html",
            title=visit.say(N_("Runs")),
            question=visit.say(question),
            count=len(due),
            total=len(chosen),
            examples=due[:EXAMPLES],
            action=f"/runs/bulk/{what}",
            fields=[("ids", name) for name in due],
            back=ENTRY,
        )
    refused: list[BobusangError] = []
    for name in due:
        try:
            if what == "retry":
                await batches.retry_batch(visit.desk, name)
            else:
                await batches.cancel_batch(visit.desk, name)
        except BobusangError as error:
            refused.append(error)
    text = visit.say(said, count=len(due) - len(refused))
    if refused:
        more = N_("%(count)s were refused, the first because: %(why)s")
        text = f"{text} {visit.say(more, count=len(refused), why=refused[0].message)}"
    if due and len(refused) == len(due):
        return visit.refused(text, to=ENTRY)
    return visit.done("%(words)s", ENTRY, words=text)


WORDS = {BatchStatus.RUNNING: N_("running"), BatchStatus.COMPLETED: N_("done"), BatchStatus.FAILED: N_("failed")}


@pages.get("/runs/new", role=Role.OPERATOR)
async def new(visit: Visit) -> Response:
    """The form; with `like` as an earlier run was asked for, to be changed or not."""
    like = visit.query.get("like")
    return await _form(visit, _as_asked(await batches.show_asked(visit.desk, like)) if like else EMPTY)


@pages.post("/runs/new")
async def start(visit: Visit) -> Response:
    """Start it, or show what it would send; what is wrong is said beside what was filled in."""
    form = await visit.form()
    try:
        told = _wanted(form)
        if form.get("do") == "preview":
            shown = await previews.preview_run(visit.desk, previews.PreviewForm.model_validate(told))
            return await _form(visit, _filled(form), preview=shown)
        wanted = batches.BatchForm.model_validate(told)
        made = await batches.start_batch(visit.desk, wanted, Response())
    except BobusangError as error:
        return await _form(visit, _filled(form), error=error)
    text = (
        N_("Run %(batch)s was started for %(count)s brands.") if made.created else N_("Run %(batch)s is gone on with.")
    )
    return visit.done(text, f"/runs/{made.batch_id}", batch=made.batch_id, count=len(made.brands))


def _as_asked(told: Asked) -> dict[str, Any]:
    """An earlier run in the fields of the form."""
    limit = "" if told.limit is None else str(told.limit)
    brands = "\n".join(told.brands) if len(told.brands) <= MOST_BRANDS else ""  # then all of the malls are meant
    return {"mode": told.mode, "malls": told.malls, "stages": told.stages, "brands": brands, "limit": limit}


def _wanted(form: Fields) -> dict[str, Any]:
    """What was filled in, as the API wants it."""
    return {
        "mode": form.get("mode", Mode.FULL),
        "malls": form.all("malls"),
        "stages": form.all("stages"),
        "brands": [line.strip() for line in form.text("brands").splitlines() if line.strip()],
        "limit": next(iter(form.numbers("limit")), None),
    }


def _filled(form: Fields) -> dict[str, Any]:
    """The same as it stands in the form."""
    typed = {"brands": form.text("brands"), "limit": form.get("limit")}
    return typed | {"mode": form.get("mode", Mode.FULL), "malls": form.all("malls"), "stages": form.all("stages")}


async def _form(
    visit: Visit, filled: Mapping[str, Any], *, error: BobusangError | None = None, preview: Any = None
) -> Response:
    visit.entry = ENTRY
    async with visit.desk.read() as tx:
        malls = await choosing.enabled(tx, visit.desk.app.collector)
    given = {"filled": filled, "malls": malls, "modes": list(Mode), "stages": list(Stage), "error": error}
    return visit.page("run_new.html", status=422 if error else 200, **given, preview=preview, shown=SHOWN_LINES)
