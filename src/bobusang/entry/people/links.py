"""One-time links: the first admin's, printed at the start; an invitation; a forgotten password."""

from __future__ import annotations

import hmac
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import delete, insert, select, update

from bobusang.entry.people import users as people
from bobusang.entry.people.signed_in import hashed
from bobusang.entry.people.users import User
from bobusang.entry.tables import Role, invitations, users
from bobusang.kit.clock import utc
from bobusang.kit.db import Database, Tx
from bobusang.kit.errors import Missing
from bobusang.platform import audit
from bobusang.platform.audit import Subject

LIVES = timedelta(days=1)
BY_US = "bobusang"
"""Who makes the first link."""


@dataclass(frozen=True, slots=True)
class Invitation:
    """What a link is good for: with a name a new password for that person, without one a new person."""

    id: int
    role: Role
    name: str
    made_by: str
    expires_at: datetime


async def make(tx: Tx, made_by: str, role: Role, *, name: str = "") -> str:
    """A new link's secret part, which is not known again. One that was made for the same end opens no more."""
    token = secrets.token_urlsafe(32)
    table = invitations.c
    await tx.execute(delete(invitations).where(table.expires_at <= tx.now))
    if name or made_by == BY_US:
        await tx.execute(delete(invitations).where(table.name == name, table.made_by == made_by))
    values = {"hash": hashed(token), "role": role.value, "name": name, "made_by": made_by, "created_at": tx.now}
    await tx.execute(insert(invitations).values(**values, expires_at=tx.now + LIVES))
    return token


async def find(tx: Tx, token: str) -> Invitation:
    """What this link is good for."""
    table = invitations.c
    row = await tx.first(select(invitations).where(table.hash == hashed(token)))
    if row is None or not hmac.compare_digest(row["hash"], hashed(token)) or row["used_at"] is not None:
        raise _used_up()
    found = Invitation(row["id"], Role(row["role"]), row["name"], row["made_by"], utc(row["expires_at"]))
    if found.expires_at <= tx.now:
        raise _used_up()
    return found


async def use(tx: Tx, token: str, name: str, password: str) -> User:
    """Make the person, or give the one it is for a new password (hashed already); the link opens no more."""
    found = await find(tx, token)
    table = invitations.c
    taken = await tx.execute(
        update(invitations).where(table.id == found.id, table.used_at.is_(None)).values(used_at=tx.now)
    )
    if not taken:
        raise _used_up()
    if not found.name:
        made = await people.make(tx, name, found.role, password)
        after = {"name": made.name, "role": made.role, "invited_by": found.made_by}
        await audit.record(tx, made.name, "user.create", Subject("user", made.id), after=after)
        return made
    row = await tx.first(select(users.c.id).where(users.c.name == found.name, users.c.disabled_at.is_(None)))
    if row is None:
        raise _used_up()
    await people.change_password(tx, row["id"], password)
    await audit.record(tx, found.name, "user.password", Subject("user", row["id"]))
    return await people.one(tx, row["id"])


async def first(db: Database) -> str | None:
    """The first admin's link; None when there is an admin already. A start makes a new one, so that none lies about."""

    async def work(tx: Tx) -> str | None:
        return None if await people.exist(tx) else await make(tx, BY_US, Role.ADMIN)

    return await db.transact(work)


def _used_up() -> Missing:
    return Missing(
        "this link was used, or is too old",
        hint="an admin makes a new one in Settings or with `bobusang user link`; at the first start, start again",
    )
