"""Held: sends to markets that a guard stopped, with the numbers that tripped it, and rates of exchange that jumped."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from starlette.responses import Response

from bobusang.entry.api import fx, market_holds
from bobusang.entry.api.selling import MARKETS
from bobusang.entry.web import deciding, guards, held, lists
from bobusang.entry.web.deciding import Question
from bobusang.entry.web.languages import N_
from bobusang.entry.web.lists import PAGE, Filter
from bobusang.entry.web.pages import Pages
from bobusang.stages.price.model import FxState
from bobusang.stages.register.guards import Guard
from bobusang.views import market_holds as view
from bobusang.views import prices
from bobusang.views.market_holds import HoldFilter

if TYPE_CHECKING:
    from bobusang.entry.web.deciding import Chosen, Kept
    from bobusang.entry.web.visit import Visit
    from bobusang.kit.db import Tx
    from bobusang.views.market_holds import MarketHold

pages = Pages()

SENDS, RATES = "/held/sends", "/held/rates"
NAMES = ("market", "account", "guard", "sku")
NEWEST = "newest"
"""The last hold that was there when a person was asked: what came since was not seen."""


@pages.get(SENDS)
async def listed(visit: Visit) -> Response:
    """Open ones, the newest first."""
    given = held.frame(visit, SENDS)
    words = [(guard.value, visit.say(told.label)) for guard, told in guards.SENDS.items()]
    filters = [
        Filter("guard", N_("Guard"), words),
        Filter("market", N_("Market"), [(name, name) for name in MARKETS]),
        Filter("account", N_("Account")),
        Filter("sku", N_("SKU")),
    ]
    asked = await lists.asked(visit, SENDS, filters)
    if isinstance(asked, Response):
        return asked
    async with visit.desk.read() as tx:
        found = await view.held(tx, _wanted(asked.kept), before=asked.before(), limit=PAGE + 1)
    asked.fill(found, lambda one: one.id)
    return visit.page("held_sends.html", list=asked, guards=guards.SENDS, **given)


@pages.post("/held/sends/{id:int}/approve")
async def approve(visit: Visit) -> Response:
    """Exactly this may be sent."""
    done = await market_holds.approve_hold(visit.desk, visit.number())
    return _decided(
        visit, N_("%(sku)s: exactly this may be sent for a day, with the listing's next run."), sku=done.sku
    )


@pages.post("/held/sends/{id:int}/reject")
async def reject(visit: Visit) -> Response:
    """Exactly this stays unsent."""
    done = await market_holds.reject_hold(visit.desk, visit.number())
    return _decided(visit, N_("%(sku)s: exactly this stays unsent."), sku=done.sku)


@pages.post("/held/sends/approve")
async def approve_many(visit: Visit) -> Response:
    """Those that are ticked, or all that match; what no person may let out is refused."""
    return await _many(visit, N_("Approve sends"), N_("Approve these sends?"), approve=True)


@pages.post("/held/sends/reject")
async def reject_many(visit: Visit) -> Response:
    """Those that are ticked, or all that match."""
    return await _many(visit, N_("Reject sends"), N_("Reject these sends?"), approve=False)


@pages.get(RATES)
async def rates(visit: Visit) -> Response:
    """Rates that are held: no price of their pair is made until somebody has looked."""
    given = held.frame(visit, RATES)
    async with visit.desk.read() as tx:
        found = await prices.rates(tx, state=FxState.HELD, before=None, limit=PAGE)
    return visit.page("held_rates.html", rates=found, **given)


@pages.post("/held/rates/{id:int}/accept")
async def accept_rate(visit: Visit) -> Response:
    """Believe it."""
    done = await fx.accept_fx(visit.desk, visit.number())
    text = N_("Prices are made with %(rate)s %(quote)s for one %(base)s from now on.")
    return _decided(visit, text, rate=done.rate, quote=done.quote, base=done.base)


@pages.post("/held/rates/{id:int}/reject")
async def reject_rate(visit: Visit) -> Response:
    """Never use it."""
    done = await fx.reject_fx(visit.desk, visit.number())
    text = N_("The rate %(rate)s of %(base)s/%(quote)s is never used.")
    return _decided(visit, text, rate=done.rate, quote=done.quote, base=done.base)


async def _many(visit: Visit, title: str, text: str, *, approve: bool) -> Response:
    form = await visit.form()
    found = deciding.chosen(form, NAMES)
    if found is None:
        return deciding.nothing(visit)
    back = deciding.address(SENDS, found.kept)
    async with visit.desk.read() as tx:
        lines = await _lines(tx, found)
    if not form.ticked("sure"):
        held.frame(visit, SENDS)
        open_ = [one for one in lines if one.can_be_approved or not approve]
        examples = [f"{one.sku} · {guards.retold(visit, one.reason)}" for one in open_]
        question = Question(title, text, f"{SENDS}/{'approve' if approve else 'reject'}", back)
        total = len(lines) if found.every else len(found.ids)
        found = replace(found, kept=[*found.kept, (NEWEST, str(max((one.id for one in lines), default=0)))])
        return deciding.asked(visit, question, found, count=len(open_), total=total, examples=examples)
    decide = market_holds.approve_hold if approve else market_holds.reject_hold
    newest = form.some(NEWEST).get(NEWEST, "")
    every = [one.id for one in lines if not newest.isdecimal() or one.id <= int(newest)]
    ids = every if found.every else found.ids
    return deciding.told(visit, await deciding.one_by_one(ids, lambda id: decide(visit.desk, id)), back)


async def _lines(tx: Tx, found: Chosen) -> list[MarketHold]:
    if found.every:
        return await view.held(tx, _wanted(found.kept), before=None, limit=deciding.AT_ONCE)
    return await view.some(tx, found.ids)


def _decided(visit: Visit, text: str, **values: object) -> Response:
    visit.site.standing.expire()
    return visit.done(text, "", **values)


def _wanted(kept: Kept) -> HoldFilter:
    """The filters; one that nothing can match is no error, for it may stand in an address that was kept."""
    given = {name: deciding.plain(value, 310) or None for name, value in kept}
    guard = next((one for one in Guard if one == given.get("guard")), None)
    return HoldFilter(market=given.get("market"), account=given.get("account"), guard=guard, sku=given.get("sku"))
