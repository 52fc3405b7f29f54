"""API keys: listed, made, revoked; for admins."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query

from bobusang.entry.api import keys
from bobusang.entry.api.desk import Admin
from bobusang.entry.api.fields import Form, Name, PathId
from bobusang.entry.api.keys import ApiKey, NewKey
from bobusang.entry.api.pages import Page, Paged, page, unpack
from bobusang.entry.api.resource import Resource
from bobusang.entry.tables import Role
from bobusang.kit.db import Tx

router = Resource("API keys", "/api-keys")


class KeyForm(Form):
    """Who will use the key (it stands in the audit log), and what he may do."""

    name: Name
    role: Role = Role.VIEWER


@router.get("", summary="List API keys")
async def list_keys(desk: Admin, query: Annotated[Paged, Query()]) -> Page[ApiKey]:
    """Newest first; none of them can be shown again."""
    before = unpack("api-keys", query.cursor)
    async with desk.read() as tx:
        found = await keys.listed(tx, before, query.limit + 1)
    return page("api-keys", found, query.limit, lambda key: key.id)


@router.post("", summary="Make an API key", status_code=201)
async def make_key(desk: Admin, form: KeyForm) -> NewKey:
    """The key is shown this once."""

    async def work(tx: Tx) -> NewKey:
        made = await keys.make(tx, form.name, form.role)
        await desk.note(tx, "api_key.create", "api_key", made.id, after={"name": made.name, "role": made.role})
        return made

    return await desk.write(work)


@router.delete("/{key_id}", summary="Revoke an API key", status_code=204)
async def revoke_key(desk: Admin, key_id: PathId) -> None:
    """It opens nothing any more: here at once, in other processes within two seconds."""

    async def work(tx: Tx) -> None:
        revoked = await keys.revoke(tx, key_id)
        tx.after_commit(keys.forget)
        await desk.note(tx, "api_key.revoke", "api_key", key_id, before={"name": revoked.name, "role": revoked.role})

    await desk.write(work)
