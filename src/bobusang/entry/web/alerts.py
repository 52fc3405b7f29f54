"""Alerts: troubles that last, with what to do about each and the page where that is done; and those that are over."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bobusang.entry.web import lists
from bobusang.entry.web.languages import N_
from bobusang.entry.web.lists import PAGE
from bobusang.entry.web.pages import Entry, Pages
from bobusang.platform.alerting import SEVERITY
from bobusang.views import audit as view

if TYPE_CHECKING:
    from starlette.responses import Response

    from bobusang.entry.web.live import Draw
    from bobusang.entry.web.rendering import Eyes
    from bobusang.entry.web.site import Site
    from bobusang.entry.web.visit import Visit
    from bobusang.kit.db import Tx
    from bobusang.views.audit import AlertLine

ENTRY = "/alerts"
pages = Pages(Entry(ENTRY, N_("Alerts"), "alert", 130, "alerts"))

MOST_OPEN = 100
PARTS = "alerts_parts.html"


@dataclass(frozen=True, slots=True)
class Advice:
    """What a rule watches, what to do when it calls, and where; `page` may take the rest of the alert's key, or its
    batch."""

    name: str
    text: str
    page: str
    action: str


_JOBS, _SYSTEM, _SENDS = N_("See the failed jobs"), N_("See workers and queues"), N_("Decide on the sends")
ADVICE: Mapping[str, Advice] = {
    "failure_rate": Advice(
        N_("Jobs fail"),
        N_("See why the jobs failed, mend the cause, then run again what failed."),
        "/jobs?status=FAILED",
        _JOBS,
    ),
    "queue_depth": Advice(
        N_("Much waits"),
        N_("More waits than the workers can do. Start more workers, or see whether a source is shut."),
        "/settings/system",
        _SYSTEM,
    ),
    "oldest_wait": Advice(
        N_("Something waits long"),
        N_("See whether workers run, and whether what waits is held by a source that is shut."),
        "/settings/system",
        _SYSTEM,
    ),
    "retry_rate": Advice(
        N_("Much is tried again"),
        N_("A mall or the market answers badly. See the errors; slow down or pause the source if it goes on."),
        "/jobs?status=RUNNING",
        N_("See the running jobs"),
    ),
    "dead_letters": Advice(
        N_("Dead letters grow"),
        N_("Look at the causes, mend the most frequent, and run ten of them first."),
        "/dead-letters",
        N_("See the dead letters"),
    ),
    "overdue_schedule": Advice(
        N_("A schedule is late"),
        N_("Nobody fires schedules. Start the program, or a scheduler, and see who leads."),
        "/schedules/{rest}",
        N_("See the schedule"),
    ),
    "halted": Advice(
        N_("Something is halted"),
        N_("A mall does not want us, or a page has changed. Look into it, then let it go on."),
        "/sellers/sources",
        N_("See the sources"),
    ),
    "conveyor.batch": Advice(
        N_("A run failed"),
        N_("See the errors by cause; when that is mended, run again what failed."),
        "/runs/{batch}/errors",
        N_("See why the run failed"),
    ),
    "conveyor.stage": Advice(
        N_("A brand failed"),
        N_("See the errors by cause; when that is mended, run again what failed."),
        "/runs/{batch}/errors",
        N_("See why the run failed"),
    ),
    "account_off": Advice(
        N_("An account is switched off"),
        N_("Mend the cause, such as an expired token, and let it send again. What sells out can be ordered till then."),
        "/listings/freshness",
        N_("See the accounts"),
    ),
    "no_secret": Advice(
        N_("An account has no token"),
        N_("Put the token where the account says that it is. What sells out can be ordered till then."),
        "/listings/freshness",
        N_("See the accounts"),
    ),
    "market_holds": Advice(
        N_("Sends are held"),
        N_("A guard stopped these sends. Look at the numbers, then approve or reject them."),
        "/held/sends",
        _SENDS,
    ),
    "two_products": Advice(
        N_("The market has a product twice"),
        N_("Delete the one that is not ours at the market, for nothing keeps it true; then reject the hold."),
        "/held/sends",
        _SENDS,
    ),
    "lost_calls": Advice(
        N_("Calls have no verdict"),
        N_("See whether webhooks come and their secret is right; then approve the hold, and it is sent anew."),
        "/held/sends",
        _SENDS,
    ),
    "refused_live": Advice(
        N_("Changes of live listings were refused"),
        N_("They look well and are not what they should be. See why each was refused, and mend the cause."),
        "/listings?state=LIVE&refused=1",
        N_("See the refused listings"),
    ),
    "below_floor": Advice(
        N_("Listings sell at a loss"),
        N_("Look at each price: mend cost, rates or policy, approve a raise that is held, or close the listing."),
        "/listings?state=LIVE",
        N_("See the live listings"),
    ),
    "unseen_listings": Advice(
        N_("Nobody has seen the sources of live listings"),
        N_("See whether their mall is off, silent or blocked. Less of them is offered, then nothing, until seen."),
        "/sellers/sources",
        N_("See the sources"),
    ),
    "ending_listings": Advice(
        N_("Live listings end"),
        N_("They are not extended. See what stands in the way: a price that is held, a refusal, or nobody runs them."),
        "/listings?state=LIVE",
        N_("See the live listings"),
    ),
    "search_lag": Advice(
        N_("The search index is behind"),
        N_("See how the index stands; make it anew if it does not catch up."),
        "/settings/system",
        N_("See the search index"),
    ),
    "limiter_away": Advice(
        N_("The limiter is away"),
        N_("Start the Redis that counts our calls; collecting goes on by itself."),
        "/settings",
        N_("Test the connection"),
    ),
    "limiter_unshared": Advice(
        N_("Workers share no limiter"),
        N_("Give all workers the same limiter, or run only one."),
        "/settings",
        N_("See the settings"),
    ),
    "seller.unwell": Advice(
        N_("A seller does not answer"),
        N_("It is asked again by itself; let it go on at once when you know that the mall answers."),
        "/sellers/{rest}",
        N_("See the seller"),
    ),
    "pictures_unseen": Advice(
        N_("The market cannot fetch our pictures"),
        N_("Check the public address in the settings, and that it is answered from outside."),
        "/settings",
        N_("See the settings"),
    ),
    "shared_pictures": Advice(
        N_("One picture stands on many products"),
        N_("It is refused as a banner. Block its look with `bobusang picture block`, or allow it."),
        "",
        "",
    ),
    "like_pictures": Advice(
        N_("Pictures of unrelated products look alike"),
        N_("They are shown. See them with `bobusang picture doubts`; block the look, or allow it."),
        "",
        "",
    ),
    "other_covers": Advice(
        N_("Covers have another picture at the mall"),
        N_("The old ones are shown. See them with `bobusang picture doubts`; take the new ones, or keep the old."),
        "",
        "",
    ),
    "fx_dead": Advice(
        N_("No exchange rate"),
        N_("The last rate is used until it is stale; then no price falls. See whether the source of rates answers."),
        "/settings",
        N_("See the settings"),
    ),
    "fx_held": Advice(
        N_("An exchange rate jumped"),
        N_("No price of this pair moves until you accept or reject the rate."),
        "/held/rates",
        N_("Decide on the rate"),
    ),
}
OTHERS = Advice(N_("Other trouble"), N_("Read what it says; when the cause is gone the alert ends by itself."), "", "")


def advice(alert: AlertLine) -> Advice:
    """What is known of an alert's rule."""
    return ADVICE.get(alert.rule, OTHERS)


def place(alert: AlertLine) -> str:
    """The page on which something is done about it."""
    rest = alert.key.partition(":")[2]
    if alert.rule == "halted" and rest.startswith("job "):
        return f"/jobs/{rest.removeprefix('job ')}"
    return advice(alert).page.format(rest=rest, batch=alert.fields.get("batch", ""))


@pages.get(ENTRY)
async def shown(visit: Visit) -> Response:
    """Those that last, then those that are over, the newest first."""
    visit.entry = ENTRY
    over = lists.given(visit, ENTRY, [])
    async with visit.desk.read() as tx:
        lasting = await _lasting(tx)
        found = await view.troubles(tx, resolved=True, before=over.before(), limit=PAGE + 1)
    over.fill(found, lambda alert: alert.id)
    return visit.page("alerts.html", lasting=lasting, list=over, advice=advice, place=place)


@pages.live("alerts")
async def live(site: Site, _: Mapping[str, str]) -> Draw:
    """Those that last."""
    async with site.app.engine.db.read() as tx:
        lasting = await _lasting(tx)

    def draw(eyes: Eyes) -> Mapping[str, str]:
        return {"lasting": site.rendering.macro(PARTS, "open", eyes, lasting, advice, place)}

    return draw


async def _lasting(tx: Tx) -> list[AlertLine]:
    """The worst first."""
    found = await view.troubles(tx, resolved=False, before=None, limit=MOST_OPEN)
    return sorted(found, key=lambda alert: -SEVERITY.index(alert.level))
