"""Coming in by the doors, as people do: the first admin by the link that the start prints, others by invitations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx

from bobusang.entry.people import links
from bobusang.entry.tables import Role
from bobusang.kit.db import connect
from tests.e2e.program import PATIENCE
from tests.servers.server import wait_for
from tests.web.screen import COOKIE, PASSWORD

if TYPE_CHECKING:
    from tests.e2e.program import Up


def signed_in(running: Up) -> dict[str, list[dict[str, object]]]:
    """The cookies of one person a role."""
    found = {Role.ADMIN.value: _entered(running.ready["welcome"], "주인")}
    for role in (Role.OPERATOR, Role.VIEWER):
        token = wait_for(_invited(running, role))
        found[role.value] = _entered(f"{running.url}/ui/welcome/{token}", f"the {role}")
    return found


def _entered(link: str, name: str) -> list[dict[str, object]]:
    origin = link.partition("/ui/")[0]
    answer = httpx.post(link, data={"name": name, "password": PASSWORD}, headers={"origin": origin}, timeout=PATIENCE)
    assert answer.status_code == 303, answer.text
    at = origin.replace("http:", "https:")  # a browser lets nobody else give it a `__Host-` cookie
    return [{"name": COOKIE, "value": answer.cookies[COOKIE], "url": at, "secure": True, "httpOnly": True}]


async def _invited(running: Up, role: Role) -> str:
    db = await connect(f"sqlite:///{running.folder / running.ready['database'].removeprefix('sqlite:///')}")
    try:
        return await db.transact(lambda tx: links.make(tx, "주인", role))
    finally:
        await db.close()
