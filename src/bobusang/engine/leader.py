"""Leadership by a lease row with a term. Everything a leader does is idempotent, so two of them are harmless."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import TYPE_CHECKING

from bobusang.engine.tables import leaders
from bobusang.kit.errors import BobusangError
from bobusang.kit.sql import Bulk, Statement

if TYPE_CHECKING:
    from datetime import datetime

    from bobusang.kit.db import Database, Tx

LEASE = timedelta(seconds=15)

FIRST = Bulk(leaders, ("name", "holder", "term", "expires_at"), keep=True)
TAKE = Statement("""
    update leaders set holder = :holder, term = term + 1, expires_at = :expires_at
    where name = :name and expires_at < :now""")
RENEW = Statement("""
    update leaders set expires_at = :expires_at where name = :name and holder = :holder and term = :term""")
TERM = Statement("select term as value from leaders where name = :name and holder = :holder")
RESIGN = Statement("update leaders set expires_at = :now where name = :name and holder = :holder and term = :term")


class Leader:
    """One candidate for one office."""

    def __init__(self, db: Database, name: str, *, lease: timedelta = LEASE) -> None:
        self._db = db
        self._name = name
        self._lease = lease
        self._holder = uuid.uuid4().hex
        self._expires: datetime | None = None
        self.term: int | None = None

    @property
    def leads(self) -> bool:
        """Whether we lead as far as we know: a lease we could not renew has run out for us first."""
        return self._expires is not None and self._db.clock.now() < self._expires

    async def campaign(self) -> bool:
        """Renew or try to take the office. Any database error means that we cannot know, so we do not lead."""
        try:
            self._expires = await self._db.transact(self._bid)
        except BobusangError:
            self._expires = None
        if self._expires is None:
            self.term = None
        return self.leads

    async def _bid(self, tx: Tx) -> datetime | None:
        expires = tx.now + self._lease
        if self.term is not None:
            # Asked rather than counted: MariaDB does not count a row that is set to what it was.
            await tx.execute(RENEW, name=self._name, holder=self._holder, term=self.term, expires_at=expires)
            if await tx.value(TERM, name=self._name, holder=self._holder) == self.term:
                return expires
        await tx.insert(FIRST, [(self._name, "", 0, tx.now - self._lease)])
        if not await tx.execute(TAKE, name=self._name, holder=self._holder, expires_at=expires, now=tx.now):
            return None
        self.term = await tx.value(TERM, name=self._name, holder=self._holder)
        return expires

    async def resign(self) -> None:
        """Let the next one lead at once."""
        term, self.term, self._expires = self.term, None, None
        if term is not None:
            await self._db.transact(
                lambda tx: tx.execute(RESIGN, name=self._name, holder=self._holder, term=term, now=tx.now)
            )
