"""Dead letters: by cause with what to do about each, one by one, and many at once, ten first."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from starlette.responses import Response

from bobusang.engine.model import ReasonClass
from bobusang.engine.redriving import Filter as Wanted
from bobusang.entry.api import dead_letters as api
from bobusang.entry.api.dead_letters import FIRST, MOST, Choice, DiscardForm, LetterFilter
from bobusang.entry.api.references import workflow_id
from bobusang.entry.web import lists, waits
from bobusang.entry.web.languages import N_
from bobusang.entry.web.lists import PAGE, Filter
from bobusang.entry.web.pages import Entry, Pages
from bobusang.kit.errors import Missing
from bobusang.views import dead_letters as view
from bobusang.views import workflows

if TYPE_CHECKING:
    from collections.abc import Callable

    from bobusang.entry.web.visit import Visit
    from bobusang.kit.db import Tx
    from bobusang.views.dead_letters import DeadLetter

ENTRY = "/dead-letters"
LETTERS = f"{ENTRY}/letters"
pages = Pages(Entry(ENTRY, N_("Dead letters"), "dead", 40, counter="dead_letters"))

MOST_CAUSES = 100
EXAMPLES = 10
COUNTED = 10_000
NOBODY = 0
FIELDS = ("reason", "workflow", "job", "fingerprint")


@dataclass(frozen=True, slots=True)
class Action:
    """What can be done to many, and what is asked first."""

    label: str
    question: str


ACTIONS = {
    "retry": Action(N_("Run again"), N_("Run these dead letters again?")),
    "discard": Action(N_("Discard"), N_("Throw these dead letters away? Their tasks stay failed.")),
}


@pages.get(ENTRY)
async def causes(visit: Visit) -> Response:
    """By cause, the commonest first."""
    visit.entry = ENTRY
    if visit.query.get("fingerprint"):
        return visit.to(LETTERS, **visit.query.some(*FIELDS))
    async with visit.desk.read() as tx:
        names = await workflows.names(tx)
    asked = await lists.asked(visit, ENTRY, _filters(visit, names))
    if isinstance(asked, Response):
        return asked
    kept = dict(asked.kept)
    async with visit.desk.read() as tx:
        wanted = await _wanted(tx, lambda name: kept.get(name, ""))
        found = await view.causes(tx, replace(wanted, limit=MOST_CAUSES))

    def behind(**more: str) -> str:
        return urlencode(kept | more)

    return visit.page(
        "dead_letters.html",
        list=asked,
        causes=found,
        total=sum(cause.count for cause in found),
        oldest=min((cause.first_at for cause in found), default=None),
        behind=behind,
        remedies=waits.REMEDIES,
        first=FIRST,
    )


@pages.get(LETTERS)
async def letters(visit: Visit) -> Response:
    """One by one, the oldest first, of one cause or of all."""
    visit.entry = ENTRY
    async with visit.desk.read() as tx:
        names = await workflows.names(tx)
        asked = lists.given(visit, LETTERS, _filters(visit, names))
        kept = dict(asked.kept)
        wanted = await _wanted(tx, lambda name: kept.get(name, ""))
        found = await view.listed(tx, replace(wanted, after=asked.before() or 0, limit=PAGE + 1))
        cause = await view.causes(tx, replace(wanted, limit=1)) if wanted.fingerprint else []
        count = cause[0].count if cause else await view.count(tx, wanted, COUNTED)
    asked.fill(found, lambda letter: letter.task_id)
    return visit.page(
        "dead_letter_list.html",
        list=asked,
        cause=cause[0] if cause else None,
        count=count,
        counted=COUNTED,
        behind=urlencode(kept),
        remedies=waits.REMEDIES,
        first=FIRST,
        actions=[(f"{ENTRY}/bulk/{name}", visit.say(one.label)) for name, one in ACTIONS.items()],
    )


@pages.post(f"{ENTRY}/first")
async def first(visit: Visit) -> Response:
    """Ten, to see whether they go well before all others run."""
    chosen = Choice(filter=await _chosen(visit), limit=FIRST)
    done = await api.redrive(visit.desk, chosen)
    text = N_("%(done)s of %(matched)s run again. When they went well, run the others.")
    return visit.done(text, done=done.redriven, matched=done.matched)


@pages.get(f"{ENTRY}/bulk/{{action}}")
async def no_bulk(visit: Visit) -> Response:
    """Whoever loads the answer of a form again comes back to the list."""
    return visit.to(ENTRY)


@pages.post(f"{ENTRY}/bulk/{{action}}")
async def bulk(visit: Visit) -> Response:
    """First what would be done, then do it; who throws away says why."""
    visit.entry = ENTRY
    name, form = visit.path["action"], await visit.form()
    action = ACTIONS.get(name)
    if action is None:
        raise Missing("there is no such page")
    whole, ids = form.ticked("all"), form.numbers("ids")
    if not whole and not ids:
        return visit.refused(visit.say(N_("No line is ticked.")), to=ENTRY)
    why = form.get("why")
    lacks_why = form.ticked("sure") and name == "discard" and not why
    if not form.ticked("sure") or lacks_why:
        return await _asked_first(visit, name, ids if not whole else None, lacks_why=lacks_why)
    choice = {"filter": await _chosen(visit), "limit": MOST} if whole else {"ids": ids}
    if name == "retry":
        driven = await api.redrive(visit.desk, Choice.model_validate(choice))
        matched, done, text = driven.matched, driven.redriven, N_("%(done)s run again.")
        partly = N_("%(done)s run again, %(left)s could not: their jobs were cancelled or are being cleared away.")
    else:
        thrown = await api.discard(visit.desk, DiscardForm.model_validate({**choice, "why": why}))
        matched, done, text = thrown.matched, thrown.discarded, N_("%(done)s were thrown away.")
        partly = N_("%(done)s were thrown away, %(left)s were not there any more.")
    left = (matched if whole else len(ids)) - done
    return visit.done(partly if left > 0 else text, ENTRY, done=done, left=left)


async def _asked_first(visit: Visit, name: str, ids: list[int] | None, *, lacks_why: bool) -> Response:
    """How many, the first of them, and the button that does it."""
    value = await _value(visit)
    async with visit.desk.read() as tx:
        wanted = Wanted(ids=ids) if ids is not None else await _wanted(tx, value)
        matched = await view.count(tx, wanted, MOST)
        examples = await view.listed(tx, replace(wanted, limit=EXAMPLES))
    kept = [(one, value(one)) for one in FIELDS if value(one)]
    return visit.page(
        "dead_letters_confirm.html",
        status=422 if lacks_why else 200,
        name=name,
        action=ACTIONS[name],
        count=matched,
        total=matched if ids is None else len(ids),
        examples=[_named(letter) for letter in examples],
        fields=[("all", "1"), *kept] if ids is None else [("ids", str(id)) for id in ids],
        lacks_why=lacks_why,
    )


async def _value(visit: Visit) -> Callable[[str], str]:
    """What was chosen, whether it stands in the form or in its address."""
    form, query = await visit.form(), visit.query
    return lambda name: form.get(name) or query.get(name)


async def _chosen(visit: Visit) -> LetterFilter:
    value = await _value(visit)
    given = {name: value(name) for name in FIELDS if value(name)}
    return LetterFilter.model_validate(given | ({"job": int(given["job"])} if given.get("job", "").isdecimal() else {}))


def _filters(visit: Visit, names: list[str]) -> list[Filter]:
    found = [
        Filter("reason", N_("Kind"), [(one.value, visit.say(waits.REMEDIES[one].label)) for one in ReasonClass]),
        Filter("workflow", N_("Workflow"), [(one, one) for one in names]),
    ]
    # These come by links; nobody knows them by heart.
    if visit.query.get("job"):
        found.append(Filter("job", N_("Job"), type="number"))
    if visit.query.get("fingerprint"):
        found.append(Filter("fingerprint", N_("Cause")))
    return found


async def _wanted(tx: Tx, value: Callable[[str], str]) -> Wanted:
    """The filters as the view takes them; what cannot be is found nowhere."""
    workflow, job = value("workflow"), value("job")
    number = None
    if workflow:
        try:
            number = await workflow_id(tx, workflow)
        except Missing:
            number = NOBODY
    return Wanted(
        reason=next((one for one in ReasonClass if one == value("reason")), None),
        workflow_id=number,
        job_id=int(job) if job.isascii() and job.isdecimal() and len(job) < 19 else None,
        fingerprint=value("fingerprint") or None,
    )


def _named(letter: DeadLetter) -> str:
    return " · ".join(filter(None, (f"#{letter.task_id}", letter.workflow, letter.step, letter.task_key, letter.error)))
