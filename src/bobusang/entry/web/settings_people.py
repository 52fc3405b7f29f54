"""People: who may sign in and do what; invited by a link that is shown once. For admins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bobusang.entry.api import users
from bobusang.entry.api.users import InviteForm, RoleForm
from bobusang.entry.tables import Role
from bobusang.entry.web.languages import N_
from bobusang.entry.web.pages import Pages
from bobusang.entry.web.settings import ENTRY

if TYPE_CHECKING:
    from starlette.responses import Response

    from bobusang.entry.web.visit import Visit

PLACE = "/settings/people"
pages = Pages()

MEANINGS = {
    Role.VIEWER: N_("looks at everything, changes nothing"),
    Role.OPERATOR: N_("runs, retries, decides what is held"),
    Role.ADMIN: N_("everything, people and keys too"),
}


@pages.get(PLACE, role=Role.ADMIN)
async def listed(visit: Visit) -> Response:
    """Everybody, by name."""
    return await _page(visit)


@pages.post(PLACE, role=Role.ADMIN)
async def linked(visit: Visit) -> Response:
    """A link that works once: for a new person, or for a new password of one who is there."""
    form = await visit.form()
    known = next(iter(form.numbers("user")), None)
    if known is not None:
        found = await users.reset(visit.desk, known)
    else:
        found = await users.invite(visit.desk, InviteForm.model_validate(form.some("role")))
    request = visit.request
    origin = f"{request.url.scheme}://{request.headers.get('host', '')}"
    return await _page(visit, link=f"{origin}{found.path}", known=known)


@pages.post("/settings/people/{user_id:int}/role", role=Role.ADMIN)
async def changed(visit: Visit) -> Response:
    """Another role, at once."""
    form = await visit.form()
    user = await users.change_role(visit.desk, visit.path["user_id"], RoleForm.model_validate(form.some("role")))
    visit.site.attendance.forget()
    return visit.done(N_("The role of %(name)s was changed."), PLACE, name=user.name)


@pages.post("/settings/people/{user_id:int}/disable", role=Role.ADMIN)
async def shut_out(visit: Visit) -> Response:
    """Nobody signs in by this name any more."""
    user = await users.disable(visit.desk, visit.path["user_id"])
    visit.site.attendance.forget()
    return visit.done(N_("%(name)s is shut out."), PLACE, name=user.name)


@pages.post("/settings/people/{user_id:int}/enable", role=Role.ADMIN)
async def let_in(visit: Visit) -> Response:
    """As before, with the password as before."""
    user = await users.enable(visit.desk, visit.path["user_id"])
    visit.site.attendance.forget()
    return visit.done(N_("%(name)s may come in again."), PLACE, name=user.name)


async def _page(visit: Visit, *, link: str = "", known: int | None = None) -> Response:
    visit.entry = ENTRY
    found = await users.list_users(visit.desk)
    name = next((user.name for user in found.items if user.id == known), "")
    return visit.page(
        "settings_people.html", people=found.items, roles=list(Role), meanings=MEANINGS, link=link, linked=name
    )
