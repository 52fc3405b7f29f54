"""A new index filled from SQL while the old one serves, from any process.

First products get their colours that were collected before those were kept. Pages by number come next; then what
changed since the beginning is brought in, again and again until little is left; then the new index serves, and what was
written into the old one meanwhile is brought in once more. Products that were deleted on the way are taken out by
comparing numbers at the end.

What is read is written before an event's turn comes, so that it never stands over something newer.
"""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from bobusang.catalog import colours
from bobusang.engine.leader import Leader
from bobusang.flows.indexing import documents, verifying
from bobusang.flows.indexing.verifying import differences
from bobusang.kit.clock import utc
from bobusang.kit.errors import Conflict
from bobusang.kit.sql import Statement

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator

    from bobusang.flows.indexing.indexer import Indexer
    from bobusang.kit.db import Database
    from bobusang.platform.search import Rebuild

PAGE = 5_000
OFFICE = "search rebuild"
LEASE = timedelta(seconds=20)
RENEW = 5.0
"""Seconds between two renewals: one that was killed is taken up soon, and one that merges for a minute is not."""
MARGIN = timedelta(minutes=5)
"""A change carries the time its transaction began; one that began before us may commit this much later."""
LITTLE = 2_000
ROUNDS = 20
_TOTAL = Statement("select count(*) as value from products")


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a rebuild is."""

    done: int
    total: int
    phase: str


async def rebuild(indexer: Indexer, *, page: int = PAGE) -> AsyncGenerator[Progress, None]:
    """Make the index anew; whoever stops listening stops it, and the old one goes on serving."""
    office = Leader(indexer.db, OFFICE, lease=LEASE)
    if not await office.campaign():
        raise Conflict("a rebuild is under way already", hint="wait for it: `bobusang search status` shows it")
    keeping = asyncio.create_task(_keep(office))
    try:
        async with aclosing(_rebuild(indexer, office, page)) as steps:
            async for progress in steps:
                yield progress
    finally:
        keeping.cancel()
        await asyncio.gather(keeping, return_exceptions=True)
        await office.resign()


async def _keep(office: Leader) -> None:
    while True:
        await asyncio.sleep(RENEW)
        await office.campaign()


async def _rebuild(indexer: Indexer, office: Leader, page: int) -> AsyncGenerator[Progress, None]:
    db = indexer.db
    async with db.read() as tx:
        began, total = tx.now, await tx.value(_TOTAL)
    indexer.forget_aliases()
    yield Progress(0, total, "reading")
    async for _ in colours.told(db):
        await _still_ours(office)
    new = await indexer.index.rebuild()
    try:
        done = last = 0
        while True:
            async with indexer.turn:
                known = await indexer.aliases()
                async with db.read() as tx:
                    found = await documents.page(tx, indexer.market, known, last, page)
                if not found:
                    break
                await new.put(found)
            done, last = done + len(found), found[-1].id
            await _still_ours(office)
            yield Progress(done, max(total, done), "reading")
        for _ in range(ROUNDS):
            async with db.read() as tx:
                now = tx.now
            brought = await _catch_up(indexer, new, began - MARGIN, page)
            began = now
            yield Progress(done, max(total, done), "catching up")
            if brought <= LITTLE:
                break
        await new.finish()
    except BaseException:
        await new.abandon()
        raise
    # Whether an event finds what its product was before depends on which index it met.
    await indexer.all_is_old()
    await indexer.bring([id async for part in _changed(db, began - MARGIN, page) for id in part], tell=False)
    yield Progress(done, max(total, done), "comparing")
    extra = [one.id async for one in differences(verifying.ids(db, page), indexer.index.digests())]
    await indexer.bring(extra, tell=False)
    yield Progress(done, done, "done")


async def _still_ours(office: Leader) -> None:
    if not office.leads and not await office.campaign():
        raise Conflict(
            "another rebuild has taken over", hint="this one took too long without a word; wait for the other"
        )


async def _catch_up(indexer: Indexer, new: Rebuild, since: datetime, page: int) -> int:
    brought = 0
    async for ids in _changed(indexer.db, since, page):
        async with indexer.turn:
            known = await indexer.aliases()
            async with indexer.db.read() as tx:
                found = await documents.some(tx, indexer.market, known, ids)
            await new.put(found)
        brought += len(ids)
    return brought


async def _changed(db: Database, since: datetime, page: int) -> AsyncIterator[list[int]]:
    """Products that changed since then, in the order of their changes."""
    after = 0
    while True:
        async with db.read() as tx:
            rows = await tx.fetch(documents.CHANGED, since=since, after=after, limit=page)
        if rows:
            yield [row["id"] for row in rows]
        if len(rows) < page:
            return
        since, after = utc(rows[-1]["updated_at"]), rows[-1]["id"]
