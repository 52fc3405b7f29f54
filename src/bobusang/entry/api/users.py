"""People who sign in to the screen: listed, invited, changed, shut out; for admins."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field

from bobusang.entry.api.desk import Admin
from bobusang.entry.api.fields import Form, PathId
from bobusang.entry.api.resource import Resource
from bobusang.entry.people import links, users
from bobusang.entry.people.users import User
from bobusang.entry.tables import Role
from bobusang.kit.db import Tx
from bobusang.kit.errors import Conflict

router = Resource("users", "/users")

WELCOME = "/ui/welcome/"


class InviteForm(Form):
    """What the person who opens the link may do."""

    role: Role = Role.VIEWER


class RoleForm(Form):
    """What a person may do from now on."""

    role: Role


class Link(BaseModel):
    """A link that works once, for a day; the address of the screen stands before it."""

    path: Annotated[str, Field(examples=[f"{WELCOME}…"])]


class People(BaseModel):
    """Everybody, by name."""

    items: list[User]


@router.get("", summary="List users")
async def list_users(desk: Admin) -> People:
    """By name; who is shut out too."""
    async with desk.read() as tx:
        return People(items=await users.listed(tx))


@router.post("/invitations", summary="Invite somebody", status_code=201)
async def invite(desk: Admin, form: InviteForm) -> Link:
    """Whoever opens the link chooses a name and a password. It is shown this once."""

    async def work(tx: Tx) -> str:
        token = await links.make(tx, desk.actor, form.role)
        await desk.note(tx, "user.invite", "user", "", after={"role": form.role})
        return token

    return Link(path=WELCOME + await desk.write(work))


@router.post("/{user_id}/link", summary="Make a link for a new password", status_code=201)
async def reset(desk: Admin, user_id: PathId) -> Link:
    """Until it is used the old password holds. It is shown this once."""

    async def work(tx: Tx) -> str:
        found = await users.one(tx, user_id)
        if found.disabled_at is not None:
            raise Conflict(f"'{found.name}' is shut out", hint="let him in again first")
        token = await links.make(tx, desk.actor, found.role, name=found.name)
        await desk.note(tx, "user.link", "user", user_id, after={"name": found.name})
        return token

    return Link(path=WELCOME + await desk.write(work))


@router.put("/{user_id}/role", summary="Change what a user may do")
async def change_role(desk: Admin, user_id: PathId, form: RoleForm) -> User:
    """Within two seconds everywhere. 409 for the last admin."""

    async def work(tx: Tx) -> User:
        before = await users.change_role(tx, user_id, form.role)
        await desk.note(tx, "user.role", "user", user_id, before={"role": before.role}, after={"role": form.role})
        return await users.one(tx, user_id)

    return await desk.write(work)


@router.post("/{user_id}/disable", summary="Shut a user out")
async def disable(desk: Admin, user_id: PathId) -> User:
    """Within two seconds everywhere. 409 for the last admin."""

    async def work(tx: Tx) -> User:
        before = await users.disable(tx, user_id)
        await desk.note(tx, "user.disable", "user", user_id, before={"name": before.name})
        return await users.one(tx, user_id)

    return await desk.write(work)


@router.post("/{user_id}/enable", summary="Let a user in again")
async def enable(desk: Admin, user_id: PathId) -> User:
    """With the password he had."""

    async def work(tx: Tx) -> User:
        before = await users.enable(tx, user_id)
        await desk.note(tx, "user.enable", "user", user_id, after={"name": before.name})
        return await users.one(tx, user_id)

    return await desk.write(work)
