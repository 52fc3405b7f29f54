"""Sessions: who is signed in. 256 random bits in a cookie, their SHA-256 in the database, for a fortnight."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import delete, insert, select, update

from bobusang.entry.people import users as people
from bobusang.entry.people.users import User
from bobusang.entry.tables import sessions, users
from bobusang.kit.clock import utc
from bobusang.kit.db import Database, Tx
from bobusang.kit.sql import Statement

LIVES = timedelta(days=14)
IDLE = timedelta(days=3)
NOTED_EVERY = timedelta(minutes=5)
TRUSTED = 2.0
"""Seconds for which a session that was looked up is not looked up again; so long may others not know its end."""
MOST_TRUSTED = 1000

BY_HASH = Statement("""
    select u.*, s.id as session_id, s.hash, s.seen_at as used_at from sessions s join users u on u.id = s.user_id
    where s.hash = :hash and s.expires_at > :now and s.seen_at > :idle and u.disabled_at is null""")
_SHAPE = re.compile(r"[A-Za-z0-9_-]{43}")


@dataclass(frozen=True, slots=True)
class SignedIn:
    """A session as it is used: the person, and the secret of forms, which only this browser's pages know."""

    id: int
    user: User
    csrf: str


def hashed(token: str) -> str:
    """What is stored of a token."""
    return hashlib.sha256(token.encode()).hexdigest()


def secret_of_forms(token: str) -> str:
    """Derived, so that it need not be stored, and says nothing about the token."""
    return hmac.new(token.encode(), b"forms", hashlib.sha256).hexdigest()


async def begin(tx: Tx, user_id: int, agent: str) -> str:
    """Sign a person in; the token, which is not known again."""
    token = secrets.token_urlsafe(32)
    values = {"user_id": user_id, "hash": hashed(token), "agent": agent[:200], "created_at": tx.now, "seen_at": tx.now}
    await tx.execute(delete(sessions).where(sessions.c.expires_at <= tx.now))
    await tx.execute(insert(sessions).values(**values, expires_at=tx.now + LIVES))
    await tx.execute(update(users).where(users.c.id == user_id).values(seen_at=tx.now))
    return token


async def end(tx: Tx, token: str) -> None:
    """Sign out."""
    await tx.execute(delete(sessions).where(sessions.c.hash == hashed(token)))


async def count(tx: Tx, user_id: int) -> int:
    """In how many browsers a person is signed in."""
    rows = await tx.fetch(select(sessions.c.id).where(sessions.c.user_id == user_id))
    return len(rows)


class Attendance:
    """Sessions that were looked up a moment ago. `forgotten` hears when they have to be looked up again."""

    def __init__(self, db: Database, forgotten: Callable[[], None] = lambda: None) -> None:
        self._db = db
        self._forgotten = forgotten
        self._known: dict[str, tuple[SignedIn, float]] = {}

    async def find(self, token: str) -> SignedIn | None:
        """Whose session this is; None when it is nobody's any more."""
        if not _SHAPE.fullmatch(token):
            return None
        digest = hashed(token)
        known = self._known.get(digest)
        if known is not None and known[1] > time.monotonic():
            return known[0]
        self._known.pop(digest, None)
        async with self._db.read() as tx:
            row = await tx.first(BY_HASH, hash=digest, now=tx.now, idle=tx.now - IDLE)
            now = tx.now
        if row is None or not hmac.compare_digest(row["hash"], digest):
            return None
        found = SignedIn(row["session_id"], people.read(row), secret_of_forms(token))
        if len(self._known) >= MOST_TRUSTED:
            self._known.clear()
        self._known[digest] = found, time.monotonic() + TRUSTED
        if now - utc(row["used_at"]) >= NOTED_EVERY:
            await self._note(found)
        return found

    def forget(self) -> None:
        """Look everybody up again: somebody was changed."""
        self._known.clear()
        self._forgotten()

    async def _note(self, found: SignedIn) -> None:
        async def work(tx: Tx) -> None:
            await tx.execute(update(sessions).where(sessions.c.id == found.id).values(seen_at=tx.now))
            await tx.execute(update(users).where(users.c.id == found.user.id).values(seen_at=tx.now))

        await self._db.transact(work)
