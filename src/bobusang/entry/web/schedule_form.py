"""The form of a schedule: what a cron expression means is shown before it is saved, and what is wrong beside what was
typed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from bobusang.engine.calendar.cron_words import describe
from bobusang.engine.calendar.misfire import Misfire, Overlap
from bobusang.engine.model import JobType, ScheduleType
from bobusang.entry.api import schedules as api
from bobusang.entry.api.schedules import ScheduleForm
from bobusang.entry.tables import Role
from bobusang.entry.web import forms, schedules
from bobusang.entry.web.formats import HOME_ZONE
from bobusang.entry.web.languages import N_
from bobusang.entry.web.pages import Pages
from bobusang.kit import json
from bobusang.kit.errors import BobusangError, Invalid
from bobusang.views import schedules as view
from bobusang.views import workflows
from bobusang.views.schedules import Words

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.responses import Response

    from bobusang.entry.web.forms import Fields
    from bobusang.entry.web.visit import Visit
    from bobusang.views.schedules import Preview, ScheduleDetail

pages = Pages()

TEXTS = ("name", "workflow", "cron", "timezone", "schedule_type", "job_type", "misfire", "overlap")
NUMBERS = (
    "target_id",
    "priority",
    "misfire_window_seconds",
    "misfire_cap",
    "jitter_seconds",
    "interval_seconds",
    "min_interval_seconds",
    "max_interval_seconds",
)
TYPES = {
    ScheduleType.FIXED: N_("by the clock"),
    ScheduleType.DYNAMIC: N_("by how much changes"),
    ScheduleType.MANUAL: N_("only by hand"),
}
_COMMON = ("0 3 * * *", "0 * * * *", "*/30 * * * *", "0 9 * * 1-5", "30 2 * * 0", "0 4 1 * *")
EXAMPLES = [(cron, Words(ko=describe(cron, "ko"), en=describe(cron, "en"))) for cron in _COMMON]
NEW: Mapping[str, str] = {
    "timezone": HOME_ZONE,
    "cron": "0 3 * * *",
    "schedule_type": ScheduleType.FIXED,
    "job_type": JobType.FULL,
    "misfire": Misfire.ONCE,
    "overlap": Overlap.SKIP,
    "priority": "5",
    "misfire_window_seconds": "86400",
    "misfire_cap": "10",
    "jitter_seconds": "0",
    "min_interval_seconds": "300",
    "max_interval_seconds": "604800",
    "input": "{}",
}


@pages.get("/schedules/new", role=Role.OPERATOR)
async def new(visit: Visit) -> Response:
    """An empty form, in the visitor's zone."""
    return await _form(visit, {**NEW, "timezone": visit.eyes.zone})


@pages.post("/schedules/new")
async def make(visit: Visit) -> Response:
    """Make it, or show what it would mean."""
    form = await visit.form()
    if form.get("do") == "preview":
        return await _form(visit, _typed(form))
    try:
        made = await api.make_schedule(visit.desk, _wanted(form))
    except (BobusangError, ValidationError) as error:
        return await _form(visit, _typed(form), error=forms.wrong(error))
    return visit.done(N_("%(name)s was made."), f"/schedules/{made.id}", name=made.name)


@pages.get("/schedules/{id:int}/edit", role=Role.OPERATOR)
async def edit(visit: Visit) -> Response:
    """The form with what the schedule says now."""
    found = await api.show_schedule(visit.desk, visit.number())
    return await _form(visit, _said(found), id=found.id)


@pages.post("/schedules/{id:int}/edit")
async def change(visit: Visit) -> Response:
    """Change it, or show what it would mean."""
    form, id = await visit.form(), visit.number()
    if form.get("do") == "preview":
        return await _form(visit, _typed(form), id=id)
    try:
        done = await api.change_schedule(visit.desk, id, _wanted(form))
    except (BobusangError, ValidationError) as error:
        return await _form(visit, _typed(form), id=id, error=forms.wrong(error))
    text = N_("%(name)s was changed; a run that is planned stays planned.")
    return visit.done(text, f"/schedules/{id}", name=done.name)


def _wanted(form: Fields) -> ScheduleForm:
    """What was filled in, as the API wants it; what is empty is left to the API."""
    given: dict[str, Any] = form.some(*TEXTS)
    given |= {name: found[0] for name in NUMBERS if (found := form.numbers(name))}
    try:
        given["input"] = json.loads(form.text("input") or "{}")
    except BobusangError as error:
        raise Invalid(f"the input is no JSON: {error.message}", field="input") from None
    return ScheduleForm.model_validate(given)


def _typed(form: Fields) -> dict[str, str]:
    """The same as it stands in the form."""
    return {name: form.text(name) for name in (*TEXTS, *NUMBERS, "input")}


def _said(found: ScheduleDetail) -> dict[str, str]:
    """What a stored schedule says, as it stands in the form."""
    said = {name: getattr(found, name) for name in (*TEXTS, *NUMBERS)}
    return {name: "" if value is None else str(value) for name, value in said.items()} | {
        "input": json.dumps(found.input)
    }


async def _form(
    visit: Visit, filled: Mapping[str, str], *, id: int | None = None, error: BobusangError | None = None
) -> Response:
    visit.entry = schedules.ENTRY
    async with visit.desk.read() as tx:
        names = await workflows.names(tx)
        now = tx.now
    preview: Preview | None = None
    if filled["schedule_type"] == ScheduleType.FIXED and filled["cron"]:
        try:
            preview = view.preview(filled["cron"].strip(), filled["timezone"].strip(), now)
        except BobusangError as wrong:
            error = error or wrong
    return visit.page(
        "schedule_form.html",
        status=422 if error else 200,
        filled={"name": "", "workflow": "", "target_id": "", "interval_seconds": "", **filled},
        id=id,
        error=error,
        preview=preview,
        workflows=names,
        types=TYPES,
        job_types=[JobType.FULL, JobType.INCREMENTAL],
        misfires=schedules.MISFIRES,
        overlaps=schedules.OVERLAPS,
        examples=EXAMPLES,
    )
