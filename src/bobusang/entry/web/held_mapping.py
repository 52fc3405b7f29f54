"""Held: the reviewed mapping of a mall as a file, handed out to be worked on and taken in again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bobusang.entry.api import mappings
from bobusang.entry.api.selling import MARKETS
from bobusang.entry.web import held
from bobusang.entry.web.languages import N_
from bobusang.entry.web.pages import Pages
from bobusang.kit.errors import Invalid
from bobusang.views import mappings as view

if TYPE_CHECKING:
    from starlette.responses import Response

    from bobusang.entry.web.visit import Visit

pages = Pages()

MAPPING = "/held/mapping"


@pages.get(MAPPING)
async def mapping(visit: Visit) -> Response:
    """The whole mapping as a file, out and in."""
    return await _mapping(visit)


@pages.get("/held/mapping.csv")
async def exported(visit: Visit) -> Response:
    """A mall's mapping, to be saved."""
    return await mappings.export_mapping(visit.desk, mappings.ExportQuery(mall=visit.query.get("mall")))


@pages.post(MAPPING)
async def imported(visit: Visit) -> Response:
    """Take a reviewed mapping in, all of it or nothing; what is wrong is said beside the text."""
    text = (await visit.form()).text("mapping")
    try:
        done = await mappings.taken(visit.desk, text, MARKETS[0])
    except Invalid as error:
        return await _mapping(visit, text, error)
    visit.site.standing.expire()
    return visit.done(N_("%(lines)s lines of %(malls)s were taken."), lines=done.lines, malls=", ".join(done.malls))


async def _mapping(visit: Visit, text: str = "", error: Invalid | None = None) -> Response:
    given = held.frame(visit, MAPPING)
    async with visit.desk.read() as tx:
        malls, masters = await view.malls(tx), await view.masters(tx)
    status = 422 if error else 200
    return visit.page("held_mapping.html", status=status, malls=malls, masters=masters, text=text, error=error, **given)
