"""API keys: 256 random bits each, shown once, kept as SHA-256."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import os
import re
import secrets
import time
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from weakref import WeakSet

from sqlalchemy import func, insert, select, update

from bobusang.entry.tables import Role, api_keys
from bobusang.kit import log
from bobusang.kit.clock import utc
from bobusang.kit.db import Database, Row, Tx
from bobusang.kit.errors import BobusangError, Conflict, Missing, Unavailable
from bobusang.kit.sql import Statement
from bobusang.platform import audit
from bobusang.platform.audit import Subject
from bobusang.wiring import App

PREFIX = "bobu_"
SHOWN = 12
"""So much of a key is shown, to tell one from another."""
FILE = "api-key"
USED_EVERY = timedelta(minutes=1)
FIRST_NAME = "first"

TRUSTED = 2.0
"""Seconds for which a key that was looked up is not looked up again: so long may another process not know that it is
revoked. This one knows at once."""
MOST_TRUSTED = 1000

BY_HASH = Statement("select * from api_keys where hash = :hash")
_SHAPE = re.compile(rf"{PREFIX}[A-Za-z0-9_-]{{43}}")
_log = log.get("keys")


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """A key as it may be shown."""

    id: int
    name: str
    role: Role
    prefix: str
    created_at: datetime
    last_used_at: datetime | None
    revoked_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewKey:
    """A key just made: the only time that it is known."""

    id: int
    name: str
    role: Role
    prefix: str
    key: str


def hashed(key: str) -> str:
    """What is stored; no salt and no stretching, because 256 random bits cannot be guessed."""
    return hashlib.sha256(key.encode()).hexdigest()


async def make(tx: Tx, name: str, role: Role) -> NewKey:
    """A new key."""
    key = PREFIX + secrets.token_urlsafe(32)
    values = {"name": name, "role": role.value, "hash": hashed(key), "prefix": key[:SHOWN], "created_at": tx.now}
    key_id = await tx.create(insert(api_keys).values(**values))
    return NewKey(id=key_id, name=name, role=role, prefix=key[:SHOWN], key=key)


async def find(db: Database, key: str) -> ApiKey | None:
    """Whose key this is; None when it is nobody's, or revoked."""
    if not _SHAPE.fullmatch(key):
        return None
    digest = hashed(key)
    async with db.read() as tx:
        row = await tx.first(BY_HASH, hash=digest)
        now = tx.now
    if row is None or not hmac.compare_digest(row["hash"], digest) or row["revoked_at"] is not None:
        return None
    found = _read(row)
    if found.last_used_at is None or now - found.last_used_at >= USED_EVERY:
        await _used(db, found.id)
    return found


class Keyring:
    """Keys that were looked up a moment ago, by what is stored of them; a query less for nearly every request."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._known: dict[str, tuple[ApiKey, float]] = {}
        _keyrings.add(self)

    async def find(self, key: str) -> ApiKey | None:
        """Whose key this is, or was a moment ago."""
        digest = hashed(key)
        known = self._known.get(digest)
        if known is not None and known[1] > time.monotonic():
            return known[0]
        found = await find(self._db, key)
        if found is None:
            self._known.pop(digest, None)
            return None
        if len(self._known) >= MOST_TRUSTED:
            self._known.clear()
        self._known[digest] = found, time.monotonic() + TRUSTED
        return found

    def forget(self) -> None:
        """Look every key up again: one was revoked."""
        self._known.clear()


_keyrings: WeakSet[Keyring] = WeakSet()


def forget() -> None:
    """Let every keyring of this process look its keys up again."""
    for keyring in _keyrings:
        keyring.forget()


async def _used(db: Database, key_id: int) -> None:
    """Note that a key is in use; whoever calls must not fail because this cannot be written."""
    table = api_keys.c

    async def work(tx: Tx) -> None:
        stale = table.last_used_at.is_(None) | (table.last_used_at <= tx.now - USED_EVERY)
        await tx.execute(update(api_keys).where(table.id == key_id, stale).values(last_used_at=tx.now))

    try:
        await db.transact(work)
    except BobusangError as error:
        _log.warning("the use of a key could not be noted", id=key_id, error=str(error))


async def listed(tx: Tx, before: int | None, limit: int) -> list[ApiKey]:
    """Keys, newest first, revoked ones too."""
    query = select(api_keys)
    if before is not None:
        query = query.where(api_keys.c.id < before)
    return [_read(row) for row in await tx.fetch(query.order_by(api_keys.c.id.desc()).limit(limit))]


async def revoke(tx: Tx, key_id: int) -> ApiKey:
    """Let a key open nothing any more; the last admin key stays, so that nobody locks himself out."""
    table = api_keys.c
    rows = await tx.fetch(select(api_keys).where((table.id == key_id) | (table.role == Role.ADMIN.value)))
    found = next((_read(row) for row in rows if row["id"] == key_id), None)
    if found is None:
        raise Missing(f"there is no API key {key_id}", field="key_id")
    if found.revoked_at is not None:
        raise Conflict(f"API key {key_id} is revoked already")
    others = [row for row in rows if row["id"] != key_id and row["revoked_at"] is None]
    if found.role is Role.ADMIN and not others:
        raise Conflict(f"API key {key_id} is the last admin key", hint="make another one first")
    await tx.execute(update(api_keys).where(table.id == key_id).values(revoked_at=tx.now))
    return found


async def first_key(app: App) -> Path | None:
    """Where the key is that was made when an embedded database first started; None where there is none."""
    if not app.settings.is_embedded:
        return None
    path = Path(app.settings.home) / FILE
    async with app.engine.db.read() as tx:
        known = int(await tx.value(select(func.count().label("value")).select_from(api_keys)))
    if known:
        return path if await _opens(app, path) else None

    async def work(tx: Tx) -> None:
        if await tx.first(select(api_keys.c.id).limit(1)) is None:
            made = await make(tx, FIRST_NAME, Role.ADMIN)
            await audit.record(tx, "bobusang", "api_key.create", Subject("api_key", made.id), after={"name": made.name})
            # Before the commit: a file without a key is made anew at the next start, a key without a file is lost.
            try:
                await asyncio.to_thread(_write, path, made.key)
            except OSError as error:
                raise Unavailable(f"{path} cannot be written: {error.strerror}", hint="check BOBUSANG_HOME") from error

    await app.engine.db.transact(work)
    return path


async def _opens(app: App, path: Path) -> bool:
    """Whether the file is ours and its key still opens."""
    try:
        key = (await asyncio.to_thread(path.read_text, "ascii")).strip()
    except (OSError, UnicodeDecodeError):
        return False
    async with app.engine.db.read() as tx:
        row = await tx.first(select(api_keys.c.revoked_at).where(api_keys.c.hash == hashed(key)))
    return row is not None and row["revoked_at"] is None


def _write(path: Path, key: str) -> None:
    """The key for its owner's eyes only, all of it or nothing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    draft.unlink(missing_ok=True)
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(f"{key}\n")
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)


def _read(row: Row) -> ApiKey:
    return ApiKey(
        id=row["id"],
        name=row["name"],
        role=Role(row["role"]),
        prefix=row["prefix"],
        created_at=utc(row["created_at"]),
        last_used_at=utc(row["last_used_at"]),
        revoked_at=utc(row["revoked_at"]),
    )
