"""Identities and quotas: who we are at malls, what came of it, and how long calls of malls and markets will last."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bobusang.entry.api import identities as api
from bobusang.entry.api.identities import DisableForm
from bobusang.entry.api.sources import policies
from bobusang.entry.web import sellers
from bobusang.entry.web.languages import N_
from bobusang.entry.web.pages import Pages
from bobusang.views import quotas

if TYPE_CHECKING:
    from starlette.responses import Response

    from bobusang.entry.web.live import Draw
    from bobusang.entry.web.rendering import Eyes
    from bobusang.entry.web.site import Site
    from bobusang.entry.web.visit import Visit
    from bobusang.kit.db import Tx
    from bobusang.wiring import App

pages = Pages()

TAB = "/sellers/identities"
PARTS = "identity_parts.html"


async def loaded(app: App, tx: Tx) -> dict[str, Any]:
    """All pools and budgets."""
    return {"markets": await quotas.markets(tx), "pools": await quotas.pools(tx, policies(app))}


@pages.get(TAB)
async def listed(visit: Visit) -> Response:
    """All of them, by mall; a pool is small."""
    given = sellers.frame(visit, TAB)
    async with visit.desk.read() as tx:
        found = await loaded(visit.desk.app, tx)
    return visit.page("identities.html", **found, **given)


@pages.live("identities")
async def live(site: Site, _: Mapping[str, str]) -> Draw:
    """Budgets, pools, and every identity's line."""
    async with site.app.engine.db.read() as tx:
        found = await loaded(site.app, tx)

    def draw(eyes: Eyes) -> Mapping[str, str]:
        macro = site.rendering.macro
        parts = {"market-quotas": macro(PARTS, "budgets", eyes, found["markets"])}
        for pool in found["pools"]:
            parts[f"pool-{pool.analytics.source}"] = macro(PARTS, "figures", eyes, pool)
            for one in pool.members:
                parts[f"identity-{one.identity.id}"] = macro(PARTS, "row", eyes, one)
        return parts

    return draw


@pages.post("/sellers/identities/{id:int}/disable")
async def disable(visit: Visit) -> Response:
    """Until somebody lets it recover."""
    why = (await visit.form()).get("why")
    done = await api.disable_identity(visit.desk, visit.number(), DisableForm(why=why) if why else None)
    visit.site.standing.expire()
    text = N_("Identity %(place)s of %(source)s is out of use.")
    return visit.done(text, place=done.place + 1, source=done.source)


@pages.post("/sellers/identities/{id:int}/recover")
async def recover(visit: Visit) -> Response:
    """Use it again."""
    done = await api.recover_identity(visit.desk, visit.number())
    visit.site.standing.expire()
    text = N_("Identity %(place)s of %(source)s may be used again.")
    return visit.done(text, place=done.place + 1, source=done.source)
