"""API keys: made and shown once, revoked for good. For admins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bobusang.entry.api import api_keys
from bobusang.entry.api.api_keys import KeyForm
from bobusang.entry.api.pages import Paged
from bobusang.entry.tables import Role
from bobusang.entry.web import lists
from bobusang.entry.web.languages import N_
from bobusang.entry.web.pages import Pages
from bobusang.entry.web.settings import ENTRY
from bobusang.entry.web.settings_people import MEANINGS

if TYPE_CHECKING:
    from starlette.responses import Response

    from bobusang.entry.api.keys import NewKey
    from bobusang.entry.web.visit import Visit

PLACE = "/settings/keys"
pages = Pages()


@pages.get(PLACE, role=Role.ADMIN)
async def listed(visit: Visit) -> Response:
    """The newest first, revoked ones too."""
    return await _page(visit)


@pages.post(PLACE, role=Role.ADMIN)
async def made(visit: Visit) -> Response:
    """A new key, shown this once."""
    form = await visit.form()
    return await _page(visit, await api_keys.make_key(visit.desk, KeyForm.model_validate(form.some("name", "role"))))


@pages.post("/settings/keys/{key_id:int}/revoke", role=Role.ADMIN)
async def revoked(visit: Visit) -> Response:
    """It opens nothing any more."""
    key_id = visit.path["key_id"]
    await api_keys.revoke_key(visit.desk, key_id)
    return visit.done(N_("Key %(id)s was revoked. Whoever uses it is refused from now on."), PLACE, id=key_id)


async def _page(visit: Visit, new: NewKey | None = None) -> Response:
    visit.entry = ENTRY
    asked = lists.given(visit, PLACE, [])
    found = await api_keys.list_keys(visit.desk, Paged(cursor=asked.cursor or None))
    asked.fill_page(found.items, found.next)
    return visit.page("settings_keys.html", list=asked, new=new, roles=list(Role), meanings=MEANINGS)
