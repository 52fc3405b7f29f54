"""Listings: what is on the market, in which state, refused or drifted and why; what is done to many at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from bobusang.entry.api import listings as api
from bobusang.entry.api.listings import RecheckForm
from bobusang.entry.api.pages import pack
from bobusang.entry.api.selling import MARKETS
from bobusang.entry.web import listing_words, lists, pictures, words
from bobusang.entry.web.languages import N_
from bobusang.entry.web.lists import PAGE, Column, Filter
from bobusang.entry.web.pages import Entry, Pages
from bobusang.stages.register.market import Cause
from bobusang.stages.register.model import State
from bobusang.views import accounts, listing_lists, product_shelf
from bobusang.views.listing_lists import Narrowed

if TYPE_CHECKING:
    from collections.abc import Callable

    from bobusang.entry.web.visit import Visit
    from bobusang.views.listings import ListingLine

ENTRY = "/listings"
pages = Pages(Entry(ENTRY, N_("Listings"), "listing", 60, "refused"))

MOST = 500
"""Listings that one action is for."""
EXAMPLES = 10
QUESTION = N_("Have these looked at again with the next run? It decides price, stock and texts anew, by all guards.")
NAMES = ("market", "account", "state", "refused", "drifted", "text")
COLUMNS = (
    Column("state", N_("State")),
    Column("price", N_("Confirmed price")),
    Column("number", N_("Market number")),
    Column("trouble", N_("Refusal or drift")),
    Column("confirmed", N_("Confirmed")),
    Column("until", N_("On sale until")),
    Column("account", N_("Account")),
    Column("updated", N_("Changed"), shown=False),
)


def currency(visit: Visit) -> str:
    """What the market's prices are in."""
    return visit.site.app.belt.register.market.abilities.currency


def page_of(visit: Visit) -> Callable[[str, str | None], str]:
    """Where buyers see a listing, by its market and number there; empty where nobody can tell, or it is no web page."""
    market = visit.site.app.belt.register.market

    def found(name: str, number: str | None) -> str:
        address = market.page(number) if number and name == market.name else ""
        return address if listing_words.is_web(address) else ""

    return found


@pages.get(ENTRY)
async def listed(visit: Visit) -> Response:
    """Listings, the newest first."""
    visit.entry = ENTRY
    async with visit.desk.read() as tx:
        owners = await accounts.names(tx)
    asked = await lists.asked(visit, ENTRY, _filters(visit, sorted({name for _, name in owners.values()})), COLUMNS)
    if isinstance(asked, Response):
        return asked
    async with visit.desk.read() as tx:
        part = await listing_lists.part(tx, wanted(dict(asked.kept)), asked.before(), PAGE)
        products = [line.product_id for line in part.lines]
        called = await listing_lists.called(tx, products)
        shown = await product_shelf.pictures(tx, products, MARKETS[0])
    asked.fill_page(part.lines, None if part.resume is None else pack(asked.kind, part.resume))
    return visit.page(
        "listings.html",
        list=asked,
        called=called,
        shown=shown,
        sheet=pictures.sheet_of(shown.values()),
        refusal=lambda text: listing_words.refused(text, visit.say),
        currency=currency(visit),
        worth=listing_words.worth,
        page_of=page_of(visit),
        looks_on=not part.lines and part.resume is not None,
    )


@pages.post("/listings/recheck")
async def recheck(visit: Visit) -> Response:
    """First what would be looked at again, then have it looked at."""
    visit.entry = ENTRY
    form = await visit.form()
    whole, ids = form.ticked("all"), form.numbers("ids")
    if not whole and not ids:
        return visit.refused(visit.say(N_("No line is ticked.")), to=ENTRY)
    kept = form.some(*NAMES)
    async with visit.desk.read() as tx:
        narrowed = wanted(kept) if whole else Narrowed(ids=ids[:MOST])
        part = await listing_lists.part(tx, narrowed, None, MOST)
    able = [line for line in part.lines if line.market_id]
    if not form.ticked("sure"):
        return visit.page(
            "confirm.html",
            title=visit.say(N_("Look at again")),
            question=visit.say(QUESTION),
            count=len(able),
            total=len(part.lines),
            examples=[_example(visit, line) for line in able[:EXAMPLES]],
            action="/listings/recheck",
            fields=[("ids", str(line.id)) for line in able],
            back=ENTRY,
        )
    skus = sorted({line.sku for line in able})
    if not skus:
        return visit.refused(visit.say(N_("None of these is on the market.")), to=ENTRY)
    done = await api.recheck_listings(visit.desk, RecheckForm(skus=skus))
    return visit.done(N_("%(count)s listings are looked at again with the next run."), ENTRY, count=done.rechecked)


def wanted(kept: dict[str, str]) -> Narrowed:
    """The filters as the view takes them; what cannot be narrows nothing."""
    refused, state = kept.get("refused", ""), kept.get("state", "")
    return Narrowed(
        market=kept.get("market") or None,
        account=kept.get("account") or None,
        state=State(state) if state in set(State) else None,
        refused=bool(refused),
        cause=Cause(refused) if refused in set(Cause) else None,
        drifted=bool(kept.get("drifted")),
        text=kept.get("text", ""),
    )


def _filters(visit: Visit, names: list[str]) -> list[Filter]:
    say = visit.say
    causes: list[Any] = [(cause.value, say(told.label)) for cause, told in listing_words.CAUSES.items()]
    return [
        Filter("text", N_("SKU or market number")),
        Filter("market", N_("Market"), [(name, name.upper()) for name in MARKETS]),
        Filter("account", N_("Account"), [(name, name) for name in names]),
        Filter("state", N_("State"), [(state.value, say(words.of(state).label)) for state in State]),
        Filter("refused", N_("Refused"), [("1", say(N_("for any cause"))), *causes]),
        Filter("drifted", N_("Drift"), [("1", say(N_("differs from what we sent")))]),
    ]


def _example(visit: Visit, line: ListingLine) -> str:
    price = listing_words.worth(line.price, currency(visit))
    return f"{line.sku} · {line.account} · {visit.say(words.of(line.state).label)} · {price}"
