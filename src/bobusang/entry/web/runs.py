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
from bobusang.kit.errors import BobusangError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from bobusang.entry.web.forms import Fields
    from bobusang.entry.web.visit import Visit

ENTRY = "/runs"
pages = Pages(Entry(ENTRY, N_("Runs"), "run", 20))

SHOWN_LINES = 100
"""Of a preview; the rest is counted."""


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
    mode = next((one for one in Mode if one == asked.value("mode")), None)
    status = next((one for one in BatchStatus if one == asked.value("status")), None)
    async with visit.desk.read() as tx:
        found = await watching.listed(tx, BatchFilter(mode=mode, status=status), asked.before(), PAGE + 1)
        usual = await reporting.usual_seconds(tx)
        begun = await reporting.begun_by(tx, [one.batch_id for one in found])
        now = tx.now
    asked.fill(found, lambda batch: batch.id)
    return visit.page("runs.html", list=asked, begun=begun, span=lambda batch: span_of(batch, usual, now))


WORDS = {BatchStatus.RUNNING: N_("running"), BatchStatus.COMPLETED: N_("done"), BatchStatus.FAILED: N_("failed")}


@pages.get("/runs/new", role=Role.OPERATOR)
async def new(visit: Visit) -> Response:
    """The form."""
    return await _form(visit, {"mode": Mode.FULL.value, "malls": [], "stages": [], "brands": "", "limit": ""})


@pages.post("/runs/new")
async def start(visit: Visit) -> Response:
    """Start it, or show what it would send; what is wrong is said beside what was filled in."""
    form = await visit.form()
    try:
        if form.get("do") == "preview":
            shown = await previews.preview_run(visit.desk, previews.PreviewForm(**_wanted(form)))
            return await _form(visit, _filled(form), preview=shown)
        told = _wanted(form) | {"mode": form.get("mode", Mode.FULL), "stages": form.all("stages")}
        wanted = batches.BatchForm.model_validate(told)
        made = await batches.start_batch(visit.desk, wanted, Response())
    except BobusangError as error:
        return await _form(visit, _filled(form), error=error)
    text = (
        N_("Run %(batch)s was started for %(count)s brands.") if made.created else N_("Run %(batch)s is gone on with.")
    )
    return visit.done(text, f"/runs/{made.batch_id}", batch=made.batch_id, count=len(made.brands))


def _wanted(form: Fields) -> dict[str, Any]:
    """What was filled in, as the API wants it."""
    return {
        "malls": form.all("malls"),
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
