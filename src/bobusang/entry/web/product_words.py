"""Products in words: why one is not on sale and what mends it, why a price is what it is, what fields and steps are
called."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote

from bobusang.entry.web.languages import N_
from bobusang.kit.errors import BobusangError
from bobusang.kit.money import Money
from bobusang.stages.convert.model import Why
from bobusang.stages.price.model import Reason
from bobusang.views.product_lists import Lack
from bobusang.views.product_standing import Where, standing

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from bobusang.views.product_page import ProductPage

BRANDS, CATEGORIES = "/held?kind=brands", "/held?kind=categories"
BRAND, CATEGORY = N_("Review the brand"), N_("Review the category")
EDIT = N_("Edit the product")
RUN = N_("Start a run")


@dataclass(frozen=True, slots=True)
class Told:
    """A sentence to be translated, and where to go to mend it."""

    text: str
    href: str = ""
    action: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """The same as somebody reads it."""

    where: Where
    tone: str
    text: str
    href: str
    action: str
    at: datetime | None


WHY = {
    Why.BRAND_UNKNOWN: Told(N_("The brand “%(brand)s” is not known: no mall has listed it yet."), BRANDS, BRAND),
    Why.BRAND_UNREVIEWED: Told(N_("The brand “%(brand)s” waits for somebody to review it."), BRANDS, BRAND),
    Why.BRAND_BLOCKED: Told(N_("The brand “%(brand)s” is blocked."), BRANDS, BRAND),
    Why.BRAND_UNMAPPED: Told(N_("The brand “%(brand)s” has no brand of the market yet."), BRANDS, BRAND),
    Why.CATEGORY_UNKNOWN: Told(
        N_("The category “%(category)s” is not known: it was never proposed."), CATEGORIES, CATEGORY
    ),
    Why.CATEGORY_UNREVIEWED: Told(
        N_("The category “%(category)s” waits for somebody to review it."), CATEGORIES, CATEGORY
    ),
    Why.CATEGORY_BLOCKED: Told(N_("The category “%(category)s” is blocked."), CATEGORIES, CATEGORY),
    Why.CATEGORY_UNMAPPED: Told(
        N_("The category “%(category)s” has no category of the market yet."), CATEGORIES, CATEGORY
    ),
    Why.SOURCE_BLOCKED: Told(
        N_("Its mall must not be sold from: the source is blocked."), "/sellers/sources", N_("Look at the sources")
    ),
    Why.BULK_ONLY: Told(N_("Its supplier sells it in larger lots only.")),
    Why.IMAGES_UNUSABLE: Told(N_("Its supplier does not let us use its pictures.")),
    Why.MASTER_VANISHED: Told(
        N_("The market has taken the brand or category out of its lists."), CATEGORIES, N_("Choose another")
    ),
    Why.NAME_MISSING: Told(N_("It has no name."), action=EDIT),
    Why.TEXT_UNTRANSLATED: Told(N_("A text could not be translated in full."), action=EDIT),
    Why.TEXT_REFUSED: Told(N_("A text has words that the market forbids."), action=EDIT),
    Why.OPTIONS_UNKNOWN: Told(N_("Its options are not known yet; the mall's option page has not been read.")),
    Why.OPTION_UNREADABLE: Told(N_("An option cannot be read as a colour or a size.")),
    Why.OPTION_DOUBLED: Told(N_("Two options of the mall are the same for the market.")),
    Why.OPTION_RELABELED: Told(N_("The mall gives an old option another name; somebody must say which is right.")),
    Why.OPTIONS_MANY: Told(N_("Its colours and sizes make more combinations than can be listed.")),
    Why.AXES_UNCLEAR: Told(N_("It is not clear which options are colours and which are sizes.")),
    Why.AXES_CHANGED: Told(N_("Its options have changed from one kind to another; it must be listed anew.")),
    Why.DECIDED: Told(N_("Somebody has decided on its options; the next full run makes it."), "/runs/new", RUN),
    Why.FREE_MIXED: Told(N_("It has one size only and other sizes at the same time.")),
    Why.COLOR_UNMAPPED: Told(N_("A colour has no colour of the market yet.")),
    Why.SIZE_UNMAPPED: Told(N_("A size has no size of the market yet.")),
    Why.MODEL_REFUSED: Told(N_("The mall's model number is none, and is left out."), action=EDIT),
    Why.MEASURE_DROPPED: Told(N_("A measurement was left out.")),
    Why.MATERIAL_UNCLEAR: Told(N_("The material cannot be read.")),
}
LISTING = N_("See the listing")
WHERE = {
    Where.ON_SALE: Told(N_("It is on sale on %(market)s as %(number)s."), "/listings/%(sku)s", LISTING),
    Where.SOLD_OUT: Told(
        N_("It is on %(market)s as %(number)s, but sold out at the moment."), "/listings/%(sku)s", LISTING
    ),
    Where.SENT: Told(N_("It was sent to %(market)s, which has not answered yet."), "/listings/%(sku)s", LISTING),
    Where.REVIEWED: Told(
        N_("%(market)s has it and looks through it before it goes on sale."), "/listings/%(sku)s", LISTING
    ),
    Where.REFUSED: Told(
        N_("Not registered: %(market)s refused it (%(said)s)."), "/listings/%(sku)s", N_("See the refusal")
    ),
    Where.BLOCKED: Told(N_("%(market)s has blocked its listing (%(said)s)."), "/listings/%(sku)s", LISTING),
    Where.TAKEN_DOWN: Told(
        N_("It is no longer on %(market)s: its listing was taken down."), "/listings/%(sku)s", LISTING
    ),
    Where.HELD_SEND: Told(
        N_("Not registered: a guard holds it before it is sent (%(said)s)."), "/held?kind=market", N_("Decide on it")
    ),
    Where.HELD: Told(N_("Not registered: %(said)s")),
    Where.GONE: Told(N_("Not registered: its mall does not list it any more.")),
    Where.SOURCE_SOLD_OUT: Told(N_("Not registered: it is sold out at its mall.")),
    Where.NOT_CONVERTED: Told(N_("Not registered yet: it was collected, but not converted."), "/runs/new", RUN),
    Where.NO_PICTURE: Told(N_("Not registered: no picture of it can be shown. %(said)s")),
    Where.NO_PRICE: Told(
        N_("Not registered: it has no price. %(said)s"), "/products/%(id)s/price", N_("See the price")
    ),
    Where.NOT_PRICED: Told(N_("Not registered yet: nothing was decided on its price."), "/runs/new", RUN),
    Where.NEXT_RUN: Told(N_("Not registered yet: it is ready and goes with the next run."), "/runs/new", RUN),
}
PRICES = {
    Reason.UNDERCUT: N_("just below the lowest comparable offer"),
    Reason.NO_RIVAL: N_("nobody else sells it: the target margin"),
    Reason.NOT_COMPARABLE: N_("others are shown, and none could be compared"),
    Reason.BEATEN: N_("somebody sells it below our floor, so we stay at ours"),
    Reason.CAPPED: N_("the ceiling is the most we may ask"),
    Reason.COST_ROSE: N_("the cost rose, and the old price would be below the floor"),
    Reason.STEP: N_("on its way, as far as one step or one day allows"),
    Reason.IN_BAND: N_("it is where it should be"),
    Reason.FX_STALE: N_("it stays, for the exchange rate is too old to go down"),
    Reason.SEARCH_FAILED: N_("it stays, for the last search for offers failed"),
    Reason.DAY_LIMIT: N_("it stays, for it has moved enough today"),
    Reason.NO_RAISE: N_("it stays, for prices are raised by a full run only"),
    Reason.NO_COST: N_("what it costs at its mall is not known"),
    Reason.DUTY_UNCLEAR: N_("the account tells buyers another story of duty than its policy"),
    Reason.NO_RATE: N_("a row of a fee, freight, duty or tax table is missing"),
    Reason.NO_FX: N_("there is no exchange rate"),
    Reason.FX_JUMP: N_("the exchange rate jumped and waits for somebody to look at it"),
    Reason.NO_FLOOR: N_("the policy makes no floor"),
    Reason.NO_CEILING: N_("the policy makes no ceiling"),
    Reason.FLOOR_ABOVE_CEILING: N_("the floor is above the ceiling"),
    Reason.NOT_SEARCHED: N_("nobody has searched for other offers yet"),
    Reason.FLOOR_TOO_FAR: N_("the floor is so far up that somebody must look at the cost"),
    Reason.CEILING_TOO_FAR: N_("no allowed step reaches the ceiling"),
    Reason.JUMP: N_("such a move nobody makes on purpose"),
}
STEPS = {
    "purchase": N_("purchase"),
    "domestic freight": N_("domestic freight"),
    "international freight": N_("international freight"),
    "duty": N_("duty"),
    "consumption tax": N_("consumption tax"),
    "clearance": N_("clearance"),
    "sale fee, fixed": N_("sale fee, fixed"),
    "payout fee, fixed": N_("payout fee, fixed"),
    "payout fee": N_("payout fee"),
    "expected cancels": N_("expected cancels"),
    "VAT refund": N_("VAT refund"),
    "fixed cost": N_("fixed cost"),
    "sale fee": N_("sale fee"),
    "least resale price": N_("least resale price"),
    "floor": N_("floor"),
    "target": N_("target"),
    "ceiling": N_("ceiling"),
    "lowest offer": N_("lowest offer"),
    "shipping to the buyer": N_("shipping to the buyer"),
    "confirmed price": N_("confirmed price"),
    "price": N_("price"),
    "kept price": N_("kept price"),
    "hold": N_("no price"),
    "margin": N_("margin"),
    "margin without refund": N_("margin without refund"),
}
SUMS = frozenset({"fixed cost", "price", "kept price", "hold"})
"""Steps at which something is settled."""
FIELDS = {  # what a person edits; pictures are put in order by IMAGE
    "seller_id": N_("Seller"),
    "brand": N_("Brand"),
    "brand_ko": N_("Brand in Korean"),
    "name": N_("Product name"),
    "model": N_("Model"),
    "price": N_("Source price"),
    "list_price": N_("List price"),
    "currency": N_("Currency"),
    "url": N_("Address"),
    "in_stock": N_("Stock"),
    "listed": N_("Listed by the mall"),
    "category": N_("Category"),
    "gender": N_("Gender"),
}
LACKING = {
    Lack.NAME: N_("no name"),
    Lack.BRAND: N_("no brand"),
    Lack.MODEL: N_("no model"),
    Lack.PRICE: N_("no source price"),
    Lack.PICTURE: N_("no picture"),
    Lack.CATEGORY: N_("no category"),
    Lack.STOCK: N_("stock unknown"),
}


def answer(page: ProductPage, market: str, say: Callable[..., str]) -> Answer:
    """Why a product is on sale or not, in one sentence, and what mends it."""
    found, product = standing(page), page.product
    told, own = WHERE[found.where], f"/products/{product.id}"
    said, href, action = found.said, told.href, told.action
    if found.why is not None:
        mended = WHY[found.why]
        said = say(mended.text, brand=product.brand or "–", category=product.category or "–")
        href, action = mended.href or own, mended.action or EDIT
    elif found.where is Where.NO_PRICE and page.price is not None:
        said = say(PRICES[page.price.reason])
    places = {"sku": quote(found.sku or product.sku, safe=""), "id": str(product.id)}
    words = {"market": market.upper(), "number": found.market_id or "–", "said": said or "–"}
    return Answer(
        found.where, found.tone, say(told.text, **words), href % places, say(action) if action else "", found.at
    )


def step(name: str) -> str:
    """What a step of a price is called; exchange rates name their pair."""
    return STEPS.get(name, N_("exchange rate") if name.startswith("rate ") else name)


def worth(amount: int | None, currency: str | None) -> str:
    """Minor units as people write them; of a currency that nobody knows, the bare number."""
    if amount is None:
        return "–"
    try:
        return str(Money(amount, currency or "KRW"))
    except BobusangError:
        return f"{amount:,}"


def is_web(address: object) -> bool:
    """Whether a mall's address may become a link: whatever runs something else stays text."""
    return isinstance(address, str) and address.lower().startswith(("https://", "http://"))
