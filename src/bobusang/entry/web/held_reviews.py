"""Held: brands and categories of malls that nobody has reviewed, with what they may be at the market; accepted as one
of its list, or blocked."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from starlette.responses import Response

from bobusang.catalog.model import Review
from bobusang.entry.api import brands, categories, mappings
from bobusang.entry.api.brands import BrandsForm
from bobusang.entry.api.categories import CategoriesForm
from bobusang.entry.api.mappings import AssignForm, ForMarket
from bobusang.entry.api.selling import MARKETS
from bobusang.entry.web import deciding, held, lists
from bobusang.entry.web.deciding import Question
from bobusang.entry.web.languages import N_
from bobusang.entry.web.lists import Filter
from bobusang.entry.web.pages import Pages
from bobusang.kit.errors import Invalid
from bobusang.stages.convert.naming import SURE
from bobusang.stages.convert.reviewing import Subject
from bobusang.views import market_lists
from bobusang.views.brands import BRANDS, BrandLine
from bobusang.views.categories import CATEGORIES, CategoryLine
from bobusang.views.market_lists import MarketLists
from bobusang.views.reviews import ReviewFilter

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bobusang.entry.web.deciding import Kept
    from bobusang.entry.web.site import Site
    from bobusang.entry.web.visit import Visit
    from bobusang.kit.db import Tx
    from bobusang.views.mappings import Proposed
    from bobusang.views.market_lists import Named

pages = Pages()

MARKET = MARKETS[0]
NAMES = ("mall", "q")
PAGE = 20
"""Each line is compared with tens of thousands of names."""
FOUND = 30
PATHS = {Subject.BRAND: "/held/brands", Subject.CATEGORY: "/held/categories"}

_lists: WeakKeyDictionary[Site, MarketLists] = WeakKeyDictionary()

Line = BrandLine | CategoryLine


@dataclass(frozen=True, slots=True)
class Row:
    """A brand or category as the screen shows it. `market_id`: what stands beside it; 0: the market lacks it."""

    line: Line
    name: str
    market_id: int | None
    market_name: str
    proposals: Sequence[Proposed]

    @property
    def best(self) -> int | None:
        """What it is accepted as with one click: what stands beside it, or a proposal that is sure enough."""
        if self.market_id is not None:
            return self.market_id
        return self.proposals[0].market_id if self.proposals and self.proposals[0].confidence >= SURE else None


def lists_of(site: Site) -> MarketLists:
    """The market's lists as the pages of this process know them."""
    return _lists.setdefault(site, MarketLists(MARKET))


@pages.get(PATHS[Subject.BRAND])
async def brands_listed(visit: Visit) -> Response:
    """Brands without a review."""
    return await _listed(visit, Subject.BRAND)


@pages.get(PATHS[Subject.CATEGORY])
async def categories_listed(visit: Visit) -> Response:
    """Categories without a review."""
    return await _listed(visit, Subject.CATEGORY)


@pages.get("/held/brands/{id:int}")
async def brand(visit: Visit) -> Response:
    """One brand, and all that it may be."""
    return await _shown(visit, Subject.BRAND)


@pages.get("/held/categories/{id:int}")
async def category(visit: Visit) -> Response:
    """One category, and all that it may be."""
    return await _shown(visit, Subject.CATEGORY)


@pages.post("/held/brands/{id:int}/accept")
async def accept_brand(visit: Visit) -> Response:
    """It is this one of the market's."""
    await _assigned(visit, Subject.BRAND)
    done = await brands.accept_brand(visit.desk, visit.number())
    text = N_("%(name)s was accepted: its products may go to the market.")
    return await _decided(visit, Subject.BRAND, text, done.id, called(done))


@pages.post("/held/brands/{id:int}/block")
async def block_brand(visit: Visit) -> Response:
    """It is not collected."""
    done = await brands.block_brand(visit.desk, visit.number())
    return await _decided(visit, Subject.BRAND, N_("%(name)s was blocked."), done.id, called(done))


@pages.post("/held/categories/{id:int}/accept")
async def accept_category(visit: Visit) -> Response:
    """It is this one of the market's."""
    await _assigned(visit, Subject.CATEGORY)
    done = await categories.accept_category(visit.desk, visit.number())
    text = N_("%(name)s was accepted: its products may go to the market.")
    return await _decided(visit, Subject.CATEGORY, text, done.id, called(done))


@pages.post("/held/categories/{id:int}/block")
async def block_category(visit: Visit) -> Response:
    """Its products are held back."""
    done = await categories.block_category(visit.desk, visit.number())
    return await _decided(visit, Subject.CATEGORY, N_("%(name)s was blocked."), done.id, called(done))


@pages.post("/held/brands/accept")
async def accept_brands(visit: Visit) -> Response:
    """Many at once, as what stands beside them."""
    question = Question(N_("Accept brands"), N_("Accept these brands as what stands beside them?"), "accept", "")
    return await _many(visit, Subject.BRAND, question)


@pages.post("/held/brands/block")
async def block_brands(visit: Visit) -> Response:
    """Many at once."""
    return await _many(visit, Subject.BRAND, Question(N_("Block brands"), N_("Block these brands?"), "block", ""))


@pages.post("/held/categories/accept")
async def accept_categories(visit: Visit) -> Response:
    """Many at once, as what stands beside them."""
    text = N_("Accept these categories as what stands beside them?")
    return await _many(visit, Subject.CATEGORY, Question(N_("Accept categories"), text, "accept", ""))


@pages.post("/held/categories/block")
async def block_categories(visit: Visit) -> Response:
    """Many at once."""
    question = Question(N_("Block categories"), N_("Block these categories?"), "block", "")
    return await _many(visit, Subject.CATEGORY, question)


@pages.post("/held/propose")
async def propose(visit: Visit) -> Response:
    """Write what is sure enough beside all that nobody has reviewed; only a person accepts."""
    done = await mappings.propose_mappings(visit.desk, ForMarket(market=MARKET))
    text = N_("%(brands)s brands and %(categories)s categories have a proposal now.")
    return visit.done(text, brands=done.brands, categories=done.categories)


def called(line: Line) -> str:
    """What a person calls it."""
    return line.path if isinstance(line, CategoryLine) else line.name_en or line.name_ko or line.key


async def _listed(visit: Visit, kind: Subject) -> Response:
    path = PATHS[kind]
    given = held.frame(visit, path)
    malls = [(name, name) for name in sorted(visit.desk.app.collector.sources)]
    asked = await lists.asked(visit, path, [Filter("mall", N_("Mall"), malls), Filter("q", N_("Name"))])
    if isinstance(asked, Response):
        return asked
    async with visit.desk.read() as tx:
        found = await _rows(tx, kind, asked.kept, asked.before(), PAGE + 1)
        named = (await lists_of(visit.site).fresh(tx))[kind]
        aliases = await _aliases(tx, found)
    rows = await asyncio.to_thread(_matched, found, named, aliases)
    asked.fill(rows, lambda row: row.line.id, PAGE)
    along = deciding.along("", asked.kept)
    return visit.page("held_reviews.html", list=asked, kind=kind, path=path, along=along, **given)


async def _shown(visit: Visit, kind: Subject) -> Response:
    path, id = PATHS[kind], visit.number()
    given, seek = held.frame(visit, path), deciding.plain(visit.query.get("seek"))
    kept = deciding.kept(visit.query, NAMES)
    async with visit.desk.read() as tx:
        line = await _one(tx, kind, id)
        named = (await lists_of(visit.site).fresh(tx))[kind]
        aliases = await _aliases(tx, [line])
        following = await _next(tx, kind, kept, id)
    (row,) = await asyncio.to_thread(_matched, [line], named, aliases)
    return visit.page(
        "held_review.html",
        row=row,
        kind=kind,
        path=path,
        seek=seek,
        found=named.search(seek, FOUND),
        kept=kept,
        back=deciding.address(path, kept),
        next=deciding.along(f"{path}/{following}", kept) if following else "",
        **given,
    )


async def _assigned(visit: Visit, kind: Subject) -> None:
    """Write the choice beside it; without one, something must stand there already."""
    id, chosen = visit.number(), (await visit.form()).numbers("market_id")
    if chosen:
        await mappings.assign(visit.desk, AssignForm(kind=kind, id=id, market_id=chosen[-1], market=MARKET))
        return
    async with visit.desk.read() as tx:
        line = await _one(tx, kind, id)
    if _market_id(line) is None:
        hint = visit.say(N_("search the market's list for it"))
        raise Invalid(visit.say(N_("Choose what it is at the market.")), hint=hint, field="market_id")


async def _many(visit: Visit, kind: Subject, question: Question) -> Response:
    form, path, act = await visit.form(), PATHS[kind], question.action
    found = deciding.chosen(form, NAMES)
    if found is None:
        return deciding.nothing(visit)
    back = deciding.address(path, found.kept)
    async with visit.desk.read() as tx:
        ids = () if found.every else found.ids
        lines = await _rows(tx, kind, found.kept if found.every else [], None, deciding.AT_ONCE, ids)
        named = (await lists_of(visit.site).fresh(tx))[kind]
    ready = [line for line in lines if act == "block" or _market_id(line) is not None]
    if not form.ticked("sure"):
        held.frame(visit, path)
        asks = Question(question.title, question.text, f"{path}/{act}", back)
        examples = [_example(line, named) for line in ready]
        total = len(lines) if found.every else len(found.ids)
        return deciding.asked(visit, asks, found, count=len(ready), total=total, examples=examples)
    changed = await _reviewed(visit, kind, act, [line.id for line in ready]) if ready else 0
    visit.site.standing.expire()
    return visit.done(N_("%(done)s were decided."), back, done=changed)


async def _reviewed(visit: Visit, kind: Subject, act: str, ids: list[int]) -> int:
    given: dict[str, Any] = {"action": act, "ids": ids}
    if kind is Subject.BRAND:
        return (await brands.review_many(visit.desk, BrandsForm(**given))).changed
    return (await categories.review_categories(visit.desk, CategoriesForm(**given))).changed


async def _decided(visit: Visit, kind: Subject, text: str, id: int, name: str) -> Response:
    """Back to the list; from a page of its own on to the next."""
    visit.site.standing.expire()
    form, path = await visit.form(), PATHS[kind]
    if not form.ticked("next"):
        return visit.done(text, name=name)
    kept = deciding.kept(form, NAMES)
    async with visit.desk.read() as tx:
        following = await _next(tx, kind, kept, id)
    to = deciding.along(f"{path}/{following}", kept) if following else deciding.address(path, kept)
    return visit.done(text, to, name=name)


async def _next(tx: Tx, kind: Subject, kept: Kept, id: int) -> int | None:
    """The next one without a review, or else the first."""
    found = await _rows(tx, kind, kept, id, 1) or await _rows(tx, kind, kept, None, 1)
    return next((one.id for one in found if one.id != id), None)


async def _one(tx: Tx, kind: Subject, id: int) -> Line:
    return await BRANDS.one(tx, id) if kind is Subject.BRAND else await CATEGORIES.one(tx, id)


async def _rows(
    tx: Tx, kind: Subject, kept: Kept, after: int | None, limit: int, ids: Sequence[int] = ()
) -> Sequence[Line]:
    """What nobody has reviewed."""
    given = {name: deciding.plain(value) or None for name, value in kept}
    wanted = ReviewFilter(mall=given.get("mall"), text=given.get("q"), review=Review.PROPOSED, ids=ids)
    if kind is Subject.BRAND:
        return await BRANDS.listed(tx, wanted, after=after, limit=limit)
    return await CATEGORIES.listed(tx, wanted, after=after, limit=limit)


async def _aliases(tx: Tx, lines: Sequence[Line]) -> dict[str, str]:
    names = [line.name_ko for line in lines if isinstance(line, BrandLine) and not line.name_en]
    return await market_lists.aliases(tx, names) if names else {}


def _matched(lines: Sequence[Line], named: Named, aliases: Mapping[str, str]) -> list[Row]:
    return [_row(line, named, aliases) for line in lines]


def _row(line: Line, named: Named, aliases: Mapping[str, str]) -> Row:
    if isinstance(line, BrandLine):
        names = [text for text in (line.name_en, line.name_ko, line.key) if text]
    else:
        names = [line.path, line.gender or ""]
    id = _market_id(line)
    return Row(line, called(line), id, named.path(id), named.proposed(names, aliases))


def _market_id(line: Line) -> int | None:
    return line.buyma_brand_id if isinstance(line, BrandLine) else line.buyma_category_id


def _example(line: Line, named: Named) -> str:
    id = _market_id(line)
    return f"{line.mall} {called(line)}" + (f" → {named.path(id) or id}" if id is not None else "")
