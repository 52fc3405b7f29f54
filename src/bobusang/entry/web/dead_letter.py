"""One dead letter: what was tried, and its input to be mended before it runs again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from bobusang.entry.api import dead_letters as api
from bobusang.entry.api.dead_letters import Choice, DiscardForm, InputForm
from bobusang.entry.web import dead_letters, waits
from bobusang.entry.web.languages import N_
from bobusang.entry.web.pages import Pages
from bobusang.entry.web.tasks import ATTEMPTS
from bobusang.kit import json
from bobusang.kit.errors import Invalid, Missing
from bobusang.views import dead_letters as view
from bobusang.views import tasks

if TYPE_CHECKING:
    from starlette.responses import Response

    from bobusang.entry.web.visit import Visit

pages = Pages()


@pages.get("/dead-letters/{task_id:int}")
async def one(visit: Visit) -> Response:
    """The letter; one that runs again is a task like others."""
    try:
        return await _shown(visit)
    except Missing:
        return visit.to(f"/tasks/{visit.number('task_id')}")


@pages.post("/dead-letters/{task_id:int}")
async def mend(visit: Visit) -> Response:
    """Keep the mended input, and run it again or not; what is no JSON is shown again as it was typed."""
    task_id, form = visit.number("task_id"), await visit.form()
    text = form.text("input")
    try:
        await _keep(visit, task_id, json.loads(text))
    except Invalid as error:
        return await _shown(visit, text=text, problem=error.message)
    except ValidationError as error:
        return await _shown(visit, text=text, problem=error.errors(include_url=False, include_input=False)[0]["msg"])
    if form.get("do") != "retry":
        return visit.done(N_("The input of task %(id)s was changed."), id=task_id)
    await api.redrive(visit.desk, Choice(ids=[task_id]))
    return visit.done(N_("Task %(id)s runs again with this input."), f"/tasks/{task_id}", id=task_id)


@pages.post("/dead-letters/{task_id:int}/discard")
async def discard(visit: Visit) -> Response:
    """Throw it away, and say why."""
    task_id, why = visit.number("task_id"), (await visit.form()).get("why")
    if not why:
        return visit.refused(visit.say(N_("Say why it is thrown away.")))
    await api.discard(visit.desk, DiscardForm(ids=[task_id], why=why))
    return visit.done(N_("Dead letter %(id)s was thrown away."), dead_letters.ENTRY, id=task_id)


async def _keep(visit: Visit, task_id: int, value: Any) -> None:
    """Change the input, where it was changed."""
    async with visit.desk.read() as tx:
        known = (await view.one(tx, task_id)).input
    if value != known:
        await api.edit_letter(visit.desk, task_id, InputForm(input=value))


async def _shown(visit: Visit, *, text: str | None = None, problem: str = "") -> Response:
    visit.entry, task_id = dead_letters.ENTRY, visit.number("task_id")
    async with visit.desk.read() as tx:
        letter = await view.one(tx, task_id)
        about = await tasks.about(tx, letter.job_id, letter.input, None)
    return visit.page(
        "dead_letter.html",
        status=422 if problem else 200,
        letter=letter,
        about=about,
        text=text,
        problem=problem,
        remedy=waits.REMEDIES[letter.reason_class],
        remedies=waits.REMEDIES,
        outcomes=ATTEMPTS,
    )
