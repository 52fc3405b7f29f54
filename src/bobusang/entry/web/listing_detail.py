"""One product's listings: where each stands, its receipt step by step, every call as it went, what would be sent now;
and how fresh accounts are."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, cast
from urllib.parse import quote
from weakref import WeakKeyDictionary

from bobusang.entry.api import accounts as accounts_api
from bobusang.entry.api import listings as api
from bobusang.entry.api import previews
from bobusang.entry.api.accounts import StopForm
from bobusang.entry.api.listings import CloseForm, OpenForm, RecheckForm
from bobusang.entry.web import listing_words
from bobusang.entry.web.languages import N_
from bobusang.entry.web.listings import ENTRY, currency, page_of
from bobusang.entry.web.pages import Pages
from bobusang.kit.errors import Missing
from bobusang.stages.register.market import Cause
from bobusang.views import accounts, listing_calls, listings, market_holds, skus
from bobusang.views.market_holds import HoldFilter

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from starlette.responses import Response

    from bobusang.entry.web.site import Site
    from bobusang.entry.web.visit import Visit
    from bobusang.kit.db import Tx
    from bobusang.views.accounts import AccountLine
    from bobusang.views.listings import AccountFreshness, ListingDetail
    from bobusang.views.skus import Known

pages = Pages()
T = TypeVar("T")

BATCH = re.compile(r"\d{8}_\d{2,6}")
"""What batches are called."""
CALLS = 20
LONGEST = 310
"""Letters of a SKU."""
HOLDS = 20
KEPT_SECONDS = 10.0
"""How long what is dear to find out is shown again: figures of thousands of calls, and dry runs of all stages."""
MOST_KEPT = 100


@dataclass(frozen=True, slots=True)
class Figures:
    """How fresh each account is, and whether it may send."""

    fresh: Sequence[AccountFreshness]
    accounts: Mapping[tuple[str, str], AccountLine]


_kept: WeakKeyDictionary[Site, dict[str, tuple[float, Any]]] = WeakKeyDictionary()


async def _again(visit: Visit, name: str, make: Callable[[], Awaitable[T]]) -> T:
    """What was found out just now, or find it out."""
    kept = _kept.setdefault(visit.site, {})
    at, known = kept.get(name, (float("-inf"), None))
    if time.monotonic() - at < KEPT_SECONDS:
        return cast("T", known)
    if len(kept) >= MOST_KEPT:
        kept.clear()
    found = await make()
    kept[name] = time.monotonic(), found
    return found


@pages.get("/listings/freshness")
async def freshness(visit: Visit) -> Response:
    """By account: how many stand where, and how long a change takes from the mall to the market."""
    visit.entry = ENTRY

    async def make() -> Figures:
        async with visit.desk.read() as tx:
            lines = await accounts.listed(tx)
            return Figures(await listings.freshness(tx), {(one.market, one.name): one for one in lines})

    found = await _again(visit, "figures", make)
    return visit.page("listing_freshness.html", found=found.fresh, lines=found.accounts)


@pages.post("/listings/stop")
async def stop(visit: Visit) -> Response:
    """Nothing more is sent for an account until it is started again."""
    form = await visit.form()
    told = StopForm(why=form.get("why"))
    done = await accounts_api.stop_account(visit.desk, form.get("market"), form.get("account"), told)
    _kept.pop(visit.site, None)
    return visit.done(N_("%(name)s sends nothing until it is started again."), "/listings/freshness", name=done.name)


@pages.post("/listings/start")
async def start(visit: Visit) -> Response:
    """Let it send again."""
    form = await visit.form()
    done = await accounts_api.start_account(visit.desk, form.get("market"), form.get("account"))
    _kept.pop(visit.site, None)
    return visit.done(N_("%(name)s sends again with the next run."), "/listings/freshness", name=done.name)


@pages.get("/listings/{sku:path}/preview")
async def preview(visit: Visit) -> Response:
    """What would be sent now, and what that changes; nothing is sent."""
    visit.entry = ENTRY
    sku = _sku(visit)
    async with visit.desk.read() as tx:
        product = await skus.of_sku(tx, sku)
    if product is None:
        raise Missing(f"there is no product '{sku}'", hint="a SKU is the mall and its number")
    query = previews.SkuQuery(sku=sku)
    found = await _again(visit, f"preview {sku}", lambda: previews.preview_product(visit.desk, query))
    return visit.page(
        "listing_preview.html", lines=found.items, words=listing_words, say=visit.say, **_above(visit, sku, product)
    )


@pages.get("/listings/{sku:path}")
async def shown(visit: Visit) -> Response:
    """Where it stands on each account, and how it came there."""
    visit.entry = ENTRY
    sku = _sku(visit)
    async with visit.desk.read() as tx:
        found = await _of(tx, sku)
        product = await skus.of_sku(tx, sku)
        if not found and product is None:
            raise Missing(f"there is no listing of '{sku}'", hint="a SKU is the mall and its number")
        calls = await listing_calls.calls(tx, [one.id for one in found], CALLS)
        holds = await market_holds.held(tx, HoldFilter(sku=sku), before=None, limit=HOLDS) if found else []
    return visit.page(
        "listing.html",
        found=found,
        calls=calls,
        holds=holds,
        accounts={one.id: one.account for one in found},
        causes=listing_words.CAUSES,
        cause_of=Cause,
        currency=currency(visit),
        words=listing_words,
        page_of=page_of(visit),
        most=CALLS,
        say=visit.say,
        run_like=BATCH.fullmatch,
        **_above(visit, sku, product),
    )


@pages.post("/listings/{sku:path}/recheck")
async def recheck(visit: Visit) -> Response:
    """Have it looked at again with the next run."""
    sku = _sku(visit)
    done = await api.recheck_listings(visit.desk, RecheckForm(skus=[sku]))
    _kept.pop(visit.site, None)
    if not done.rechecked:
        raise Missing(f"there is no listing of '{sku}'")
    return visit.done(N_("%(sku)s is looked at again with the next run."), sku=sku)


@pages.post("/listings/{sku:path}/close")
async def close(visit: Visit) -> Response:
    """Take it off the market, and keep it off."""
    sku, form = _sku(visit), await visit.form()
    why = form.get("why").strip()
    if not why:
        return visit.refused(visit.say(N_("Say why.")), to=f"{ENTRY}/{quote(sku, safe='')}")
    await api.close_listings(visit.desk, CloseForm(sku=sku, account=form.get("account") or None, why=why[:500]))
    _kept.pop(visit.site, None)
    return visit.done(N_("%(sku)s is closed: the market is told within seconds."), sku=sku)


@pages.post("/listings/{sku:path}/open")
async def open_again(visit: Visit) -> Response:
    """Let it be sold again."""
    sku, form = _sku(visit), await visit.form()
    await api.open_listings(visit.desk, OpenForm(sku=sku, account=form.get("account") or None))
    _kept.pop(visit.site, None)
    return visit.done(N_("%(sku)s is open: the next run brings it back."), sku=sku)


def _sku(visit: Visit) -> str:
    """The SKU of the address; none is empty, or has what no database keeps."""
    found = str(visit.path["sku"])
    if not 0 < len(found) <= LONGEST or "\0" in found:
        raise Missing("there is no such page")
    return found


async def _of(tx: Tx, sku: str) -> list[ListingDetail]:
    try:
        return await listings.of_sku(tx, sku)
    except Missing:
        return []


def _above(visit: Visit, sku: str, product: Known | None) -> dict[str, Any]:
    """What both tabs begin with."""
    return {"sku": sku, "product": product, "here": f"{ENTRY}/{quote(sku, safe='')}"}
