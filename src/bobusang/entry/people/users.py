"""Users: made, found, changed and shut out. The last admin stays."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from zoneinfo import available_timezones

from sqlalchemy import insert, select, update

from bobusang.entry.tables import Role, sessions, users
from bobusang.kit.clock import utc
from bobusang.kit.db import Row, Tx
from bobusang.kit.errors import Conflict, Invalid, Missing

LANGUAGES = ("ko", "en")
THEMES = ("light", "dark")
CHOSEN = {"language": LANGUAGES, "theme": THEMES}


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """A person, without the password. What is empty was not chosen."""

    id: int
    name: str
    role: Role
    language: str
    zone: str
    theme: str
    created_at: datetime
    seen_at: datetime | None
    disabled_at: datetime | None


async def make(tx: Tx, name: str, role: Role, password: str) -> User:
    """A new person; `password` is hashed already."""
    values = {"name": name, "role": role.value, "password": password, "created_at": tx.now}
    if await tx.first(select(users.c.id).where(users.c.name == name)) is not None:
        raise Conflict(f"there is a user '{name}' already", hint="choose another name", field="name")
    return await one(tx, await tx.create(insert(users).values(**values)))


async def listed(tx: Tx) -> list[User]:
    """Everybody, by name."""
    return [read(row) for row in await tx.fetch(select(users).order_by(users.c.name))]


async def one(tx: Tx, user_id: int) -> User:
    """One person."""
    row = await tx.first(select(users).where(users.c.id == user_id))
    if row is None:
        raise Missing(f"there is no user {user_id}", hint="`bobusang user list` shows them", field="user_id")
    return read(row)


async def named(tx: Tx, name: str) -> tuple[User, str] | None:
    """Who is called so, with what is stored of the password; nobody who is shut out."""
    row = await tx.first(select(users).where(users.c.name == name, users.c.disabled_at.is_(None)))
    return None if row is None else (read(row), row["password"])


async def exist(tx: Tx) -> bool:
    """Whether there is anybody who may do everything."""
    return await _admin(tx, but=None)


async def change_password(tx: Tx, user_id: int, password: str) -> None:
    """Give a new one (hashed already); who is signed in by the old one is not any more."""
    await tx.execute(update(users).where(users.c.id == user_id).values(password=password))
    await tx.execute(sessions.delete().where(sessions.c.user_id == user_id))


async def change_role(tx: Tx, user_id: int, role: Role) -> User:
    """Let a person do more or less; returns what he was before."""
    before = await one(tx, user_id)
    if role is not Role.ADMIN:
        await _spare_last_admin(tx, before)
    await tx.execute(update(users).where(users.c.id == user_id).values(role=role.value))
    return before


async def disable(tx: Tx, user_id: int) -> User:
    """Shut a person out at once; returns what he was before."""
    before = await one(tx, user_id)
    await _spare_last_admin(tx, before)
    await tx.execute(update(users).where(users.c.id == user_id).values(disabled_at=tx.now))
    await tx.execute(sessions.delete().where(sessions.c.user_id == user_id))
    return before


async def enable(tx: Tx, user_id: int) -> User:
    """Let a person in again; returns what he was before."""
    before = await one(tx, user_id)
    await tx.execute(update(users).where(users.c.id == user_id).values(disabled_at=None))
    return before


async def choose(tx: Tx, user_id: int, **chosen: str) -> None:
    """A person's language, zone and theme; empty: as the browser says."""
    for name, value in chosen.items():
        allowed = available_timezones() if name == "zone" else CHOSEN[name]
        if value and value not in allowed:
            raise Invalid(f"'{value}' is no {name} that there is", field=name)
    values: dict[str, Any] = chosen
    await tx.execute(update(users).where(users.c.id == user_id).values(**values))


async def _spare_last_admin(tx: Tx, user: User) -> None:
    if user.role is Role.ADMIN and user.disabled_at is None and not await _admin(tx, but=user.id):
        raise Conflict(f"'{user.name}' is the last admin", hint="make another one first")


async def _admin(tx: Tx, *, but: int | None) -> bool:
    query = select(users.c.id).where(users.c.role == Role.ADMIN.value, users.c.disabled_at.is_(None))
    if but is not None:
        query = query.where(users.c.id != but)
    return await tx.first(query.limit(1)) is not None


def read(row: Row) -> User:
    """A row as a person."""
    return User(
        id=row["id"],
        name=row["name"],
        role=Role(row["role"]),
        language=row["language"],
        zone=row["zone"],
        theme=row["theme"],
        created_at=utc(row["created_at"]),
        seen_at=utc(row["seen_at"]),
        disabled_at=utc(row["disabled_at"]),
    )
