"""Sellers of malls: how often each is crawled, how good its data is and why, paused, resumed and crawled now."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from starlette.responses import Response

from bobusang.catalog.model import SellerStatus
from bobusang.entry.api import crawl
from bobusang.entry.api import sellers as api
from bobusang.entry.api.crawl import StartForm
from bobusang.entry.api.sellers import PauseForm
from bobusang.entry.web import lists, many, words
from bobusang.entry.web.deciding import AT_ONCE, Question
from bobusang.entry.web.languages import N_
from bobusang.entry.web.lists import PAGE, Column, Filter
from bobusang.entry.web.pages import Entry, Pages
from bobusang.stages.collect.model import RunMode
from bobusang.stages.collect.quality import WEIGHTS
from bobusang.views import crawl as progress
from bobusang.views import sellers as view
from bobusang.views.sellers import SellerFilter, SellerLine

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bobusang.entry.web.deciding import Chosen
    from bobusang.entry.web.live import Draw
    from bobusang.entry.web.many import Deed
    from bobusang.entry.web.rendering import Eyes
    from bobusang.entry.web.site import Site
    from bobusang.entry.web.visit import Visit
    from bobusang.kit.db import Tx

ENTRY = "/sellers"
pages = Pages(Entry(ENTRY, N_("Sellers"), "seller", 90, "gates"))

TABS = (
    (ENTRY, N_("Sellers"), ""),
    ("/suppliers", N_("Suppliers"), ""),
    ("/sellers/sources", N_("Sources and gates"), "gates"),
    ("/sellers/identities", N_("Identities and quotas"), "identities"),
)
PARTS = "seller_parts.html"
NAMES = ("q", "mall", "status")
COLUMNS = (
    Column("cadence", N_("Cadence")),
    Column("quality", N_("Quality")),
    Column("products", N_("Products")),
    Column("last", N_("Last crawl")),
    Column("next", N_("Next crawl")),
    Column("company", N_("Company"), shown=False),
    Column("contact", N_("Contact"), shown=False),
)
QUALITY = {
    "completeness": (N_("Completeness"), N_("of the fields that a product should have, how many are known")),
    "validity": (N_("Validity"), N_("of the products, how many have a name, a price and an address that make sense")),
    "freshness": (N_("Freshness"), N_("of the products, how many were seen lately")),
    "consistency": (N_("Consistency"), N_("of the products, how many are neither held nor flap in price")),
}
GOOD, FAIR = 90, 70


def frame(visit: Visit, tab: str) -> dict[str, Any]:
    """What all tabs of this page are given."""
    visit.entry = ENTRY
    return {"tabs": TABS, "tab": tab, "needs": visit.site.standing.frame.needs}


def tone(score: float | None) -> str:
    """The colour of a score from 0 to 100."""
    if score is None:
        return ""
    return "good" if score >= GOOD else "warn" if score >= FAIR else "bad"


@pages.get(ENTRY)
async def listed(visit: Visit) -> Response:
    """All of them, the newest first."""
    given = frame(visit, ENTRY)
    malls = [(name, name) for name in sorted(visit.desk.app.collector.sources)]
    wishes = [
        Filter("q", N_("Name, company or id")),
        Filter("mall", N_("Mall"), malls),
        Filter("status", N_("State"), [(one.value, visit.say(words.of(one.value).label)) for one in SellerStatus]),
    ]
    asked = await lists.asked(visit, ENTRY, wishes, COLUMNS)
    if isinstance(asked, Response):
        return asked
    async with visit.desk.read() as tx:
        found = await view.listed(tx, _wanted(asked.kept), asked.before(), PAGE + 1)
        asked.fill(found, lambda one: one.id)
        grades = await view.grades(tx, [one.id for one in asked.rows])
    return visit.page("sellers.html", list=asked, grades=grades, **given, **known())


def known() -> dict[str, Any]:
    """What the parts of these pages are made with."""
    return {"parts_of_quality": QUALITY, "weights": WEIGHTS, "tone": tone, "products_of": products_of}


def products_of(one: SellerLine) -> str:
    """The products of a seller."""
    return f"/products?{urlencode({'mall': one.mall, 'seller': one.seller_id})}"


def _wanted(kept: Sequence[tuple[str, str]]) -> SellerFilter:
    said = dict(kept)
    status = next((one for one in SellerStatus if one == said.get("status")), None)
    return SellerFilter(mall=said.get("mall"), status=status, text=said.get("q"))


@pages.get("/sellers/{id:int}")
async def shown(visit: Visit) -> Response:
    """One of them."""
    given = frame(visit, ENTRY)
    async with visit.desk.read() as tx:
        found = await view.one(tx, visit.number())
        running = await _running(tx, found.mall, found.seller_id)
        count = await view.products(tx, found.mall, found.seller_id)
    return visit.page("seller.html", one=found, running=running, products=count, **given, **known())


async def _running(tx: Tx, mall: str, seller_id: str) -> Any:
    """How far its newest crawl is, while it is not over."""
    seller = await view.named(tx, seller_id, mall)
    newest = next(iter(await progress.progress(tx, seller, None, 1)), None)
    return newest if newest is not None and not newest.status.ended else None


@pages.live("seller:{id}")
async def live(site: Site, topic: Mapping[str, str]) -> Draw:
    """How far its crawl is, and how its last runs went."""
    id = topic["id"]
    async with site.app.engine.db.read() as tx:
        found = await view.one(tx, int(id) if id.isascii() and id.isdecimal() and len(id) < 19 else 0)
        running = await _running(tx, found.mall, found.seller_id)

    def draw(eyes: Eyes) -> Mapping[str, str]:
        macro = site.rendering.macro
        return {
            "seller-running": macro(PARTS, "running", eyes, running),
            "seller-quality": macro(PARTS, "graded", eyes, found, QUALITY, WEIGHTS, tone),
            "seller-runs": macro(PARTS, "runs", eyes, found),
        }

    return draw


@pages.post("/sellers/{id:int}/pause")
async def pause(visit: Visit) -> Response:
    """It is crawled no more until somebody resumes it."""
    reason = (await visit.form()).get("reason")
    done = await api.paused(visit.desk, visit.number(), PauseForm(reason=reason) if reason else PauseForm())
    return visit.done(N_("%(name)s is paused."), name=done.name or done.seller_id)


@pages.post("/sellers/{id:int}/resume")
async def resume(visit: Visit) -> Response:
    """It is crawled again."""
    done = await api.resumed(visit.desk, visit.number())
    return visit.done(N_("%(name)s is crawled again, one cadence from now."), name=done.name or done.seller_id)


@pages.post("/sellers/{id:int}/disable")
async def disable(visit: Visit) -> Response:
    """A person's decision that no probe undoes."""
    done = await api.disabled(visit.desk, visit.number())
    return visit.done(N_("%(name)s is switched off; what was collected stays."), name=done.name or done.seller_id)


@pages.post("/sellers/{id:int}/crawl")
async def start(visit: Visit) -> Response:
    """Crawl it now."""
    partial = (await visit.form()).get("mode") == RunMode.PARTIAL
    done = await _crawled(visit, visit.number(), RunMode.PARTIAL if partial else RunMode.FULL)
    return visit.done(N_("The crawl was started, as job %(job)s."), job=done.job_id)


async def _crawled(visit: Visit, id: int, mode: RunMode) -> crawl.CrawlStarted:
    async with visit.desk.read() as tx:
        found = await view.one(tx, id)
    form = StartForm(seller_id=found.seller_id, mall=found.mall, mode=mode)
    return await crawl.start_crawl(visit.desk, form, Response(), None)


@pages.post("/sellers/{id:int}/delete")
async def delete(visit: Visit) -> Response:
    """It is no more, where no product is of it."""
    await api.delete_seller(visit.desk, visit.number())
    return visit.done(N_("The seller was deleted."), ENTRY)


@pages.post("/sellers/many/pause")
async def pause_many(visit: Visit) -> Response:
    """Those that were ticked and are crawled."""
    question = Question(N_("Pause sellers"), N_("Pause these sellers?"), "/sellers/many/pause", ENTRY)
    return await _many(visit, question, lambda id: api.pause_seller(visit.desk, id), {SellerStatus.ACTIVE})


@pages.post("/sellers/many/resume")
async def resume_many(visit: Visit) -> Response:
    """Those that were ticked and are not crawled."""
    question = Question(N_("Resume sellers"), N_("Resume these sellers?"), "/sellers/many/resume", ENTRY)
    asleep = {SellerStatus.PAUSED, SellerStatus.DISABLED}
    return await _many(visit, question, lambda id: api.resume_seller(visit.desk, id), asleep)


@pages.post("/sellers/many/crawl")
async def crawl_many(visit: Visit) -> Response:
    """Those that were ticked and may be crawled, now."""
    question = Question(N_("Crawl sellers now"), N_("Crawl these sellers now?"), "/sellers/many/crawl", ENTRY)
    return await _many(visit, question, lambda id: _crawled(visit, id, RunMode.FULL), {SellerStatus.ACTIVE})


async def _many(visit: Visit, question: Question, deed: Deed, states: set[SellerStatus]) -> Response:
    async def load(tx: Tx, chosen: Chosen) -> list[SellerLine]:
        wanted = _wanted(chosen.kept) if chosen.every else SellerFilter(ids=chosen.ids)
        return await view.listed(tx, wanted, None, AT_ONCE)

    def line(one: SellerLine) -> str:
        return f"{one.mall} · {one.name or one.seller_id}"

    visit.entry = ENTRY
    return await many.changed(visit, question, NAMES, load, lambda one: one.status in states, line, deed)
