"""Held: changes of malls that a guard stopped, each with what it would change and the page behind it, to be approved
or rejected one by one or together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from bobusang.entry.api import held as api
from bobusang.entry.api import raw
from bobusang.entry.api.held import HeldChoice, HeldFilter
from bobusang.entry.web import deciding, guards, lists
from bobusang.entry.web.deciding import Outcome, Question
from bobusang.entry.web.languages import N_
from bobusang.entry.web.lists import PAGE, Filter
from bobusang.entry.web.pages import Entry, Pages
from bobusang.entry.web.quality import FIELDS
from bobusang.kit.errors import Missing
from bobusang.stages.collect.held import Filter as Wanted
from bobusang.views import held as view

if TYPE_CHECKING:
    from bobusang.entry.web.deciding import Chosen, Kept
    from bobusang.entry.web.visit import Visit
    from bobusang.kit.db import Tx

ENTRY = "/held"
pages = Pages(Entry(ENTRY, N_("Held"), "held", 100, "held"))

TABS = (
    (ENTRY, N_("Changes of malls"), "held_writes"),
    ("/held/sends", N_("Sends to markets"), "market_holds"),
    ("/held/brands", N_("Brands"), "brands"),
    ("/held/categories", N_("Categories"), "categories"),
    ("/held/rates", N_("Exchange rates"), "rates"),
    ("/held/mapping", N_("Mapping file"), ""),
)
KINDS = {"market": "/held/sends", "brands": "/held/brands", "categories": "/held/categories", "rates": "/held/rates"}
"""How other pages name the tabs."""
NAMES = ("source", "guard", "target", "key")
MOST = 10_000
"""Counted so far before many are decided."""


def frame(visit: Visit, tab: str) -> dict[str, Any]:
    """What all tabs of this page are given."""
    visit.entry = ENTRY
    needs = visit.site.standing.frame.needs
    return {
        "tabs": TABS,
        "tab": tab,
        "needs": needs,
        "fields": FIELDS,
        "retold": lambda text: guards.retold(visit, text),
    }


@pages.get(ENTRY)
async def listed(visit: Visit) -> Response:
    """Open ones, the newest first."""
    if other := KINDS.get(visit.query.get("kind")):
        return visit.to(other)
    given = frame(visit, ENTRY)
    malls = [(name, name) for name in sorted(visit.desk.app.collector.sources)]
    words = [(guard.value, visit.say(told.label)) for guard, told in guards.CHANGES.items()]
    filters = [
        Filter("source", N_("Mall"), malls),
        Filter("guard", N_("Guard"), words),
        Filter("target", N_("Seller or brand")),
        Filter("key", N_("Product number")),
    ]
    asked = await lists.asked(visit, ENTRY, filters)
    if isinstance(asked, Response):
        return asked
    async with visit.desk.read() as tx:
        found = await view.detailed(tx, _wanted(asked.kept), asked.before(), PAGE + 1)
        called = await view.called(tx, (one.record_id for one in found))
    asked.fill(found, lambda one: one.id)
    along = deciding.along("", asked.kept)
    return visit.page("held.html", list=asked, called=called, guards=guards.CHANGES, along=along, **given)


@pages.get("/held/{id:int}")
async def shown(visit: Visit) -> Response:
    """One of them, with its evidence and the next at hand."""
    given, id = frame(visit, ENTRY), visit.number()
    kept = deciding.kept(visit.query, NAMES)
    async with visit.desk.read() as tx:
        one = await view.one(tx, id)
        called = await view.called(tx, [one.record_id])
        following = await _next(tx, kept, id)
    try:
        page = await raw.show_raw(visit.desk, one.raw_id) if one.raw_id else None
    except Missing:
        page = None
    return visit.page(
        "held_change.html",
        one=one,
        product=called.get(one.record_id or 0),
        told=guards.CHANGES[one.guard],
        page=page,
        kept=kept,
        back=deciding.address(ENTRY, kept),
        next=deciding.along(f"{ENTRY}/{following}", kept) if following else "",
        **given,
    )


@pages.get("/held/{id:int}/page")
async def evidence(visit: Visit) -> Response:
    """The mall's page that says so, as a text to be saved."""
    async with visit.desk.read() as tx:
        one = await view.one(tx, visit.number())
    if one.raw_id is None:
        raise Missing("no page of the mall is kept of this")
    return await raw.download_raw(visit.desk, one.raw_id)


@pages.post("/held/{id:int}/approve")
async def approve(visit: Visit) -> Response:
    """Write it."""
    done = await api.approve_held(visit.desk, visit.number())
    return await _decided(visit, N_("%(key)s: the change was approved and written."), done.id, done.key)


@pages.post("/held/{id:int}/reject")
async def reject(visit: Visit) -> Response:
    """Not that."""
    done = await api.reject_held(visit.desk, visit.number())
    text = N_("%(key)s: the change was rejected; the same is not held again for thirty days.")
    return await _decided(visit, text, done.id, done.key)


@pages.post("/held/approve")
async def approve_many(visit: Visit) -> Response:
    """Those that are ticked, or all that match."""
    question = Question(N_("Approve changes"), N_("Approve these changes of malls?"), "/held/approve", "")
    return await _many(visit, "approve", question)


@pages.post("/held/reject")
async def reject_many(visit: Visit) -> Response:
    """Those that are ticked, or all that match."""
    question = Question(N_("Reject changes"), N_("Reject these changes of malls?"), "/held/reject", "")
    return await _many(visit, "reject", question)


async def _many(visit: Visit, act: api.Act, question: Question) -> Response:
    form = await visit.form()
    found = deciding.chosen(form, NAMES)
    if found is None:
        return deciding.nothing(visit)
    back = deciding.address(ENTRY, found.kept)
    if not form.ticked("sure"):
        return await _ask(visit, Question(question.title, question.text, question.action, back), found)
    if not found.every:
        decide = api.approve_held if act == "approve" else api.reject_held
        return deciding.told(visit, await deciding.one_by_one(found.ids, lambda id: decide(visit.desk, id)), back)
    decide_all = api.approve_many if act == "approve" else api.reject_many
    done = await decide_all(visit.desk, HeldChoice(filter=HeldFilter(**dict(found.kept))))  # type: ignore[arg-type]
    refused = [one.reason for one in done.refused] + [""] * (done.refused_count - len(done.refused))
    return deciding.told(visit, Outcome(done.decided, refused), back)


async def _ask(visit: Visit, question: Question, found: Chosen) -> Response:
    frame(visit, ENTRY)
    async with visit.desk.read() as tx:
        if found.every:
            which = _wanted(found.kept)
            total = await view.count(tx, which, MOST)
            lines, count = await view.listed(tx, which, None, deciding.EXAMPLES), total
        else:
            lines = await view.some(tx, found.ids)
            count, total = len(lines), len(found.ids)
    examples = [f"{one.source} {one.key} · {guards.retold(visit, one.reason)}" for one in lines]
    return deciding.asked(visit, question, found, count=count, total=total, examples=examples)


async def _decided(visit: Visit, text: str, id: int, key: str) -> Response:
    """Back to the list; from a page of its own on to the next."""
    visit.site.standing.expire()
    form = await visit.form()
    if not form.ticked("next"):
        return visit.done(text, key=key)
    kept = deciding.kept(form, NAMES)
    async with visit.desk.read() as tx:
        following = await _next(tx, kept, id)
    to = deciding.along(f"{ENTRY}/{following}", kept) if following else deciding.address(ENTRY, kept)
    return visit.done(text, to, key=key)


async def _next(tx: Tx, kept: Kept, id: int) -> int | None:
    """The next older one that is open, or else the newest."""
    which = _wanted(kept)
    found = await view.listed(tx, which, id, 1) or await view.listed(tx, which, None, 1)
    return next((one.id for one in found if one.id != id), None)


def _wanted(kept: Kept) -> Wanted:
    """The filters; one that nothing can match is no error, for it may stand in an address that was kept."""
    given = {name: deciding.plain(value, 300) for name, value in kept}
    guard = given.get("guard", "")
    return Wanted(
        source=given.get("source", ""),
        target=given.get("target", ""),
        guard=guard if guard in list(guards.CHANGES) else "",
        key=given.get("key", ""),
    )
