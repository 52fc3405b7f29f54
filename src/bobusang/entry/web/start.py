"""The first steps of a shop: the demo, which moves within a minute, or malls of one's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from bobusang.entry.tables import Role
from bobusang.entry.web.languages import N_
from bobusang.entry.web.pages import Pages
from bobusang.kit.errors import Conflict
from bobusang.platform import audit
from bobusang.platform.audit import Subject
from bobusang.views.first_steps import FirstSteps, first_steps

if TYPE_CHECKING:
    from starlette.responses import Response

    from bobusang.entry.web.live import Draw
    from bobusang.entry.web.rendering import Eyes
    from bobusang.entry.web.site import Site
    from bobusang.entry.web.visit import Visit

pages = Pages()

PARTS = "start_parts.html"
SIZES = (40, 220, 1000)
STEPS = (
    ("sandbox", N_("Malls and a market on this machine")),
    ("lists", N_("The market's lists of brands and categories")),
    ("mapping", N_("A reviewed mapping of brands and categories")),
    ("account", N_("An account on the market")),
    ("run", N_("The first full run")),
)
OWN = (
    ("sources", "/sellers/sources", N_("Say which malls may be collected, and why")),
    ("lists", "", N_("Import the market's lists of brands and categories")),
    ("brands", "/held/mapping", N_("Accept brands and categories, by a file or one by one")),
    ("accounts", "/start/account", N_("Add an account of the market; its secrets stay outside")),
    ("batches", "/runs/new", N_("Start the first run, at first with few products")),
)


@pages.get("/start")
async def start(visit: Visit) -> Response:
    """The two ways."""
    visit.entry = "/"
    async with visit.desk.read() as tx:
        found = await first_steps(tx)
    site = visit.site
    return visit.page(
        "start.html", found=found, demo=site.demo, may_load=may_load(site, found), sizes=SIZES, own=OWN, steps=STEPS
    )


@pages.post("/start/demo", role=Role.ADMIN)
async def load_demo(visit: Visit) -> Response:
    """Load the demo: of a shop where nothing is yet, or that is the demo's."""
    site, desk = visit.site, visit.desk
    size = next(iter((await visit.form()).numbers("size")), SIZES[1])
    async with desk.read() as tx:
        found = await first_steps(tx)
    if site.demo is None or not may_load(site, found):
        raise Conflict("this shop cannot become the demo", hint="`bobusang demo` runs it in a folder of its own")
    if size not in SIZES:
        size = SIZES[1]
    await desk.engine.db.transact(
        lambda tx: audit.record(tx, desk.actor, "demo.load", Subject("shop", "demo"), after={"size": size})
    )
    await site.demo.load(desk.actor, size)
    return visit.to("/start")


@pages.live("start")
async def live(site: Site, _: Mapping[str, str]) -> Draw:
    """How far the demo is."""
    async with site.app.engine.db.read() as tx:
        found = await first_steps(tx)

    def draw(eyes: Eyes) -> Mapping[str, str]:
        return {"start-demo": site.rendering.macro(PARTS, "demo", eyes, site.demo, may_load(site, found), SIZES, STEPS)}

    return draw


def may_load(site: Site, found: FirstSteps) -> bool:
    """Whether the demo can be loaded: this program may become it, and nobody has begun with a shop of his own."""
    demo = site.demo
    if demo is None or demo.standing.is_busy or demo.standing.batch_id:
        return False
    return demo.is_on or found.is_empty
