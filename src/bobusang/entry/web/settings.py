"""Settings: what this program is connected with and whether it answers, where sources come from, what is set where."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from msgspec.structs import fields

from bobusang.entry import connections
from bobusang.entry.api import accounts, sources
from bobusang.entry.api.sources import SourceQuery
from bobusang.entry.connections import Part
from bobusang.entry.tables import Role
from bobusang.entry.web.languages import N_
from bobusang.entry.web.pages import Entry, Pages
from bobusang.kit.errors import Missing
from bobusang.settings import PREFIX, SECRETS, Settings, described, masked, origins
from bobusang.views import accounts as views

if TYPE_CHECKING:
    from starlette.responses import Response

    from bobusang.entry.web.visit import Visit

_KNOWN = fields(Settings)
"""Worked out once: annotations are evaluated for it."""
ENTRY = "/settings"
pages = Pages(Entry(ENTRY, N_("Settings"), "settings", 140))

PARTS = {
    Part.DATABASE: N_("Database"),
    Part.BLOBS: N_("Store of pages and pictures"),
    Part.SEARCH: N_("Search index"),
    Part.CACHE: N_("Cache of search answers"),
    Part.LIMITER: N_("Limiter of calls"),
    Part.MARKET: N_("Market account"),
    Part.SLACK: N_("Slack"),
    Part.MAIL: N_("Mail"),
}
ORIGINS = {
    "shipped": N_("the program"),
    "package": N_("an installed package"),
    "folder": N_("your own folder"),
    "undescribed": N_("no shop describes it"),
}
TOLD = {
    Part.DATABASE: N_("The database answers within %(ms)s ms. Its revision is %(detail)s, as this program needs it."),
    Part.BLOBS: N_("The store of pages and pictures can be written (%(ms)s ms)."),
    Part.SEARCH: N_("The search index answers within %(ms)s ms. It has %(detail)s products."),
    Part.CACHE: N_("The cache answers within %(ms)s ms."),
    Part.LIMITER: N_("The limiter answers within %(ms)s ms."),
    Part.MARKET: N_(
        "The account's token is there, and the market's server answers (%(detail)s, %(ms)s ms). Whether it takes the "
        "token shows with the first send."
    ),
    Part.SLACK: N_("The test message was given to Slack (%(ms)s ms). See whether it arrived."),
    Part.MAIL: N_("The test message was given to the mail server (%(ms)s ms). See whether it arrived."),
}


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting as it is shown."""

    variable: str
    value: str
    what: str
    origin: str
    is_default: bool


@pages.get(ENTRY)
async def shown(visit: Visit) -> Response:
    """Connections and sources; settings for who may see everything."""
    visit.entry = ENTRY
    found = await sources.list_sources(visit.desk, SourceQuery())
    async with visit.desk.read() as tx:
        names = await views.names(tx)
    settings = visit.site.app.settings
    return visit.page(
        "settings.html",
        connections=connections.known(settings, names.values()),
        parts_of=PARTS,
        origins=ORIGINS,
        sources=found.items,
        settings=told(settings) if visit.desk.role.includes(Role.ADMIN) else None,
    )


@pages.post("/settings/test")
async def tested(visit: Visit) -> Response:
    """Ask one connection, and say in words what came of it."""
    form = await visit.form()
    part = next((one for one in Part if one == form.get("part")), None)
    if part is None:
        raise Missing("there is no such connection", field="part")
    token_ref = ""
    if part is Part.MARKET:
        market, _, name = form.get("account").partition("/")
        token_ref = (await accounts.show_account(visit.desk, market, name)).token_ref
    answered = await connections.tried(visit.site.app, part, token_ref=token_ref, by=visit.desk.actor)
    if part in (Part.SLACK, Part.MAIL):
        desk = visit.desk
        await desk.write(lambda tx: desk.note(tx, "connection.test", "connection", part.value))
    return visit.done(TOLD[part], ENTRY, ms=round(answered.seconds * 1000), detail=answered.detail)


def told(settings: Settings) -> list[Setting]:
    """Every setting, secrets masked, with where it was found."""
    came, values = origins(), settings.shown()
    return [
        Setting(
            variable=f"{PREFIX}{field.name.upper()}",
            value=_value(field.name, values[field.name]),
            what=described(field),
            origin=came.get(field.name, ""),
            is_default=getattr(settings, field.name) == field.default,
        )
        for field in _KNOWN
    ]


def _value(name: str, value: Any) -> str:
    """A password in an address is masked, whichever setting it is."""
    text = str(value)
    return masked(text) if "://" in text and name not in SECRETS else text
