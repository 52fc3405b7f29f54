"""One history of the tables for SQLite, PostgreSQL and MariaDB, and the program that applies it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from bobusang.kit.db import Contended, connect, dialect_of
from bobusang.kit.errors import BobusangError, Conflict, Unavailable
from bobusang.kit.sql import Dialect, Statement

VERSIONS = Path(__file__).parent / "versions"
CURRENT = Statement("select version_num as value from alembic_version")


@dataclass(frozen=True, slots=True)
class Status:
    """Where a database stands in the history."""

    current: str | None
    head: str

    @property
    def is_current(self) -> bool:
        return self.current == self.head


@cache
def revisions() -> tuple[str, ...]:
    """All revisions this program knows, the oldest first: each file is named by its own."""
    return tuple(sorted(path.name.partition("_")[0] for path in VERSIONS.glob("[0-9]*_*.py")))


def head() -> str:
    """The newest revision this program knows."""
    return revisions()[-1]


async def status(url: str) -> Status:
    """Where the database stands; one newer than this program is refused."""
    current = await _current(url)
    if current is not None and current not in revisions():
        raise Conflict(
            f"the database is at revision {current}, which this version of bobusang does not know",
            hint="it was upgraded by a newer version: install that one",
        )
    return Status(current, head())


async def begun(url: str) -> Status:
    """Where the database stands, once an embedded one without tables has them."""
    found = await status(url)
    if found.current is None and dialect_of(url) is Dialect.SQLITE:
        from bobusang.kit.dbs.sqlite import place
        from bobusang.migrations.embedded import make

        if await asyncio.to_thread(make, place(url)):
            return await status(url)
    return found


async def upgrade(url: str, revision: str = "head") -> Status:
    """Bring the database to a revision, one process at a time."""
    if revision == "head" and (found := await begun(url)).is_current:
        return found
    from bobusang.migrations.applying import apply

    await apply(url, revision)
    return await status(url)


async def _current(url: str) -> str | None:
    database = await connect(url, pool=1)
    try:
        async with database.read() as tx:
            found: str | None = await tx.value(CURRENT)
            return found
    except (Unavailable, Contended):
        raise
    except BobusangError:  # there is no such table yet
        return None
    finally:
        await database.close()
